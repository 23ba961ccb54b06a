"""Derives the progress of a build from the output of mmdebstrap, apt and dpkg."""

import re

PHASES = {
    "running apt-get update": ("lists", "downloading package lists"),
    "downloading packages with apt": ("essential", "downloading essential packages"),
    "extracting archives": ("essential", "extracting essential packages"),
    "installing essential packages": ("essential", "installing essential packages"),
    "installing remaining packages": ("packages", "choosing the remaining packages"),
    "cleaning package lists": ("cleaning", "package lists and caches"),
    "copying the image to disk": ("copying", "the image to disk"),
}
TOTAL = re.compile(r"\d+ upgraded, (\d+) newly installed")
COUNTED = {"Get:": "downloaded", "Unpacking ": "unpacked", "Setting up ": "installed"}
STEPS = 5
"""Number of reports per count."""


class Progress:
    def __init__(self) -> None:
        self._phase = ""
        self._total = 0
        self._counts = dict.fromkeys(COUNTED, 0)

    def hear(self, line: str) -> tuple[str, str] | None:
        """The phase and a note, if they have changed."""
        if line.startswith("I: "):
            found = next((step for words, step in PHASES.items() if line.startswith(words, 3)), None)
            if found:
                self._phase = found[0]
                self._counts = dict.fromkeys(COUNTED, 0)
            return found
        if total := TOTAL.match(line):
            self._total = int(total[1])
        return self._count(line)

    def _count(self, line: str) -> tuple[str, str] | None:
        word = next((word for word in COUNTED if line.startswith(word)), None)
        if word is None or not self._total or self._phase not in ("essential", "packages"):
            return None
        self._counts[word] += 1
        count = min(self._counts[word], self._total)
        if count * STEPS // self._total == (count - 1) * STEPS // self._total:
            return None
        return self._phase, f"{COUNTED[word]} {count} of {self._total}"
