import Box from "@cloudscape-design/components/box";
import HelpPanel from "@cloudscape-design/components/help-panel";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useAllocations } from "../api/queries/allocations";
import { useTimeline } from "../api/queries/timeline";
import { useVolumes } from "../api/queries/volumes";
import { Ago } from "../parts/Ago";
import { Link } from "../parts/Link";
import { View } from "../parts/View";
import { type News, newsOf, seen } from "./news";
import { uncoverPage } from "./panel";
import { type Project, useProject } from "./project";
import { useStore } from "./store";

const SHOWN = 50;

/** What happened in the project lately. */
export function Notifications() {
  const project = useProject();
  return <HelpPanel header={<h2>Notifications</h2>}>{project && <Lately project={project} />}</HelpPanel>;
}

function Lately({ project }: { project: Project }) {
  const timeline = useTimeline(project.id);
  const machines = useAllocations(project.id).data ?? [];
  const volumes = useVolumes(project.id).data ?? [];
  const names = new Map([...machines, ...volumes].map(({ id, name }) => [id, name]));
  const before = useStore(seen)[project.id]?.before ?? 0;
  return (
    <View
      of={timeline}
      what="notifications"
      isEmpty={(entries) => newsOf(entries, names).length === 0}
      empty={
        <Box color="text-body-secondary">Nothing happened in {project.slug} yet. Launch a machine, and it will.</Box>
      }
    >
      {(entries) => (
        <section className="news" aria-label={`Lately in ${project.slug}`}>
          {newsOf(entries, names)
            .slice(0, SHOWN)
            .map((each) => (
              <Line key={each.id} news={each} isNew={each.id > before} />
            ))}
        </section>
      )}
    </View>
  );
}

function Line({ news: { at, tone, text, note, href }, isNew }: { news: News; isNew: boolean }) {
  return (
    <article className={isNew ? "is-new" : ""}>
      <div>
        <StatusIndicator type={tone} wrapText>
          <Link to={href} onFollow={uncoverPage}>
            {text}
          </Link>
        </StatusIndicator>
      </div>
      {note && tone !== "success" && <div className="news-note">{note}</div>}
      <Box variant="small" color="text-body-secondary">
        <Ago at={at} />
        {isNew && " · new"}
      </Box>
    </article>
  );
}
