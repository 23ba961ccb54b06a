import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import type { Role } from "../../api/queries/members";
import { ROLES, rolesToGive } from "../../parts/roles";

interface Props {
  role: Role;
  onChange: (role: Role) => void;
  /** Owners are made by owners. */
  isOwner: boolean;
}

export function RoleField({ role, onChange, isOwner }: Props) {
  return (
    <FormField label="Role" stretch>
      <RadioGroup
        value={role}
        onChange={({ detail }) => onChange(detail.value as Role)}
        items={rolesToGive(isOwner).map((value) => ({ value, ...ROLES[value] }))}
      />
    </FormField>
  );
}
