import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Toggle from "@cloudscape-design/components/toggle";
import { useState } from "react";
import { type AccessGrant, useAccessGrants } from "../../../api/queries/access";
import type { Allocation } from "../../../api/queries/allocations";
import { Ago, Until } from "../../../parts/Ago";
import { type Column, DataTable } from "../../../parts/DataTable";
import { GRANT, Label } from "../../../parts/StatusLabel";
import { View } from "../../../parts/View";
import { ChooseKeyDialog, EndTimeDialog, RevokeDialog } from "./GrantDialogs";
import { type GrantVerb, isLive, nextWords, verbsOf } from "./grants";
import { HandOverDialog } from "./HandOverDialog";
import { Fingerprint } from "./KeysCard";
import type { Rights } from "./rights";
import { AskDialog, ShareDialog } from "./ShareDialogs";

interface Props {
  allocation: Allocation;
  rights: Rights;
  myId: string;
}

type Asked = { verb: GrantVerb; grant: AccessGrant } | { verb: "share" | "ask" | "handover" };

/** Who was given the machine, who asks for it, and what can be done about it. */
export function GrantsCard({ allocation, rights, myId }: Props) {
  const grants = useAccessGrants(allocation.id);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [isAll, setAll] = useState(false);
  const isMineLive = grants.data?.some((grant) => isLive(grant) && grant.user_id === myId) ?? false;
  const columns = columnsFor(rights, myId, (verb, grant) => setAsked({ verb, grant }));
  const actions = (
    <SpaceBetween direction="horizontal" size="xs">
      {rights.works && !rights.isHolder && !isMineLive && (
        <Button onClick={() => setAsked({ verb: "ask" })}>Ask for access</Button>
      )}
      {rights.decides && <Button onClick={() => setAsked({ verb: "handover" })}>Hand over</Button>}
      {rights.decides && (
        <Button variant="primary" onClick={() => setAsked({ verb: "share" })}>
          Share
        </Button>
      )}
    </SpaceBetween>
  );
  return (
    <View of={grants} what="grants">
      {(all) => (
        <>
          <DataTable
            id="access-grants"
            title="Shared with"
            what="grants"
            rows={isAll ? all : all.filter(isLive)}
            rowId={(grant) => grant.id}
            columns={columns}
            isPlain
            isLastSticky
            actions={actions}
            description={
              all.some((grant) => !isLive(grant)) && (
                <Toggle checked={isAll} onChange={({ detail }) => setAll(detail.checked)}>
                  Also what is over
                </Toggle>
              )
            }
            empty={
              <Box textAlign="center" padding="s">
                Only its holder. {rights.decides && "Share it with a member; they come in with a key of their own."}
              </Box>
            }
          />
          {asked && <Asking asked={asked} allocation={allocation} myId={myId} onDone={() => setAsked(null)} />}
        </>
      )}
    </View>
  );
}

function Asking({ asked, ...rest }: { asked: Asked; allocation: Allocation; myId: string; onDone: () => void }) {
  switch (asked.verb) {
    case "share":
      return <ShareDialog {...rest} asker={null} />;
    case "approve":
      return <ShareDialog {...rest} asker={asked.grant} />;
    case "ask":
      return <AskDialog {...rest} />;
    case "handover":
      return <HandOverDialog {...rest} />;
    case "choose":
      return <ChooseKeyDialog {...rest} grant={asked.grant} />;
    case "end":
      return <EndTimeDialog {...rest} grant={asked.grant} />;
    case "refuse":
    case "revoke":
      return <RevokeDialog {...rest} grant={asked.grant} />;
  }
}

function columnsFor(
  rights: Rights,
  myId: string,
  onVerb: (verb: GrantVerb, grant: AccessGrant) => void,
): readonly Column<AccessGrant>[] {
  return [
    {
      id: "email",
      header: "Person",
      sortingField: "email",
      cell: (grant) => (grant.user_id === myId ? "You" : grant.email),
    },
    {
      id: "status",
      header: "Status",
      sortingField: "status",
      cell: (grant) => <GrantStatus grant={grant} isMine={grant.user_id === myId} />,
    },
    {
      id: "key",
      header: "Key",
      cell: ({ key_fingerprint }) => (key_fingerprint ? <Fingerprint of={key_fingerprint} /> : "None yet"),
    },
    { id: "since", header: "Since", sortingField: "status_since", cell: (grant) => <Ago at={grant.status_since} /> },
    {
      id: "until",
      header: "Until",
      sortingField: "expires_at",
      cell: (grant) =>
        grant.expires_at && isLive(grant) ? <Until at={grant.expires_at} /> : isLive(grant) ? "No end" : "Over",
    },
    {
      id: "actions",
      header: "Actions",
      minWidth: 190,
      cell: (grant) => (
        <SpaceBetween direction="horizontal" size="s">
          {verbsOf(grant, rights, myId).map(([verb, words]) => (
            <Button
              key={verb}
              variant="inline-link"
              ariaLabel={`${words}: ${grant.email}`}
              onClick={() => onVerb(verb, grant)}
            >
              {words}
            </Button>
          ))}
        </SpaceBetween>
      ),
    },
  ];
}

function GrantStatus({ grant, isMine }: { grant: AccessGrant; isMine: boolean }) {
  const words = nextWords(grant, isMine);
  return (
    <>
      <Label look={GRANT[grant.status]} />
      {words && (
        <Box color="text-body-secondary" fontSize="body-s">
          {words}
        </Box>
      )}
    </>
  );
}
