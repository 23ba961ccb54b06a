import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import { useNavigate } from "react-router";
import { useCreateProject } from "../api/queries/projects";
import type { Me } from "../api/queries/session";
import { Dialog } from "../parts/Dialog";
import { creatableIn } from "./project";

const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

export function CreateProject({ me, onClose }: { me: Me; onClose: () => void }) {
  const navigate = useNavigate();
  const tenants = creatableIn(me).map(({ id, slug }) => ({ value: id, label: slug }));
  const [tenant, setTenant] = useState(tenants[0]?.value ?? "");
  const [slug, setSlug] = useState("");
  const create = useCreateProject();
  const isWrong = slug !== "" && !NAME.test(slug);
  const open = ({ id }: { id: string }) => {
    onClose();
    void navigate(`/projects/${id}/allocations`);
  };
  const submit = () => create.mutate({ slug, tenant_id: tenant }, { onSuccess: open });
  return (
    <Dialog
      title="Create a project"
      confirm="Create"
      onConfirm={submit}
      onCancel={onClose}
      isPending={create.isPending}
      isReady={slug !== "" && !isWrong}
      error={create.error}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (slug && !isWrong) submit();
        }}
      >
        <FormField
          label="Name"
          description="Machines, volumes and members belong to a project. You own the new one."
          constraintText="Lower-case letters, digits and dashes."
          errorText={isWrong && "Use lower-case letters, digits and dashes, such as vision-2."}
          stretch
        >
          <Input value={slug} onChange={({ detail }) => setSlug(detail.value)} autoFocus />
        </FormField>
      </form>
      {tenants.length > 1 && (
        <FormField label="Tenant" stretch>
          <Select
            options={tenants}
            selectedOption={tenants.find(({ value }) => value === tenant) ?? null}
            onChange={({ detail }) => setTenant(detail.selectedOption.value ?? "")}
          />
        </FormField>
      )}
    </Dialog>
  );
}
