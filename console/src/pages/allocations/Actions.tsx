import Button from "@cloudscape-design/components/button";
import ButtonDropdown, { type ButtonDropdownProps } from "@cloudscape-design/components/button-dropdown";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { lazy, Suspense, useState } from "react";
import { load } from "../../api/chunks";
import type { Allocation } from "../../api/queries/allocations";
import { openTerminal } from "../../frame/terminals";
import { VERBS, type Verb, whyNoTerminal, whyNot } from "./verbs";

const Dialog = lazy(async () => ({ default: (await load(() => import("./dialogs/Dialog"))).Dialog }));

const ORDER: readonly Verb[] = ["restart", "resize", "extend", "release"];

/** What one does most stands alone; the rest is a menu. */
export function HeaderActions({ allocation }: { allocation: Allocation }) {
  const reason = whyNoTerminal(allocation);
  return (
    <SpaceBetween direction="horizontal" size="xs">
      <ActionsMenu allocation={allocation} />
      <Button
        variant="primary"
        disabled={reason !== null}
        disabledReason={reason ?? ""}
        onClick={() => openTerminal(allocation)}
      >
        Open terminal
      </Button>
    </SpaceBetween>
  );
}

/** What can be done to a machine; what cannot be done now says why. */
export function ActionsMenu({ allocation, isRow = false }: { allocation: Allocation; isRow?: boolean }) {
  const [verb, setVerb] = useState<Verb | null>(null);
  const items: ButtonDropdownProps.Items = ORDER.map((id) => {
    const reason = whyNot(id, allocation);
    return { id, text: VERBS[id], disabled: reason !== null, ...(reason === null ? {} : { disabledReason: reason }) };
  });
  return (
    <>
      <ButtonDropdown
        items={items}
        variant={isRow ? "inline-icon" : "normal"}
        ariaLabel={`Actions of ${allocation.name}`}
        expandToViewport={isRow}
        onItemClick={({ detail }) => setVerb(detail.id as Verb)}
      >
        {isRow ? undefined : "Actions"}
      </ButtonDropdown>
      {verb !== null && (
        <Suspense>
          <Dialog verb={verb} allocation={allocation} onClose={() => setVerb(null)} />
        </Suspense>
      )}
    </>
  );
}

/** A button for one of them, where the page suggests it. */
export function ActionButton({
  verb,
  allocation,
  children,
}: {
  verb: Verb;
  allocation: Allocation;
  children?: string;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const reason = whyNot(verb, allocation);
  return (
    <>
      <Button disabled={reason !== null} disabledReason={reason ?? ""} onClick={() => setIsOpen(true)}>
        {children ?? VERBS[verb]}
      </Button>
      {isOpen && (
        <Suspense>
          <Dialog verb={verb} allocation={allocation} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
