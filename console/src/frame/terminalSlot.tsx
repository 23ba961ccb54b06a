import type { AppLayoutProps } from "@cloudscape-design/components/app-layout";
import { lazy, Suspense } from "react";
import { load } from "../api/chunks";
import { useKept } from "../parts/kept";
import { useStore } from "./store";
import { showPanel, terminals } from "./terminals";

const TerminalPanel = lazy(async () => ({ default: (await load(() => import("./TerminalPanel"))).TerminalPanel }));
const HEIGHT = 420;

type Slot = Pick<
  AppLayoutProps,
  | "splitPanel"
  | "splitPanelOpen"
  | "onSplitPanelToggle"
  | "splitPanelSize"
  | "onSplitPanelResize"
  | "splitPanelPreferences"
>;

/** Nothing of terminals is loaded before one is open. */
export function useTerminalSlot(): Slot {
  const { open, isPanelOpen } = useStore(terminals);
  const [height, setHeight] = useKept("terminal-height", HEIGHT);
  return {
    splitPanel: open.length > 0 && (
      <Suspense fallback={null}>
        <TerminalPanel />
      </Suspense>
    ),
    splitPanelOpen: isPanelOpen,
    onSplitPanelToggle: ({ detail }) => showPanel(detail.open),
    splitPanelSize: height,
    onSplitPanelResize: ({ detail }) => setHeight(detail.size),
    splitPanelPreferences: { position: "bottom" },
  };
}
