"""Declares how a change of a node's intent is written."""

from gpuaas.domain.capacity.states import MACHINE
from gpuaas.domain.timeline.kinds import Audit, Kind
from gpuaas.wire.timeline import Outcome

NODE = Kind(
    noun="node",
    table="nodes",
    states=MACHINE,
    subject_kind="node",
    status="intent",
    writes={"intent_since": ":now", "intent_reason": ":note"},
    tenant="null",
    project="null",
    outcome=lambda _: Outcome.BEGAN,
    audit=Audit(action="node.{status}", target_kind="node", facts="jsonb_build_object('reason', :note::text)"),
    operation="null",
    shows=None,
)
