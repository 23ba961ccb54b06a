"""Every page of the console and how to get to it: the table of routes is the console's own, the ways there are ours."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

SOURCES = Path(__file__).parent.parent.parent / "console" / "src"
TOKEN = re.compile(r'[{}]|\bpath: "(?P<path>[^"]*)"')

# Who looks, and at which addresses; `{names}` are things of a furnished project. One pattern may be several pages.
VISITOR, USER, OPERATOR = "visitor", "user", "operator"
MACHINE = "/projects/{project}/allocations/{machine}"
VOLUME = "/projects/{project}/volumes/{volume}"
NODE = "/platform/nodes/{node}"
INSPECTED = "/platform/operations/{machine}"
BUNDLE = "/platform/runtime-bundles/{bundle}"
LAUNCH = "/projects/{project}/launch"
LAUNCH_STEPS = ("", "/access", "/storage", "/runtime", "/review")
MACHINE_TABS = ("", "/access", "/storage", "/runtime", "/metrics", "/activity")
PLACES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "/login": (VISITOR, ("/login", "/login?next=/", "/login?left=1")),
    "/": (USER, ("/",)),
    "/*": (USER, ("/no/such/page",)),
    "/projects/:projectId": (USER, ("/projects/{project}",)),
    "/projects/:projectId/allocations": (USER, ("/projects/{project}/allocations",)),
    "/projects/:projectId/allocations/:id/:tab?": (USER, tuple(MACHINE + tab for tab in MACHINE_TABS)),
    "/projects/:projectId/launch/:step?": (USER, tuple(LAUNCH + step for step in LAUNCH_STEPS)),
    "/projects/:projectId/members": (USER, ("/projects/{project}/members",)),
    "/projects/:projectId/members/:userId": (USER, ("/projects/{project}/members/{user}",)),
    "/projects/:projectId/access": (USER, ("/projects/{project}/access",)),
    "/projects/:projectId/activity": (USER, ("/projects/{project}/activity",)),
    "/projects/:projectId/activity/:operationId": (USER, ("/projects/{project}/activity/{operation}",)),
    "/projects/:projectId/quota": (USER, ("/projects/{project}/quota",)),
    "/projects/:projectId/audit": (USER, ("/projects/{project}/audit",)),
    "/tenants/:tenantId/audit": (USER, ("/tenants/{tenant}/audit",)),
    "/invitations/accept": (USER, ("/invitations/accept", "/invitations/accept#gpi_none")),
    "/account/access": (USER, ("/account/access",)),
    "/account/ssh-keys": (USER, ("/account/ssh-keys",)),
    "/account/sessions": (USER, ("/account/sessions",)),
    "/account/tokens": (USER, ("/account/tokens",)),
    "/platform": (OPERATOR, ("/platform",)),
    "/platform/nodes": (OPERATOR, ("/platform/nodes",)),
    "/platform/nodes/enrol": (OPERATOR, ("/platform/nodes/enrol",)),
    "/platform/nodes/:nodeId/:tab?": (OPERATOR, tuple(NODE + tab for tab in ("", "/machines", "/facts"))),
    "/platform/operations": (OPERATOR, ("/platform/operations",)),
    "/platform/operations/:allocationId/:tab?": (
        OPERATOR,
        tuple(INSPECTED + tab for tab in ("", "/tasks", "/proofs")),
    ),
    "/platform/history": (OPERATOR, ("/platform/history",)),
    "/platform/audit": (OPERATOR, ("/platform/audit",)),
    "/platform/accounts/:kind?": (
        OPERATOR,
        tuple(f"/platform/accounts/{tab}" for tab in ("tenants", "projects", "users", "defaults")),
    ),
    "/platform/accounts/:kind/:id": (
        OPERATOR,
        tuple(f"/platform/accounts/{kind}s/{{{kind}}}" for kind in ("tenant", "project", "user")),
    ),
    "/platform/invariants": (OPERATOR, ("/platform/invariants",)),
    "/platform/workers": (OPERATOR, ("/platform/workers",)),
    "/platform/runtime-bundles": (OPERATOR, ("/platform/runtime-bundles",)),
    "/platform/runtime-bundles/publish": (OPERATOR, ("/platform/runtime-bundles/publish",)),
    "/platform/runtime-bundles/:bundleId/nodes/:nodeId": (OPERATOR, (BUNDLE + "/nodes/{node}",)),
    "/platform/runtime-bundles/:bundleId/:tab?": (OPERATOR, tuple(BUNDLE + tab for tab in ("", "/recipe"))),
    "/projects/:projectId/volumes": (USER, ("/projects/{project}/volumes",)),
    "/projects/:projectId/volumes/:volumeId/:tab?": (
        USER,
        tuple(VOLUME + tab for tab in ("", "/snapshots", "/activity")),
    ),
}


def patterns() -> list[str]:
    """As the console declares them, in its order; those of a folder of pages stand in a table of their own."""
    tables = [SOURCES / "routes.tsx", *sorted(SOURCES.glob("pages/**/routes.ts*"))]
    return list(dict.fromkeys(pattern for table in tables for pattern in declared(table.read_text())))


def declared(table: str) -> Iterator[str]:
    """A route stands in the braces of the one it belongs to."""
    around: list[str] = []
    for token in TOKEN.finditer(table):
        if token[0] == "{":
            around.append("")
        elif token[0] == "}":
            around.pop()
        else:
            around[-1] = token["path"].strip("/")
            yield "/" + "/".join(part for part in around if part)
