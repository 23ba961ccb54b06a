import AppLayout from "@cloudscape-design/components/app-layout";
import Flashbar, { type FlashbarProps } from "@cloudscape-design/components/flashbar";
import { useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useSyncExternalStore } from "react";
import { Navigate, Outlet, useLocation, useNavigate, useNavigation } from "react-router";
import { load } from "../api/chunks";
import { connection } from "../api/connection";
import { follow } from "../api/following";
import { asProblem } from "../api/problem";
import { useMe } from "../api/queries/session";
import { View } from "../parts/View";
import { Navigation } from "./Navigation";
import { notices, putAway } from "./notices";
import { panel } from "./panel";
import { useProject } from "./project";
import { startReading } from "./reading";
import { startShortcuts } from "./shortcuts";
import { useStore } from "./store";
import { suspensionNotice } from "./suspension";
import { TopBar } from "./TopBar";
import { useTerminalSlot } from "./terminalSlot";

const SidePanel = lazy(async () => ({ default: (await load(() => import("./SidePanel"))).SidePanel }));
const SuspendedAccount = lazy(async () => ({
  default: (await load(() => import("./SuspendedAccount"))).SuspendedAccount,
}));
const SignInAgain = lazy(async () => ({ default: (await load(() => import("./SignInAgain"))).SignInAgain }));

/**
 * Everything around a page. Who is not signed in is sent to do so, and comes back to where they were going; whose
 * session ends meanwhile signs in over the page, which keeps what was typed.
 */
export function Shell() {
  const me = useMe();
  const project = useProject();
  const { pathname, search, hash } = useLocation();
  useFollowing(project?.id);
  useKeyboard();
  const problem = me.isError ? asProblem(me.error) : null;
  const isSignedOut = problem?.status === 401;
  if (problem?.code === "suspended") {
    return (
      <Suspense>
        <SuspendedAccount problem={problem} onRetry={() => void me.refetch()} />
      </Suspense>
    );
  }
  if (me.data === undefined) {
    if (isSignedOut) return <Navigate to={`/login?next=${encodeURIComponent(pathname + search)}${hash}`} replace />;
    return (
      <View of={me} what="your account">
        {() => null}
      </View>
    );
  }
  return (
    <>
      <TopBar me={me.data} />
      {pathname === "/" && project ? <Navigate to={`/projects/${project.id}/allocations`} replace /> : <Frame />}
      <Suspense>{isSignedOut && <SignInAgain email={me.data.user.email} />}</Suspense>
    </>
  );
}

function Frame() {
  const beside = useStore(panel);
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
      tools={<Suspense>{beside && <SidePanel shown={beside} />}</Suspense>}
      toolsHide={beside === null}
      toolsOpen={beside !== null}
      onToolsChange={({ detail }) => detail.open || panel.set(null)}
      ariaLabels={{
        navigation: "Pages",
        navigationToggle: "Show the pages",
        navigationClose: "Hide the pages",
        tools: "Beside the page",
        toolsToggle: "Show the panel",
        toolsClose: "Hide the panel",
        notifications: "Notices",
      }}
    />
  );
}

function Notices() {
  const shown = useStore(notices);
  const me = useMe().data;
  const suspended = suspensionNotice(me, useProject());
  const { lostSince } = useSyncExternalStore(connection.subscribe, connection.snapshot);
  const items: FlashbarProps.MessageDefinition[] = shown.map((notice) => ({
    ...notice,
    dismissible: true,
    dismissLabel: "Put away",
    onDismiss: () => putAway(notice.id),
  }));
  if (suspended) items.unshift(suspended);
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
  useEffect(() => startReading(queries), [queries]);
}

function useKeyboard(): void {
  const queries = useQueryClient();
  const navigate = useNavigate();
  useEffect(() => startShortcuts(queries, (path) => void navigate(path)), [queries, navigate]);
}
