import Box from "@cloudscape-design/components/box";
import type { Volume } from "../../api/queries/volumes";
import { Link } from "../../parts/Link";

/** The machines that have it, each a way there. */
export function AttachedTo({ volume }: { volume: Volume }) {
  if (volume.attachments.length === 0) return <Box color="text-status-inactive">Nothing</Box>;
  return volume.attachments.map(({ id, allocation_id, allocation_name }) => (
    <div key={id}>
      <Link to={`/projects/${volume.project_id}/allocations/${allocation_id}/storage`}>{allocation_name}</Link>
    </div>
  ));
}
