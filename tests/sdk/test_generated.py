"""`gpuaas.sdk.routes` is what the generator makes of the API's description, and a new route needs no entry anywhere."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuaas.api.app import described
from gpuaas.api.contract import contract
from tools.sdk import names
from tools.sdk.__main__ import FOLDER, differences, generated, main, write
from tools.sdk.document import handler_of, operations
from tools.sdk.modules import modules
from tools.sdk.names import method_of

DRAIN = "/api/v1/admin/nodes/{id}/drain"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def document() -> Json:
    found: Json = msgspec.json.decode(contract(described()))
    return found


@pytest.fixture(scope="module")
def wanted() -> dict[str, str]:
    return generated()


def test_the_generated_modules_are_current(wanted: dict[str, str]) -> None:
    assert differences(FOLDER, wanted) == [], "run: make sdk"


def test_the_check_fails_on_a_changed_a_missing_and_a_leftover_file(
    tmp_path: Path, wanted: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, wanted)
    check = ["--check", "--folder", str(tmp_path)]
    assert main(check) == 0
    (tmp_path / "skus.py").write_text(wanted["skus.py"].replace("skus", "sku"))
    (tmp_path / "tokens.py").unlink()
    (tmp_path / "gone.py").write_text("")
    assert main(check) == 1
    told = capsys.readouterr().out
    assert [line.split()[0].rpartition("/")[2] for line in told.splitlines()] == ["gone.py", "skus.py", "tokens.py"]
    assert main(check[1:]) == 0
    assert differences(tmp_path, wanted) == []


def test_the_check_fails_when_a_route_is_added(document: Json, wanted: dict[str, str]) -> None:
    more = deepcopy(document)
    added = more["paths"]["/api/v1/admin/nodes/{id}/reboot"] = deepcopy(more["paths"][DRAIN])
    added["post"]["operationId"] = "ApiV1AdminNodesIdRebootRebootNode"
    added["post"]["description"] = "Reboot the machine."
    written = modules(operations(more))
    assert [name for name in written if written[name] != wanted[name]] == ["admin_nodes.py"]
    source = written["admin_nodes.py"]
    assert 'def reboot(self, id: str, *, reason: str = "", idempotency_key: str | None = None)' in source
    assert '"""Reboot the machine."""' in source
    assert 'post(path("admin", "nodes", id, "reboot"), Node, body, key=idempotency_key)' in source


def test_names_that_python_reserves_or_the_method_uses_get_an_underscore(document: Json) -> None:
    more = deepcopy(document)
    query = [
        {"name": "from", "in": "query", "schema": {"type": "string", "format": "date-time"}},
        {"name": "path", "in": "query", "schema": {"oneOf": [{"type": "string"}, {"type": "null"}]}},
    ]
    described = {"operationId": "ApiV1UsageListUsage", "parameters": query, "responses": {"204": {}}}
    more["paths"]["/api/v1/usage"] = {"get": described}
    source = modules(operations(more))["usage.py"]
    assert "def list(self, from_: datetime, *, path_: str | None = None) -> Request[None]:" in source
    assert 'return get(path("usage"), type(None), **{"from": from_}, path=path_)' in source


def test_a_schema_without_a_python_type_is_refused(document: Json) -> None:
    more = deepcopy(document)
    more["paths"]["/api/v1/skus"]["get"]["parameters"] = [{"name": "tags", "in": "query", "schema": {"type": "array"}}]
    with pytest.raises(LookupError, match="no Python type for the schema"):
        modules(operations(more))


def test_two_operations_of_one_name_are_refused(document: Json) -> None:
    more = deepcopy(document)
    added = more["paths"]["/api/v1/admin/nodes/{id}/empty"] = deepcopy(more["paths"][DRAIN])
    added["post"]["operationId"] = "ApiV1AdminNodesIdEmptyDrainNode"
    with pytest.raises(LookupError, match=r"are both admin\.nodes\.drain"):
        modules(operations(more))


def test_a_name_for_an_operation_that_does_not_exist_is_refused(document: Json) -> None:
    fewer = deepcopy(document)
    del fewer["paths"]["/api/v1/me/reach"]
    with pytest.raises(LookupError, match="GET /me/reach"):
        modules(operations(fewer))


def test_names_are_listed_only_where_the_rule_finds_another(document: Json, monkeypatch: pytest.MonkeyPatch) -> None:
    found = list(operations(document))
    listed = dict(names.METHODS)
    monkeypatch.setattr(names, "METHODS", {})
    naming = names.Naming(found)
    by_rule = {one.key: naming.name(one) for one in found}
    assert [key for key, name in listed.items() if name == f"{by_rule[key].resource}.{by_rule[key].method}"] == []


@pytest.mark.parametrize(
    ("path", "operation_id", "handler"),
    [
        ("/api/v1/admin/nodes/{id}/slots", "ApiV1AdminNodesIdSlotsListSlots", "list_slots"),
        ("/api/v1/skus/{sku}", "ApiV1SkusGetSku", "get_sku"),
        ("/api/v1/admin/overview", "ApiV1AdminOverviewOverview", "overview"),
    ],
)
def test_handlers_are_read_from_operation_ids(path: str, operation_id: str, handler: str) -> None:
    assert handler_of(path, operation_id) == handler


@pytest.mark.parametrize(
    ("handler", "noun", "is_admin", "method"),
    [
        ("drain_node", "nodes", True, "drain"),
        ("list_unknown_environments_of_node", "unknown_environments", True, "list_of_node"),
        ("adopt_environment", "unknown_environments", True, "adopt"),
        ("list_fleet_operations", "operations", True, "list"),
        ("allocation_timeline", "allocations", False, "timeline"),
        ("overview", "nodes", False, "overview"),
    ],
)
def test_methods_are_handlers_without_their_resource(handler: str, noun: str, is_admin: bool, method: str) -> None:
    assert method_of(handler, (noun,), is_admin=is_admin) == method
