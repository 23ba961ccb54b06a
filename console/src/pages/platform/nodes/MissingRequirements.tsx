import Alert from "@cloudscape-design/components/alert";
import type { Node } from "../../../api/queries/nodes";

/** Why a node offers no capacity although it answers. */
export function MissingRequirements({ node: { facts } }: { node: Node }) {
  const missing = facts?.missing ?? [];
  if (missing.length === 0) return null;
  return (
    <Alert type="error" header="This node offers no capacity">
      <p>Its agent reports that environments need something that the node lacks:</p>
      <ul>
        {missing.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
      <p>
        Nothing is removed from it. Environments that the node cannot look at are shown as unknown. Provide what is
        missing, then restart the agent.
      </p>
    </Alert>
  );
}
