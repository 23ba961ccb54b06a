import Box from "@cloudscape-design/components/box";
import type { Allocation } from "../../api/queries/allocations";
import { capabilityWords, nestingWords } from "../../parts/confinementWords";

/** What keeps the person inside apart, as found in force; what is missing is said as plainly as what is there. */
export function IsolationWords({ allocation: { isolation } }: { allocation: Allocation }) {
  if (!isolation) return <>Not reported yet</>;
  const { namespaces, network, no_new_privileges, limits = {}, missing = {} } = isolation;
  const absent = Object.entries(missing);
  return (
    <details>
      <summary>
        {namespaces.length} own namespaces, {network === "own" ? "own network" : "the node's network"}
        {absent.length > 0 && `, ${absent.length} not in force`}
      </summary>
      <Box variant="small">
        <div>Own: {namespaces.join(", ") || "nothing"}</div>
        <div>New privileges: {no_new_privileges ? "cannot be gained" : "can be gained"}</div>
        <div>Seccomp mode: {isolation.seccomp || "not read"}</div>
        <div>
          {nestingWords(isolation)}; {capabilityWords(isolation)}
        </div>
        {Object.entries(limits).map(([what, how]) => (
          <div key={what}>
            {what}: {how}
          </div>
        ))}
        {absent.map(([what, why]) => (
          <div key={what}>
            Not in force: {what}, because {why}
          </div>
        ))}
      </Box>
    </details>
  );
}
