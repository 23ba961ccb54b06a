import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import BreadcrumbGroup from "@cloudscape-design/components/breadcrumb-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type ComponentProps, useState } from "react";
import { type LoaderFunctionArgs, redirect, useNavigate, useParams } from "react-router";
import { asProblem } from "../../api/problem";
import { readAllocation } from "../../api/queries/allocations";
import { useSkus } from "../../api/queries/skus";
import { useSshKeys } from "../../api/queries/sshKeys";
import { useVolumes } from "../../api/queries/volumes";
import { notifyProblem } from "../../frame/notices";
import { LOOKS_ON, useMay } from "../../frame/project";
import { freeMountPath } from "../../launch/checks";
import { choose, type Draft, draftOf, newDraftVolume, pinned } from "../../launch/draft";
import { draftNow, startDraft, useDraft } from "../../launch/drafts";
import { LaunchWizard } from "../../launch/LaunchWizard";
import { Page } from "../../parts/Page";
import { View } from "../../parts/View";

/**
 * Links that open the wizard filled in: `?retry=` a failed machine, `?runtime=` a bundle, `?volume=` a volume. What they
 * name goes into the draft and out of the address, so that a reload does not do it twice.
 */
export async function loader({ params, request }: LoaderFunctionArgs) {
  const { projectId = "" } = params;
  const { searchParams, pathname } = new URL(request.url);
  const [retry, runtime, volume] = ["retry", "runtime", "volume"].map((name) => searchParams.get(name));
  if (retry) return await filledFrom(projectId, retry);
  if (!runtime && !volume) return null;
  const draft = draftNow(projectId);
  startDraft(projectId, runtime ? { ...draft, bundleSlug: runtime, bundleId: null } : withVolume(draft, volume ?? ""));
  return redirect(pathname);
}

async function filledFrom(projectId: string, allocationId: string): Promise<Response> {
  try {
    const { retry } = await readAllocation(allocationId);
    if (retry) startDraft(projectId, draftOf(retry, Date.now()));
    return redirect(`/projects/${projectId}/launch/review`);
  } catch (error) {
    notifyProblem(asProblem(error));
    return redirect(`/projects/${projectId}/launch`);
  }
}

function withVolume(draft: Draft, volumeId: string): Draft {
  if (draft.volumes.some((each) => each.volumeId === volumeId)) return draft;
  const added = newDraftVolume(volumeId, freeMountPath(draft.volumes.map(({ mountPath }) => mountPath)));
  return { ...draft, volumes: [...draft.volumes, { ...added, isNew: false, volumeId }] };
}

export function LaunchPage() {
  const { projectId = "" } = useParams();
  const navigate = useNavigate();
  const works = useMay(projectId, "allocations:create");
  const machines = { text: "Machines", href: `/projects/${projectId}/allocations` };
  if (!works) {
    return (
      <Page title="Launch a machine" about="Members of a project launch machines; viewers look on." crumbs={[machines]}>
        <Alert header="Viewers launch nothing">{LOOKS_ON}</Alert>
      </Page>
    );
  }
  return (
    <SpaceBetween size="s">
      <title>Launch a machine · GPUaaS</title>
      <BreadcrumbGroup
        ariaLabel="Where you are"
        items={[machines, { text: "Launch", href: "" }]}
        onFollow={(event) => {
          event.preventDefault();
          void navigate(event.detail.href);
        }}
      />
      <Loaded projectId={projectId} />
    </SpaceBetween>
  );
}

function Loaded({ projectId }: { projectId: string }) {
  const [draft, change] = useDraft(projectId);
  const skus = useSkus();
  const keys = useSshKeys();
  const volumes = useVolumes(projectId);
  return (
    <View of={skus} what="machines on offer">
      {(offered) => (
        <View of={keys} what="keys of yours">
          {(mine) => (
            <View of={volumes} what="volumes">
              {(had) => {
                const choice = choose(draft, offered, mine);
                if (choice === null) return <NothingOnOffer />;
                return <Visit {...{ projectId, draft, change, choice }} skus={offered} keys={mine} volumes={had} />;
              }}
            </View>
          )}
        </View>
      )}
    </View>
  );
}

type Visited = Omit<ComponentProps<typeof LaunchWizard>, "mistakes">;

/** The default selection is made once, when the wizard opens. The first Next or change keeps it in the draft. */
function Visit({ draft, choice, change, ...rest }: Visited) {
  const [start, setStart] = useState({ of: draft.sku, choice });
  if (start.of !== draft.sku && draft.offer === null) setStart({ of: draft.sku, choice }); // another draft was brought in
  const shown = pinned(draft, start.choice);
  const chosen = choose(shown, rest.skus, rest.keys) ?? choice;
  return (
    <LaunchWizard {...rest} draft={shown} choice={chosen} change={(patch) => change({ ...pins(shown), ...patch })} />
  );
}

function pins({ sku, offer, gpuCount, keyIds }: Draft): Partial<Draft> {
  return { sku, offer, gpuCount, keyIds };
}

function NothingOnOffer() {
  return (
    <Box textAlign="center" padding="xxl">
      <Box variant="h1">Nothing is on offer yet</Box>
      An operator has to add a node and approve its GPUs first.
    </Box>
  );
}
