import type { Choice, Draft } from "./draft";
import type { ChangeDraft } from "./drafts";
import type { Mistakes } from "./mistakes";

/** What every step of the wizard is given. */
export interface StepProps {
  projectId: string;
  draft: Draft;
  choice: Choice;
  change: ChangeDraft;
  /** Only those to be shown now. */
  mistakes: Mistakes;
}
