import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Link from "@cloudscape-design/components/link";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { Navigate, useLocation, useNavigate, useSearchParams } from "react-router";
import { useMe } from "../../api/queries/session";
import { useKept } from "../../parts/kept";
import { safeNext } from "./next";
import { PersonalForm } from "./PersonalForm";
import { WorkForm } from "./WorkForm";
import "./login.css";

type Tab = "work" | "personal";

/** Who comes from a page of ours goes back to it; `new` in the address opens the sign-up. */
export function LoginPage() {
  const [params] = useSearchParams();
  const { hash } = useLocation(); // an invitation's secret stays in the fragment
  const navigate = useNavigate();
  const me = useMe();
  const [tab, setTab] = useKept<Tab>("login-tab", "personal");
  const isNew = params.has("new");
  const next = safeNext(params.get("next")) + hash;
  if (me.data && !me.isError) return <Navigate to={next} replace />;
  const toggle = () => {
    const changed = new URLSearchParams(params);
    if (isNew) changed.delete("new");
    else changed.set("new", "1");
    changed.delete("left");
    void navigate({ search: `?${changed}`, hash }, { replace: true });
  };
  return (
    <div className="login">
      <title>{isNew ? "Sign up · GPUaaS" : "Sign in · GPUaaS"}</title>
      <Welcome />
      <main className="login-side">
        <div className="login-card">
          <SpaceBetween size="l">
            <div>
              <img className="login-mark" src="/mark.svg" alt="" width="44" height="44" />
              <Box variant="h1">{isNew ? "Make your account" : "Sign in to GPUaaS"}</Box>
              <Box color="text-body-secondary">
                {isNew ? "It comes with a project of your own. Team-mates can join later." : "Good to see you."}
              </Box>
            </div>
            {params.has("left") && <Alert type="success">You are signed out. Your other tabs are too.</Alert>}
            {next !== "/" && !params.has("left") && <Alert>Sign in to go on to where you were going.</Alert>}
            <Container>
              {isNew ? (
                <PersonalForm isNew footer={<Other text="You have an account?" link="Sign in" onFollow={toggle} />} />
              ) : (
                <Tabs
                  activeTabId={tab}
                  onChange={({ detail }) => setTab(detail.activeTabId as Tab)}
                  ariaLabel="Ways to sign in"
                  tabs={[
                    { id: "work", label: "Work", content: <WorkForm onPersonal={() => setTab("personal")} /> },
                    {
                      id: "personal",
                      label: "Personal",
                      content: (
                        <PersonalForm footer={<Other text="New here?" link="Make an account" onFollow={toggle} />} />
                      ),
                    },
                  ]}
                />
              )}
            </Container>
          </SpaceBetween>
        </div>
      </main>
    </div>
  );
}

function Other({ text, link, onFollow }: { text: string; link: string; onFollow: () => void }) {
  return (
    <Box textAlign="center" color="text-body-secondary">
      {text} <Link onFollow={onFollow}>{link}</Link>
    </Box>
  );
}

function Welcome() {
  return (
    <aside className="login-welcome" aria-label="About GPUaaS">
      <div className="login-brand">
        <img src="/mark.svg" alt="" width="32" height="32" />
        GPUaaS
      </div>
      <div>
        <p className="login-claim">A GPU machine in under a second, with your own SSH key.</p>
        <ul className="login-facts">
          <li>Restart it, resize it, share it: your data and your team-mates stay.</li>
          <li>What you see was observed, with its time. A simulated GPU says so.</li>
          <li>Everything here can also be done with the gpuaas command and the API.</li>
        </ul>
      </div>
      <div className="login-bars" aria-hidden="true">
        {[0.9, 0.7, 0.5, 0.35, 0.22, 0.14, 0.08].map((opacity) => (
          <span key={opacity} style={{ opacity }} />
        ))}
      </div>
    </aside>
  );
}
