"""The authorization matrix: entry point, standing and change: what the rule decides and what the model expects.

`python -m tests.access.authorization` writes docs/reference/authorization.md.
"""

from dataclasses import dataclass
from pathlib import Path

from gpuaas.domain.allocations.authority import NEEDS, Action
from gpuaas.wire.permissions import Permission

FILE = Path(__file__).parents[2] / "docs" / "reference" / "authorization.md"
PLACE = "/api/v1/allocations"
ROUTES: dict[str, Action] = {
    f"GET {PLACE}/{{id}}": Action.READ,
    f"GET {PLACE}/{{id}}/access-grants": Action.READ,
    f"GET {PLACE}/{{id}}/access-grants/{{grant_id}}": Action.READ,
    f"GET {PLACE}/{{id}}/break-glass": Action.READ,
    f"GET {PLACE}/{{id}}/consequences": Action.READ,
    f"GET {PLACE}/{{id}}/usage": Action.READ,
    f"GET {PLACE}/{{id}}/events": Action.READ,
    f"GET {PLACE}/{{id}}/health": Action.READ,
    f"GET {PLACE}/{{id}}/limits": Action.READ,
    f"GET {PLACE}/{{id}}/logs": Action.READ,
    f"GET {PLACE}/{{id}}/metrics": Action.READ,
    f"GET {PLACE}/{{id}}/runtime-bundles": Action.READ,
    f"GET {PLACE}/{{id}}/sessions": Action.READ,
    f"GET {PLACE}/{{id}}/ssh-keys": Action.READ,
    f"GET {PLACE}/{{id}}/terminals": Action.READ,
    f"GET {PLACE}/{{id}}/timeline": Action.READ,
    f"GET {PLACE}/{{allocation_id}}/storage-attachments": Action.READ,
    f"GET {PLACE}/{{allocation_id}}/storage-attachments/{{attachment_id}}": Action.READ,
    f"GET {PLACE}/{{id}}/terminals/{{terminal_id}}/recording": Action.READ_RECORDING,
    f"POST {PLACE}/{{id}}/release": Action.RELEASE,
    f"POST {PLACE}/{{id}}/restart": Action.RESTART,
    f"POST {PLACE}/{{id}}/resize": Action.RESIZE,
    f"POST {PLACE}/{{id}}/extend": Action.SET_LIMITS,
    f"POST {PLACE}/{{id}}/runtime-bundles": Action.APPLY_RUNTIME,
    f"DELETE {PLACE}/{{id}}/runtime-bundles": Action.CLEAR_RUNTIME,
    f"POST {PLACE}/{{allocation_id}}/storage-attachments": Action.ATTACH,
    f"DELETE {PLACE}/{{allocation_id}}/storage-attachments/{{attachment_id}}": Action.DETACH,
    f"PUT {PLACE}/{{id}}/ssh-keys": Action.REMOVE_KEYS,
    f"PUT {PLACE}/{{id}}/own-keys": Action.REFUSE_OWN_KEYS,
    f"POST {PLACE}/{{id}}/handover": Action.HAND_OVER,
    f"POST {PLACE}/{{id}}/access-grants": Action.GRANT,
    f"PATCH {PLACE}/{{id}}/access-grants/{{grant_id}}": Action.CHANGE_GRANT,
    f"DELETE {PLACE}/{{id}}/access-grants/{{grant_id}}": Action.REVOKE_GRANT,
    f"POST {PLACE}/{{id}}/access-requests": Action.ASK_ACCESS,
    f"DELETE {PLACE}/{{id}}/sessions/{{session_id}}": Action.END_CONNECTION,
    f"DELETE {PLACE}/{{id}}/break-glass": Action.END_CONNECTION,
    f"POST {PLACE}/{{id}}/terminal-token": Action.OPEN_TERMINAL,
}
OWN_FILE = "login by the own key file"
# Not a route of their own, or the stricter half of one.
OTHER: dict[str, Action] = {
    "add a key of one's own": Action.ADD_KEYS,
    "allow the own key file": Action.ALLOW_OWN_KEYS,
    "choose the key of one's own grant": Action.USE_GRANT,
    "end one's own connection": Action.END_OWN_CONNECTION,
    "SSH login": Action.LOG_IN,
    OWN_FILE: Action.LOG_IN,
    "SFTP": Action.LOG_IN,
    "TCP forwarding": Action.LOG_IN,
    "terminal": Action.OPEN_TERMINAL,
    "terminal re-attach": Action.OPEN_TERMINAL,
}
ENTRIES = {**ROUTES, **OTHER}
KINDS = ("route", "recording", "SSH login", OWN_FILE, "SFTP", "TCP forwarding", "terminal", "terminal re-attach")
BY_KEY = {"SSH login", "SFTP", "TCP forwarding"}  # decided by the key set
BY_TERMINAL = {"terminal", "terminal re-attach"}  # decided while they are open, too
# What each action needs, said once more: the product's table has to agree.
EXPECTED: dict[str, set[Action]] = {
    "reader": {Action.READ},
    "worker": {Action.ASK_ACCESS, Action.USE_GRANT, Action.END_OWN_CONNECTION},
    "holder": {Action.ADD_KEYS, Action.ALLOW_OWN_KEYS},
    "insider": {Action.LOG_IN, Action.OPEN_TERMINAL},
}


@dataclass(frozen=True)
class Standing:
    project: str | None = None
    tenant: str | None = None
    holds: bool = False
    granted: bool = False


STANDINGS = {
    "holder, project owner": Standing("owner", "member", holds=True),
    "holder, project admin": Standing("admin", "member", holds=True),
    "holder, member": Standing("member", "member", holds=True),
    "holder, tenant admin": Standing(None, "admin", holds=True),
    "grantee, project admin": Standing("admin", "member", granted=True),
    "grantee, member": Standing("member", "member", granted=True),
    "project owner": Standing("owner", "member"),
    "project admin": Standing("admin", "member"),
    "member": Standing("member", "member"),
    "viewer": Standing("viewer", "member"),
    "tenant owner": Standing(None, "owner"),
    "tenant admin": Standing(None, "admin"),
    "tenant member": Standing(None, "member"),
    "viewer, tenant admin": Standing("viewer", "admin"),
    "stranger": Standing(),
}


@dataclass(frozen=True)
class Facts:
    """A standing after a change, and whether the recorded holder works in the project."""

    project: str | None
    tenant: str | None
    holds: bool
    granted: bool
    vacant: bool = False


PERSON = "user_id = $1 and tenant_id = $2"
HOLDER = "user_id = $3 and tenant_id = $2 and user_id <> $1"
CHANGES: dict[str, tuple[str, ...]] = {
    "none": (),
    "role lowered to member": (f"update project_members set role = 'member' where {PERSON} and role <> 'viewer'",),
    "role lowered to viewer": (f"update project_members set role = 'viewer' where {PERSON}",),
    "removed from the project": (f"delete from project_members where {PERSON}",),
    "left the tenant": (f"delete from project_members where {PERSON}", f"delete from tenant_members where {PERSON}"),
    "tenant role lowered": (f"update tenant_members set role = 'member' where {PERSON}",),
    "grant revoked": (f"update access_grants set status = 'revoked' where {PERSON}",),
    "grant expired": (f"update access_grants set expires_at = now() - interval '1 second' where {PERSON}",),
    "handed over": ("update allocations set holder_id = $3 where holder_id = $1 and tenant_id = $2",),
    "holder removed": (f"delete from project_members where {HOLDER}",),
    "holder demoted": (f"update project_members set role = 'viewer' where {HOLDER}",),
    "person suspended": ("update users set suspended_at = now() where id = $1 and $2 <> id",),
}


def after(standing: Standing, change: str) -> Facts:
    """The model's own account of what a change does."""
    project, tenant, holds, granted = standing.project, standing.tenant, standing.holds, standing.granted
    vacant = False
    match change:
        case "role lowered to member":
            project = "member" if project in ("owner", "admin", "member") else project
        case "role lowered to viewer":
            project = "viewer" if project else None
        case "removed from the project":
            project = None
        case "left the tenant" | "person suspended":
            project = tenant = None
        case "tenant role lowered":
            tenant = "member" if tenant else None
        case "grant revoked" | "grant expired":
            granted = False
        case "handed over":
            holds = False
        case "holder removed" | "holder demoted":
            vacant = not holds
        case _:
            pass
    return Facts(project, tenant, holds, granted, vacant)


def kind_of(entry: str) -> str:
    """The kind of client that uses an entry point; tests/access/test_real_clients.py has a real one of each."""
    if entry in KINDS:
        return entry
    return "recording" if entry.endswith("/recording") else "route"


def allows(entry: str, standing: Standing, change: str) -> bool:
    """What the model expects of one cell of the matrix."""
    facts = after(standing, change)
    is_allowed = expected(facts, ENTRIES[entry])
    if entry != OWN_FILE:
        return is_allowed
    # A key of somebody who never was in the tenant is an unknown key: the file admits it while it is allowed.
    is_allowed = is_allowed or standing == Standing()
    # The permission for the file ends with the hold of whoever gave it: the holder before the change.
    return is_allowed and (facts.holds if standing.holds else not facts.vacant)


def expected(facts: Facts, action: Action) -> bool:
    leads = facts.project in ("owner", "admin") or facts.tenant in ("owner", "admin")
    works = leads or facts.project == "member"
    holds = (facts.holds and works) or (facts.vacant and leads)
    kind = next((kind for kind, actions in EXPECTED.items() if action in actions), "controller")
    return {
        "reader": works or facts.project == "viewer",
        "worker": works,
        "controller": holds or leads,
        "holder": holds,
        "insider": holds or (works and facts.granted),
    }[kind]


def decided(permissions: set[str], entry: str, needs: dict[Action, Permission] = NEEDS) -> bool:
    return needs[ENTRIES[entry]].value in permissions


# Permissions that the same people have, by the model alone, for the document.
GROUPS: dict[str, dict[Permission, Action]] = {
    "read": {Permission.ALLOCATIONS_READ: Action.READ},
    "work": {Permission.ACCESS_ASK: Action.ASK_ACCESS},
    "control": {
        Permission.ALLOCATIONS_OPERATE: Action.RESTART,
        Permission.ALLOCATIONS_RELEASE: Action.RELEASE,
        Permission.RUNTIMES_APPLY: Action.APPLY_RUNTIME,
        Permission.ACCESS_MANAGE: Action.GRANT,
        Permission.RECORDINGS_READ: Action.READ_RECORDING,
    },
    "choose keys": {Permission.KEYS_CHOOSE: Action.ADD_KEYS},
    "enter": {Permission.TERMINALS_OPEN: Action.LOG_IN},
}


def expected_permissions(facts: Facts) -> set[Permission]:
    """By the model alone."""
    return {permission for group in GROUPS.values() for permission, action in group.items() if expected(facts, action)}


def groups_of(facts: Facts) -> list[str]:
    found = expected_permissions(facts)
    return [name for name, group in GROUPS.items() if set(group) <= found]


def document() -> str:
    count = len(ENTRIES) * len(STANDINGS) * len(CHANGES)
    sizes = f"{len(ENTRIES)} entry points, {len(STANDINGS)} standings, {len(CHANGES)} changes: {count:,} cells."
    lines = [
        "# What a person may do with an allocation",
        "",
        "Generated by `python -m tests.access.authorization`; a test keeps it current and checks every cell against",
        f"the [rule](../design/authorization.md). {sizes}",
        "",
        "## Permissions by standing and change",
        "",
        "| word | permissions |",
        "|---|---|",
        *(f"| {name} | {', '.join(f'`{permission}`' for permission in group)} |" for name, group in GROUPS.items()),
        "",
        "| standing | " + " | ".join(CHANGES) + " |",
        "|---" * (len(CHANGES) + 1) + "|",
    ]
    for name, standing in STANDINGS.items():
        cells = [", ".join(groups_of(after(standing, change))) or "none" for change in CHANGES]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "## Entry points and the permission each needs",
        "",
        "| entry point | action | permission | kind of client |",
        "|---|---|---|---|",
    ]
    lines += [f"| `{entry}` | {action} | `{NEEDS[action]}` | {kind_of(entry)} |" for entry, action in ENTRIES.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(document())
