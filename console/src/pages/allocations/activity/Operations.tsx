import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import type { Allocation } from "../../../api/queries/allocations";
import { usePerson } from "../../../api/queries/members";
import { type Operation, useOperation, useOperationsOf } from "../../../api/queries/operations";
import { shortDuration, useNow } from "../../../parts/Ago";
import { phaseWords } from "../../../parts/bars";
import { PhaseBars } from "../../../parts/PhaseBars";
import { Label, OPERATION } from "../../../parts/StatusLabel";
import { View } from "../../../parts/View";

const FIRST = 5;

/** Everything long that was ever done to the machine, newest first, each with its phases as a picture. */
export function Operations({ allocation }: { allocation: Allocation }) {
  const [isAll, setIsAll] = useState(false);
  return (
    <View of={useOperationsOf(allocation.project_id, allocation.id)} what="operations">
      {(operations) => (
        <Container
          header={
            <Header
              counter={`(${operations.length})`}
              description="What was done to it, phase by phase, with how long each took."
            >
              Operations
            </Header>
          }
        >
          <SpaceBetween size="xs">
            {operations.slice(0, isAll ? undefined : FIRST).map((operation, place) => (
              <OperationRow key={operation.id} operation={operation} isFirst={place === 0} />
            ))}
            {operations.length === 0 && <Box color="text-body-secondary">Nothing was done to it yet.</Box>}
            {!isAll && operations.length > FIRST && (
              <Button variant="inline-link" onClick={() => setIsAll(true)}>
                Show all {operations.length}
              </Button>
            )}
          </SpaceBetween>
        </Container>
      )}
    </View>
  );
}

function OperationRow({ operation, isFirst }: { operation: Operation; isFirst: boolean }) {
  const [isOpen, setIsOpen] = useState(isFirst);
  const person = usePerson(operation.project_id);
  const took = useTook(operation);
  return (
    <ExpandableSection
      expanded={isOpen}
      onChange={({ detail }) => setIsOpen(detail.expanded)}
      headerText={
        <>
          {phaseWords(operation.kind)}&ensp;
          <Box display="inline" fontWeight="normal">
            <Label look={OPERATION[operation.status]} />
          </Box>
        </>
      }
      headerDescription={`${new Date(operation.started_at).toLocaleString()} by ${who(operation.requested_by, person)}, ${took}`}
    >
      {operation.status === "failed" && operation.reason && (
        <Box color="text-status-error" padding={{ bottom: "xs" }}>
          {operation.reason}
        </Box>
      )}
      {isOpen && <Phases operation={operation} />}
    </ExpandableSection>
  );
}

/** A machine that crashed is booted again by its node, without anybody asking. */
function who(id: string, person: (id: string) => string): string {
  return id.startsWith("node_") ? "its node" : person(id);
}

function Phases({ operation }: { operation: Operation }) {
  return (
    <View of={useOperation(operation.id, operation.subject_id)} what="phases">
      {(seen) => <PhaseBars operation={seen} />}
    </View>
  );
}

function useTook({ started_at, ended_at }: Operation): string {
  const now = useNow();
  const end = ended_at ? Date.parse(ended_at) : now;
  const seconds = Math.max(0, end - Date.parse(started_at)) / 1_000;
  return ended_at ? `took ${shortDuration(seconds)}` : `for ${shortDuration(seconds)} so far`;
}
