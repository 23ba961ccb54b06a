"""`python -m gpuaas.gateway --folder ROOT`: executed by `gpuaas ssh-gateway` to avoid the memory of the CLI."""

import argparse
import sys
from pathlib import Path

# Both load OpenSSL, a third of this process's memory. asyncio works without TLS, and Python includes SHA-256.
for name in ("ssl", "_hashlib"):
    sys.modules.setdefault(name, None)  # type: ignore[arg-type]


def main() -> None:
    from gpuaas.gateway.process import run  # noqa: PLC0415 # house: local-import because of what is declared missing above

    parser = argparse.ArgumentParser(prog="gpuaas ssh-gateway")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--release", default="")
    options = parser.parse_args()
    run(options.folder.absolute(), options.release)


if __name__ == "__main__":
    main()
