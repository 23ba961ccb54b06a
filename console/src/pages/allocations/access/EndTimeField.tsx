import DateInput from "@cloudscape-design/components/date-input";
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import TimeInput from "@cloudscape-design/components/time-input";
import { AT_A_TIME, CHOICES, type EndTime, momentOf } from "./endTime";

interface Props {
  label: string;
  value: EndTime;
  onChange: (value: EndTime) => void;
}

export function EndTimeField({ label, value, onChange }: Props) {
  const isTyped = value.choice === AT_A_TIME;
  const isWrong = isTyped && value.date.length === 10 && momentOf(value, new Date()) === undefined;
  return (
    <SpaceBetween size="xs">
      <FormField label={label}>
        <Select
          selectedOption={CHOICES.find((each) => each.value === value.choice) ?? null}
          options={CHOICES}
          onChange={({ detail }) => onChange({ ...value, choice: detail.selectedOption.value ?? value.choice })}
        />
      </FormField>
      {isTyped && (
        <FormField
          label="Day and time"
          constraintText="YYYY/MM/DD and hh:mm, by your own clock"
          errorText={isWrong && "This lies in the past. Type a time that is still to come."}
        >
          <SpaceBetween direction="horizontal" size="xs">
            <DateInput
              ariaLabel="Day"
              placeholder="YYYY/MM/DD"
              value={value.date}
              onChange={({ detail }) => onChange({ ...value, date: detail.value })}
            />
            <TimeInput
              ariaLabel="Time"
              format="hh:mm"
              placeholder="hh:mm"
              value={value.time}
              onChange={({ detail }) => onChange({ ...value, time: detail.value })}
            />
          </SpaceBetween>
        </FormField>
      )}
    </SpaceBetween>
  );
}
