"""Package sources of the node for its release, without secrets, for use in an image."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

USER_INFO = re.compile(r"(?<=://)[^/@\s]*@")
OPTIONS = {"arch": "Architectures", "signed-by": "Signed-By", "trusted": "Trusted", "lang": "Languages"}
ONE_LINE = re.compile(r"deb\s+(?:\[(?P<options>[^]]*)]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s*(?P<components>.*)")
# Settings for access to the sources. Other settings of apt concern the node's packages; programs that return a proxy
# and client certificates also stay on the node.
NEEDED_SETTINGS = re.compile(
    r'(Acquire::https?::Proxy(?:::[\w.-]+)?|Acquire::Check-Valid-Until|Acquire::Retries) "(.+)";', re.IGNORECASE
)


@dataclass(frozen=True)
class Source:
    uris: tuple[str, ...]
    suites: tuple[str, ...]
    components: tuple[str, ...]
    fields: dict[str, str] = field(default_factory=dict)
    """The remaining fields, such as Signed-By; a key in the field itself has several lines."""

    @property
    def key_file(self) -> Path | None:
        value = self.fields.get("Signed-By", "")
        return Path(value) if value.startswith("/") else None

    def render(self) -> str:
        lines = ["Types: deb", f"URIs: {' '.join(self.uris)}", f"Suites: {' '.join(self.suites)}"]
        if self.components:
            lines.append(f"Components: {' '.join(self.components)}")
        return "\n".join([*lines, *(f"{name}: {value}" for name, value in self.fields.items())]) + "\n"


def node_sources(apt: Path, release: str) -> list[Source]:
    """The enabled sources of /etc/apt that offer packages of this release."""
    parts = apt / "sources.list.d"
    lists = [apt / "sources.list", *sorted(parts.glob("*.list"))]
    found = [source for path in lists if path.is_file() for source in parse_list(path.read_text())]
    found += [source for path in sorted(parts.glob("*.sources")) for source in parse_stanzas(path.read_text())]
    return list(for_release(found, release))


def for_release(sources: Iterable[Source], release: str) -> Iterator[Source]:
    """Remove suites of other releases. An alias such as `stable` changes with the next release."""
    for source in sources:
        suites = tuple(suite for suite in source.suites if is_of_release(suite, release))
        if suites:
            yield replace(source, suites=suites)


def is_of_release(suite: str, release: str) -> bool:
    return re.fullmatch(rf"{re.escape(release)}([-/].+)?", suite) is not None


def parse_list(text: str) -> Iterator[Source]:
    """The one-line format: `deb [options] uri suite components`."""
    for line in text.splitlines():
        found = ONE_LINE.fullmatch(line.partition("#")[0].strip())
        if found is None:
            continue
        options = (option.partition("=") for option in (found["options"] or "").split())
        fields = {
            OPTIONS[name.lower()]: value.replace(",", " ") for name, _, value in options if name.lower() in OPTIONS
        }
        yield Source((found["uri"],), (found["suite"],), tuple(found["components"].split()), fields)


def parse_stanzas(text: str) -> Iterator[Source]:
    """The deb822 format: stanzas of fields."""
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(stanza_fields(stanza))
        kept = {name: fields.pop(name.lower()) for name in OPTIONS.values() if name.lower() in fields}
        uris, suites, components = (tuple(fields.get(name, "").split()) for name in ("uris", "suites", "components"))
        is_enabled = fields.get("enabled", "yes").strip().lower() not in ("no", "false", "0")
        if is_enabled and "deb" in fields.get("types", "").split() and uris:
            yield Source(uris, suites, components, kept)


def stanza_fields(stanza: str) -> Iterator[tuple[str, str]]:
    for name, value in re.findall(r"^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", stanza, re.MULTILINE):
        yield name.lower(), value.rstrip()


def key_files(apt: Path, sources: Iterable[Source]) -> Iterator[Path]:
    """Public keys of the sources: those that they name, or all keys trusted by apt if a source names none."""
    sources = [*sources]
    named = [source.key_file for source in sources if source.key_file]
    is_any_unnamed = any("Signed-By" not in source.fields for source in sources)
    trusted = [apt / "trusted.gpg", *sorted((apt / "trusted.gpg.d").glob("*"))] if is_any_unnamed else []
    yield from dict.fromkeys(path for path in (*named, *trusted) if path.is_file())


def render(sources: Iterable[Source]) -> str:
    return "\n".join(source.render() for source in sources)


def without_secrets(sources: Iterable[Source]) -> Iterator[Source]:
    """Remove passwords from URIs, because every tenant could read them in the image."""
    for source in sources:
        yield replace(source, uris=tuple(USER_INFO.sub("", uri) for uri in source.uris))


def needed_settings(dump: str) -> list[str]:
    """Lines of `apt-config dump` for access to the sources."""
    found = (NEEDED_SETTINGS.fullmatch(line.strip()) for line in dump.splitlines())
    return [f'{each[1]} "{each[2]}";' for each in found if each]


def settings_without_secrets(settings: Iterable[str]) -> list[str]:
    """Omit a proxy with a password completely, because it refuses requests without the password."""
    return [line for line in settings if not USER_INFO.search(line)]
