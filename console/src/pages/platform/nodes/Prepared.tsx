import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import type { Node } from "../../../api/queries/nodes";
import { Ago } from "../../../parts/Ago";
import { IMAGE, Label } from "../../../parts/StatusLabel";

type Image = NonNullable<Node["image"]>;

/** What new environments start from, and those that are prepared in advance. */
export function Prepared({ node: { image, spares } }: { node: Node }) {
  return (
    <Container header={<Header variant="h2">Base image and spares</Header>}>
      <KeyValuePairs
        columns={3}
        minColumnWidth={240}
        items={[
          { label: "Base image of new environments", value: image ? <Version image={image} /> : "Not reported" },
          { label: "Package updates", value: image ? <Updates image={image} /> : "Not reported" },
          { label: "Spares", value: spares ? <Spares spares={spares} /> : "Not reported" },
        ]}
      />
    </Container>
  );
}

function Version({ image: { version, distribution, python, built_at } }: { image: Image }) {
  return (
    <>
      <div>
        {distribution}, Python {python}, built <Ago at={built_at} />
      </div>
      <code>{version}</code>
    </>
  );
}

function Updates({ image: { checked_at, max_age_days, outdated_since, failure } }: { image: Image }) {
  const isLate = Boolean(outdated_since);
  const state = failure ? "failed" : isLate ? "outdated" : "fresh";
  return (
    <>
      {(max_age_days > 0 || failure) && <Label look={IMAGE[state]} />}
      <Box color="text-body-secondary">
        {max_age_days === 0 && "The agent does not rebuild it by itself. "}
        {isLate && `Not rebuilt or compared with the package sources in ${max_age_days} d. `}
        {checked_at && (
          <>
            Compared with the package sources <Ago at={checked_at} />.{" "}
          </>
        )}
        {failure && (
          <details>
            <summary>What the last rebuild said</summary>
            <pre style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
              <code>{failure}</code>
            </pre>
          </details>
        )}
        {isLate && !failure && "The agent rebuilds it within six hours."}
      </Box>
    </>
  );
}

/** The counts begin with the start of the agent. */
function Spares({ spares: { ready = [], used = 0, discarded = 0, detail } }: { spares: NonNullable<Node["spares"]> }) {
  return (
    <>
      <div>
        {ready.length} ready, {used} used, {discarded} discarded
      </div>
      {discarded > 0 && detail && <Box color="text-body-secondary">Last discarded: {detail}</Box>}
    </>
  );
}
