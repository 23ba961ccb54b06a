"""Which project is meant: everybody's first one is called `default`, so their tenant tells them apart."""

from msgspec.structs import replace

from gpuaas.wire.identity import Me, Project, Role, TenantMembership
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, FakeApi, page


def two_defaults() -> Me:
    me, own = samples.me("default", "default"), samples.id_of("ten", 2)
    tenants = [*me.tenants, TenantMembership(id=own, slug="bob", role=Role.OWNER)]
    return replace(me, tenants=tenants, projects=[me.projects[0], replace(me.projects[1], tenant_id=own)])


def test_a_project_is_named_with_its_tenant_where_the_slug_does_not_tell(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/me", Answer(two_defaults()))
    unsure = terminal.run("projects", "use", "default")
    assert (unsure.code, "acme/default, bob/default" in unsure.err) == (1, True)
    assert terminal.run("projects", "use", "bob/default").err == "bob/default is your default project.\n"
    nowhere = terminal.run("projects", "use", "eve/default")
    assert (nowhere.code, "gpuaas projects list" in nowhere.err) == (4, True)


def test_projects_are_listed_with_their_tenant(terminal: Terminal, api: FakeApi) -> None:
    me = two_defaults()
    api.on("GET", "/me", Answer(me))
    rows = [Project(id=p.id, tenant_id=p.tenant_id, slug=p.slug, created_at=samples.NOON) for p in me.projects]
    api.on("GET", "/projects", page(*rows))
    lines = terminal.run("projects", "list").out.splitlines()
    assert [line.removeprefix("*").split()[:2] for line in lines[1:]] == [["acme", "default"], ["bob", "default"]]
