import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FileDropzone from "@cloudscape-design/components/file-dropzone";
import FileInput from "@cloudscape-design/components/file-input";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Textarea from "@cloudscape-design/components/textarea";
import { useRef, useState } from "react";
import { asProblem } from "../api/problem";
import { type SshKey, useAddSshKey } from "../api/queries/sshKeys";
import { ProblemAlert } from "./ProblemAlert";
import { KeyRefused, type PublicKey, readPublicKey } from "./publicKey";
import { OwnQuotaLeft } from "./QuotaLeft";

interface Reading {
  text: string;
  key: PublicKey | null;
  refusal: string | null;
}

const NOTHING: Reading = { text: "", key: null, refusal: null };
const LARGEST_FILE = 65_536;

/** Paste a public key or drop its file; what it is is shown before it is saved. */
export function AddKey({ onAdded, onCancel }: { onAdded: (key: SshKey) => void; onCancel?: () => void }) {
  const [title, setTitle] = useState("");
  const [reading, setReading] = useState<Reading>(NOTHING);
  const latest = useRef("");
  const add = useAddSshKey();

  const read = async (text: string) => {
    latest.current = text;
    setReading({ text, key: null, refusal: null });
    if (text.trim() === "") return;
    const next = await readPublicKey(text).then(
      (key): Reading => ({ text, key, refusal: null }),
      (error: unknown): Reading => refused(text, error),
    );
    if (latest.current === text) setReading(next); // what was typed meanwhile is read by itself
  };
  const open = async (file: File | undefined) => {
    if (file && file.size <= LARGEST_FILE) await read(await file.text());
    else if (file) setReading({ ...NOTHING, refusal: "This file is too large for a public key." });
  };
  const save = () => {
    if (reading.key === null)
      return setReading({ ...reading, refusal: reading.refusal ?? "Paste a public key, or drop its file." });
    const { line, comment, words } = reading.key;
    add.mutate(
      { title: title.trim() || comment || words, public_key: line },
      {
        onSuccess: (key) => {
          setTitle("");
          setReading(NOTHING);
          onAdded(key);
        },
      },
    );
  };

  return (
    <SpaceBetween size="m">
      {add.isError && <ProblemAlert problem={asProblem(add.error)} />}
      <FileDropzone onChange={({ detail }) => void open(detail.value[0])}>
        <SpaceBetween size="s">
          <FormField
            label="Public key"
            description={
              <>
                The line in <code>~/.ssh/id_ed25519.pub</code>. None yet? Make one with{" "}
                <code>ssh-keygen -t ed25519</code>.
              </>
            }
            errorText={reading.refusal}
            stretch
          >
            <Textarea
              value={reading.text}
              onChange={({ detail }) => void read(detail.value)}
              placeholder="ssh-ed25519 AAAA… you@laptop"
              rows={3}
              spellcheck={false}
              autoComplete={false}
            />
          </FormField>
          <SpaceBetween direction="horizontal" size="xs" alignItems="center">
            <FileInput
              value={[]}
              accept=".pub,text/plain"
              onChange={({ detail }) => void open(detail.value[0])}
              ariaLabel="Choose a .pub file"
            >
              Choose a .pub file
            </FileInput>
            <Box color="text-body-secondary">or drop it anywhere here</Box>
          </SpaceBetween>
        </SpaceBetween>
      </FileDropzone>
      {reading.key && <Found found={reading.key} />}
      <FormField label="Name" description="To tell it from your other keys." stretch>
        <Input
          value={title}
          placeholder={reading.key?.comment || "laptop"}
          onChange={({ detail }) => setTitle(detail.value)}
        />
      </FormField>
      <OwnQuotaLeft of={["ssh_keys"]} />
      <SpaceBetween direction="horizontal" size="xs">
        <Button onClick={save} loading={add.isPending} formAction="none">
          Save the key
        </Button>
        {onCancel && (
          <Button variant="link" onClick={onCancel} formAction="none">
            Cancel
          </Button>
        )}
      </SpaceBetween>
    </SpaceBetween>
  );
}

function refused(text: string, error: unknown): Reading {
  if (!(error instanceof KeyRefused)) throw error;
  return { text: error.isPrivate ? "" : text, key: null, refusal: error.message };
}

function Found({ found }: { found: PublicKey }) {
  return (
    <Alert type="success" header={found.words}>
      {found.fingerprint ? (
        <code className="break-anywhere">{found.fingerprint}</code>
      ) : (
        <StatusIndicator type="info">Its fingerprint is shown once it is saved.</StatusIndicator>
      )}
    </Alert>
  );
}
