"""S4: the pure choice. Its latency on large, nearly full fleets; what churn leaves of them; and that nothing is ever
proposed which an operator has not approved."""

import random
import statistics
import time
from dataclasses import dataclass, field

from benchmarks.harness import Run, percentile
from gpuaas.domain.capacity.placement import Ask, Blocked, Fleet, NodeView, Proposal, SlotView
from gpuaas.wire.capacity import Shape

SLOTS = 8
COUNTS, WEIGHTS = (1, 2, 4, 8), (40, 20, 20, 20)
FLEETS = (5_000, 12_500)
FULL = 0.95
FAMILY, REGION = "h200", "local"


def node(number: int, approved: frozenset[int] = frozenset(range(SLOTS))) -> NodeView:
    name = f"node_{number:08d}"
    slots = tuple(
        SlotView(f"{name}_{i}", i // 4, claimed=False, blocked=None if i in approved else Blocked.NOT_APPROVED)
        for i in range(SLOTS)
    )
    return NodeView(name, REGION, FAMILY, slots)


def ask(count: int) -> Ask:
    return Ask(Shape.GPU_SLICE, FAMILY, count)


@dataclass
class Churn:
    """Asks and releases by a seeded trace around a wanted fullness; every proposal is checked against the truth."""

    views: list[NodeView]
    truth: list[NodeView]  # what operators approved; the same as `views` unless a bug is planted
    seed: int
    fleet: Fleet = field(init=False)
    live: list[Proposal] = field(default_factory=list)
    used: int = 0
    refused: int = 0
    wrong: int = 0

    def __post_init__(self) -> None:
        self.fleet, self.chance = Fleet(self.views), random.Random(self.seed)
        self.sold: set[str] = set()
        self.sellable = {slot.id for view in self.truth for slot in view.slots if not slot.blocked}

    def run(self, operations: int, fullness: float) -> None:
        wanted = fullness * len(self.sellable)
        for _ in range(operations):
            if self.used < wanted:
                self.place(self.chance.choices(COUNTS, WEIGHTS)[0])
            else:
                self.release()

    def place(self, count: int) -> None:
        proposal = self.fleet.propose(ask(count))
        if proposal is None:
            self.refused += 1
            self.release()
            return
        self.fleet.take(proposal)
        self.fleet.settle(proposal, claimed=True)
        slots = set(proposal.slot_ids)
        if len(slots) != count or slots & self.sold or not slots <= self.sellable:
            self.wrong += 1
        self.sold |= slots
        self.used += count
        self.live.append(proposal)

    def release(self) -> None:
        if not self.live:
            return
        at = self.chance.randrange(len(self.live))
        self.live[at], self.live[-1] = self.live[-1], self.live[at]
        gone = self.live.pop()
        self.fleet.settle(gone, claimed=False)
        self.sold -= set(gone.slot_ids)
        self.used -= len(gone.slot_ids)

    def usable_by_whole(self) -> float:
        """Free slots on nodes that could take an 8-slot ask."""
        return sum(self.fleet.room(ask(SLOTS)).values()) * SLOTS

    def best_possible(self) -> float:
        """By moving everything: sizes are powers of two and divide a node, so they pack with no gap at all."""
        nodes_needed = -(-self.used // SLOTS)
        return (len(self.views) - nodes_needed) * SLOTS


def decisions(run: Run, operations: int) -> None:
    for nodes in FLEETS:
        for label, fullness in (("half full", 0.5), ("95 % full", FULL)):
            churn = Churn(views := [node(n) for n in range(nodes)], views, run.options.seed)
            churn.run(operations=nodes * 4, fullness=fullness)
            took = []
            for _ in range(operations):
                wanted = ask(churn.chance.choices(COUNTS, WEIGHTS)[0])
                began = time.perf_counter_ns()
                proposal = churn.fleet.propose(wanted)
                took.append((time.perf_counter_ns() - began) / 1e6)
                if proposal:
                    churn.fleet.take(proposal)
                    churn.fleet.settle(proposal, claimed=False)
                churn.release()
                churn.place(churn.chance.choices(COUNTS, WEIGHTS)[0])
            p50, p99 = statistics.median(took), percentile(took, 0.99)
            run.keep(f"S4 decision ms, {nodes} nodes, {label}", took)
            what = f"S4 decision, {nodes:,} nodes, {label}"
            run.row(what, f"p50 {p50 * 1000:.1f} µs  p99 {p99 * 1000:.1f} µs", "p99 ≤ 1 ms", met=p99 <= 1)


def quality(run: Run, operations: int, nodes: int) -> None:
    for fullness in (0.5, 0.8, FULL):
        churn = Churn(views := [node(n) for n in range(nodes)], views, run.options.seed)
        churn.run(operations, fullness)
        usable, best = churn.usable_by_whole(), churn.best_possible()
        share = usable / best if best else 1.0
        run.facts[f"churn {fullness}"] = {
            "operations": operations, "used": churn.used, "usable": usable, "best": best, "refused": churn.refused,
        }  # fmt: skip
        what = f"S4 after {operations:,} operations, {fullness:.0%} full: usable by 8"
        run.row(what, f"{share:.2f} x repacked", "≥ 0.95 x repacked", met=share >= 0.95)
    wrong, caught = unapproved(run, operations // 4, nodes)
    run.row("S4 proposals outside approved slots", str(wrong), "0", met=wrong == 0 and caught > 0)
    run.row("S4 the same with a planted fault (must not be 0)", str(caught))


def unapproved(run: Run, operations: int, nodes: int) -> tuple[int, int]:
    """Every fifth node has slots nobody approved; and a red twin, whose fleet is told that they were."""
    truth = [node(n, frozenset(range(n % SLOTS)) if n % 5 == 0 else frozenset(range(SLOTS))) for n in range(nodes)]
    right, planted = Churn(truth, truth, run.options.seed), Churn([node(n) for n in range(nodes)], truth, 1)
    right.run(operations, FULL)
    planted.run(operations, FULL)
    return right.wrong, planted.wrong
