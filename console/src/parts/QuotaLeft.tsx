import Box from "@cloudscape-design/components/box";
import { type Dimension, type QuotaLine, useOwnQuota, useProjectQuota } from "../api/queries/quotas";
import { Link } from "./Link";
import { remainingWords } from "./quotaWords";

interface Props {
  projectId: string;
  of: readonly Dimension[];
}

/** What the project may still add, where something is added to it. */
export function QuotaLeft({ projectId, of }: Props) {
  const lines = useProjectQuota(projectId).data?.lines;
  return <Left lines={lines} of={of} page={`/projects/${projectId}/quota`} />;
}

/** What a person may still add: tokens and SSH keys. */
export function OwnQuotaLeft({ of }: Pick<Props, "of">) {
  return <Left lines={useOwnQuota().data?.lines} of={of} />;
}

function Left({ lines, of, page }: Pick<Props, "of"> & { lines: readonly QuotaLine[] | undefined; page?: string }) {
  const words = remainingWords(lines ?? [], of);
  if (words === "") return null;
  return (
    <Box color="text-body-secondary">
      Remaining quota: {words}.{page && <> </>}
      {page && <Link to={page}>All limits</Link>}
    </Box>
  );
}
