import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";

/** Text that is there to be copied: an id, a command, a line for a file. */
export function Copy({ text, what }: { text: string; what: string }) {
  return (
    <CopyToClipboard
      variant="inline"
      textToCopy={text}
      textToDisplay={text}
      copyButtonAriaLabel={`Copy ${what}`}
      copySuccessText="Copied"
      copyErrorText="Could not copy"
    />
  );
}
