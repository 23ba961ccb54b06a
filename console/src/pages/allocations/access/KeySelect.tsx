import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import { useSshKeys } from "../../../api/queries/sshKeys";

interface Props {
  label: string;
  value: string | null;
  onChange: (keyId: string) => void;
}

/** One of one's own keys. */
export function KeySelect({ label, value, onChange }: Props) {
  const keys = useSshKeys();
  const options = (keys.data ?? []).map(({ id, title, fingerprint }) => ({
    value: id,
    label: title,
    description: fingerprint,
  }));
  return (
    <FormField label={label}>
      <Select
        placeholder="Choose a key"
        selectedOption={options.find((option) => option.value === value) ?? null}
        options={options}
        statusType={keys.isPending ? "loading" : keys.isError ? "error" : "finished"}
        loadingText="Loading your keys"
        errorText="Your keys could not be loaded"
        empty="You have no SSH key yet. Add one on the page SSH keys."
        onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
      />
    </FormField>
  );
}
