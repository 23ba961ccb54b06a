import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import type { Role } from "../../api/queries/members";
import { ROLES, rising } from "../../parts/roles";

interface Props {
  role: Role;
  onChange: (role: Role) => void;
  /** The roles that the caller may give. */
  assignable: readonly Role[];
}

export function RoleField({ role, onChange, assignable }: Props) {
  return (
    <FormField label="Role" stretch>
      <RadioGroup
        value={role}
        onChange={({ detail }) => onChange(detail.value as Role)}
        items={rising(assignable).map((value) => ({ value, ...ROLES[value] }))}
      />
    </FormField>
  );
}
