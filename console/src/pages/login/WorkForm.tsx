import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";

/** The hint is advice alone: it never says whether an address or an organisation is known. */
export function WorkForm({ onPersonal }: { onPersonal: () => void }) {
  const [hint, setHint] = useState("");
  const [asked, setAsked] = useState(false);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setAsked(true);
      }}
    >
      <SpaceBetween size="l">
        <FormField
          label="Work e-mail or organisation"
          description="Only a hint, to find how your organisation signs in. You can leave it empty."
        >
          <Input
            value={hint}
            onChange={({ detail }) => setHint(detail.value)}
            autoComplete="organization"
            placeholder="you@company.com"
          />
        </FormField>
        {asked && (
          <Alert action={<Button onClick={onPersonal}>Use a password</Button>}>
            Single sign-on is not set up on this installation. Sign in with your password instead.
          </Alert>
        )}
        <Button variant="primary" fullWidth formAction="submit">
          Continue
        </Button>
      </SpaceBetween>
    </form>
  );
}
