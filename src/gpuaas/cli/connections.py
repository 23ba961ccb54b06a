"""A client for one command; what the API refuses leaves as a complaint with the right exit code."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.config import Settings, signed_in
from gpuaas.cli.process_context import ProcessContext, process_context
from gpuaas.sdk import ApiError, Client, InsecureUrl, Options, SdkError, WaitFailed

EXIT_CODES = {401: ExitCode.AUTH, 403: ExitCode.AUTH, 404: ExitCode.NOT_FOUND, 409: ExitCode.CONFLICT}
SERVER_ERRORS = 500
NEXT_STEPS = {
    "token_missing": "gpuaas login",
    "token_invalid": "gpuaas login",
    "token_expired": "gpuaas login",
    "credentials_invalid": "check the address and the password, then: gpuaas login",
    "insufficient_permissions": "ask an owner of the project, or use a token with a wider scope",
    "project_required": "choose one of `gpuaas projects list` with --project, or: gpuaas projects use SLUG",
    "sku_unavailable": "gpuaas placement explain says why, and what would fit",
    "suspended": "ask an operator of the platform to resume it",
    "quota_exceeded": "release or delete something, or ask an operator to raise it; see: gpuaas quotas",
    "rate_limit_exceeded": "wait a little, then try again",
    "illegal_move": "look at its state: gpuaas allocations get NAME",
}


@contextmanager
def connected(ctx: typer.Context) -> Iterator[Client]:
    """Signed in, for the length of the command."""
    process = process_context(ctx)
    try:
        with connected_as(process, signed_in(process)) as client:
            yield client
    except Complaint as complaint:
        complaint.ctx = ctx
        raise


@contextmanager
def connected_as(process: ProcessContext, settings: Settings) -> Iterator[Client]:
    options = Options(user_agent=f"gpuaas-cli ({process.hostname()})", allow_plain_http=settings.allow_plain_http)
    try:
        with Client(settings.url, settings.token or None, options=options) as client:
            yield client
    except ApiError as error:
        raise refusal(error) from error
    except InsecureUrl as error:
        step = "an https:// address; or on a network you trust: GPUAAS_ALLOW_PLAIN_HTTP=1"
        raise Complaint(str(error), next_step=step) from error
    except WaitFailed as error:
        raise Complaint(str(error), next_step="gpuaas allocations timeline NAME", code=ExitCode.SERVER) from error
    except SdkError as error:
        step = f"is it running, and is {settings.url} its address? On your own machine: gpuaas up"
        raise Complaint(str(error), next_step=step, code=ExitCode.SERVER) from error


def refusal(error: ApiError) -> Complaint:
    fallback = ExitCode.SERVER if error.status >= SERVER_ERRORS else ExitCode.CLIENT
    fields = tuple(f"{field.field}: {field.message}" for field in error.errors)
    facts = tuple(f"{name}: {value}" for name, value in error.facts.items())
    return Complaint(
        f"{error.detail or error.title} ({error.code})",
        details=fields + facts,
        next_step=next_step(error),
        code=EXIT_CODES.get(error.status, fallback),
        correlation_id=error.correlation_id,
    )


def next_step(error: ApiError) -> str:
    if error.status >= SERVER_ERRORS:
        return "try again; if it stays, give the correlation id to whoever runs this GPUaaS"
    if error.code.endswith("_not_found"):
        return "list what there is, or choose another --project"
    return NEXT_STEPS.get(error.code, "")
