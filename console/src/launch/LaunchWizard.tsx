import Button from "@cloudscape-design/components/button";
import Wizard, { type WizardProps } from "@cloudscape-design/components/wizard";
import { useRef, useState } from "react";
import { useNavigate, useParams } from "react-router";
import { newId } from "../api/client";
import { asProblem } from "../api/problem";
import { useLaunch } from "../api/queries/launch";
import type { Sku } from "../api/queries/skus";
import type { SshKey } from "../api/queries/sshKeys";
import type { Volume } from "../api/queries/volumes";
import { notify } from "../frame/notices";
import { AccessStep } from "./AccessStep";
import { ComputeStep } from "./ComputeStep";
import { submission, wanted } from "./draft";
import { forgetDraft, keepSubmission, submissionNow } from "./drafts";
import { firstWrong, mistakesOf, STEPS, type StepId } from "./mistakes";
import { ReviewStep } from "./ReviewStep";
import { RuntimeStep } from "./RuntimeStep";
import { StorageStep } from "./StorageStep";
import type { StepProps } from "./step";

interface Props extends Omit<StepProps, "mistakes"> {
  skus: readonly Sku[];
  keys: readonly SshKey[];
  volumes: readonly Volume[];
}

const WORDS: WizardProps.I18nStrings = {
  stepNumberLabel: (number) => `Step ${number}`,
  collapsedStepsLabel: (number, count) => `Step ${number} of ${count}`,
  navigationAriaLabel: "Steps",
  errorIconAriaLabel: "Error",
  cancelButton: "Cancel",
  previousButton: "Back",
  nextButton: "Next",
  optional: "optional",
  submitButtonLoadingAnnouncement: "Launching",
};

/** Five steps and one submit. The step is in the address, the draft in the tab: Back and reload keep everything. */
export function LaunchWizard(props: Props) {
  const { projectId, draft, choice, volumes } = props;
  const step = useStep();
  const navigate = useNavigate();
  const [checked, setChecked] = useState<StepId | null>(null);
  const launch = useSubmit(props);
  const goTo = (to: StepId) => void navigate(`/projects/${projectId}/launch/${to}`);
  const change: StepProps["change"] = (patch) => {
    if (launch.isBusy) return; // what was sent is what is shown, until it is refused or the page leaves
    launch.forget(); // what was refused was another request
    props.change(patch);
  };
  const given: StepProps = {
    ...props,
    change,
    mistakes: checked === step ? mistakesOf(step, draft, choice, volumes) : {},
  };

  const startOver = () => {
    launch.forget();
    forgetDraft(projectId);
    goTo("compute");
  };

  /** Forward only past what is right. */
  const pass = (from: StepId, to: StepId) => {
    const isWrong = Object.keys(mistakesOf(from, draft, choice, volumes)).length > 0;
    setChecked(isWrong ? from : null);
    if (!isWrong) {
      props.change({}); // keeps the selection as it is shown now
      goTo(to);
    }
  };
  const submit = () => {
    const wrong = firstWrong(draft, choice, volumes);
    setChecked(wrong);
    props.change({});
    if (wrong === null) launch.submit();
    else if (wrong !== step) goTo(wrong);
  };

  return (
    <Wizard
      steps={[
        {
          title: "Compute",
          description: "Choose a GPU type and size.",
          content: <ComputeStep {...given} skus={props.skus} />,
        },
        {
          title: "Access",
          description: "Choose the SSH keys that can log in.",
          content: <AccessStep {...given} keys={props.keys} />,
        },
        {
          title: "Storage",
          description: "Attach volumes for data that must outlive the machine.",
          isOptional: true,
          content: <StorageStep {...given} volumes={volumes} />,
        },
        {
          title: "Runtime",
          description: "Choose software that the platform installs and maintains.",
          isOptional: true,
          content: <RuntimeStep {...given} />,
        },
        {
          title: "Review",
          description: "Check the request. Everything in it is created, or nothing.",
          content: (
            <ReviewStep {...given} volumes={volumes} problem={launch.problem} goTo={goTo} startOver={startOver} />
          ),
        },
      ]}
      activeStepIndex={STEPS.indexOf(step)}
      onNavigate={({ detail }) => {
        const to = STEPS[detail.requestedStepIndex] ?? "compute";
        if (detail.reason === "next") pass(step, to);
        else goTo(to);
      }}
      onCancel={() => void leave(navigate(`/projects/${projectId}/allocations`), projectId)}
      onSubmit={submit}
      isLoadingNextStep={launch.isBusy}
      submitButtonText={choice.count === 1 ? "Launch" : `Launch ${choice.count} machines`}
      secondaryActions={
        step !== "review" &&
        choice.keys.length > 0 && <Button onClick={() => pass(step, "review")}>Skip to review</Button>
      }
      i18nStrings={WORDS}
    />
  );
}

function useStep(): StepId {
  const { step } = useParams();
  return STEPS.find((each) => each === step) ?? "compute";
}

/** The draft lasts as long as the page that shows it. */
async function leave(left: void | Promise<void>, projectId: string): Promise<void> {
  await left;
  forgetDraft(projectId);
}

/** Busy from the click until the request is refused or the page has left, however long the next page takes to load. */
function useSubmit({ projectId, draft, choice }: Props) {
  const navigate = useNavigate();
  const launch = useLaunch(projectId);
  const isSent = useRef(false); // also for a second click before the first is drawn
  const submit = () => {
    if (isSent.current) return;
    isSent.current = true;
    const sent = submission(submissionNow(projectId), wanted(draft, choice, projectId), Date.now(), newId);
    keepSubmission(projectId, sent);
    launch.mutate(sent, {
      onError: () => {
        isSent.current = false;
      },
      onSuccess: ({ allocations }) => {
        const [first] = allocations;
        const isGroup = allocations.length > 1;
        if (isGroup) notify("success", `${allocations.length} machines are on their way`);
        const to = `/projects/${projectId}/allocations${isGroup || !first ? "" : `/${first.id}`}`;
        void leave(navigate(to), projectId);
      },
    });
  };
  return {
    submit,
    forget: launch.reset,
    isBusy: launch.isPending || launch.isSuccess,
    problem: launch.isError ? asProblem(launch.error) : null,
  };
}
