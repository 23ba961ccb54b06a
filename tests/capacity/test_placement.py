"""Where a request goes: pure choices over a snapshot; no database."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuaas.domain.capacity.placement import Ask, Blocked, Fleet, NodeView, Proposal, SlotView, explain
from gpuaas.wire.capacity import Shape, Unavailable
from gpuaas.wire.environments import Init

COUNTS = [1, 2, 4, 8]


def node(
    id: str,
    free: int,
    *,
    claimed: int = 0,
    blocked: int = 0,
    numa: list[int] | None = None,
    region: str = "r",
    why: Blocked | None = None,
) -> NodeView:
    """`free` slots, then `claimed` ones, then `blocked` ones."""
    kinds = [(False, None)] * free + [(True, None)] * claimed + [(False, Blocked.NOT_APPROVED)] * blocked
    slots = tuple(
        SlotView(f"{id}-{index}", numa[index] if numa else None, held, kept_out)
        for index, (held, kept_out) in enumerate(kinds)
    )
    return NodeView(id, region, "h200", slots, why)


def ask(gpu_count: int, shape: Shape = Shape.GPU_SLICE, region: str | None = None) -> Ask:
    return Ask(shape=shape, gpu_family="h200", gpu_count=gpu_count, region=region)


def sized(id: str, *, left: int = 100, has_systemd: bool = False) -> NodeView:
    """With four CPUs, 8 GiB of memory and 100 GiB of disk for sale."""
    found = replace(node(id, 8), has_systemd=has_systemd, vcpus=4, memory_mib=8_192)
    return replace(found, disk_for_sale_gib=100, disk_left_gib=left)


def sized_ask(**fields: Any) -> Ask:
    return replace(ask(1), **fields)


OTHERS = [ask(count) for count in COUNTS]


def placed(nodes: list[NodeView], wanted: Ask) -> Proposal:
    proposal = Fleet(nodes).propose(wanted)
    assert proposal is not None
    return proposal


def test_the_tightest_node_that_holds_the_whole_request_is_chosen() -> None:
    nodes = [node("empty", 8), node("half", 4, claimed=4), node("full", 1, claimed=7)]
    assert [placed(nodes, ask(count)).node_id for count in (1, 2, 4, 8)] == ["full", "half", "half", "empty"]


def test_the_slots_of_one_numa_node_are_preferred_and_the_tightest_of_those() -> None:
    view = node("a", 6, numa=[0, 0, 0, 0, 1, 1])
    assert placed([view], ask(2)).slot_ids == ("a-4", "a-5")
    assert placed([view], ask(4)).slot_ids == ("a-0", "a-1", "a-2", "a-3")
    assert len(placed([view], ask(6)).slot_ids) == 6


def test_of_equally_full_nodes_one_that_fits_a_numa_node_is_chosen() -> None:
    torn, whole = node("torn", 2, numa=[0, 1]), node("whole", 2, numa=[1, 1])
    assert placed([torn, whole], ask(2)).node_id == "whole"


def test_a_whole_node_is_one_with_nothing_else_on_it() -> None:
    nodes = [node("used", 7, claimed=1), node("odd", 8, blocked=1), node("free", 8)]
    proposal = placed(nodes, ask(8, Shape.BAREMETAL))
    assert (proposal.node_id, proposal.whole, len(proposal.slot_ids)) == ("free", True, 8)
    assert Fleet(nodes[:2]).propose(ask(8, Shape.BAREMETAL)) is None


def test_as_many_whole_nodes_are_available_as_can_be_had() -> None:
    nodes = [node("larger", 16), node("used", 8, claimed=8), node("free", 8), node("free too", 8)]
    fleet, wanted = Fleet(nodes), ask(8, Shape.BAREMETAL)
    assert fleet.room(wanted) == {"r": 2}
    while proposal := fleet.propose(wanted):
        fleet.take(proposal)
    assert fleet.room(wanted) == {"r": 0}
    refused = explain(nodes[:2], wanted, count=1, others=[])
    assert refused.detail == "24 GPUs are free, but no node of 8 GPUs has all of them free."


def test_disk_is_the_reason_only_if_there_would_be_places_without_it() -> None:
    nodes = [sized("a", left=15)]
    refused = explain(nodes, sized_ask(disk_gib=10), count=2, others=[])
    assert refused.kind is Unavailable.NO_DISK
    told = "Nodes with free GPUs have too little disk left. Each allocation needs 10 GiB."
    assert refused.detail == f"{told} 1 of the 2 allocations would fit."


def test_a_region_asked_for_is_kept_to() -> None:
    nodes = [node("east", 1, region="east"), node("west", 8, region="west")]
    assert placed(nodes, ask(1, region="west")).node_id == "west"
    assert Fleet(nodes).propose(ask(1, region="mars")) is None


def test_what_was_taken_is_not_proposed_again_until_it_is_given_back() -> None:
    fleet = Fleet([node("a", 1)])
    first = fleet.propose(ask(1))
    assert first is not None
    fleet.take(first)
    fleet.put(node("a", 1))  # read again before the claim committed
    assert fleet.propose(ask(1)) is None
    fleet.settle(first, claimed=False)
    assert fleet.propose(ask(1)) == first
    fleet.take(first)
    fleet.settle(first, claimed=True)
    assert fleet.propose(ask(1)) is None


REFUSALS = {
    "all is sold": ([node("a", 0, claimed=8)], ask(1), Unavailable.NO_CAPACITY, {}),
    "there is nothing": ([], ask(1), Unavailable.NO_CAPACITY, {}),
    "enough is free, but scattered": ([node("a", 2), node("b", 2)], ask(4), Unavailable.NO_SINGLE_NODE_FITS, {}),
    "slots wait for approval": ([node("a", 0, blocked=4)], ask(4), Unavailable.READINESS_BLOCKS, {"not_approved": 4}),
    "the node is offline": (
        [node("a", 8, why=Blocked.NODE_OFFLINE)],
        ask(8),
        Unavailable.READINESS_BLOCKS,
        {"node_offline": 8},
    ),
    "no node has the disk": ([sized("a", left=9), sized("b", left=3)], sized_ask(disk_gib=10), Unavailable.NO_DISK, {}),
    "a node lacks something": (
        [node("a", 8, why=Blocked.MISSING_REQUIREMENTS)],
        ask(1),
        Unavailable.READINESS_BLOCKS,
        {"missing_requirements": 8},
    ),
    "no node is whole, whatever its disk": (
        [replace(node("a", 8, claimed=8), disk_for_sale_gib=100, disk_left_gib=100)],
        replace(ask(8, Shape.BAREMETAL), disk_gib=10),
        Unavailable.NO_SINGLE_NODE_FITS,
        {},
    ),
    "a whole node waits for approval": (
        [node("a", 7, blocked=1)],
        ask(8, Shape.BAREMETAL),
        Unavailable.READINESS_BLOCKS,
        {"not_approved": 1},
    ),
    "a node of more GPUs would be ready": (
        [node("a", 0, blocked=16)],
        ask(8, Shape.BAREMETAL),
        Unavailable.NO_CAPACITY,
        {"not_approved": 16},
    ),
    "a disk runs full": ([node("a", 8, why=Blocked.DISK_LOW)], ask(1), Unavailable.READINESS_BLOCKS, {"disk_low": 8}),
    "no node offers systemd": ([sized("a")], sized_ask(init=Init.SYSTEMD), Unavailable.SIZE_NOT_OFFERED, {}),
    "no node has the CPUs": ([sized("a")], sized_ask(vcpus=5), Unavailable.SIZE_NOT_OFFERED, {}),
    "no node has the memory": ([sized("a")], sized_ask(memory_mib=9_000), Unavailable.SIZE_NOT_OFFERED, {}),
    "no node has so large a disk": ([sized("a")], sized_ask(disk_gib=101), Unavailable.SIZE_NOT_OFFERED, {}),
    "not even ready slots would do": ([node("a", 1, blocked=1)], ask(4), Unavailable.NO_CAPACITY, {"not_approved": 1}),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_says_which_reason_it_is(case: str) -> None:
    nodes, wanted, kind, blocked = REFUSALS[case]
    placement = explain(nodes, wanted, count=1, others=OTHERS)
    assert (placement.fits, placement.kind, placement.blocked) == (False, kind, blocked)


def test_a_refusal_says_what_would_fit() -> None:
    nodes = [node("a", 3, claimed=5), node("b", 2, claimed=6)]
    placement = explain(nodes, ask(4), count=1, others=OTHERS)
    assert [(fit.gpu_count, fit.count) for fit in placement.would_fit] == [(2, 2), (1, 5)]


def test_what_would_fit_does_fit() -> None:
    nodes = [node("a", 3, claimed=5), node("b", 2, claimed=6)]
    for fit in explain(nodes, ask(4), count=1, others=OTHERS).would_fit:
        assert explain(nodes, ask(fit.gpu_count), count=fit.count, others=OTHERS).fits


def test_a_group_is_told_how_many_of_it_would_have_fitted() -> None:
    placement = explain([node("a", 4)], ask(2), count=3, others=OTHERS)
    assert (placement.fits, "2 of the 3" in placement.detail) == (False, True)


slot = st.tuples(st.booleans(), st.sampled_from([None, *Blocked]), st.sampled_from([None, 0, 1]))
fleets = st.lists(
    st.tuples(st.lists(slot, min_size=1, max_size=8), st.sampled_from([None, None, *Blocked]), st.sampled_from("ew")),
    max_size=6,
)
asks = st.builds(
    ask,
    st.sampled_from([1, 2, 3, 4, 8]),
    st.sampled_from(list(Shape)),
    st.sampled_from([None, "e", "w"]),
)


def views(drawn: list[tuple[list[tuple[bool, Blocked | None, int | None]], Blocked | None, str]]) -> list[NodeView]:
    return [
        NodeView(
            f"n{number}",
            region,
            "h200",
            tuple(SlotView(f"n{number}-{i}", numa, held, why) for i, (held, why, numa) in enumerate(slots)),
            blocked,
        )
        for number, (slots, blocked, region) in enumerate(drawn)
    ]


@given(fleets, st.lists(asks, max_size=12))
def test_nothing_is_ever_proposed_twice_or_outside_free_slots_or_across_nodes(
    drawn: list[tuple[list[tuple[bool, Blocked | None, int | None]], Blocked | None, str]], wanted: list[Ask]
) -> None:
    nodes = views(drawn)
    fleet, by_id = Fleet(nodes), {view.id: view for view in nodes}
    sold: set[str] = set()
    for each in wanted:
        proposal = fleet.propose(each)
        if proposal is None:
            continue
        fleet.take(proposal)
        on = by_id[proposal.node_id]
        free = {s.id for s in on.slots if not s.claimed and not s.blocked} if not on.blocked else set()
        assert set(proposal.slot_ids) <= free - sold
        assert len(proposal.slot_ids) == each.gpu_count
        assert each.region in (None, proposal.region == on.region and on.region)
        assert list(proposal.slot_ids) == sorted(proposal.slot_ids)
        if proposal.whole:
            assert set(proposal.slot_ids) == {s.id for s in on.slots}
        sold |= set(proposal.slot_ids)


@given(fleets, asks)
def test_a_request_is_refused_only_when_no_node_holds_it(
    drawn: list[tuple[list[tuple[bool, Blocked | None, int | None]], Blocked | None, str]], wanted: Ask
) -> None:
    nodes = views(drawn)

    def holds(view: NodeView) -> bool:
        free = 0 if view.blocked else sum(not s.claimed and not s.blocked for s in view.slots)
        fits = (
            free == len(view.slots) == wanted.gpu_count if wanted.shape is Shape.BAREMETAL else free >= wanted.gpu_count
        )
        return fits and wanted.region in (None, view.region)

    proposal = Fleet(nodes).propose(wanted)
    assert (proposal is not None) == any(holds(view) for view in nodes)
    assert explain(nodes, wanted, count=1, others=OTHERS).fits == (proposal is not None)


def test_systemd_goes_only_where_the_engine_declares_it() -> None:
    nodes = [sized("a"), sized("b", has_systemd=True)]
    assert placed(nodes, sized_ask(init=Init.SYSTEMD)).node_id == "b"
    assert placed(nodes, sized_ask()).node_id == "a"


def test_disk_is_taken_with_the_slots_and_given_back_with_them() -> None:
    fleet, wanted = Fleet([sized("a", left=25)]), sized_ask(disk_gib=10)
    taken = []
    while proposal := fleet.propose(wanted):
        fleet.take(proposal)
        taken.append(proposal)
    assert len(taken) == 2
    fleet.settle(taken[0], claimed=True)
    fleet.put(sized("a", left=15))  # as read: the first is sold, the second is still on its way
    assert fleet.propose(wanted) is None
    fleet.settle(taken[1], claimed=False)
    assert fleet.propose(wanted) is not None
    assert fleet.room(wanted) == {"r": 1}
