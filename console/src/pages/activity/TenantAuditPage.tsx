import { useParams } from "react-router";
import { useMe } from "../../api/queries/session";
import { Page } from "../../parts/Page";
import { AuditLog } from "./AuditLog";
import { plainTarget } from "./words";

/** For owners and admins of the tenant. */
export function TenantAuditPage() {
  const { tenantId = "" } = useParams();
  const tenant = useMe().data?.tenants.find(({ id }) => id === tenantId);
  return (
    <Page
      title="Tenant audit log"
      about="Who did what in this tenant and its projects, or was refused. A row is written together with each change and never altered. The export has all rows as JSON lines; each export is recorded as well."
      description={tenant && `Tenant ${tenant.slug}`}
    >
      <AuditLog log={{ of: "tenant", id: tenantId }} targetOf={plainTarget} />
    </Page>
  );
}
