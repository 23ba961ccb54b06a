import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { type FormEvent, useState } from "react";
import { asProblem } from "../../../api/problem";
import { type EnrolmentToken, useCreateEnrolmentToken, useNode } from "../../../api/queries/nodes";
import { Until, useNow } from "../../../parts/Ago";
import { Command } from "../../../parts/Command";
import { Link } from "../../../parts/Link";
import { Page } from "../../../parts/Page";
import { ProblemAlert } from "../../../parts/ProblemAlert";
import { NODES, PLATFORM } from "../paths";

const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
const NAME_WORDS = "Lower case letters, digits and hyphens, 63 at most.";

/** A token for one machine, and exactly what to type there. */
export function EnrolPage() {
  const [name, setName] = useState("");
  const [region, setRegion] = useState("local");
  const [isTried, setTried] = useState(false);
  const create = useCreateEnrolmentToken();
  const isWrong = (value: string) => isTried && !NAME.test(value) && NAME_WORDS;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (NAME.test(name) && NAME.test(region)) create.mutate({ node_name: name, region, ttl_seconds: 300 });
  };
  return (
    <Page
      title="Enrol a machine"
      about="The token makes one machine a node, once, within five minutes. The node's key is made on the machine and never leaves it."
      crumbs={[PLATFORM, NODES]}
    >
      <SpaceBetween size="l">
        <form onSubmit={submit}>
          <Form
            actions={
              <Button variant={create.data ? "normal" : "primary"} loading={create.isPending} formAction="submit">
                {create.data ? "Make another token" : "Make a token"}
              </Button>
            }
          >
            <Container header={<Header variant="h2">The node to be</Header>}>
              <ColumnLayout columns={2}>
                <FormField
                  label="Name"
                  description="What the node will be called, as in gpu-07."
                  errorText={isWrong(name)}
                >
                  <Input value={name} autoFocus onChange={({ detail }) => setName(detail.value.trim())} />
                </FormField>
                <FormField
                  label="Region"
                  description="Where it stands; people may ask for it."
                  errorText={isWrong(region)}
                >
                  <Input value={region} onChange={({ detail }) => setRegion(detail.value.trim())} />
                </FormField>
              </ColumnLayout>
            </Container>
          </Form>
        </form>
        {create.error && <ProblemAlert problem={asProblem(create.error)} />}
        {create.data && <Made key={create.data.token} made={create.data} name={name} />}
      </SpaceBetween>
    </Page>
  );
}

function Made({ made, name }: { made: EnrolmentToken; name: string }) {
  const node = useNode(made.node_id).data;
  const isLate = useNow() > Date.parse(made.expires_at);
  const hasCome = node !== undefined && node.intent !== "enrolling";
  if (hasCome) {
    return (
      <Alert type="success" header={`${node.name} has enrolled`}>
        It found {node.slots?.length ?? 0} slots. Nothing is sold before you approve it:{" "}
        <Link to={`/platform/nodes/${node.id}`}>look at its slots</Link>. Then start its agent, as below.
        <Command text={startCommand(name)} what="the command that starts the agent" />
      </Alert>
    );
  }
  if (isLate) return <Alert type="warning">The token has run out unused. Make another with the same name.</Alert>;
  return (
    <Container
      header={
        <Header variant="h2" description="Shown this once. It is good for one machine.">
          On the machine
        </Header>
      }
      footer={
        <StatusIndicator type="in-progress">
          Waiting for the machine; the token runs out <Until at={made.expires_at} />
        </StatusIndicator>
      }
    >
      <SpaceBetween size="s">
        <Command
          text={`gpuaas agent enrol --server ${window.location.origin} --token ${made.token}`}
          what="the command that enrols the machine"
        />
        <div>Then start its agent, with the name people reach the machine by:</div>
        <Command text={startCommand(name)} what="the command that starts the agent" />
      </SpaceBetween>
    </Container>
  );
}

function startCommand(name: string): string {
  return `gpuaas agent --bind 0.0.0.0 --ssh-host ${name}.example.org`;
}
