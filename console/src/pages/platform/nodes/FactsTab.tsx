import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import type { Node, NodeFacts } from "../../../api/queries/nodes";
import { bytes, MIB } from "../../../parts/bytes";

/** What the agent found, and how: advice, not what is sold. */
export function FactsTab({ node: { facts, disk } }: { node: Node }) {
  if (!facts) return <Box padding="l">Its agent has not told anything yet.</Box>;
  return (
    <SpaceBetween size="l">
      <Container
        header={
          <Header variant="h2" description="Found by the agent when it opened its link; only approved slots are sold">
            Host
          </Header>
        }
      >
        <KeyValuePairs
          columns={4}
          items={[
            { label: "vCPUs", value: facts.vcpus },
            { label: "Memory", value: bytes(facts.memory_mib * MIB) },
            { label: "People reach it at", value: <code>{facts.ssh_host}</code> },
            { label: "GPUs", value: `${facts.gpus?.length ?? 0}${facts.simulated ? ", simulated" : ""}` },
            { label: "Disk", value: diskWords(disk) },
            { label: "Engine offers", value: offers(facts) },
            { label: "Missing", value: facts.missing?.join(", ") || "Nothing" },
          ]}
        />
      </Container>
      <Facts facts={facts} />
      <Gpus facts={facts} />
    </SpaceBetween>
  );
}

function diskWords(disk: Node["disk"]): string {
  if (!disk || disk.size_gib === null || disk.size_gib === undefined) return "Not reported, so not counted";
  const factor = disk.overcommit === 1 ? "" : `, overcommit ${disk.overcommit}`;
  const low = disk.is_low ? "; almost full, so nothing is sold" : "";
  return `${disk.size_gib} GiB, ${disk.free_gib} GiB free; ${disk.sold_gib} of ${disk.for_sale_gib} GiB sold${factor}${low}`;
}

function offers({ capabilities }: NodeFacts): string {
  const { disk_limit, ...others } = capabilities ?? {};
  const names = Object.entries(others).flatMap(([name, has]) => (has ? [name.replaceAll("_", " ")] : []));
  return [...names, ...(disk_limit ? [`disk limit: ${disk_limit}`] : [])].join(", ") || "Nothing declared";
}

function Facts({ facts: { facts = {} } }: { facts: NodeFacts }) {
  const items = Object.entries(facts).map(([name, { value, source }]) => ({ name, value, source }));
  return (
    <Table
      header={<Header variant="h2">Facts</Header>}
      items={items}
      trackBy="name"
      columnDefinitions={[
        { id: "name", header: "Fact", cell: ({ name }) => name.replaceAll("_", " "), isRowHeader: true },
        { id: "value", header: "Value", cell: ({ value }) => value },
        { id: "source", header: "Found by", cell: ({ source }) => <code>{source}</code> },
      ]}
      ariaLabels={{ tableLabel: "Facts" }}
      wrapLines
      empty={<Box textAlign="center">None told.</Box>}
    />
  );
}

function resetWords(reset: NonNullable<NodeFacts["gpus"]>[number]["reset"]): string {
  if (!reset) return "Not reported";
  const { method, detail, together = [] } = reset;
  const also = together.length > 0 ? `with ${together.join(", ")}` : "";
  return [method ? `Yes, by ${method}` : "No", also, detail].filter(Boolean).join("; ");
}

function Gpus({ facts: { gpus = [] } }: { facts: NodeFacts }) {
  return (
    <Table
      header={<Header variant="h2">GPUs</Header>}
      items={gpus}
      trackBy="gpu_uuid"
      columnDefinitions={[
        { id: "index", header: "Number", cell: ({ index }) => index, isRowHeader: true },
        {
          id: "family",
          header: "Family",
          cell: ({ family, simulated }) => `${family}${simulated ? " (simulated)" : ""}`,
        },
        { id: "memory", header: "Memory", cell: ({ memory_mib }) => bytes(memory_mib * MIB) },
        { id: "pci", header: "PCI", cell: ({ gpu_pci }) => <code>{gpu_pci}</code> },
        { id: "uuid", header: "UUID", cell: ({ gpu_uuid }) => <code>{gpu_uuid}</code> },
        { id: "numa", header: "NUMA", cell: ({ numa }) => numa ?? "–" },
        { id: "reset", header: "Reset after use", cell: ({ reset }) => resetWords(reset) },
        { id: "source", header: "Found by", cell: ({ source }) => <code>{source}</code> },
      ]}
      ariaLabels={{ tableLabel: "GPUs" }}
      wrapLines
      empty={<Box textAlign="center">None found.</Box>}
    />
  );
}
