"""`python -m gpuaas.main` is `gpuaas`, wherever that is installed."""

from gpuaas.main.cli import main

main()
