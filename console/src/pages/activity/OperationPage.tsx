import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useParams } from "react-router";
import { type Operation, useOperation } from "../../api/queries/operations";
import { Ago } from "../../parts/Ago";
import { Copy } from "../../parts/Copy";
import { Link } from "../../parts/Link";
import { Page } from "../../parts/Page";
import { PhaseBars } from "../../parts/PhaseBars";
import { Label, OPERATION } from "../../parts/StatusLabel";
import { View } from "../../parts/View";
import { Took, useNames } from "./ActivityPage";
import { kindWords, placeOf } from "./words";

/** One operation, phase by phase, with the last that the node said in each. */
export function OperationPage() {
  const { projectId = "", operationId = "" } = useParams();
  const nameOf = useNames(projectId);
  const operation = useOperation(operationId);
  return (
    <Page
      title={operation.data ? kindWords(operation.data.kind) : "Operation"}
      about="Its phases with start, duration, who, and the last lines of the node. A phase that began and did not end is still under way."
      crumbs={[{ text: "Activity", href: `/projects/${projectId}/activity` }]}
    >
      <View of={operation} what="the operation">
        {(seen) => (
          <SpaceBetween size="l">
            <Summary operation={seen} nameOf={nameOf} />
            <Container header={<Header variant="h2">Phases</Header>}>
              <PhaseBars operation={seen} />
            </Container>
          </SpaceBetween>
        )}
      </View>
    </Page>
  );
}

function Summary({ operation, nameOf }: { operation: Operation; nameOf: (id: string) => string }) {
  const { id, project_id, subject_kind, subject_id, status, requested_by, started_at, reason } = operation;
  const place = placeOf(project_id, subject_kind, subject_id);
  const name = nameOf(subject_id);
  return (
    <Container>
      <KeyValuePairs
        columns={3}
        items={[
          { label: "Status", value: <Label look={OPERATION[status]} /> },
          { label: "On", value: place ? <Link to={place}>{name}</Link> : name },
          { label: "Took", value: <Took operation={operation} /> },
          { label: "Started", value: <Ago at={started_at} /> },
          { label: "By", value: nameOf(requested_by) },
          { label: "Id", value: <Copy text={id} what="operation id" /> },
          ...(reason ? [{ label: "Reason", value: reason }] : []),
        ]}
      />
    </Container>
  );
}
