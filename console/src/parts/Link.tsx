import CloudscapeLink from "@cloudscape-design/components/link";
import type { ReactNode } from "react";
import { useNavigate } from "react-router";

/** A link within the console: goes there without loading the page anew, and is a real link for new tabs. */
export function Link({ to, onFollow, children }: { to: string; onFollow?: () => void; children: ReactNode }) {
  const navigate = useNavigate();
  return (
    <CloudscapeLink
      href={to}
      onFollow={(event) => {
        if (event.detail.external) return;
        event.preventDefault();
        onFollow?.();
        void navigate(to);
      }}
    >
      {children}
    </CloudscapeLink>
  );
}
