"""Images are whole or absent, one is current, and one in use stays."""

import os
import subprocess
import sys
from collections.abc import Awaitable
from datetime import timedelta
from pathlib import Path

import pytest
import uvloop
from msgspec.structs import replace

from gpuaas.engines.base import EngineError
from gpuaas.engines.images import image_build, image_recipe, image_schedule, images
from gpuaas.engines.images.images import ImageError
from gpuaas.engines.images.node_images import NodeImages
from gpuaas.wire.images import BaseImage
from tests.images.fakes import AT, publish


def test_the_last_one_published_is_current_and_older_ones_stay(tmp_path: Path) -> None:
    assert images.current(tmp_path / "none") is None
    assert images.list(tmp_path / "none") == ()
    first = publish(tmp_path, "one")
    second = publish(tmp_path, "two", at=AT + timedelta(days=1))
    assert images.current(tmp_path) == second
    assert images.list(tmp_path) == (replace(first, replaced_at=second.built_at), second)
    assert (second.root / "bin/sh").read_text() == "shell\n"


def test_a_record_does_not_say_where_it_is(tmp_path: Path) -> None:
    publish(tmp_path / "here", "one")
    (tmp_path / "here").rename(tmp_path / "there")
    moved = images.current(tmp_path / "there")
    assert moved is not None
    assert moved.root == tmp_path / "there/one/root"


def test_other_people_of_the_node_cannot_enter(tmp_path: Path) -> None:
    image = publish(tmp_path / "images", "one")
    assert (tmp_path / "images").stat().st_mode & 0o777 == 0o700
    assert Path(image.folder).stat().st_mode & 0o777 == 0o700


def test_a_record_that_cannot_be_read_counts_as_no_image(tmp_path: Path) -> None:
    image = publish(tmp_path, "one")
    Path(image.folder, "image.json").write_text('{"version"')
    assert images.current(tmp_path) is None
    assert images.list(tmp_path) == ()


def test_current_is_replaced_at_once_also_after_a_crash_in_between(tmp_path: Path) -> None:
    first = publish(tmp_path, "one")
    (tmp_path / ".current.new").symlink_to("half")
    assert images.current(tmp_path) == first
    second = publish(tmp_path, "two")
    assert images.current(tmp_path) == second
    assert not (tmp_path / ".current.new").is_symlink()


def test_the_images_folder_is_the_engines_own_or_the_shared_one(tmp_path: Path) -> None:
    assert images.folder_of(tmp_path, None) == images.folder_of(tmp_path, "") == tmp_path / "images"
    assert images.folder_of(tmp_path, "/somewhere/else") == Path("/somewhere/else")


def test_an_image_is_outdated_when_it_was_not_built_or_compared_for_too_long(tmp_path: Path) -> None:
    image, month = publish(tmp_path, "one"), timedelta(days=30)
    assert images.outdated_since(image, month, AT + timedelta(days=29)) is None
    assert images.outdated_since(image, month, AT + timedelta(days=31)) == AT + month
    assert images.outdated_since(image, timedelta(), AT + timedelta(days=31)) is None, "rebuilds are turned off"
    images.note(image, checked_at=AT + timedelta(days=31))
    compared = images.read(tmp_path, "one")
    assert compared is not None
    assert images.outdated_since(compared, month, AT + timedelta(days=32)) is None
    assert images.is_old(compared, month, AT + timedelta(days=32)), "and is compared again, whatever was found before"


def test_an_image_is_replaced_from_the_moment_that_a_newer_one_is_current(tmp_path: Path) -> None:
    days = [AT + timedelta(days=number) for number in range(3)]
    for number, day in enumerate(days):
        publish(tmp_path, f"{number}", at=day)
    first, second, third = images.list(tmp_path)
    assert [images.replaced_at(each, third) for each in (first, second, third)] == [days[1], days[2], None]
    unnoted = replace(first, replaced_at=None)  # replaced by a release of the product that did not note it
    assert images.replaced_at(unnoted, third) == days[2]
    assert images.replaced_at(first, None) is None
    same = replace(third, digest=first.digest)  # built with --force
    assert images.replaced_at(first, same) is None, "there is nothing newer in it"


async def test_a_node_tells_which_image_is_current_and_which_one_an_environment_has(tmp_path: Path) -> None:
    now = AT + timedelta(days=9)
    node = NodeImages(tmp_path, now=lambda: now, max_age_days=7)
    assert await node.report() is None
    assert node.used("one") is node.used("") is None
    with pytest.raises(EngineError, match="no base image"):
        node.current()
    publish(tmp_path, "one")
    used = BaseImage(version="one", distribution="debian-12", python="3.11", built_at=AT)
    assert node.used("one") == used
    old = await node.report()
    assert old is not None
    assert (old.version, old.distribution, old.python, old.outdated_since) == (
        *("one", "debian-12", "3.11"),
        AT + timedelta(days=7),
    )
    publish(tmp_path, "two", at=now)
    assert node.used("one") == replace(used, replaced_at=now)
    new = await node.report()
    assert new is not None
    assert (new.version, new.outdated_since, new.failure) == ("two", None, "")


def test_a_release_without_a_number_is_called_by_its_code_name(tmp_path: Path) -> None:
    image = publish(tmp_path, "one")
    (image.root / "usr/lib/os-release").write_text("ID=debian\nVERSION_CODENAME=forky\n")
    assert replace(image, release="forky").system == "debian-forky"
    (image.root / "usr/lib/os-release").unlink()
    assert image.system == "debian-bookworm"


async def test_the_current_image_is_not_removed_and_an_older_one_is(tmp_path: Path) -> None:
    publish(tmp_path, "one")
    publish(tmp_path, "two")
    with pytest.raises(ImageError, match="is current"):
        await images.remove(tmp_path, "two")
    await images.remove(tmp_path, "one")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["current", "two"]
    with pytest.raises(ImageError, match="there is no image"):
        await images.remove(tmp_path, "one")


@pytest.mark.parametrize("version", ["..", ".", "current", "../images", "../images/one"])
async def test_what_is_no_version_is_not_removed(tmp_path: Path, version: str) -> None:
    publish(tmp_path / "images", "one")
    publish(tmp_path / "images", "two")
    with pytest.raises(ImageError):
        await images.remove(tmp_path / "images", version)
    assert len(images.list(tmp_path / "images")) == 2


async def test_an_image_in_use_stays_until_its_last_environment_is_gone(tmp_path: Path) -> None:
    image, environment = publish(tmp_path / "images", "one"), tmp_path / "environment"
    environment.mkdir()
    images.claim(image, environment)
    publish(tmp_path / "images", "two")
    assert images.claimants(tmp_path / "images", "one") == (str(environment),)
    with pytest.raises(ImageError, match="in use by an environment") as refusal:
        await images.remove(tmp_path / "images", "one")
    assert refusal.value.excerpt == (str(environment),)
    environment.rmdir()
    await images.remove(tmp_path / "images", "one")
    with pytest.raises(ImageError, match="was removed"):
        images.claim(image, environment)


async def test_an_image_that_the_caller_knows_to_be_in_use_stays(tmp_path: Path) -> None:
    publish(tmp_path, "one")
    publish(tmp_path, "two")
    with pytest.raises(ImageError, match="in use"):
        await images.remove(tmp_path, "one", in_use={"one"})
    assert len(images.list(tmp_path)) == 2


async def test_old_images_are_pruned_except_those_in_use_and_the_previous_one(tmp_path: Path) -> None:
    folder, environment = tmp_path / "images", tmp_path / "environment"
    environment.mkdir()
    for days, name in enumerate(("one", "two", "three", "four", "five")):
        made = publish(folder, name, at=AT + timedelta(days=days))
        if name == "two":
            images.claim(made, environment)
    assert await images.prune(folder) == ("one", "three")
    assert [image.version for image in images.list(folder)] == ["two", "four", "five"]
    environment.rmdir()
    assert await images.prune(folder) == ("two",)
    assert await images.prune(folder) == ()
    assert await images.prune(tmp_path / "none") == ()


async def test_an_old_image_is_rebuilt_and_a_failure_is_kept_until_it_works(tmp_path: Path) -> None:
    publish(tmp_path, "one")
    answers = [(1, "E: Failed to fetch"), (0, "built")]

    async def rebuild() -> tuple[int, str]:
        return answers.pop(0)

    async def look_after(days: int) -> str:
        age = timedelta(days=7)
        await image_schedule.look(tmp_path, age, now=lambda: AT + timedelta(days=days), rebuild=rebuild)
        return image_schedule.failure(tmp_path)

    assert await look_after(6) == ""
    assert len(answers) == 2, "a young image is left alone"
    assert await look_after(8) == "E: Failed to fetch"
    assert await look_after(8) == ""
    assert answers == []


async def test_a_rebuild_that_cannot_even_start_is_reported(tmp_path: Path) -> None:
    publish(tmp_path, "one")

    async def rebuild() -> tuple[int, str]:
        raise TypeError("Expected dict, got _Environ")

    now = AT + timedelta(days=8)
    await image_schedule.look(tmp_path, timedelta(days=7), now=lambda: now, rebuild=rebuild)
    assert "Expected dict" in image_schedule.failure(tmp_path)


def test_a_rebuild_starts_in_the_loop_of_an_agent_with_its_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUAAS_IMAGES", "/somewhere")
    program = ("sh", "-c", 'echo "$GPUAAS_IMAGES $(nice) $*"', "gpuaas")
    said = uvloop.run(_awaited(image_schedule.rebuild_beside(tmp_path, program)()))
    assert said == (0, f"/somewhere 19 node image build --folder {tmp_path}")


async def _awaited(rebuild: Awaitable[tuple[int, str]]) -> tuple[int, str]:
    return await rebuild


async def test_what_a_crash_left_is_erased_by_the_next_build(tmp_path: Path) -> None:
    image = publish(tmp_path / "images", "one")
    draft = images.make_draft(tmp_path / "images")
    (draft / "root/half").mkdir(parents=True)
    (tmp_path / "images/.removed-old/root").mkdir(parents=True)
    async with image_build.lock(tmp_path / "images", nobody):
        assert {path.name for path in (tmp_path / "images").iterdir()} == {"current", "one", ".lock"}
    assert images.current(tmp_path / "images") == image


async def test_an_image_that_was_claimed_while_its_removal_was_cut_comes_back(tmp_path: Path) -> None:
    image = publish(tmp_path, "one")
    second = publish(tmp_path, "two")
    images.claim(image, tmp_path)
    (tmp_path / "one").rename(tmp_path / ".removed-one")
    await images.erase_leftovers(tmp_path)
    assert images.read(tmp_path, "one") == replace(image, replaced_at=second.built_at)


def test_a_draft_of_a_running_build_is_not_taken_for_a_leftover(tmp_path: Path) -> None:
    holder = f"""
import sys
from pathlib import Path
from gpuaas.engines.images import images
with images.building(Path({str(tmp_path)!r})) as is_ours:
    print(is_ours, flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        with images.building(tmp_path) as is_ours:
            assert not is_ours
        process.kill()
    with images.building(tmp_path) as is_ours:
        assert is_ours


async def test_an_image_of_this_recipe_is_reused_without_a_look_at_the_node(tmp_path: Path) -> None:
    image = publish(tmp_path, "one", recipe=image_recipe.recipe())
    made = await image_build.ensure(tmp_path, added=(), environ=os.environ, now=lambda: AT, on_phase=nobody)
    assert made == image


async def nobody(_phase: str, _note: str) -> None:
    """Watches nothing."""
