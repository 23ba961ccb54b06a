import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import type { Node, NodeFacts } from "../../../api/queries/nodes";
import { bytes, MIB } from "../../../parts/bytes";

/** What the agent found, and how: advice, not what is sold. */
export function FactsTab({ node: { facts } }: { node: Node }) {
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
          ]}
        />
      </Container>
      <Facts facts={facts} />
      <Gpus facts={facts} />
    </SpaceBetween>
  );
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
        { id: "source", header: "Found by", cell: ({ source }) => <code>{source}</code> },
      ]}
      ariaLabels={{ tableLabel: "GPUs" }}
      wrapLines
      empty={<Box textAlign="center">None found.</Box>}
    />
  );
}
