import Autosuggest from "@cloudscape-design/components/autosuggest";
import { useState } from "react";
import { useNavigate } from "react-router";
import { useAllocations } from "../api/queries/allocations";
import { useMembers } from "../api/queries/members";
import { useNodes } from "../api/queries/nodes";
import type { Me } from "../api/queries/session";
import { useSshKeys } from "../api/queries/sshKeys";
import { useVolumes } from "../api/queries/volumes";
import { ALLOCATION, VOLUME } from "../parts/StatusLabel";
import { type Findable, find } from "./finding";
import { pagesFor } from "./Navigation";
import { may } from "./permissions";
import type { Project } from "./project";
import { SEARCH_LABEL } from "./shortcuts";

interface Props {
  me: Me;
  project: Project;
}

/** Finds pages and what the project has, by name or id. */
export function Search({ me, project }: Props) {
  const [text, setText] = useState("");
  const [isWanted, setIsWanted] = useState(false);
  const navigate = useNavigate();
  const groups = useFindable({ me, project, isWanted })
    .map(({ label, things }) => ({ label, things: find(things, text) }))
    .filter(({ things }) => things.length > 0);
  const go = (href: string | undefined) => {
    setText("");
    if (href) void navigate(href);
  };
  return (
    <Autosuggest
      value={text}
      filteringType="manual"
      hideEnteredTextOption
      options={groups.map(({ label, things }) => ({
        label,
        options: things.map(({ name, id, href, tag }) => ({
          value: href,
          label: name,
          ...(id === name || id === href ? {} : { description: id }),
          ...(tag ? { labelTag: tag } : {}),
        })),
      }))}
      onFocus={() => setIsWanted(true)}
      onChange={({ detail }) => setText(detail.value)}
      onSelect={({ detail }) => go(detail.value)}
      onKeyDown={({ detail }) => {
        if (detail.key === "Escape") (document.activeElement as HTMLElement | null)?.blur();
      }}
      placeholder="Search by name or id (press /)"
      ariaLabel={SEARCH_LABEL}
      enteredTextLabel={(entered) => `Look for "${entered}"`}
      empty="Nothing of that name or id"
      clearAriaLabel="Clear the search"
    />
  );
}

interface Group {
  label: string;
  things: Findable[];
}

/** Asked for when somebody begins to search, not before. */
function useFindable({ me, project, isWanted }: Props & { isWanted: boolean }): Group[] {
  const base = `/projects/${project.id}`;
  const machines = useAllocations(project.id).data ?? [];
  const volumes = useVolumes(project.id, isWanted).data ?? [];
  const keys = useSshKeys(isWanted).data ?? [];
  const members = useMembers(project.id, isWanted).data ?? [];
  const nodes = useNodes(isWanted && may(me, "fleet:read")).data ?? [];
  return [
    {
      label: "Machines",
      things: machines.map(({ id, name, status }) => ({
        name,
        id,
        href: `${base}/allocations/${id}`,
        tag: ALLOCATION[status][1],
      })),
    },
    {
      label: "Volumes",
      things: volumes.map(({ id, name, status }) => ({
        name,
        id,
        href: `${base}/volumes/${id}`,
        tag: VOLUME[status][1],
      })),
    },
    {
      label: "SSH keys",
      things: keys.map(({ title, fingerprint }) => ({ name: title, id: fingerprint, href: "/account/ssh-keys" })),
    },
    {
      label: "Members",
      things: members.map(({ user_id, email, role }) => ({
        name: email || user_id,
        id: user_id,
        href: `${base}/members/${user_id}`,
        tag: role,
      })),
    },
    {
      label: "Nodes",
      things: nodes.map(({ id, name, intent }) => ({ name, id, href: `/platform/nodes/${id}`, tag: intent })),
    },
    {
      label: "Pages",
      things: pagesFor(me, project).map(({ text: name, href }) => ({ name, id: href, href })),
    },
  ];
}
