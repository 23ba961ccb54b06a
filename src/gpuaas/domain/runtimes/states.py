"""The states of bundles, stagings and runtimes, and their moves."""

from gpuaas.core.states import Machine
from gpuaas.wire.runtimes import BundleState, RuntimeState, StagingStatus

BUNDLE = Machine(
    "runtime bundle",
    {
        BundleState.PUBLISHED: {BundleState.DEPRECATED, BundleState.RETIRED},
        BundleState.DEPRECATED: {BundleState.PUBLISHED, BundleState.RETIRED},
        BundleState.RETIRED: set(),
    },
)

STAGING = Machine(
    "staging",
    {
        StagingStatus.STAGING: {StagingStatus.STAGED, StagingStatus.FAILED},
        StagingStatus.STAGED: {
            StagingStatus.STAGED,
            StagingStatus.STAGING,
            StagingStatus.FAILED,
            StagingStatus.REMOVING,
        },
        StagingStatus.FAILED: {StagingStatus.STAGING, StagingStatus.REMOVING},
        StagingStatus.REMOVING: {StagingStatus.REMOVED, StagingStatus.STAGED, StagingStatus.FAILED},
        StagingStatus.REMOVED: {StagingStatus.STAGING},
    },
)

# A person may choose again in any state. A later boot moves `applied` and `failed` to themselves or to each other.
CHOSEN = {RuntimeState.APPLYING, RuntimeState.CLEARING}
RUNTIME = Machine(
    "runtime",
    {
        RuntimeState.APPLYING: {RuntimeState.APPLIED, RuntimeState.FAILED, *CHOSEN},
        RuntimeState.APPLIED: {RuntimeState.APPLIED, RuntimeState.FAILED, *CHOSEN},
        RuntimeState.FAILED: {RuntimeState.APPLIED, RuntimeState.FAILED, *CHOSEN},
        RuntimeState.CLEARING: {RuntimeState.CLEARED, RuntimeState.FAILED, *CHOSEN},
        RuntimeState.CLEARED: {RuntimeState.CLEARED, *CHOSEN},
    },
)
