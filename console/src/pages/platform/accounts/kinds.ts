import type { AccountKind } from "../../../api/queries/accounts";

interface Words {
  one: string;
  many: string;
  /** What suspending it refuses. */
  does: string;
}

export const KINDS: Record<AccountKind, Words> = {
  tenant: {
    one: "tenant",
    many: "Tenants",
    does: "Nobody can work in any project of this tenant: creating, changing and connecting are refused. Its members can still read what is there.",
  },
  project: {
    one: "project",
    many: "Projects",
    does: "Nobody can work in this project: creating, changing and connecting are refused. Its members can still read what is there.",
  },
  user: {
    one: "person",
    many: "People",
    does: "This person's sign-ins, tokens and SSH keys are refused. Admins of their projects hold their allocations meanwhile.",
  },
};

export const PLURALS: Record<string, AccountKind> = { tenants: "tenant", projects: "project", users: "user" };

export function addressOf(kind: AccountKind, id = ""): string {
  const list = `/platform/accounts/${kind}s`;
  return id ? `${list}/${id}` : list;
}
