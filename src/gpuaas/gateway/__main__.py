"""`python -m gpuaas.gateway --folder ROOT`: what `gpuaas ssh-gateway` becomes, without the weight of a command line."""

import argparse
import sys
from pathlib import Path

# asyncio does without TLS when this is missing; the gateway has no use for it, and it is a third of its memory.
sys.modules.setdefault("ssl", None)  # type: ignore[arg-type]


def main() -> None:
    from gpuaas.gateway.process import run  # noqa: PLC0415 # house: local-import because ssl must be declared missing first

    parser = argparse.ArgumentParser(prog="gpuaas ssh-gateway")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--release", default="")
    options = parser.parse_args()
    run(options.folder.absolute(), options.release)


if __name__ == "__main__":
    main()
