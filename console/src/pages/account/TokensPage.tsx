import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { type Token, useRevokeToken, useTokens } from "../../api/queries/tokens";
import { notify } from "../../frame/notices";
import { Ago, Until } from "../../parts/Ago";
import { Consequences } from "../../parts/Consequences";
import { type Column, DataTable } from "../../parts/DataTable";
import { Dialog } from "../../parts/Dialog";
import { Page } from "../../parts/Page";
import { View } from "../../parts/View";
import { CreateTokenDialog } from "./CreateTokenDialog";

const FILTERS = [{ key: "title", propertyLabel: "Title", groupValuesLabel: "Titles" }];

export function TokensPage() {
  const tokens = useTokens();
  const [isCreating, setIsCreating] = useState(false);
  const [revoking, setRevoking] = useState<Token | null>(null);
  const create = (
    <Button variant="primary" onClick={() => setIsCreating(true)}>
      Create a token
    </Button>
  );
  return (
    <Page
      title="Tokens"
      about="A personal token lets a script act as you, within its scopes and until it runs out. It is shown once, and can be revoked at any time."
    >
      <View of={tokens} what="tokens">
        {(rows) => (
          <DataTable
            id="tokens"
            isLastSticky
            title="Tokens"
            what="tokens"
            rows={rows}
            rowId={({ id }) => id}
            columns={columns(setRevoking)}
            filters={FILTERS}
            sorted={{ by: "created", descending: true }}
            actions={create}
            empty={
              <Box textAlign="center" padding="l">
                <SpaceBetween size="s">
                  <Box variant="h3">No token yet</Box>
                  <Box>Scripts, notebooks and pipelines sign in with one instead of your password.</Box>
                  {create}
                </SpaceBetween>
              </Box>
            }
          />
        )}
      </View>
      {isCreating && <CreateTokenDialog onClose={() => setIsCreating(false)} />}
      {revoking && <RevokeDialog token={revoking} onClose={() => setRevoking(null)} />}
    </Page>
  );
}

function columns(onRevoke: (token: Token) => void): Column<Token>[] {
  return [
    { id: "title", header: "Title", sortingField: "title", cell: ({ title }) => title },
    { id: "scopes", header: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
    { id: "created", header: "Created", sortingField: "created_at", cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      id: "until",
      header: "Runs out",
      sortingField: "expires_at",
      cell: ({ expires_at }) => <Until at={expires_at} />,
    },
    {
      id: "actions",
      header: "Actions",
      cell: (token) => (
        <Button variant="inline-link" ariaLabel={`Revoke ${token.title}`} onClick={() => onRevoke(token)}>
          Revoke
        </Button>
      ),
    },
  ];
}

function RevokeDialog({ token, onClose }: { token: Token; onClose: () => void }) {
  const revoke = useRevokeToken();
  const done = () => {
    notify("success", `${token.title} is revoked`);
    onClose();
  };
  return (
    <Dialog
      title={`Revoke ${token.title}?`}
      confirm="Revoke"
      onConfirm={() => revoke.mutate(token.id, { onSuccess: done })}
      onCancel={onClose}
      isPending={revoke.isPending}
      error={revoke.error}
    >
      <Consequences
        lost="Whatever uses this token is refused from now on. It cannot be brought back; make a new one instead."
        stays="What was made with it: machines, volumes, keys. Your sessions and other tokens."
      />
    </Dialog>
  );
}
