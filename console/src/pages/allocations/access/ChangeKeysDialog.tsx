import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Checkbox from "@cloudscape-design/components/checkbox";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { asProblem } from "../../../api/problem";
import { type AllocationKeys, useSetKeys } from "../../../api/queries/access";
import type { Allocation } from "../../../api/queries/allocations";
import { useSshKeys } from "../../../api/queries/sshKeys";
import { Ask } from "../../../parts/Ask";
import { Link } from "../../../parts/Link";
import { View } from "../../../parts/View";
import type { Rights } from "./rights";

interface Props {
  allocation: Allocation;
  keys: AllocationKeys;
  rights: Rights;
  onDone: () => void;
}

/** The holder chooses among their own; who leads the project may only take some away. */
export function ChangeKeysDialog({ allocation, keys, rights, onDone }: Props) {
  const mine = useSshKeys();
  const [chosen, setChosen] = useState<readonly string[]>(keys.ssh_key_ids);
  const [isMeant, setMeant] = useState(false);
  const change = useSetKeys(allocation.id);
  const isRefused = change.isError && asProblem(change.error).code === "no_way_in";
  const put = (id: string, isOn: boolean) => setChosen(isOn ? [...chosen, id] : chosen.filter((each) => each !== id));
  const body = { ssh_key_ids: [...chosen], confirm_no_way_in: isMeant };
  return (
    <Ask
      title={`Keys that open ${allocation.name}`}
      verb="Change keys"
      onConfirm={() => change.mutate(body, { onSuccess: onDone })}
      onClose={onDone}
      asked={change}
    >
      <View
        of={mine}
        what="your keys"
        isEmpty={(all) => rights.isHolder && all.length === 0}
        empty={
          <>
            You have no SSH key yet. <Link to="/account/ssh-keys">Add one</Link>, then choose it here.
          </>
        }
      >
        {(all) => {
          const theirs = keys.ssh_key_ids.filter((id) => !all.some((key) => key.id === id));
          return (
            <SpaceBetween size="s">
              {rights.isHolder &&
                all.map(({ id, title, fingerprint }) => (
                  <Checkbox
                    key={id}
                    checked={chosen.includes(id)}
                    onChange={({ detail }) => put(id, detail.checked)}
                    description={<code className="fingerprint">{fingerprint}</code>}
                  >
                    {title}
                  </Checkbox>
                ))}
              {theirs.map((id, index) => (
                <Checkbox key={id} checked={chosen.includes(id)} onChange={({ detail }) => put(id, detail.checked)}>
                  Key {index + 1} of the holder
                </Checkbox>
              ))}
              {!rights.isHolder && (
                <Box color="text-body-secondary">
                  You can take keys away. To get in yourself, share the machine with yourself.
                </Box>
              )}
            </SpaceBetween>
          );
        }}
      </View>
      <Alert>Sessions of a key that you take away are cut within seconds. What is granted to others stays.</Alert>
      {isRefused && (
        <Checkbox checked={isMeant} onChange={({ detail }) => setMeant(detail.checked)}>
          I mean it: nobody is to log in by SSH
        </Checkbox>
      )}
    </Ask>
  );
}
