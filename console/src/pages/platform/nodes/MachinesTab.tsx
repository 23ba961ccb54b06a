import Box from "@cloudscape-design/components/box";
import { useAllocationsOnNode } from "../../../api/queries/adminAllocations";
import type { Node } from "../../../api/queries/nodes";
import { DataTable } from "../../../parts/DataTable";
import { View } from "../../../parts/View";
import { COLUMNS, FILTERS } from "../operations/columns";

/** What stands on the node, everybody's, until it is proven gone. */
export function MachinesTab({ node }: { node: Node }) {
  return (
    <View of={useAllocationsOnNode(node.id)} what="machines">
      {(rows) => (
        <DataTable
          id="node-machines"
          title="Machines"
          what="machines"
          description="Of all projects, until each is proven gone"
          rows={rows}
          rowId={({ id }) => id}
          columns={COLUMNS}
          filters={FILTERS}
          sorted={{ by: "since", descending: true }}
          empty={<Box textAlign="center">Nothing stands on it.</Box>}
        />
      )}
    </View>
  );
}
