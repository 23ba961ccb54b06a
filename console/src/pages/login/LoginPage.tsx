import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { type FormEvent, useState } from "react";
import { Navigate, useSearchParams } from "react-router";
import { asProblem, type Problem } from "../../api/problem";
import { useLogin, useMe, useSignUp } from "../../api/queries/session";
import { useNow } from "../../parts/Ago";
import { ProblemAlert } from "../../parts/ProblemAlert";
import "./login.css";

/** Only to addresses of ours: a link to this page must not send people elsewhere. */
export function safeNext(next: string | null): string {
  return next !== null && /^\/(?![/\\])/.test(next) ? next : "/";
}

export function LoginPage() {
  const [params] = useSearchParams();
  const me = useMe();
  const [tab, setTab] = useState("personal");
  if (me.data) return <Navigate to={safeNext(params.get("next"))} replace />;
  return (
    <main className="login">
      <title>Sign in · GPUaaS</title>
      <div className="login-card">
        <Box textAlign="center" padding={{ bottom: "l" }}>
          <img src="/mark.svg" alt="" width="56" height="56" />
          <Box variant="h1" padding={{ top: "s" }}>
            Sign in to GPUaaS
          </Box>
          <Box color="text-body-secondary">A GPU machine in under a second, with your own SSH key.</Box>
        </Box>
        <SpaceBetween size="m">
          {params.has("left") && <Alert type="success">You are signed out.</Alert>}
          {params.has("next") && !params.has("left") && <Alert>Sign in to go on to where you were going.</Alert>}
          <Container>
            <Tabs
              activeTabId={tab}
              onChange={({ detail }) => setTab(detail.activeTabId)}
              ariaLabel="Ways to sign in"
              tabs={[
                { id: "work", label: "Work", content: <WorkTab onPersonal={() => setTab("personal")} /> },
                { id: "personal", label: "Personal", content: <PersonalTab /> },
              ]}
            />
          </Container>
        </SpaceBetween>
      </div>
    </main>
  );
}

/** The hint is advice alone: it never says whether an address or an organisation is known. */
function WorkTab({ onPersonal }: { onPersonal: () => void }) {
  const [hint, setHint] = useState("");
  const [asked, setAsked] = useState(false);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setAsked(true);
      }}
    >
      <Form actions={<Button variant="primary">Continue</Button>}>
        <SpaceBetween size="m">
          <FormField
            label="Work e-mail or organisation"
            description="Only a hint, to find how your organisation signs in."
          >
            <Input value={hint} onChange={({ detail }) => setHint(detail.value)} autoComplete="organization" />
          </FormField>
          {asked && (
            <Alert action={<Button onClick={onPersonal}>Use a password</Button>}>
              Single sign-on is not set up on this installation. Sign in with your password instead.
            </Alert>
          )}
        </SpaceBetween>
      </Form>
    </form>
  );
}

function PersonalTab() {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [isNew, setIsNew] = useState(false);
  const login = useLogin();
  const signUp = useSignUp();
  const asked = isNew ? signUp : login;
  const problem = asked.isError ? asProblem(asked.error) : null;
  const wait = useWait(problem, asked.submittedAt);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!asked.isPending && wait === 0) asked.mutate({ email: email.trim(), password });
  };
  const change = () => {
    login.reset();
    signUp.reset();
    setIsNew(!isNew);
  };
  return (
    <form onSubmit={submit}>
      <Form
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" formAction="none" onClick={change}>
              {isNew ? "I have an account" : "Make an account"}
            </Button>
            <Button variant="primary" loading={asked.isPending} disabled={wait > 0}>
              {wait > 0 ? `Try again in ${wait} s` : isNew ? "Make the account" : "Sign in"}
            </Button>
          </SpaceBetween>
        }
      >
        <SpaceBetween size="m">
          {problem && <ProblemAlert problem={problem} />}
          <FormField label="E-mail" errorText={problem?.errors.email}>
            <Input
              value={email}
              onChange={({ detail }) => setEmail(detail.value)}
              type="email"
              autoComplete="username"
            />
          </FormField>
          <FormField
            label="Password"
            errorText={problem?.errors.password}
            constraintText={isNew ? "At least 12 characters. A sentence is easier to keep than a riddle." : undefined}
          >
            <Input
              value={password}
              onChange={({ detail }) => setPassword(detail.value)}
              type="password"
              autoComplete={isNew ? "new-password" : "current-password"}
            />
          </FormField>
        </SpaceBetween>
      </Form>
    </form>
  );
}

/** Whole seconds until the next try is heard. */
function useWait(problem: Problem | null, submittedAt: number): number {
  const now = useNow();
  if (problem?.retryAfterSeconds == null) return 0;
  return Math.max(0, Math.ceil(problem.retryAfterSeconds - (now - submittedAt) / 1_000));
}
