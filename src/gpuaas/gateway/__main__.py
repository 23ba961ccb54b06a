"""`python -m gpuaas.gateway --folder ROOT`: what `gpuaas ssh-gateway` becomes, without the weight of a command line."""

import argparse
import sys
from pathlib import Path

# Both load OpenSSL, a third of the memory of this process. asyncio does without TLS, and Python has SHA-256 of its own.
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
