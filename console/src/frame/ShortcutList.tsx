import HelpPanel from "@cloudscape-design/components/help-panel";
import { useMe } from "../api/queries/session";
import { pagesFor } from "./Navigation";
import { useProject } from "./project";

/** What the keys do, as the frame knows it. */
export function ShortcutList() {
  const me = useMe().data;
  const project = useProject();
  const pages = me ? pagesFor(me, project).filter(({ key }) => key) : [];
  return (
    <HelpPanel header={<h2>Keyboard</h2>}>
      <p>These work anywhere but in a field.</p>
      <dl className="shortcuts">
        <Keys keys={["/"]} does="Search" />
        <Keys keys={["n"]} does="What happened lately" />
        <Keys keys={["?"]} does="This list" />
        {pages.map(({ key, text }) => (
          <Keys key={key} keys={["g", key]} does={text} />
        ))}
      </dl>
    </HelpPanel>
  );
}

function Keys({ keys, does }: { keys: readonly string[]; does: string }) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{does}</dd>
    </div>
  );
}
