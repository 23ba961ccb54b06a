import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import FileDropzone from "@cloudscape-design/components/file-dropzone";
import FileInput from "@cloudscape-design/components/file-input";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { asProblem } from "../../../api/problem";
import { type PublishRuntimeBundle, usePublishBundle } from "../../../api/queries/adminRuntimes";
import { notify } from "../../../frame/notices";
import { Page } from "../../../parts/Page";
import { ProblemAlert } from "../../../parts/ProblemAlert";
import { BUNDLES, PLATFORM } from "../paths";
import { laidOut, readRecipe } from "./recipe";

/** A recipe file becomes a version in the catalog, for ever. */
export function PublishPage() {
  const [text, setText] = useState("");
  const navigate = useNavigate();
  const publish = usePublishBundle();
  const read = text.trim() === "" ? null : readRecipe(text);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (read === null || !("bundle" in read)) return;
    publish.mutate(read.bundle, {
      onSuccess: ({ id, product_name, version }) => {
        notify(
          "success",
          `${product_name} ${version} is published`,
          "Stage it on nodes, so that applying it is instant.",
        );
        void navigate(`/platform/runtime-bundles/${id}`);
      },
    });
  };
  const change = (next: string) => {
    setText(next);
    publish.reset(); // what was refused is not what stands there now
  };
  const take = (files: readonly File[]) => void files[0]?.text().then((read) => change(laidOut(read)));
  return (
    <Page
      title="Publish a bundle"
      about="A recipe names a Python, locked packages with their checksums, and a command that proves that it works. A published version never changes: nodes are held to the digest of its recipe."
      crumbs={[PLATFORM, BUNDLES]}
    >
      <form onSubmit={submit}>
        <Form
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button variant="link" formAction="none" onClick={() => void navigate(BUNDLES.href)}>
                Cancel
              </Button>
              <Button
                variant="primary"
                formAction="submit"
                loading={publish.isPending}
                disabled={!read || "wrong" in read}
              >
                Publish
              </Button>
            </SpaceBetween>
          }
        >
          <SpaceBetween size="l">
            <Container>
              <SpaceBetween size="m">
                <FileDropzone onChange={({ detail }) => take(detail.value)}>
                  <FileInput accept="application/json,.json" value={[]} onChange={({ detail }) => take(detail.value)}>
                    Choose a recipe file
                  </FileInput>
                </FileDropzone>
                <FormField
                  label="Recipe"
                  description="JSON, as in the files that gpuaas admin runtimes publish takes."
                  errorText={read && "wrong" in read && read.wrong}
                  stretch
                >
                  <Textarea value={text} rows={14} spellcheck={false} onChange={({ detail }) => change(detail.value)} />
                </FormField>
              </SpaceBetween>
            </Container>
            {read && "bundle" in read && <Preview bundle={read.bundle} />}
            {publish.error && <ProblemAlert problem={asProblem(publish.error)} />}
          </SpaceBetween>
        </Form>
      </form>
    </Page>
  );
}

function Preview({ bundle }: { bundle: PublishRuntimeBundle }) {
  const packages = bundle.recipe.requirements?.length ?? 0;
  return (
    <Container>
      <KeyValuePairs
        columns={4}
        items={[
          { label: "Bundle", value: `${bundle.product_name} ${bundle.version}` },
          { label: "Slug", value: bundle.slug },
          { label: "Runtime", value: bundle.runtime_family },
          { label: "Locked packages", value: packages },
        ]}
      />
    </Container>
  );
}
