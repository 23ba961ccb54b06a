import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { asProblem } from "../../api/problem";
import { useChangeVolume, useVolume, type Volume } from "../../api/queries/volumes";
import { notifyProblem } from "../../frame/notices";
import { may } from "../../frame/permissions";
import { Page } from "../../parts/Page";
import { View } from "../../parts/View";
import { sentence } from "../../parts/words";
import { Activity } from "./Activity";
import { DeleteVolume } from "./DeleteVolume";
import { Overview } from "./Overview";
import { RenameVolume } from "./RenameVolume";
import { Snapshots } from "./Snapshots";

export function DetailPage() {
  const { projectId = "", volumeId = "" } = useParams();
  const volume = useVolume(projectId, volumeId);
  return (
    <Page
      title={volume.data?.name ?? "Volume"}
      about="What is on a volume stays until somebody deletes it. Snapshots are copies of one moment; restoring one makes a new volume."
      crumbs={[{ text: "Volumes", href: `/projects/${projectId}/volumes` }]}
      actions={volume.data && <Actions volume={volume.data} />}
    >
      <View of={volume} what="volume">
        {(seen) => (
          <SpaceBetween size="l">
            <Trouble volume={seen} />
            <VolumeTabs volume={seen} />
          </SpaceBetween>
        )}
      </View>
    </Page>
  );
}

function VolumeTabs({ volume }: { volume: Volume }) {
  const { tab = "overview" } = useParams();
  const navigate = useNavigate();
  return (
    <Tabs
      activeTabId={tab}
      ariaLabel="About this volume"
      onChange={({ detail }) =>
        void navigate(`/projects/${volume.project_id}/volumes/${volume.id}/${detail.activeTabId}`)
      }
      tabs={[
        { id: "overview", label: "Overview", content: <Overview volume={volume} /> },
        { id: "snapshots", label: "Snapshots", content: <Snapshots volume={volume} /> },
        { id: "activity", label: "Activity", content: <Activity volume={volume} /> },
      ]}
    />
  );
}

function Trouble({ volume: { status, status_reason } }: { volume: Volume }) {
  if (status === "failed") {
    return (
      <Alert type="error" header="It could not be made">
        {sentence(status_reason)} Delete it, then make another.
      </Alert>
    );
  }
  if (status === "delete_failed") {
    return (
      <Alert type="error" header="It could not be deleted">
        {sentence(status_reason)} Nothing is attached to it; delete it again.
      </Alert>
    );
  }
  if (status === "deleted") return <Alert>It was deleted, and its data is erased. What is shown is its history.</Alert>;
  return null;
}

type Open = "delete" | "rename" | null;

function Actions({ volume }: { volume: Volume }) {
  const [open, setOpen] = useState<Open>(null);
  const works = may(volume, "volumes:write");
  const navigate = useNavigate();
  const change = useChangeVolume(volume.project_id, volume.id);
  const protect = () =>
    change.mutate({ protected: !volume.protected }, { onError: (error) => notifyProblem(asProblem(error)) });
  if (volume.status === "deleted" || !works) return null;
  return (
    <SpaceBetween direction="horizontal" size="xs">
      <ButtonDropdown
        items={[
          { id: "rename", text: "Rename" },
          { id: "protect", text: volume.protected ? "Take the protection off" : "Protect against deletion" },
          {
            id: "delete",
            text: "Delete",
            disabled: volume.protected || volume.status === "deleting",
            ...(volume.protected ? { disabledReason: "It is protected. Take the protection off first." } : {}),
          },
        ]}
        onItemClick={({ detail }) => (detail.id === "protect" ? protect() : setOpen(detail.id as Open))}
      >
        Actions
      </ButtonDropdown>
      {volume.status === "available" && (
        <Button onClick={() => void navigate(`/projects/${volume.project_id}/launch?volume=${volume.id}`)}>
          Launch with it
        </Button>
      )}
      {open === "delete" && <DeleteVolume volume={volume} onClose={() => setOpen(null)} />}
      {open === "rename" && <RenameVolume volume={volume} onClose={() => setOpen(null)} />}
    </SpaceBetween>
  );
}
