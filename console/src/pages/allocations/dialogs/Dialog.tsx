import type { Allocation } from "../../../api/queries/allocations";
import type { Verb } from "../verbs";
import { ExtendDialog } from "./ExtendDialog";
import { ReleaseDialog } from "./ReleaseDialog";
import { ResizeDialog } from "./ResizeDialog";
import { RestartDialog } from "./RestartDialog";

export interface DialogProps {
  allocation: Allocation;
  onClose: () => void;
}

const DIALOGS = { restart: RestartDialog, resize: ResizeDialog, extend: ExtendDialog, release: ReleaseDialog };

export function Dialog({ verb, ...props }: DialogProps & { verb: Verb }) {
  const Chosen = DIALOGS[verb];
  return <Chosen {...props} />;
}
