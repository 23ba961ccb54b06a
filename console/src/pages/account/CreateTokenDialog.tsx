import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { useMe } from "../../api/queries/session";
import { type Scope, useCreateToken } from "../../api/queries/tokens";
import { may } from "../../frame/permissions";
import { CopyLine } from "../../parts/Copy";
import { Dialog } from "../../parts/Dialog";
import { OwnQuotaLeft } from "../../parts/QuotaLeft";

const SCOPES: Record<Scope, string> = {
  read: "See what you can see",
  write: "Launch, change, release and share as you may",
  admin: "Operate the platform, as your role there allows",
};
const DAYS = [7, 30, 90, 365];

/** Title, scopes and days; then the secret, once. */
export function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const me = useMe().data;
  const [title, setTitle] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
  const [days, setDays] = useState(30);
  const create = useCreateToken();
  if (create.data) return <Secret token={create.data.token} title={create.data.details.title} onClose={onClose} />;
  const offered = (Object.keys(SCOPES) as Scope[]).filter(
    (scope) => me?.scopes.includes(scope) && (scope !== "admin" || may(me, "fleet:read")),
  );
  const submit = () => create.mutate({ title: title.trim(), scopes: [...scopes], expires_in_days: days });
  return (
    <Dialog
      title="Create a token"
      confirm="Create"
      onConfirm={submit}
      onCancel={onClose}
      isPending={create.isPending}
      isReady={title.trim() !== "" && scopes.length > 0}
      error={create.error}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (title.trim() && scopes.length > 0) submit();
        }}
      >
        <FormField label="Title" description="What it is for, to know later whether it is still needed." stretch>
          <Input
            value={title}
            onChange={({ detail }) => setTitle(detail.value)}
            placeholder="nightly training"
            autoFocus
          />
        </FormField>
      </form>
      <FormField label="Scopes" description="What it may do at most; your roles bound it too." stretch>
        <SpaceBetween size="xs">
          {offered.map((scope) => (
            <Checkbox
              key={scope}
              checked={scopes.includes(scope)}
              description={SCOPES[scope]}
              onChange={({ detail }) =>
                setScopes(detail.checked ? [...scopes, scope] : scopes.filter((each) => each !== scope))
              }
            >
              {scope}
            </Checkbox>
          ))}
        </SpaceBetween>
      </FormField>
      <FormField label="Runs out after" stretch>
        <SegmentedControl
          label="Runs out after"
          selectedId={`${days}`}
          onChange={({ detail }) => setDays(Number(detail.selectedId))}
          options={DAYS.map((count) => ({ id: `${count}`, text: `${count} days` }))}
        />
      </FormField>
      <OwnQuotaLeft of={["tokens"]} />
    </Dialog>
  );
}

/** It is nowhere else: who closes this without having copied it makes another. */
function Secret({ token, title, onClose }: { token: string; title: string; onClose: () => void }) {
  return (
    <Modal
      visible
      header={`${title} is ready`}
      closeAriaLabel="Close"
      onDismiss={({ detail }) => detail.reason !== "overlay" && onClose()}
      footer={
        <Box float="right">
          <Button variant="primary" onClick={onClose}>
            I have copied it
          </Button>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Alert type="warning">Copy it now. It is shown only this once, and nobody can look it up again.</Alert>
        <CopyLine label="Token" what="the token" text={token} />
        <CopyLine
          label="For the gpuaas command"
          note="Also for what is made with the Python library."
          what="the command"
          text={`export GPUAAS_TOKEN=${token}`}
        />
      </SpaceBetween>
    </Modal>
  );
}
