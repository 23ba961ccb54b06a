import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type FormEvent, type ReactNode, useState } from "react";
import { asProblem, type Problem } from "../../api/problem";
import { useLogin, useSignUp } from "../../api/queries/session";
import { useNow } from "../../parts/Ago";
import { ProblemAlert } from "../../parts/ProblemAlert";
import { secondsToWait } from "./next";

const SHORTEST = 12;

interface Props {
  /** Signs in anew: the address is known and stays. */
  knownEmail?: string;
  /** Makes an account instead. */
  isNew?: boolean;
  footer?: ReactNode;
}

/** E-mail and password. Refusals are said where they belong: at the field, or with the time to wait. */
export function PersonalForm({ knownEmail, isNew = false, footer }: Props) {
  const [email, setEmail] = useState(knownEmail ?? "");
  const [password, setPassword] = useState("");
  const [isShown, setIsShown] = useState(false);
  const [wasTried, setWasTried] = useState(false);
  const login = useLogin();
  const signUp = useSignUp();
  const asked = isNew ? signUp : login;
  const problem = asked.isError ? asProblem(asked.error) : null;
  const now = useNow();
  const wait = problem === null ? 0 : secondsToWait(problem.retryAfterSeconds, problem.at, now);
  const missing = wasTried ? mistakes(email, password, isNew) : {};
  const said = inPlace(problem, wait);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setWasTried(true);
    const isWhole = Object.keys(mistakes(email, password, isNew)).length === 0;
    if (isWhole && !asked.isPending && wait === 0) asked.mutate({ email: email.trim(), password });
  };
  const label = isNew ? "Make the account" : "Sign in";
  return (
    <form onSubmit={submit} noValidate>
      <SpaceBetween size="l">
        {wait > 0 && (
          <Alert type="warning" header="Too many tries">
            Wait {wait} seconds, then try again. Nothing is wrong with your account.
          </Alert>
        )}
        {said.elsewhere && <ProblemAlert problem={said.elsewhere} />}
        <FormField label="E-mail" errorText={missing.email ?? said.email}>
          <Input
            value={email}
            onChange={({ detail }) => setEmail(detail.value)}
            type="email"
            inputMode="email"
            autoComplete="username"
            readOnly={knownEmail !== undefined}
            autoFocus={knownEmail === undefined}
          />
        </FormField>
        <FormField
          label="Password"
          errorText={missing.password ?? said.password}
          constraintText={isNew && `At least ${SHORTEST} characters. A sentence is easier to keep than a riddle.`}
        >
          <Input
            value={password}
            onChange={({ detail }) => setPassword(detail.value)}
            type={isShown ? "text" : "password"}
            autoComplete={isNew ? "new-password" : "current-password"}
            autoFocus={knownEmail !== undefined}
          />
        </FormField>
        <Checkbox checked={isShown} onChange={({ detail }) => setIsShown(detail.checked)}>
          Show what I type
        </Checkbox>
        <Button variant="primary" fullWidth loading={asked.isPending} disabled={wait > 0} formAction="submit">
          {wait > 0 ? `Try again in ${wait} s` : label}
        </Button>
        {footer}
      </SpaceBetween>
    </form>
  );
}

function mistakes(email: string, password: string, isNew: boolean): { email?: string; password?: string } {
  return {
    ...(email.trim() ? {} : { email: "Enter your e-mail address." }),
    ...(password ? {} : { password: "Enter your password." }),
    ...(isNew && password && password.length < SHORTEST ? { password: `Use ${SHORTEST} characters or more.` } : {}),
  };
}

interface Said {
  email?: string | undefined;
  password?: string | undefined;
  elsewhere?: Problem;
}

function inPlace(problem: Problem | null, wait: number): Said {
  if (problem === null || wait > 0 || problem.retryAfterSeconds !== null) return {};
  if (problem.code === "credentials_invalid") return { password: problem.message };
  if (problem.code === "conflict") return { email: problem.message };
  const { email, password } = problem.errors;
  return email || password ? { email, password } : { elsewhere: problem };
}
