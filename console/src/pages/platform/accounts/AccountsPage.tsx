import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Input from "@cloudscape-design/components/input";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Tabs from "@cloudscape-design/components/tabs";
import { useState } from "react";
import { Navigate, useNavigate, useParams, useSearchParams } from "react-router";
import { type Account, type AccountKind, useAccounts } from "../../../api/queries/accounts";
import { Ago } from "../../../parts/Ago";
import { Copy } from "../../../parts/Copy";
import { type Column, DataTable } from "../../../parts/DataTable";
import { Link } from "../../../parts/Link";
import { Page } from "../../../parts/Page";
import { View } from "../../../parts/View";
import { PLATFORM } from "../paths";
import { addressOf, KINDS, PLURALS } from "./kinds";
import { Limits } from "./Limits";

const DEFAULTS = "defaults";
const LIST = "/platform/accounts";

/** Tenants, projects and people: found, suspended, and limited. */
export function AccountsPage() {
  const { kind = "" } = useParams();
  const navigate = useNavigate();
  if (kind === "") return <Navigate to={`${LIST}/tenants`} replace />;
  const tabs = Object.entries(PLURALS).map(([plural, each]) => ({
    id: plural,
    label: KINDS[each].many,
    href: addressOf(each),
    content: kind === plural && <AccountTable key={plural} kind={each} />,
  }));
  return (
    <Page
      title="Accounts and quotas"
      about="All tenants, projects and people of the platform. Suspending one refuses new work and closes connections; nothing is deleted. Limits say how much each may have at once."
      crumbs={[PLATFORM]}
    >
      <Tabs
        ariaLabel="Kinds of accounts"
        i18nStrings={{ scrollLeftAriaLabel: "Earlier tabs", scrollRightAriaLabel: "Later tabs" }}
        activeTabId={kind}
        onChange={({ detail }) => void navigate(`${LIST}/${detail.activeTabId}`)}
        tabs={[
          ...tabs,
          {
            id: DEFAULTS,
            label: "Default limits",
            href: `${LIST}/${DEFAULTS}`,
            content: kind === DEFAULTS && <Limits of={{ kind: "platform" }} name="the platform" />,
          },
        ]}
      />
    </Page>
  );
}

function AccountTable({ kind }: { kind: AccountKind }) {
  const [params, setParams] = useSearchParams();
  const search = params.get("search") ?? "";
  const tenant = params.get("tenant") ?? "";
  const accounts = useAccounts({
    kind,
    ...(search ? { search } : {}),
    ...(tenant ? { tenant_id: tenant } : {}),
  });
  const what = KINDS[kind].many.toLowerCase();
  const find = (text: string) =>
    setParams({ ...(text ? { search: text } : {}), ...(tenant ? { tenant } : {}) }, { replace: true });
  return (
    <View of={accounts} what={what}>
      {(rows) => (
        <DataTable
          id={`accounts-${kind}`}
          title={KINDS[kind].many}
          what={what}
          rows={rows}
          rowId={({ id }) => id}
          columns={columns(kind)}
          description={
            tenant && (
              <>
                Of the tenant {tenant}. <Link to={addressOf(kind)}>Show all</Link>
              </>
            )
          }
          filter={<Search key={search} kind={kind} text={search} onSearch={find} />}
          older={accounts}
          empty={
            <Box textAlign="center" padding="m">
              <Box padding={{ bottom: "s" }}>{search ? "No account matches." : "There is none yet."}</Box>
              {search && <Button onClick={() => find("")}>Clear the search</Button>}
            </Box>
          }
        />
      )}
    </View>
  );
}

const HINTS: Record<AccountKind, string> = {
  tenant: "Part of a tenant's name, or its id",
  project: "Part of a project's or tenant's name, or an id",
  user: "Part of an e-mail address, or an id",
};

interface SearchProps {
  kind: AccountKind;
  text: string;
  onSearch: (text: string) => void;
}

function Search({ kind, text, onSearch }: SearchProps) {
  const [typed, setTyped] = useState(text);
  const search = () => typed.trim() !== text && onSearch(typed.trim());
  return (
    <Input
      type="search"
      value={typed}
      ariaLabel={`Search ${KINDS[kind].many.toLowerCase()}`}
      placeholder={HINTS[kind]}
      spellcheck={false}
      onChange={({ detail }) => {
        setTyped(detail.value);
        if (detail.value === "" && text) onSearch("");
      }}
      onKeyDown={({ detail }) => detail.key === "Enter" && search()}
      onBlur={search}
    />
  );
}

const LABELS: Record<AccountKind, readonly string[]> = {
  tenant: ["Type", "Members", "Projects", "Allocations"],
  project: ["Allocations"],
  user: ["Platform role"],
};

function columns(kind: AccountKind): Column<Account>[] {
  return [
    {
      id: "name",
      header: kind === "user" ? "E-mail" : "Name",
      cell: ({ id, name }) => (
        <span className="break-anywhere">
          <Link to={addressOf(kind, id)}>{name}</Link>
        </span>
      ),
    },
    { id: "state", header: "State", cell: (account) => <AccountState account={account} /> },
    ...LABELS[kind].map((label) => ({
      id: label,
      header: label,
      cell: ({ facts }: Account) => facts.find((fact) => fact.label === label)?.value ?? "–",
    })),
    { id: "created", header: "Created", cell: ({ created_at }) => <Ago at={created_at} /> },
    { id: "id", header: "Id", isHidden: true, cell: ({ id }) => <Copy text={id} what="the id" /> },
  ];
}

export function AccountState({ account: { suspended_at } }: { account: Account }) {
  if (suspended_at === null) return <StatusIndicator>Active</StatusIndicator>;
  return <StatusIndicator type="stopped">Suspended</StatusIndicator>;
}
