"""Signing up, in and out; sessions; personal tokens."""

from datetime import datetime

from litestar import Response, Router, delete, get, post
from litestar.datastructures import Cookie

from gpuaas.api.deps import AnyRequest
from gpuaas.api.edge import COOKIE
from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound, RateLimitExceeded
from gpuaas.core.ids import Ids
from gpuaas.core.paging import Paging
from gpuaas.domain.identity import commands, store
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.commands import WrongCredentials
from gpuaas.wire.common import Page
from gpuaas.wire.identity import CreateToken, LoggedIn, Login, Me, NewToken, Session, SignUp, Token


def session_cookie(logged_in: LoggedIn, services: Services, now: datetime) -> Cookie:
    return Cookie(
        key=COOKIE,
        value=logged_in.access_token,
        httponly=True,
        samesite="lax",
        secure=services.public_url.startswith("https:"),
        max_age=int((logged_in.expires_at - now).total_seconds()),
        path="/",
    )


def origin_of(request: AnyRequest) -> dict[str, str]:
    address = request.client.host if request.client else ""
    return {"device": request.headers.get("user-agent", ""), "address": address}


@post("/auth/personal/signup", responses=problems(Conflict, RateLimitExceeded), security=[])
async def sign_up(data: SignUp, request: AnyRequest, services: Services, now: datetime) -> Response[LoggedIn]:
    """Make an account with a tenant and a project of its own, and log in."""
    logged_in = await services.accounts.sign_up(data, **origin_of(request), now=now)
    return Response(logged_in, cookies=[session_cookie(logged_in, services, now)])


@post("/auth/personal/login", status_code=200, responses=problems(WrongCredentials, RateLimitExceeded), security=[])
async def login(data: Login, request: AnyRequest, services: Services, now: datetime) -> Response[LoggedIn]:
    """Log in with e-mail and password; the token is also set as a session cookie."""
    logged_in = await services.accounts.login(data, **origin_of(request), now=now)
    return Response(logged_in, cookies=[session_cookie(logged_in, services, now)])


@post("/auth/logout", status_code=204)
async def logout(tx: Tx, caller: Caller, now: datetime) -> Response[None]:
    """End this session, here and everywhere its token is used."""
    await commands.logout(tx, caller, now)
    return Response(None, cookies=[Cookie(key=COOKIE, value="", max_age=0, path="/")])


@get("/auth/sessions")
async def list_sessions(tx: Tx, caller: Caller, paging: Paging, now: datetime) -> Page[Session]:
    """Where you are logged in."""
    return paging.page(await store.sessions(tx, caller, paging, now), lambda session: session.id)


@delete("/auth/sessions/{id:str}", responses=problems(NotFound))
async def revoke_session(id: str, tx: Tx, caller: Caller, now: datetime) -> None:
    """Log out somewhere else."""
    await commands.revoke_session(tx, caller, id, now)


@get("/auth/tokens")
async def list_tokens(tx: Tx, caller: Caller, paging: Paging, now: datetime) -> Page[Token]:
    """Your personal tokens; the secret itself was shown once."""
    return paging.page(await store.tokens(tx, caller, paging, now), lambda token: token.id)


@post("/auth/tokens", responses=problems(InsufficientPermissions), opt={"shows_secret": True})
async def create_token(data: CreateToken, tx: Tx, caller: Caller, ids: Ids, now: datetime) -> NewToken:
    """Make a personal token for scripts: scoped, expiring, revocable."""
    return await commands.create_token(tx, caller, data, ids=ids, now=now)


@delete("/auth/tokens/{id:str}", responses=problems(NotFound, InsufficientPermissions))
async def revoke_token(id: str, tx: Tx, caller: Caller, now: datetime) -> None:
    """Revoke a personal token at once."""
    await commands.revoke_token(tx, caller, id, now)


@get("/me")
async def me(tx: Tx, caller: Caller) -> Me:
    """Who you are and what you can reach."""
    return await commands.me(tx, caller)


ROUTER = Router(
    "",
    tags=["auth"],
    route_handlers=[
        sign_up,
        login,
        logout,
        list_sessions,
        revoke_session,
        list_tokens,
        create_token,
        revoke_token,
        me,
    ],
)
