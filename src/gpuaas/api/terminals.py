"""Browser terminals: tokens, the WebSocket, and recordings."""

from typing import Any

from litestar import Router, WebSocket, get, post, websocket
from litestar.response import Stream

from gpuaas.api.deps import AnyRequest, Context, Cursor, Limit
from gpuaas.api.edge import is_own_origin, token_of
from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.api.supervised import supervised
from gpuaas.api.unit import admit
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound, RateLimitExceeded
from gpuaas.core.paging import Paging
from gpuaas.core.secrets import token_hash
from gpuaas.core.websockets import MessageSocket, accept, admit_of
from gpuaas.domain.allocations import commands as allocations
from gpuaas.domain.allocations.authority import Action, authorize
from gpuaas.domain.identity import store as identity
from gpuaas.domain.quotas.commands import QuotaExceeded
from gpuaas.domain.terminals import commands, store
from gpuaas.domain.terminals.recordings import asciicast
from gpuaas.wire.common import Page
from gpuaas.wire.terminals import SUBPROTOCOL, MintTerminalToken, Terminal, TerminalToken

AnySocket = WebSocket[Any, Any, Any]
ASCIICAST = "application/x-asciicast"
MINT_PROBLEMS = problems(NotFound, InsufficientPermissions, Conflict, RateLimitExceeded)


@post(
    "/allocations/{id:str}/terminal-token",
    status_code=201,
    responses=MINT_PROBLEMS,
    opt={"ignores_key": True},
)
async def mint_terminal_token(id: str, data: MintTerminalToken, context: Context) -> TerminalToken:
    """Create a token for one terminal on this allocation: valid once and for 30 seconds, at most ten per minute."""
    services = context.services
    url = f"ws{services.public_url.removeprefix('http')}/api/v1/terminal/{id}"
    policy = services.terminals.policy
    return await commands.mint(context.tx, context.caller, id, data, url=url, policy=policy, now=context.now)


@get("/allocations/{id:str}/terminals", responses=problems(NotFound))
async def list_terminals(id: str, context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[Terminal]:
    """The browser terminals of this allocation, including those that ended."""
    paging = Paging.of(limit, cursor)
    await allocations.get(context.tx, context.caller, id)
    return paging.page(await store.list_of_allocation(context.tx, id, paging), lambda terminal: terminal.id)


@get(
    "/allocations/{id:str}/terminals/{terminal_id:str}/recording",
    responses=problems(NotFound, InsufficientPermissions, QuotaExceeded),
    media_type=ASCIICAST,
)
async def get_recording(id: str, terminal_id: str, request: AnyRequest, services: Services) -> Stream:
    """The output of a recorded terminal, byte for byte, as asciicast v2 (`asciinema play`)."""
    token, now = token_of(request.scope, services.public_url), services.clock.now()
    async with services.api_db.write() as tx:
        caller = admit(await identity.enter(tx, token_hash(token)), services)
        row = await commands.recording(tx, caller, id, terminal_id, now=now)
        held = await services.streams.open(tx, caller.user_id)

    async def judge() -> None:
        async with services.api_db.write() as tx:
            caller = admit(await identity.enter(tx, token_hash(token)), services)
            await authorize(tx, caller, id, Action.READ_RECORDING)

    shown = asciicast(services.worker_db, services.master, terminal_id, row.created_at)
    return Stream(supervised(shown, held, judge), media_type=ASCIICAST)


@websocket("/terminal/{allocation_id:str}")
async def terminal(socket: AnySocket, allocation_id: str) -> None:
    """Subprotocols `gpuaas.terminal.v1, <token>`; see wire/terminals.py."""
    services: Services = socket.app.state.services
    if not is_own_page(socket, services.public_url):
        await socket.send({"type": "websocket.close", "code": 4403, "reason": "another site's page"})
        return
    token = await accept(socket.receive, socket.send, list(socket.scope.get("subprotocols", [])), SUBPROTOCOL)
    client = socket.scope.get("client")
    source = f"{client[0]}:{client[1]}" if client else "unknown"
    browser = MessageSocket(socket.receive, socket.send, admit_of(socket.scope))
    await services.terminals.serve(browser, allocation_id, token, source)


def is_own_page(socket: AnySocket, public_url: str) -> bool:
    """A browser sends the origin of its page. A program sends none, and has no cookies of other sites that could be
    misused.
    """
    origin = socket.headers.get("origin")
    return origin is None or is_own_origin(origin, socket.scope, socket.headers.get("host", ""), public_url)


ROUTER = Router("", tags=["terminals"], route_handlers=[mint_terminal_token, list_terminals, get_recording, terminal])
