import TopNavigation, { type TopNavigationProps } from "@cloudscape-design/components/top-navigation";
import { lazy, Suspense, useState, useSyncExternalStore } from "react";
import { useLocation, useNavigate } from "react-router";
import { load } from "../api/chunks";
import { asProblem } from "../api/problem";
import { type Me, useLogout } from "../api/queries/session";
import { useTimeline } from "../api/queries/timeline";
import { modeStore, setMode } from "../colours";
import { newsOf, seen, seenOf, unread } from "./news";
import { notifyProblem } from "./notices";
import { togglePanel } from "./panel";
import { type Project, useProject } from "./project";
import { Search } from "./Search";
import { useStore } from "./store";
import { CREATE, elsewhere, switcherItems } from "./switcher";

const CreateProject = lazy(async () => ({ default: (await load(() => import("./CreateProject"))).CreateProject }));

export function TopBar({ me }: { me: Me }) {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const project = useProject();
  const [isCreating, setIsCreating] = useState(false);
  const mode = useSyncExternalStore(modeStore.subscribe, modeStore.snapshot);
  const switcher: TopNavigationProps.Utility = {
    type: "menu-dropdown",
    iconName: "folder",
    text: project?.slug ?? "No project",
    ariaLabel: `Project ${project?.slug ?? "none"}`,
    title: "Project",
    items: switcherItems(me, project),
    onItemClick: ({ detail }) =>
      detail.id === CREATE ? setIsCreating(true) : void navigate(elsewhere(pathname, detail.id)),
  };
  const colours: TopNavigationProps.Utility = {
    type: "button",
    iconName: mode === "dark" ? "star-filled" : "star",
    ariaLabel: mode === "dark" ? "Use light colours" : "Use dark colours",
    text: mode === "dark" ? "Light" : "Dark",
    onClick: () => setMode(mode === "dark" ? "light" : "dark"),
  };
  return (
    <div id="top">
      <TopNavigation
        identity={{
          href: "/",
          logo: { src: "/wordmark.svg", alt: "GPUaaS" },
          onFollow: (event) => {
            event.preventDefault();
            void navigate("/");
          },
        }}
        search={project && <Search me={me} project={project} />}
        utilities={[switcher, useBell(me, project), colours, useAccountMenu(me)]}
        i18nStrings={{
          searchIconAriaLabel: "Search",
          searchDismissIconAriaLabel: "Close search",
          overflowMenuTriggerText: "More",
          overflowMenuTitleText: "All",
          overflowMenuBackIconAriaLabel: "Back",
          overflowMenuDismissIconAriaLabel: "Close menu",
        }}
      />
      <Suspense>{isCreating && <CreateProject me={me} onClose={() => setIsCreating(false)} />}</Suspense>
    </div>
  );
}

function useBell(me: Me, project: Project | null): TopNavigationProps.Utility {
  const entries = useTimeline(project?.id).data;
  const all = useStore(seen);
  let count = 0;
  if (project && entries) {
    const { upTo } = seenOf(all, project.id, entries[0]?.id ?? 0);
    count += unread(newsOf(entries, new Map()), upTo, me.user.id).length;
  }
  return {
    type: "button",
    iconName: "notification",
    badge: count > 0,
    text: count > 0 ? `${count}` : "",
    title: "Notifications",
    ariaLabel: count > 0 ? `Notifications, ${count} unread` : "Notifications",
    disableUtilityCollapse: true,
    onClick: () => togglePanel({ kind: "notifications" }),
  };
}

function useAccountMenu(me: Me): TopNavigationProps.Utility {
  const navigate = useNavigate();
  const logout = useLogout();
  const act = (id: string): void => {
    if (id === "logout") logout.mutate(undefined, { onError: (error) => notifyProblem(asProblem(error)) });
    else if (id === "shortcuts") togglePanel({ kind: "shortcuts" });
    else void navigate(id);
  };
  return {
    type: "menu-dropdown",
    iconName: "user-profile",
    text: me.user.email,
    ariaLabel: `Account ${me.user.email}`,
    items: [
      { id: "/account/access", text: "Your access" },
      { id: "/account/ssh-keys", text: "SSH keys" },
      { id: "/account/sessions", text: "Sessions" },
      { id: "/account/tokens", text: "Tokens" },
      { id: "shortcuts", text: "Keyboard" },
      { id: "logout", text: "Sign out" },
    ],
    onItemClick: ({ detail }) => act(detail.id),
  };
}
