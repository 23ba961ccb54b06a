"""The two clients: the same nouns, now or awaited."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, Self

from gpuaas.sdk.access_grants import AccessGrants
from gpuaas.sdk.admin import Admin
from gpuaas.sdk.allocations import AllocationGroups, Allocations
from gpuaas.sdk.audit import TenantAudit
from gpuaas.sdk.auth import Auth
from gpuaas.sdk.exchange import Exchange, Options
from gpuaas.sdk.members import Invitations, Members
from gpuaas.sdk.nouns import R_co
from gpuaas.sdk.operations import Operations
from gpuaas.sdk.placement import Placements
from gpuaas.sdk.projects import Projects
from gpuaas.sdk.quotas import Quotas
from gpuaas.sdk.runners import AsyncRunner, SyncRunner
from gpuaas.sdk.runtimes import Runtimes
from gpuaas.sdk.sessions import Sessions
from gpuaas.sdk.skus import Skus
from gpuaas.sdk.ssh_keys import SshKeys
from gpuaas.sdk.tokens import Tokens
from gpuaas.sdk.volumes import StorageBackends, Volumes

DEFAULTS = Options()


class Nouns(Generic[R_co]):
    """Everything the API can be asked about."""

    def __init__(self, runner: R_co) -> None:
        self._runner = runner
        self.auth = Auth(runner)
        self.sessions = Sessions(runner)
        self.tokens = Tokens(runner)
        self.projects = Projects(runner)
        self.quotas = Quotas(runner)
        self.ssh_keys = SshKeys(runner)
        self.skus = Skus(runner)
        self.placement = Placements(runner)
        self.allocations = Allocations(runner)
        self.allocation_groups = AllocationGroups(runner)
        self.runtimes = Runtimes(runner)
        self.access_grants = AccessGrants(runner)
        self.members = Members(runner)
        self.invitations = Invitations(runner)
        self.tenant_audit = TenantAudit(runner)
        self.operations = Operations(runner)
        self.volumes = Volumes(runner)
        self.storage_backends = StorageBackends(runner)
        self.admin = Admin(runner)


class Client(Nouns[SyncRunner]):
    """`with Client("https://gpuaas.example.com", token) as client: client.auth.me()`."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        options: Options = DEFAULTS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(SyncRunner(Exchange(url, token, options), sleep=sleep))

    def close(self) -> None:
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(Nouns[AsyncRunner]):
    """`async with AsyncClient("https://gpuaas.example.com", token) as client: await client.auth.me()`."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        options: Options = DEFAULTS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(AsyncRunner(Exchange(url, token, options), sleep=sleep))

    async def close(self) -> None:
        await self._runner.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
