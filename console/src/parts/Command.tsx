import { Copy } from "./Copy";
import "./command.css";

/** A line to type in a shell, whole and ready to be copied. */
export function Command({ text, what }: { text: string; what: string }) {
  return (
    <div className="command">
      <Copy text={text} what={what} />
    </div>
  );
}
