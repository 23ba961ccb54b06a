"""Each rule of the console finds what it is for, and leaves alone what it is not."""

import pytest

from tools import lint_console

PLANTED = {
    "fetch": ('const a = await fetch("/api/v1/me");', "pages/me/Page.tsx"),
    "effect": ("  useEffect(() => start(), []);", "pages/me/Page.tsx"),
    "chunk": ('const { Page } = await import("./Page");', "routes.tsx"),
    "component-index": ('import { Box } from "@cloudscape-design/components";', "parts/Box.tsx"),
    "inner-html": ("<p dangerouslySetInnerHTML={{ __html: text }} />", "parts/Text.tsx"),
    "role": ('const leads = project.role === "owner";', "frame/project.ts"),
    "storage-of-secrets": ('localStorage.setItem("session", token);', "api/client.ts"),
}


def rules_found(name: str, line: str) -> list[str]:
    return [found.split(": ")[1] for found in lint_console.look(name, [line])]


def test_every_rule_has_a_planted_line() -> None:
    assert PLANTED.keys() == lint_console.RULES.keys()


@pytest.mark.parametrize("rule", PLANTED)
def test_a_planted_line_is_found(rule: str) -> None:
    line, name = PLANTED[rule]
    assert rules_found(name, line) == [rule]


@pytest.mark.parametrize("rule", PLANTED)
def test_a_reason_opts_a_line_out(rule: str) -> None:
    line, name = PLANTED[rule]
    assert rules_found(name, f"{line} // house: {rule} because it is tried here") == []


@pytest.mark.parametrize(
    "line",
    [
        'members.filter(({ role }) => role !== "viewer")',
        'if ("admin" === tenant?.role) {',
        "const leads = LEADING.has(tenant.role);",
        "ORDER.indexOf(member.role)",
        '    case "member":',
        'if (me.tenant_role == "owner") {',
        "const isOperator = Boolean(me.user.platform_role);",
        "return me.user.platform_role ? fleet : null;",
        'return rank !== "ops";',
    ],
)
def test_a_comparison_of_roles_is_found(line: str) -> None:
    assert rules_found("pages/members/A.ts", line) == ["role"]


@pytest.mark.parametrize(
    "line",
    [
        'may(project, "members:manage")',
        "<Badge>{ROLES[role].label}</Badge>",
        'value: platform_role ?? "None"',
        'doing?.kind === "role"',
        '<div role="alert">',
    ],
)
def test_showing_a_role_is_allowed(line: str) -> None:
    assert rules_found("pages/members/A.ts", line) == []


def test_an_opt_out_that_nothing_needs_is_found() -> None:
    assert rules_found("pages/A.tsx", "const a = 1; // house: fetch because of old") == ["fetch"]


def test_asking_the_server_belongs_to_the_api() -> None:
    assert rules_found("api/queries/me.ts", 'client.GET("/api/v1/me")') == []


def test_a_page_has_fewer_lines_than_the_rest() -> None:
    lines = [""] * 300
    assert list(lint_console.look("parts/Long.tsx", lines)) == []
    assert "length" in next(lint_console.look("pages/a/Long.tsx", lines))


def test_the_console_keeps_its_rules() -> None:
    assert list(lint_console.findings()) == []
