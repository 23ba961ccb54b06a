"""The checker itself: it sees a double owner, and none where there is none."""

from hypothesis import given
from hypothesis import strategies as st

from tests.launch.history import History, double_owners

STEPS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=40)


def test_a_planted_double_owner_is_caught() -> None:
    history = History()
    history.got("ada", ["slot"])
    history.got("eve", ["slot"])
    history.gives_back("ada")
    history.gives_back("eve")
    assert [(one.owner, other.owner) for one, other in double_owners(history.spans())] == [("ada", "eve")]


def test_a_double_owner_who_never_gave_back_is_caught() -> None:
    history = History()
    history.got("ada", ["slot"])
    history.got("eve", ["slot", "other"])
    assert len(double_owners(history.spans())) == 1


@given(STEPS)
def test_owners_one_after_another_are_well(steps: list[tuple[int, int]]) -> None:
    history = History()
    holder: dict[int, str] = {}
    for number, (slot, _) in enumerate(steps):
        if slot in holder:
            history.gives_back(holder.pop(slot))
        else:
            holder[slot] = f"client{number}"
            history.got(holder[slot], [f"slot{slot}"])
    assert double_owners(history.spans()) == []


@given(STEPS, st.integers(0, 3))
def test_any_second_owner_while_a_first_one_holds_is_caught(steps: list[tuple[int, int]], planted: int) -> None:
    history = History()
    history.got("first", [f"slot{planted}"])
    for number, _ in enumerate(steps):
        history.got(f"bystander{number}", [f"unrelated{number}"])
    history.got("second", [f"slot{planted}"])
    history.gives_back("first")
    assert len(double_owners(history.spans())) == 1
