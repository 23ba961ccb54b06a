"""The kept results as Markdown, for docs/reference/benchmarks.md: `python -m benchmarks.tables`."""

import sys
from pathlib import Path

import msgspec

from benchmarks.harness import RESULTS


def main(folder: Path) -> None:
    for path in sorted(folder.glob("*.json")):
        result = msgspec.json.decode(path.read_bytes())
        machine, versions = result["machine"], result["versions"]
        print(f"### {result['benchmark']}\n")
        quality = (
            f"{result['quality']} machine, {result['idle_before']:.0%} idle before, load after {result['load_after']}"
        )
        print(f"{result['started_at']}, commit `{versions['commit']}`, {result['seconds']:.0f} s, {quality}, ", end="")
        print(f"fsync {machine['fsync_ms']} ms.\n")
        print("| what | measured | target | verdict |\n|---|---|---|---|")
        for row in result["rows"]:
            print(f"| {row['what']} | {row['measured']} | {row['target']} | {row['verdict'].lower()} |")
        print()
        for note in result["notes"]:
            print(f"- {note}")
        print()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS)
