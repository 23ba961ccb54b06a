"""The budget of file descriptors: most for people's connections, a reserve for the agent."""

import gc

from gpuaas.engines.descriptors import RESERVE, Descriptors


class Owner:
    pass


def test_what_is_above_the_budget_is_refused_and_what_comes_back_is_given_again() -> None:
    descriptors = Descriptors(lambda: 20)
    assert descriptors.budget == 10
    taken = [descriptors.take(4) for _ in range(3)]
    assert [share is not None for share in taken] == [True, True, False]
    assert (descriptors.taken, descriptors.refused) == (8, 1)
    for _ in range(2):
        assert taken[0] is not None
        taken[0].give_back()
    assert descriptors.taken == 4
    assert descriptors.take(4) is not None


def test_a_share_comes_back_with_its_owner() -> None:
    descriptors, owner = Descriptors(lambda: 20), Owner()
    share = descriptors.take(4)
    assert share is not None
    share.belongs_to(owner)
    del owner
    gc.collect()
    assert descriptors.taken == 0


def test_the_reserve_is_bounded_on_a_large_node() -> None:
    assert Descriptors(lambda: 1 << 20).budget == (1 << 20) - RESERVE
