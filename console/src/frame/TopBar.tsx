import TopNavigation, { type TopNavigationProps } from "@cloudscape-design/components/top-navigation";
import { useSyncExternalStore } from "react";
import { useNavigate } from "react-router";
import { type Me, useLogout } from "../api/queries/session";
import { modeStore, setMode } from "../colours";
import { useProject } from "./project";
import { Search } from "./Search";

export function TopBar({ me }: { me: Me }) {
  const navigate = useNavigate();
  const project = useProject();
  const logout = useLogout();
  const mode = useSyncExternalStore(modeStore.subscribe, modeStore.snapshot);
  const switcher: TopNavigationProps.Utility = {
    type: "menu-dropdown",
    iconName: "folder",
    text: project?.slug ?? "No project",
    ariaLabel: "Project",
    title: "Project",
    items: me.projects.map(({ id, slug, role }) => ({ id, text: slug, description: role })),
    onItemClick: ({ detail }) => void navigate(`/projects/${detail.id}/allocations`),
  };
  const colours: TopNavigationProps.Utility = {
    type: "button",
    iconName: mode === "dark" ? "star-filled" : "star",
    ariaLabel: mode === "dark" ? "Use light colours" : "Use dark colours",
    text: mode === "dark" ? "Light" : "Dark",
    disableTextCollapse: false,
    onClick: () => setMode(mode === "dark" ? "light" : "dark"),
  };
  const account: TopNavigationProps.Utility = {
    type: "menu-dropdown",
    iconName: "user-profile",
    text: me.user.email,
    ariaLabel: "Account",
    items: [{ id: "logout", text: "Sign out" }],
    onItemClick: ({ detail }) => (detail.id === "logout" ? logout.mutate() : void navigate(detail.id)),
  };
  return (
    <div id="top">
      <TopNavigation
        identity={{
          href: "/",
          logo: { src: "/wordmark.svg", alt: "GPUaaS" },
          onFollow: (event) => goHome(event, navigate),
        }}
        search={project && <Search project={project} />}
        utilities={[switcher, colours, account]}
        i18nStrings={{
          searchIconAriaLabel: "Search",
          searchDismissIconAriaLabel: "Close search",
          overflowMenuTriggerText: "More",
          overflowMenuTitleText: "All",
          overflowMenuBackIconAriaLabel: "Back",
          overflowMenuDismissIconAriaLabel: "Close menu",
        }}
      />
    </div>
  );
}

function goHome(event: CustomEvent, navigate: ReturnType<typeof useNavigate>): void {
  event.preventDefault();
  void navigate("/");
}
