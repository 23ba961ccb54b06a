import Box from "@cloudscape-design/components/box";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import { useParams } from "react-router";
import { type QuotaLine, useProjectQuota } from "../../api/queries/quotas";
import { type Column, DataTable } from "../../parts/DataTable";
import { Page } from "../../parts/Page";
import { amount, labelOf, limitedBy } from "../../parts/quotaWords";
import { View } from "../../parts/View";

const COLUMNS: readonly Column<QuotaLine>[] = [
  { id: "resource", header: "Resource", cell: labelOf },
  { id: "used", header: "In use", cell: ({ dimension, used }) => amount(dimension, used, "–") },
  { id: "limit", header: "Limit", cell: ({ dimension, limit }) => amount(dimension, limit) },
  { id: "remaining", header: "Remaining", cell: ({ dimension, remaining }) => amount(dimension, remaining) },
  { id: "share", header: "Share used", cell: (line) => <Share line={line} /> },
  { id: "by", header: "Limited by", cell: limitedBy },
];

/** How much the project may have, and how much is left. */
export function QuotaPage() {
  const { projectId = "" } = useParams();
  const quota = useProjectQuota(projectId);
  return (
    <Page
      title="Quota"
      about="The limits of this project and its tenant. A request that exceeds a limit is refused as a whole. Operators change limits."
      crumbs={[]}
    >
      <View of={quota} what="quota">
        {({ lines }) => (
          <DataTable
            id="quota"
            title="Limits"
            what="limits"
            rows={lines}
            rowId={({ dimension }) => dimension}
            columns={COLUMNS}
            isPlain
            empty={<Box textAlign="center">This project has no limits.</Box>}
          />
        )}
      </View>
    </Page>
  );
}

function Share({ line }: { line: QuotaLine }) {
  if (line.limit === null || line.used === null) return <>–</>;
  const percent = line.limit === 0 ? 100 : Math.min(100, Math.round((100 * line.used) / line.limit));
  return <ProgressBar value={percent} ariaLabel={`${labelOf(line)} used`} />;
}
