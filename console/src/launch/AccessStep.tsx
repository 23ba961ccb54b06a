import Box from "@cloudscape-design/components/box";
import Checkbox from "@cloudscape-design/components/checkbox";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { SshKey } from "../api/queries/sshKeys";
import { AddKey } from "../parts/AddKey";
import type { StepProps } from "./step";

export function AccessStep(props: StepProps & { keys: readonly SshKey[] }) {
  const { keys, choice, change } = props;
  const added = ({ id }: SshKey) => change({ keyIds: [...choice.keys.map((key) => key.id), id] });
  if (keys.length === 0) {
    return (
      <Container
        header={
          <Header
            variant="h2"
            description="The machine opens to it, and to nothing else. It is kept for your next machines."
          >
            Add your first SSH key
          </Header>
        }
      >
        <FormField errorText={props.mistakes.keys} stretch>
          <AddKey onAdded={added} />
        </FormField>
      </Container>
    );
  }
  return (
    <SpaceBetween size="l">
      <Container header={<Header variant="h2">Keys that open it</Header>}>
        <KeyChoice {...props} />
      </Container>
      <ExpandableSection variant="container" headerText="Add another key">
        <AddKey onAdded={added} />
      </ExpandableSection>
    </SpaceBetween>
  );
}

function KeyChoice({ keys, choice, change, mistakes }: StepProps & { keys: readonly SshKey[] }) {
  const chosen = choice.keys.map(({ id }) => id);
  return (
    <FormField
      label="Your SSH keys"
      description="Only these admit. You can change them, and let others in with their own, while the machine runs."
      errorText={mistakes.keys}
      stretch
    >
      <SpaceBetween size="s">
        {keys.map((key) => (
          <Checkbox
            key={key.id}
            checked={chosen.includes(key.id)}
            onChange={({ detail }) =>
              change({ keyIds: detail.checked ? [...chosen, key.id] : chosen.filter((id) => id !== key.id) })
            }
            description={
              <Box variant="small" color="text-body-secondary">
                {key.type} · <code className="break-anywhere">{key.fingerprint}</code>
              </Box>
            }
          >
            {key.title}
          </Checkbox>
        ))}
      </SpaceBetween>
    </FormField>
  );
}
