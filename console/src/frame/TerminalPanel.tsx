import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import SpaceBetween from "@cloudscape-design/components/space-between";
import SplitPanel from "@cloudscape-design/components/split-panel";
import Tabs from "@cloudscape-design/components/tabs";
import { useEffect, useState } from "react";
import { useKept } from "../parts/kept";
import { attachedTo, LEFT_TO } from "./attached";
import { EndTerminalDialog } from "./EndTerminalDialog";
import { useStore } from "./store";
import { TerminalView } from "./TerminalView";
import { forgetTerminal, type OpenTerminal, openTerminal, showTerminal, terminals, titleOf } from "./terminals";
import "./terminal.css";

/** The terminals of this tab, below whatever page is looked at. */
export function TerminalPanel() {
  const { open, shown } = useStore(terminals);
  const [ending, setEnding] = useState<OpenTerminal | null>(null);
  const [isReadAloud, setReadAloud] = useKept("terminal-read-aloud", false);
  const active = open.find(({ key }) => key === shown) ?? open[0];
  useEffect(() => {
    // Those that are not looked at as well: a shell whose reader stays away is hung up on.
    for (const each of open) {
      const { link, screen } = attachedTo(each);
      screen.readAloud(isReadAloud);
      link.start();
    }
  }, [open, isReadAloud]);
  if (active === undefined) return null;
  const close = (terminal: OpenTerminal) => {
    const { is } = attachedTo(terminal).link.get();
    if (is === "open" || is === "lost") setEnding(terminal);
    else forgetTerminal(terminal.key);
  };
  return (
    <SplitPanel
      header="Terminals"
      closeBehavior="collapse"
      hidePreferencesButton
      i18nStrings={WORDS}
      headerActions={<Actions active={active} isReadAloud={isReadAloud} onReadAloud={setReadAloud} />}
    >
      <div className="terminals">
        <Tabs
          disableContentPaddings
          ariaLabel="Open terminals"
          i18nStrings={TAB_WORDS}
          activeTabId={active.key}
          onChange={({ detail }) => {
            const byKeyboard = document.activeElement?.matches(":focus-visible") ?? false;
            showTerminal(detail.activeTabId);
            const chosen = open.find(({ key }) => key === detail.activeTabId);
            if (chosen && !byKeyboard) requestAnimationFrame(() => attachedTo(chosen).screen.focus());
          }}
          tabs={open.map((each) => ({
            id: each.key,
            label: titleOf(each, open),
            dismissible: true,
            dismissLabel: `Close the terminal on ${titleOf(each, open)}`,
            onDismiss: () => close(each),
            content: <TerminalView key={each.key} terminal={each} attached={attachedTo(each)} />,
          }))}
        />
      </div>
      {ending && <EndTerminalDialog terminal={ending} onDone={() => setEnding(null)} />}
    </SplitPanel>
  );
}

interface ActionsProps {
  active: OpenTerminal;
  isReadAloud: boolean;
  onReadAloud: (isOn: boolean) => void;
}

function Actions({ active, isReadAloud, onReadAloud }: ActionsProps) {
  const machine = { id: active.allocationId, name: active.name };
  return (
    <SpaceBetween direction="horizontal" size="xs">
      <Button
        nativeButtonAttributes={{ id: LEFT_TO }}
        iconName="add-plus"
        variant="icon"
        ariaLabel={`Open another terminal on ${active.name}`}
        onClick={() => openTerminal(machine)}
      />
      <ButtonDropdown
        variant="icon"
        expandToViewport
        ariaLabel="More for this terminal"
        items={[
          {
            id: "record",
            text: "Record from here on",
            secondaryText: "What it shows is kept, not what you type. The holder, owners and admins can read it.",
            disabled: active.record,
            disabledReason: "It is recorded until it ends",
          },
          { id: "new", text: "Open another, recorded" },
          { id: "read", itemType: "checkbox", text: "Tell a screen reader what it shows", checked: isReadAloud },
        ]}
        onItemClick={({ detail }) => {
          if (detail.id === "record") record(active);
          else if (detail.id === "new") openTerminal(machine, { record: true });
          else onReadAloud(!isReadAloud);
        }}
      />
    </SpaceBetween>
  );
}

function record(terminal: OpenTerminal) {
  const { link, screen } = attachedTo(terminal);
  link.again({ record: true });
  requestAnimationFrame(() => screen.focus()); // after the menu has given the keyboard back
}

const WORDS = {
  closeButtonAriaLabel: "Hide the terminals",
  openButtonAriaLabel: "Show the terminals",
  resizeHandleAriaLabel: "Height of the terminals",
  resizeHandleTooltipText: "Drag, or focus and use the arrow keys",
};

const TAB_WORDS = {
  scrollLeftAriaLabel: "Earlier terminals",
  scrollRightAriaLabel: "Later terminals",
  tabsWithActionsAriaRoleDescription: "Tabs, each with a button that closes it",
};
