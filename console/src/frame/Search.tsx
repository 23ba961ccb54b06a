import Autosuggest from "@cloudscape-design/components/autosuggest";
import { useState } from "react";
import { useNavigate } from "react-router";
import { useAllocations } from "../api/queries/allocations";
import type { Project } from "./project";

/** Finds what the project has by name or id. */
export function Search({ project }: { project: Project }) {
  const [value, setValue] = useState("");
  const navigate = useNavigate();
  const allocations = useAllocations(project.id).data ?? [];
  const options = allocations.map(({ id, name, status }) => ({
    value: `/projects/${project.id}/allocations/${id}`,
    label: name,
    description: id,
    tags: ["machine", status],
  }));
  return (
    <Autosuggest
      value={value}
      options={options}
      onChange={({ detail }) => setValue(detail.value)}
      onSelect={({ detail }) => {
        setValue("");
        if (detail.value.startsWith("/")) void navigate(detail.value);
      }}
      placeholder="Search by name or id"
      ariaLabel="Search"
      empty="Nothing of that name or id"
      enteredTextLabel={(text) => `Look for "${text}"`}
    />
  );
}
