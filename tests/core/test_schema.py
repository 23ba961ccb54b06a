"""docs/reference/schema.sql is the schema that the migrations make."""

import difflib

import pytest

from tests.postgres import run
from tools.describe_schema import SNAPSHOT, describe


async def differences(dsn: str) -> list[str]:
    """Lines that a database and the checked-in schema do not share."""
    lines = difflib.unified_diff(SNAPSHOT.read_text().splitlines(), (await describe(dsn)).splitlines(), n=0)
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


async def test_the_checked_in_schema_is_the_one_that_migrations_make(migrated: str) -> None:
    assert await differences(migrated) == [], "run `make schema`"


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ("alter table skus add column planted text", "+    planted text,"),
        ("drop index operations_subject", "-CREATE INDEX operations_subject ON operations USING btree (subject_id);"),
        (
            "alter policy tenant on allocations using (true)",
            "+CREATE POLICY tenant ON allocations TO gpuaas_api USING (true);",
        ),
        ("grant delete on audit to gpuaas_api", "+GRANT SELECT,INSERT,DELETE ON TABLE audit TO gpuaas_api;"),
        ("alter function fence_user() volatile", "-    LANGUAGE sql STABLE"),
        (
            "drop trigger one_operation on volumes",
            "-CREATE TRIGGER one_operation AFTER UPDATE OF operation_id ON volumes ",
        ),
        ("alter table prices owner to current_user", "+ALTER TABLE prices OWNER TO gpuaas;"),
    ],
)
async def test_a_change_without_a_new_snapshot_is_found(migrated: str, change: str, difference: str) -> None:
    await run(migrated, change)
    assert any(line.startswith(difference) for line in await differences(migrated))


async def test_the_order_of_changes_does_not_matter(migrated: str) -> None:
    await run(
        migrated,
        "drop index operations_subject",
        "create index operations_subject on operations (subject_id)",
        "revoke select on skus from gpuaas_api",
        "grant select on skus to gpuaas_api",
    )
    assert await differences(migrated) == []
