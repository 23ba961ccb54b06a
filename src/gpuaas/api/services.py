"""The services that routes use; main/server.py creates them and passes them to create_app."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from gpuaas.api.traffic import Traffic
from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.core.health import Health
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.secrets import AuditSigner, MasterKey, TaskKeyring
from gpuaas.core.watch import Watch
from gpuaas.core.websockets import MessageSocket
from gpuaas.core.work import Worker
from gpuaas.domain.capacity.index import Index
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.commands import Accounts
from gpuaas.domain.launch.commands import Launch
from gpuaas.domain.quotas.open_streams import OpenStreams
from gpuaas.domain.terminals.commands import Policy
from gpuaas.wire.identity import SignUpMode


class NodeLinks(Protocol):
    """The part of the link server that routes use; the API does not import it."""

    @property
    def holder_lease_seconds(self) -> float: ...
    @property
    def count(self) -> int: ...
    @property
    def beats(self) -> int: ...
    @property
    def samples_dropped(self) -> int: ...
    @property
    def logins_dropped(self) -> int: ...

    async def cut(self, node_id: str, reason: str) -> None: ...


class Terminals(Protocol):
    """The part of the terminal streams that routes use."""

    @property
    def policy(self) -> Policy: ...

    async def serve(self, socket: MessageSocket, allocation_id: str, token: str, source: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Services:
    api_db: Database
    operator_db: Database
    worker_db: Database
    hints: Hints
    ids: Ids
    clock: Clock
    master: MasterKey
    task_keys: TaskKeyring
    audit_signer: AuditSigner
    accounts: Accounts
    index: Index
    launch: Launch
    links: NodeLinks
    terminals: Terminals
    streams: OpenStreams
    workers: tuple[Worker, ...]
    health: Health
    watch: Watch
    data: Path
    public_url: str
    min_free_mib: int = 0  # of the data folder's disk; with less, the replica is not ready
    sign_up: SignUpMode = SignUpMode.OPEN
    metrics_token: str = ""  # empty: /metrics answers only this computer
    traffic: Traffic = field(default_factory=Traffic)
    caller_type: type[Caller] = field(default=Caller)  # a test without checks shows that row-level security suffices
