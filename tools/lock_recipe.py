"""Write the requirements of a recipe anew: what the node's package index offers today, locked by version and checksum.

`tools/lock_recipe.py src/gpuaas/recipes/jupyter.json jupyterlab` resolves for the Python that the recipe names and
changes nothing but its requirements. Run it on the kind of machine the bundle is for; a lock is for one platform.
"""

import json
import subprocess
import sys
from pathlib import Path


def main(path: Path, wanted: list[str]) -> None:
    bundle = json.loads(path.read_text())
    python = f"/usr/bin/python{bundle['recipe']['python']}"
    pip = [sys.executable, "-P", "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "-q"]
    options = ["--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report", "-"]
    ran = subprocess.run([*pip, *options, *wanted], check=True, stdout=subprocess.PIPE, text=True)
    locked = sorted(json.loads(ran.stdout)["install"], key=lambda each: each["metadata"]["name"].lower())
    bundle["recipe"]["requirements"] = [
        {
            "name": each["metadata"]["name"],
            "version": each["metadata"]["version"],
            "sha256": [each["download_info"]["archive_info"]["hashes"]["sha256"]],
        }
        for each in locked
    ]
    path.write_text(json.dumps(bundle, indent=2) + "\n")
    print(f"{path.name}: {len(locked)} packages")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
