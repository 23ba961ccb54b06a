import Box from "@cloudscape-design/components/box";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";

/** Text that is there to be copied: an id, a command, a line for a file. */
export function Copy({ text, what }: { text: string; what: string }) {
  return (
    <CopyToClipboard
      variant="inline"
      textToCopy={text}
      textToDisplay={<span className="exact">{text}</span>}
      copyButtonAriaLabel={`Copy ${what}`}
      copySuccessText="Copied"
      copyErrorText="Could not copy"
    />
  );
}

interface LineProps {
  label: string;
  note?: string;
  what: string;
  text: string;
}

/** A command or a line of a file: shown whole, in a box of its own, with a button that takes it along. */
export function CopyLine({ label, note, what, text }: LineProps) {
  return (
    <div>
      <Box variant="awsui-key-label">{label}</Box>
      {note && (
        <Box variant="small" color="text-body-secondary">
          {note}
        </Box>
      )}
      <div className="copy-line">
        <code>{text}</code>
        <CopyToClipboard
          variant="icon"
          textToCopy={text}
          copyButtonAriaLabel={`Copy ${what}`}
          copySuccessText="Copied"
          copyErrorText="Could not copy"
        />
      </div>
    </div>
  );
}
