import { useParams } from "react-router";
import { useProjectQuota } from "../../api/queries/quotas";
import { Page } from "../../parts/Page";
import { QuotaTable } from "../../parts/QuotaTable";
import { View } from "../../parts/View";

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
        {({ lines }) => <QuotaTable lines={lines} />}
      </View>
    </Page>
  );
}
