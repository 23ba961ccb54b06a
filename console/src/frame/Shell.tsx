import AppLayout from "@cloudscape-design/components/app-layout";
import Flashbar, { type FlashbarProps } from "@cloudscape-design/components/flashbar";
import HelpPanel from "@cloudscape-design/components/help-panel";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { Navigate, Outlet, useLocation, useNavigation } from "react-router";
import { connection } from "../api/connection";
import { follow } from "../api/following";
import { asProblem } from "../api/problem";
import { useMe } from "../api/queries/session";
import { View } from "../parts/View";
import { help } from "./help";
import { Navigation } from "./Navigation";
import { notices, putAway } from "./notices";
import { useProject } from "./project";
import { useStore } from "./store";
import { TopBar } from "./TopBar";
import { useTerminalSlot } from "./terminalSlot";

/** Everything around a page. Who is not signed in is sent to do so, and comes back to where they were going. */
export function Shell() {
  const me = useMe();
  const project = useProject();
  const { pathname, search } = useLocation();
  useFollowing(project?.id);
  if (me.isError && asProblem(me.error).status === 401) {
    return <Navigate to={`/login?next=${encodeURIComponent(pathname + search)}`} replace />;
  }
  return (
    <View of={me} what="your account">
      {(seen) => (
        <>
          <TopBar me={seen} />
          {pathname === "/" && project ? <Navigate to={`/projects/${project.id}/allocations`} replace /> : <Frame />}
        </>
      )}
    </View>
  );
}

function Frame() {
  const shownHelp = useStore(help);
  const isLoading = useNavigation().state === "loading";
  return (
    <AppLayout
      {...useTerminalSlot()}
      headerSelector="#top"
      navigation={<Navigation />}
      notifications={<Notices />}
      stickyNotifications
      content={
        <div aria-busy={isLoading}>
          <Outlet />
        </div>
      }
      tools={shownHelp && <HelpPanel header={<h2>{shownHelp.title}</h2>}>{shownHelp.text}</HelpPanel>}
      toolsHide={shownHelp === null}
      toolsOpen={shownHelp !== null}
      onToolsChange={({ detail }) => detail.open || help.set(null)}
      ariaLabels={{
        navigation: "Pages",
        navigationToggle: "Show the pages",
        navigationClose: "Hide the pages",
        tools: "Help",
        toolsToggle: "Show help",
        toolsClose: "Hide help",
        notifications: "Notices",
      }}
    />
  );
}

function Notices() {
  const shown = useStore(notices);
  const { lostSince } = useSyncExternalStore(connection.subscribe, connection.snapshot);
  const items: FlashbarProps.MessageDefinition[] = shown.map((notice) => ({
    ...notice,
    dismissible: true,
    dismissLabel: "Put away",
    onDismiss: () => putAway(notice.id),
  }));
  if (lostSince !== null) {
    items.unshift({
      id: "lost",
      type: "warning",
      loading: true,
      header: `The server has not answered since ${lostSince.toLocaleTimeString()}`,
      content: "What is shown was seen before. Nothing you typed is lost; this page goes on by itself.",
    });
  }
  return <Flashbar items={items} stackItems i18nStrings={{ ariaLabel: "Notices" }} />;
}

function useFollowing(projectId: string | undefined): void {
  const queries = useQueryClient();
  useEffect(() => (projectId === undefined ? undefined : follow(queries, projectId)), [queries, projectId]);
}
