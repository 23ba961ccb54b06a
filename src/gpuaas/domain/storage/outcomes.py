"""What a status says of how far a thing has come, for its timeline."""

from gpuaas.wire.timeline import Outcome


def outcome_of(status: str) -> Outcome:
    if status.endswith("failed"):
        return Outcome.FAILED
    return Outcome.BEGAN if status.endswith("ing") else Outcome.DONE
