import Box from "@cloudscape-design/components/box";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import type { Volume } from "../../api/queries/volumes";
import { Ago } from "../../parts/Ago";
import { bytes } from "../../parts/bytes";

const GIB = 1 << 30;
const WARN_PERCENT = 90;

/** How full, as last measured and when; nobody knows better than that. */
export function Usage({ volume }: { volume: Volume }) {
  const { usage, size_gib, is_over_quota } = volume;
  if (usage === null) return <Box color="text-status-inactive">Not measured yet</Box>;
  const percent = (usage.used_bytes / (size_gib * GIB)) * 100;
  return (
    <ProgressBar
      value={Math.min(100, percent)}
      ariaLabel={`How full ${volume.name} is`}
      description={`${bytes(usage.used_bytes)} of ${size_gib} GiB`}
      additionalInfo={
        <>
          Measured <Ago at={usage.at} />
        </>
      }
      {...(is_over_quota || percent >= WARN_PERCENT
        ? {
            status: "error" as const,
            resultText: is_over_quota ? "Fuller than its size: new writers are refused" : "Nearly full",
          }
        : {})}
    />
  );
}

export function usedWords({ usage, size_gib }: Volume): string {
  return usage === null ? `${size_gib} GiB` : `${bytes(usage.used_bytes)} of ${size_gib} GiB`;
}

export const QUOTA: Record<string, string> = {
  enforced: "Enforced: when it is full, nothing more can be written.",
  measured: "Measured: it can grow past its size; then it is warned of and new writers are refused.",
};
