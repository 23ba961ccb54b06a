"""Sign-up, login and logout; sessions; personal tokens."""

from datetime import datetime
from functools import partial

from litestar import Response, Router, delete, get, post
from litestar.datastructures import Cookie

from gpuaas.api.deps import AnyRequest, Context, Cursor, Limit
from gpuaas.api.edge import COOKIE
from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound, Problem, RateLimitExceeded
from gpuaas.core.paging import Paging
from gpuaas.domain.access import commands as access
from gpuaas.domain.identity import commands, store
from gpuaas.domain.identity.commands import WrongCredentials
from gpuaas.domain.members import commands as members
from gpuaas.domain.quotas.commands import QuotaExceeded
from gpuaas.wire.common import Page
from gpuaas.wire.identity import (
    CreateToken,
    LoggedIn,
    Login,
    Me,
    NewToken,
    Session,
    SignUp,
    SignUpMode,
    SignUpOffer,
    Token,
    User,
)


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


class SignUpClosed(Problem):
    status, code = 403, "sign_up_closed"

    def __init__(self) -> None:
        super().__init__("Sign-up is closed here. Ask an operator of the platform for an account.")


class InvitationNeeded(Problem):
    status, code = 403, "invitation_needed"

    def __init__(self) -> None:
        super().__init__("You need a valid invitation to sign up. Ask a project member for a new link.")


async def check_sign_up(services: Services, data: SignUp, now: datetime) -> None:
    if services.sign_up is SignUpMode.CLOSED:
        raise SignUpClosed
    if data.invitation is None:
        if services.sign_up is SignUpMode.INVITATION:
            raise InvitationNeeded
        return
    async with services.worker_db.read() as tx:
        if await members.check_invitation(tx, data.invitation, now=now) is None:
            raise InvitationNeeded


async def accept_invitation(tx: Tx, user: User, *, data: SignUp, now: datetime) -> None:
    """Runs in the transaction that adds the account, so that an invitation makes only one account."""
    if data.invitation is not None and not await members.join(tx, user, secret=data.invitation, now=now):
        raise InvitationNeeded


@get("/auth/sign-up", security=[])
async def sign_up_offer(services: Services) -> SignUpOffer:
    """The sign-up mode: open to everybody, to people with an invitation, or to nobody."""
    return SignUpOffer(mode=services.sign_up)


@post(
    "/auth/personal/signup",
    responses=problems(Conflict, RateLimitExceeded, SignUpClosed, InvitationNeeded),
    security=[],
)
async def sign_up(data: SignUp, request: AnyRequest, services: Services) -> Response[LoggedIn]:
    """Create an account with a new tenant and project, and log in."""
    now = services.clock.now()
    await check_sign_up(services, data, now)
    then = partial(accept_invitation, data=data, now=now)
    logged_in = await services.accounts.sign_up(data, **origin_of(request), now=now, then=then)
    return Response(logged_in, cookies=[session_cookie(logged_in, services, now)])


@post("/auth/personal/login", status_code=200, responses=problems(WrongCredentials, RateLimitExceeded), security=[])
async def login(data: Login, request: AnyRequest, services: Services) -> Response[LoggedIn]:
    """Log in with e-mail and password; the token is also set as a session cookie."""
    now = services.clock.now()
    logged_in = await services.accounts.login(data, **origin_of(request), now=now)
    return Response(logged_in, cookies=[session_cookie(logged_in, services, now)])


@post("/auth/logout", status_code=204, opt={"ignores_key": True})
async def logout(context: Context) -> Response[None]:
    """End this session, everywhere that its token is used."""
    await commands.logout(context.tx, context.caller, context.now)
    return Response(None, cookies=[Cookie(key=COOKIE, value="", max_age=0, path="/")])


@get("/auth/sessions")
async def list_sessions(context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[Session]:
    """Your sessions."""
    paging = Paging.of(limit, cursor)
    return paging.page(
        await store.sessions(context.tx, context.caller, paging, context.now), lambda session: session.id
    )


@delete("/auth/sessions/{id:str}", responses=problems(NotFound, InsufficientPermissions))
async def revoke_session(id: str, context: Context) -> None:
    """End one of your sessions."""
    await commands.revoke_session(context.tx, context.caller, id, context.now)


@get("/auth/tokens")
async def list_tokens(context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[Token]:
    """Your personal tokens; the secret of each was shown once."""
    paging = Paging.of(limit, cursor)
    return paging.page(await store.tokens(context.tx, context.caller, paging, context.now), lambda token: token.id)


@post("/auth/tokens", responses=problems(InsufficientPermissions, QuotaExceeded), opt={"shows_secret": True})
async def create_token(data: CreateToken, context: Context) -> NewToken:
    """Create a personal token for scripts: with scopes, an end, and revocable."""
    return await commands.create_token(context.tx, context.caller, data, ids=context.ids, now=context.now)


@delete("/auth/tokens/{id:str}", responses=problems(NotFound, InsufficientPermissions))
async def revoke_token(id: str, context: Context) -> None:
    """Revoke a personal token at once. SSH keys that it added are removed."""
    await access.revoke_token(context.tx, context.caller, id, now=context.now)


@get("/me")
async def me(context: Context) -> Me:
    """Your account, roles and permissions."""
    return await commands.me(context.tx, context.caller)


ROUTER = Router(
    "",
    tags=["auth"],
    route_handlers=[
        sign_up_offer,
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
