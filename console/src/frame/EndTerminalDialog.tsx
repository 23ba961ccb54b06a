import Box from "@cloudscape-design/components/box";
import { asProblem } from "../api/problem";
import { endSession } from "../api/queries/sessions";
import { Ask } from "../parts/Ask";
import { notifyProblem } from "./notices";
import { forgetTerminal, type OpenTerminal } from "./terminals";

interface Props {
  terminal: OpenTerminal;
  onDone: () => void;
}

/** Closing a terminal ends its shell, which hiding the panel does not. */
export function EndTerminalDialog({ terminal, onDone }: Props) {
  const end = () => {
    const { key, allocationId, sessionId } = terminal;
    forgetTerminal(key);
    onDone();
    if (sessionId === null) return;
    endSession(allocationId, sessionId, "closed in the browser").catch((error: unknown) => {
      const problem = asProblem(error);
      if (problem.status !== 404) notifyProblem(problem); // it had ended already
    });
  };
  return (
    <Ask
      title={`Close this terminal on ${terminal.name}?`}
      verb="Close and end the shell"
      onConfirm={end}
      onClose={onDone}
    >
      <div>
        <strong>Ends:</strong> the shell, and what runs in it.
      </div>
      <div>
        <strong>Stays:</strong> the machine, its files, and what runs apart from this shell (tmux, nohup, services).
      </div>
      <Box color="text-body-secondary">To keep the shell, hide the panel instead.</Box>
    </Ask>
  );
}
