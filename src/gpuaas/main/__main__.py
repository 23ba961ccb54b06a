"""`python -m gpuaas.main` runs the `gpuaas` command."""

from gpuaas.main.cli import main

main()
