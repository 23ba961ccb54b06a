import BreadcrumbGroup from "@cloudscape-design/components/breadcrumb-group";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import Link from "@cloudscape-design/components/link";
import type { ReactNode } from "react";
import { useNavigate } from "react-router";
import { panel } from "../frame/panel";

interface Props {
  title: string;
  /** What the page is about, in two sentences, for the help panel. */
  about: string;
  /** The pages above this one. */
  crumbs?: readonly { text: string; href: string }[];
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({ title, about, crumbs = [], description, actions, children }: Props) {
  const navigate = useNavigate();
  const info = (
    <Link
      variant="info"
      ariaLabel={`Info about ${title}`}
      onFollow={() => panel.set({ kind: "help", title, text: about })}
    >
      Info
    </Link>
  );
  return (
    <ContentLayout
      breadcrumbs={
        crumbs.length > 0 && (
          <BreadcrumbGroup
            ariaLabel="Where you are"
            items={[...crumbs, { text: title, href: "" }]}
            onFollow={(event) => {
              event.preventDefault();
              void navigate(event.detail.href);
            }}
          />
        )
      }
      header={
        <Header variant="h1" info={info} description={description} actions={actions}>
          {title}
        </Header>
      }
    >
      <title>{`${title} · GPUaaS`}</title>
      {children}
    </ContentLayout>
  );
}
