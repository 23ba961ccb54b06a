"""Images are whole or absent, one is current, and one in use stays."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from gpuaas.engines.images import image_build, image_recipe, images
from gpuaas.engines.images.images import ImageError
from tests.images.fakes import AT, publish


def test_the_last_one_published_is_current_and_older_ones_stay(tmp_path: Path) -> None:
    assert images.current(tmp_path / "none") is None
    assert images.list(tmp_path / "none") == ()
    first = publish(tmp_path, "one")
    second = publish(tmp_path, "two", at=AT + timedelta(days=1))
    assert images.current(tmp_path) == second
    assert images.list(tmp_path) == (first, second)
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


def test_an_image_is_outdated_by_its_age(tmp_path: Path) -> None:
    image = publish(tmp_path, "one")
    assert not images.is_outdated(image, timedelta(days=30), AT + timedelta(days=29))
    assert images.is_outdated(image, timedelta(days=30), AT + timedelta(days=31))


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
    publish(tmp_path, "two")
    images.claim(image, tmp_path)
    (tmp_path / "one").rename(tmp_path / ".removed-one")
    await images.erase_leftovers(tmp_path)
    assert images.read(tmp_path, "one") == image


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
