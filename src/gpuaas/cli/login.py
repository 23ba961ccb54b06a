"""`gpuaas login`."""

import sys
from dataclasses import replace
from typing import Annotated

import typer

from gpuaas.cli.complaints import Complaint
from gpuaas.cli.config import DEFAULT_URL, Settings, effective, save
from gpuaas.cli.connections import connected_as
from gpuaas.cli.names import chosen_of, full_names
from gpuaas.cli.process_context import ProcessContext, process_context
from gpuaas.cli.speech import note
from gpuaas.wire.identity import Me, ProjectMembership


def command(
    ctx: typer.Context,
    *,
    url: Annotated[
        str, typer.Option("--url", help="Address of the GPUaaS; otherwise GPUAAS_URL or the last one.")
    ] = "",
    email: Annotated[str, typer.Option("--email", help="Your address; asked for when missing.")] = "",
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from stdin instead of asking.")
    ] = False,
    project: Annotated[str, typer.Option("--project", "-p", help="Make this your default project.")] = "",
    allow_plain_http: Annotated[
        bool, typer.Option("--allow-plain-http", help="Send the token in clear text beyond this machine.")
    ] = False,
) -> None:
    """Sign in and remember it on this machine.

    The token goes into a file that only you can read; the password is not kept.

    \b
    Examples:
      gpuaas login
      gpuaas login --url https://gpuaas.example.com --email ada@example.com
      pass gpuaas | gpuaas login --email ada@example.com --password-stdin
    """
    process = process_context(ctx)
    before = effective(process)
    is_asking = sys.stdin.isatty() and not password_stdin
    url = url or before.url or (typer.prompt("Address", default=DEFAULT_URL, err=True) if is_asking else DEFAULT_URL)
    email = email or asked_email(before.email, is_asking=is_asking)
    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else asked_password(is_asking=is_asking)
    settings = Settings(url=url.rstrip("/"), email=email, allow_plain_http=allow_plain_http or before.allow_plain_http)
    with connected_as(process, settings) as client:
        settings = replace(settings, token=client.auth.login(email, password).access_token)
    remember(process, settings, project)


def remember(process: ProcessContext, settings: Settings, project: str) -> None:
    with connected_as(process, settings) as client:
        me = client.auth.me()
    default = default_project(me, project)
    file = save(process, replace(settings, project=default.id if default else ""))
    where = f", project {full_names(me)[default.id]}" if default else ""
    note(f"Signed in to {settings.url} as {me.user.email}{where}. Saved in {file}.")
    if default is None and me.projects:
        note("You are in several projects; choose one with: gpuaas projects use SLUG")
    if process.environ.get("GPUAAS_TOKEN"):
        note("GPUAAS_TOKEN is set and goes before what was saved.")


def default_project(me: Me, wanted: str) -> ProjectMembership | None:
    if wanted:
        return chosen_of(me, wanted)
    projects = me.projects
    return projects[0] if len(projects) == 1 else next((one for one in projects if one.slug == "default"), None)


def asked_email(known: str, *, is_asking: bool) -> str:
    if not is_asking:
        if known:
            return known
        raise Complaint("Who is signing in?", next_step="gpuaas login --email YOU@example.com")
    answer: str = typer.prompt("Email", default=known or None, err=True)
    return answer


def asked_password(*, is_asking: bool) -> str:
    if not is_asking:
        raise Complaint("There is no terminal to ask for a password on.", next_step="add --password-stdin")
    answer: str = typer.prompt("Password", hide_input=True, err=True)
    return answer
