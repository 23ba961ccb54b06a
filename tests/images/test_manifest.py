"""An image that somebody changed is told from one that nobody did."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gpuaas.engines.images import image_manifest, images
from gpuaas.engines.images.images import Image
from tests.images.fakes import publish


def manifest(root: Path) -> bytes:
    return image_manifest.encode(image_manifest.entries(root))


def test_the_digest_depends_on_content_and_not_on_times_or_order(tmp_path: Path) -> None:
    for name, order in (("one", "ab"), ("two", "ba")):
        (tmp_path / name).mkdir()
        for letter in order:
            (tmp_path / name / letter).write_text(letter)
    os.utime(tmp_path / "two/a", (0, 0))
    assert image_manifest.digest(manifest(tmp_path / "one")) == image_manifest.digest(manifest(tmp_path / "two"))
    (tmp_path / "two/a").write_text("c")
    assert image_manifest.digest(manifest(tmp_path / "one")) != image_manifest.digest(manifest(tmp_path / "two"))


def test_a_link_that_leads_out_is_recorded_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("secret")
    (tmp_path / "root").mkdir()
    (tmp_path / "root/way").symlink_to("../outside")
    found = image_manifest.decode(manifest(tmp_path / "root"))
    assert list(found) == [".", "way"]
    assert (found["way"].kind, found["way"].content) == ("link", "../outside")


def test_a_name_that_is_no_text_is_recorded(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n")).write_text("x")
    assert len(image_manifest.decode(manifest(tmp_path))) == 2


def test_an_image_that_nobody_touched_verifies(tmp_path: Path) -> None:
    assert images.verify(publish(tmp_path, "one")) == ()


def swap(image: Image) -> None:
    (image.root / "bin/sh").write_text("SHELL\n")  # as long as before


def add_setuid(image: Image) -> None:
    (image.root / "bin/sh").chmod(0o4755)


def plant(image: Image) -> None:
    (image.root / "bin/backdoor").write_text("x")


def take_away(image: Image) -> None:
    (image.root / "bin/sh").unlink()


def point_elsewhere(image: Image) -> None:
    (image.root / "bin/bash").unlink()
    (image.root / "bin/bash").symlink_to("/srv/sh")


def edit_manifest(image: Image) -> None:
    """What somebody does who changed a file and hides it, and cannot change the digest that is known elsewhere."""
    swap(image)
    Path(image.folder, "manifest").write_bytes(manifest(image.root))


@pytest.mark.parametrize(
    ("tamper", "found"),
    [
        (swap, ("changed: bin/sh (content)",)),
        (add_setuid, ("changed: bin/sh (mode)",)),
        (plant, ("added: bin/backdoor",)),
        (take_away, ("missing: bin/sh",)),
        (point_elsewhere, ("changed: bin/bash (content)",)),
        (edit_manifest, ("changed: the manifest does not have the digest of the image",)),
    ],
)
def test_tampering_is_found_and_named(tmp_path: Path, tamper: Callable[[Image], None], found: tuple[str, ...]) -> None:
    image = publish(tmp_path, "one")
    tamper(image)
    assert images.verify(image) == found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives capabilities and files away")
def test_a_planted_capability_and_another_owner_are_found(tmp_path: Path) -> None:
    image = publish(tmp_path, "one")
    os.chown(image.root / "bin/sh", 1000, 0)
    assert images.verify(image) == ("changed: bin/sh (uid)",)
    os.chown(image.root / "bin/sh", 0, 0)
    os.setxattr(image.root / "bin/sh", "security.capability", bytes.fromhex("0100000280000000000000000000000000000000"))
    assert images.verify(image) == ("changed: bin/sh (capability)",)


def test_a_record_is_json_that_people_can_read(tmp_path: Path) -> None:
    image = publish(tmp_path, "one")
    record = msgspec.json.decode(Path(image.folder, "image.json").read_bytes())
    assert "folder" not in record
    assert (record["version"], record["bytes"]) == ("one", image.bytes)
