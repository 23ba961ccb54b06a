import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Node } from "../../../api/queries/nodes";
import { Link } from "../../../parts/Link";
import { INTENT, Label } from "../../../parts/StatusLabel";
import { Reach, reachOf } from "../nodes/Reach";
import { byRegion, FACE_ORDER, FACES, faceOf, inWords, type Tally, tally } from "./faces";
import "./fleet.css";

/** The node's slots as squares, in their order. */
export function SlotRow({ node }: { node: Node }) {
  return (
    <ul className="slots slot-row" aria-label={`Slots of ${node.name}`}>
      {(node.slots ?? []).map((mark) => {
        const face = faceOf(mark, node);
        const words = `Slot ${mark.index}, ${mark.gpu_family}: ${FACES[face].words.toLowerCase()}`;
        return (
          <li key={mark.index}>
            <span
              className="slot"
              data-face={face}
              role="img"
              aria-label={words}
              title={`${words}. ${FACES[face].means}.`}
            />
          </li>
        );
      })}
    </ul>
  );
}

/** What each square means, and how many of it there are. */
export function Legend({ counts }: { counts: Tally }) {
  return (
    <ul className="slots slot-legend" aria-label="What the squares mean">
      {FACE_ORDER.map((face) => (
        <li key={face} title={FACES[face].means}>
          <span className="slot" data-face={face} aria-hidden="true" />
          <span>
            {FACES[face].words} <Box variant="strong">{counts[face]}</Box>
          </span>
        </li>
      ))}
    </ul>
  );
}

export function SlotMap({ nodes }: { nodes: readonly Node[] }) {
  return (
    <SpaceBetween size="l">
      {byRegion(nodes).map(([region, those]) => (
        <section key={region} aria-label={`Region ${region}`}>
          <Box variant="h3" padding={{ bottom: "xs" }}>
            {region} <Box variant="small">{inWords(tally(those))}</Box>
          </Box>
          <div className="slot-nodes">
            {those.map((node) => (
              <NodeSquares key={node.id} node={node} />
            ))}
          </div>
        </section>
      ))}
    </SpaceBetween>
  );
}

function NodeSquares({ node }: { node: Node }) {
  return (
    <article className="slot-node" aria-label={node.name}>
      <header>
        <Link to={`/platform/nodes/${node.id}`}>{node.name}</Link>
        {node.intent !== "active" && <Label look={INTENT[node.intent]} />}
        {node.intent !== "enrolling" && reachOf(node) !== "yes" && <Reach node={node} />}
      </header>
      <SlotRow node={node} />
      <Box variant="small" color="text-body-secondary">
        {inWords(tally([node]))}
      </Box>
    </article>
  );
}
