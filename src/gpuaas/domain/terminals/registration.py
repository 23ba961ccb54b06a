"""The registration of browser terminals. They have no node tasks: the node or the link server ends them."""

from gpuaas.domain.tasks.registration import Overlay
from gpuaas.domain.terminals import store
from gpuaas.domain.terminals.commands import Policy
from gpuaas.domain.terminals.reconcile import TerminalWorker

TERMINALS = Overlay(
    name="terminals",
    workers=(lambda parts: TerminalWorker(parts.db, parts.clock, Policy.of(parts.settings)),),
    tables=("terminals",),
    sweeps=store.SWEEPS,
    actions=("open_terminal", "reattach", "end_terminal"),
)
