"""An import contract that import-linter cannot express by itself; named in pyproject.toml."""

import sys

import grimp
from importlinter import Contract, ContractCheck, output


class StatesContract(Contract):
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

    def render_broken_contract(self, check: ContractCheck) -> None:
        for module, imports in sorted(check.metadata.items()):
            for imported in imports:
                output.print_error(f"{module} is not allowed to import {imported}")
