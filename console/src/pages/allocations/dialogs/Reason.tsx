import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";

/** Why; optional, and written on the timeline. */
export function Reason({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <FormField
      label={
        <>
          Reason <i>(optional)</i>
        </>
      }
      description="Written on the timeline, where everybody in the project can read it."
    >
      <Input value={value} onChange={({ detail }) => onChange(detail.value.slice(0, 500))} />
    </FormField>
  );
}
