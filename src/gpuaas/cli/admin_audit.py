"""`gpuaas admin audit`: the audit log of the platform, its export and its verification."""

from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gpuaas.cli.audit import (
    COLUMNS,
    ActionOption,
    ActorOption,
    LimitOption,
    ResultOption,
    SinceOption,
    TargetOption,
    ToOption,
    UntilOption,
    in_utc,
    write,
)
from gpuaas.cli.complaints import Complaint
from gpuaas.cli.connections import connected
from gpuaas.cli.extras import require
from gpuaas.cli.groups import new_group
from gpuaas.cli.output import Output, OutputOption, show_rows
from gpuaas.cli.speech import note, say
from gpuaas.wire.audit import ExportLine, Seal, Verification

command = new_group("The audit log of the platform: read, export, verify.")
decoder: msgspec.json.Decoder[ExportLine] = msgspec.json.Decoder(ExportLine)


@command.command("list")
def list_audit(
    ctx: typer.Context,
    *,
    actor: ActorOption = None,
    action: ActionOption = None,
    target: TargetOption = None,
    result: ResultOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = 50,
    output: OutputOption = Output.TABLE,
) -> None:
    """List who did what on the platform, newest first."""
    with connected(ctx) as client:
        rows = client.admin.audit.list(
            actor=actor,
            action=action,
            target=target,
            result=result,
            since=in_utc(since),
            until=in_utc(until),
        )
        show_rows(list(islice(rows, limit)), COLUMNS, output, empty="No action matches.")


@command.command("export")
def export_audit(ctx: typer.Context, *, to: ToOption = None) -> None:
    """Export the whole audit log with its signed seals as JSON lines. The export itself is audited."""
    with connected(ctx) as client:
        write(client.admin.audit.export(), to)


@command.command("verify")
def verify_audit(
    ctx: typer.Context,
    *,
    file: Annotated[Path | None, typer.Option("--file", help="Verify this export, offline.")] = None,
    known: Annotated[
        list[Path] | None, typer.Option("--known", help="An earlier export: its seals must still be there.")
    ] = None,
    key: Annotated[str, typer.Option("--key", help="Public key that you trust; otherwise the export's own.")] = "",
) -> None:
    """Verify the hash chain of the audit log: any edit, deletion, reordering or truncation of sealed rows is an error.

    \b
    Example:
      gpuaas admin audit export --to monday.jsonl
      gpuaas admin audit verify --known monday.jsonl
    """
    require("audit")
    if file is None:
        with connected(ctx) as client:
            exported = client.admin.audit.export()
    else:
        exported = file.read_bytes()
    seals = [line for path in known or [] for line in read(path.read_bytes()) if isinstance(line, Seal)]
    checked = Verification(seals, key or None)
    for line in read(exported):
        checked.take(line)
    checked.finish()
    for each in checked.notes:
        note(each)
    if checked.errors:
        raise Complaint("The audit log does not verify:\n" + "\n".join(f"- {error}" for error in checked.errors))
    head = f"seal {checked.head.number}, {checked.head.hash}" if checked.head else "no seal yet"
    say(f"{checked.rows:,} rows under {checked.seals:,} seals verify; {checked.unsealed} not sealed yet. Head: {head}.")


def read(exported: bytes) -> list[ExportLine]:
    try:
        return [decoder.decode(line) for line in exported.splitlines()]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Complaint(f"This is not an audit export: {error}.") from error
