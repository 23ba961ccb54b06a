import Alert from "@cloudscape-design/components/alert";
import type { Allocation } from "../../api/queries/allocations";
import { IMAGE, Label } from "../../parts/StatusLabel";

export function ImageWords({ allocation: { image } }: { allocation: Allocation }) {
  if (!image) return <>Not reported yet</>;
  return (
    <>
      <div>
        {image.distribution}, Python {image.python}
      </div>
      <code>{image.version}</code>
      {image.outdated_since && (
        <div>
          <Label look={IMAGE.outdated} />
        </div>
      )}
    </>
  );
}

/** Since when it is outdated, and what to do. */
export function OutdatedImage({ allocation: { image } }: { allocation: Allocation }) {
  if (!image?.outdated_since) return null;
  return (
    <Alert type="warning" header="The base image is outdated">
      <Coded text={image.advice} />
    </Alert>
  );
}

/** Text in which commands stand between backticks. */
function Coded({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))}</>;
}
