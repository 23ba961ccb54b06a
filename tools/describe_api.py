"""Prints the API's OpenAPI description, from the routes themselves; nothing has to run for it."""

import sys

from gpuaas.api.app import described
from gpuaas.api.contract import contract

if __name__ == "__main__":
    sys.stdout.buffer.write(contract(described()))
