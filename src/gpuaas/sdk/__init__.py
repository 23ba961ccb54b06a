"""Typed Python clients of the GPUaaS API, sync and async.

from gpuaas.sdk import Client

with Client("https://gpuaas.example.com", token) as client:
    submitted = client.allocations.create("sim-h200-slice", [key.id for key in client.ssh_keys.list()])
    allocation = client.allocations.wait(submitted.allocations[0].id)
    print(allocation.connection.command)
"""

from gpuaas.sdk.client import AsyncClient, Client
from gpuaas.sdk.errors import ApiError, InsecureUrl, SdkError, Unreachable, UnreadableAnswer, WaitFailed
from gpuaas.sdk.exchange import Options
from gpuaas.sdk.retries import Retries

__all__ = [
    "ApiError",
    "AsyncClient",
    "Client",
    "InsecureUrl",
    "Options",
    "Retries",
    "SdkError",
    "Unreachable",
    "UnreadableAnswer",
    "WaitFailed",
]
