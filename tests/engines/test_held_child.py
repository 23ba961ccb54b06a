"""A child process that another process takes something from."""

import errno
import os
from pathlib import Path

import pytest

from gpuaas.engines.node import kernel


def test_the_child_answers_and_lives_until_the_block_ends() -> None:
    with kernel.held_child("it could not be done", lambda: str(os.getpid())) as (pid, said):
        assert said == str(pid)
        assert Path(f"/proc/{pid}").exists()
    assert not Path(f"/proc/{pid}").exists()


def test_an_error_of_the_child_is_raised_with_what_it_was_for() -> None:
    def fail() -> str:
        raise OSError(errno.ENOTDIR, "open_tree /x: Not a directory")

    with (
        pytest.raises(NotADirectoryError, match="it could not be done: open_tree /x"),
        kernel.held_child("it could not be done", fail),
    ):
        pytest.fail("the block must not run")


def test_a_child_that_ends_without_an_answer_is_an_error() -> None:
    def end() -> str:
        os._exit(0)

    with (
        pytest.raises(OSError, match="it could not be done: its process ended"),
        kernel.held_child("it could not be done", end),
    ):
        pytest.fail("the block must not run")
