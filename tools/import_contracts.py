"""Import contracts that import-linter cannot express by itself; named in pyproject.toml."""

import sys
from typing import cast

import grimp
from importlinter import Contract, ContractCheck, fields, output


class ReportedContract(Contract):
    """Its metadata are the forbidden imports of each module."""

    def render_broken_contract(self, check: ContractCheck) -> None:
        for module, imports in sorted(check.metadata.items()):
            for imported in imports:
                output.print_error(f"{module} is not allowed to import {imported}")


class StatesContract(ReportedContract):
    """`domain/<noun>/states.py` imports nothing but `core.states`, its own wire module and the standard library."""

    type_name = "states"

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002, FBT001 - import-linter's
        broken = {
            module: sorted(
                imported
                for imported in graph.find_modules_directly_imported_by(module)
                if imported not in ("gpuaas.core.states", f"gpuaas.wire.{module.split('.')[-2]}")
                and imported.split(".")[0] not in sys.stdlib_module_names
            )
            for module in graph.find_matching_modules("gpuaas.domain.*.states")
        }
        return ContractCheck(kept=not any(broken.values()), metadata=broken)


class LinksContract(ReportedContract):
    """`links` knows no resource: of the domain it imports only the packages that serve links. The file of a stream kind
    may also import the kind's own package: `links/streams/terminal*.py` imports `domain/terminals`."""

    type_name = "links"
    domain = fields.SetField(subfield=fields.StringField())

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002, FBT001 - import-linter's
        broken = {
            module: sorted(
                imported
                for imported in graph.find_modules_directly_imported_by(module)
                if imported.startswith("gpuaas.domain.") and not self._is_allowed(module, imported.split(".")[2])
            )
            for module in sorted(graph.find_descendants("gpuaas.links"))
        }
        return ContractCheck(kept=not any(broken.values()), metadata=broken)

    def _is_allowed(self, module: str, package: str) -> bool:
        kind = module.removeprefix("gpuaas.links.streams.").split("_")[0]
        return kind == package.removesuffix("s") or package in cast("set[str]", self.domain)
