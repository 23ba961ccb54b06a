"""Which package sources of a node an image gets, and that none of the node's secrets come with them."""

from pathlib import Path

import pytest

from gpuaas.engines.images import image_bootstrap, image_recipe, image_sources
from gpuaas.engines.images.images import ImageError

LIST = """# comment
deb http://mirror.test/debian bookworm main contrib # tail
deb-src http://mirror.test/debian bookworm main
deb [arch=amd64,arm64 signed-by=/keys/other.gpg] https://other.test/debian bookworm stable
deb http://mirror.test/debian trixie main
deb http://mirror.test/debian stable main
"""
STANZAS = """Types: deb deb-src
# a comment inside
URIs: http://user:secret@mirror.test/debian
Suites: bookworm bookworm-updates trixie
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc

Types: deb
Enabled: no
URIs: http://off.test/debian
Suites: bookworm
Components: main

Types: deb
URIs: https://flat.test/node
Suites: nodistro
Components: main
"""
DUMP = """Acquire::http::Proxy "http://proxy.test:3128";
Acquire::https::Proxy::mirror.test "http://user:secret@proxy.test:3128";
Acquire::http::Proxy-Auto-Detect "/usr/bin/ask-somebody";
Acquire::https::SslKey "/etc/ssl/private/node.key";
Acquire::Check-Valid-Until "false";
DPkg::Post-Invoke:: "rm -rf /";
"""


@pytest.fixture
def apt(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(LIST)
    (tmp_path / "sources.list.d/debian.sources").write_text(STANZAS)
    (tmp_path / "sources.list.d/off.list.disabled").write_text("deb http://off.test/debian bookworm main\n")
    return tmp_path


def test_only_enabled_sources_of_the_nodes_release_are_kept(apt: Path) -> None:
    found = image_sources.node_sources(apt, "bookworm")
    assert [(source.uris, source.suites, source.components) for source in found] == [
        (("http://mirror.test/debian",), ("bookworm",), ("main", "contrib")),
        (("https://other.test/debian",), ("bookworm",), ("stable",)),
        (("http://user:secret@mirror.test/debian",), ("bookworm", "bookworm-updates"), ("main",)),
    ]
    assert found[1].fields == {"Architectures": "amd64 arm64", "Signed-By": "/keys/other.gpg"}
    assert found[2].fields["Signed-By"].endswith(" abc")


@pytest.mark.parametrize("suite", ["bookworm", "bookworm-security", "bookworm/updates"])
def test_suites_of_a_release(suite: str) -> None:
    assert image_sources.is_of_release(suite, "bookworm")


@pytest.mark.parametrize("suite", ["trixie", "stable", "bookworm2", "cloud-bookworm", "./", ""])
def test_suites_of_no_or_another_release(suite: str) -> None:
    assert not image_sources.is_of_release(suite, "bookworm")


def test_what_is_rendered_reads_back_the_same(apt: Path) -> None:
    found = image_sources.node_sources(apt, "bookworm")
    assert list(image_sources.parse_stanzas(image_sources.render(found))) == found


def test_passwords_are_for_the_build_and_not_for_the_image(apt: Path) -> None:
    found = image_sources.node_sources(apt, "bookworm")
    assert "secret" in image_sources.render(found)
    assert "secret" not in image_sources.render(image_sources.without_secrets(found))


def test_only_settings_that_the_sources_need_are_taken() -> None:
    settings = image_sources.needed_settings(DUMP)
    assert [line.partition(" ")[0] for line in settings] == [
        "Acquire::http::Proxy",
        "Acquire::https::Proxy::mirror.test",
        "Acquire::Check-Valid-Until",
    ]
    assert image_sources.settings_without_secrets(settings) == [settings[0], settings[2]]


def test_trusted_keys_are_copied_only_for_a_source_that_names_none(apt: Path) -> None:
    (apt / "trusted.gpg.d").mkdir()
    (apt / "trusted.gpg.d/mirror.asc").write_text("key")
    named, unnamed = (list(image_sources.parse_list(line)) for line in (LIST.splitlines()[3], LIST.splitlines()[1]))
    assert not list(image_sources.key_files(apt, named))
    assert list(image_sources.key_files(apt, unnamed)) == [apt / "trusted.gpg.d/mirror.asc"]


def test_a_node_without_debian_is_told_so() -> None:
    assert image_bootstrap.debian_release('ID=debian\nVERSION_CODENAME="bookworm"\n') == "bookworm"
    with pytest.raises(ImageError, match="this node runs Ubuntu 24"):
        image_bootstrap.debian_release('ID=ubuntu\nPRETTY_NAME="Ubuntu 24"\nVERSION_CODENAME=noble\n')


def test_packages_that_the_operator_adds_are_names_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "image-packages"
    assert image_recipe.read_added(path) == []
    path.write_text("# ours\nnumactl  # for training\n\nstrace\n")
    assert image_recipe.read_added(path) == ["numactl", "strace"]
    assert not [
        name for name in ("--force", "?essential", "a b", "./x.deb", "x,y") if image_recipe.NAME.fullmatch(name)
    ]
