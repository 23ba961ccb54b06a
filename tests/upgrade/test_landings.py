"""Without history the tests of old code are skipped, with a reason that is permitted in CI."""

import pytest

from tests.skips import PERMITTED
from tests.upgrade.landings import landing


def test_a_commit_that_is_not_in_this_clone_skips_the_test() -> None:
    with pytest.raises(pytest.skip.Exception) as skipped:
        landing("0" * 40)
    assert str(skipped.value).startswith(tuple(PERMITTED))
    assert "commit 00000000 is not in this clone" in str(skipped.value)
