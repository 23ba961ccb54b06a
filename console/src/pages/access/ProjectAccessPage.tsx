import SpaceBetween from "@cloudscape-design/components/space-between";
import { useParams } from "react-router";
import { useAllocations } from "../../api/queries/allocations";
import { useMe } from "../../api/queries/session";
import { may } from "../../frame/permissions";
import { Page } from "../../parts/Page";
import { View } from "../../parts/View";
import { LiveGrants } from "./LiveGrants";
import { OwnKeyFiles } from "./OwnKeyFiles";
import "../allocations/access/access.css";

/** Who else may enter the allocations of a project. */
export function ProjectAccessPage() {
  const { projectId = "" } = useParams();
  const allocations = useAllocations(projectId).data ?? [];
  return (
    <Page
      title="Grants and own keys"
      about="Everybody who may enter an allocation of this project besides its holder. The status is what the node of the allocation confirmed. The holder of an allocation and admins of the project revoke access."
    >
      <View of={useMe()} what="your account">
        {(me) => {
          const decides = (allocationId: string) =>
            may(
              allocations.find(({ id }) => id === allocationId),
              "access:manage",
            );
          return (
            <SpaceBetween size="l">
              <LiveGrants projectId={projectId} myId={me.user.id} decides={decides} />
              <OwnKeyFiles projectId={projectId} decides={decides} />
            </SpaceBetween>
          );
        }}
      </View>
    </Page>
  );
}
