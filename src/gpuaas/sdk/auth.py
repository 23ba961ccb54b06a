"""Showing who you are."""

from dataclasses import replace
from typing import TypeVar

from gpuaas.sdk.nouns import Call, Noun, R_co
from gpuaas.sdk.requests import Repeat, Request, get, path, post
from gpuaas.wire.identity import LoggedIn, Login, Me, SignUp, SignUpOffer

T = TypeVar("T")


class Auth(Noun[R_co]):
    @Call
    def sign_up(self, email: str, password: str, *, invitation: str | None = None) -> Request[LoggedIn]:
        """With an invitation's secret, it is accepted too."""
        body = SignUp(email=email, password=password, invitation=invitation)
        return once(post(path("auth", "personal", "signup"), LoggedIn, body))

    @Call
    def sign_up_offer(self) -> Request[SignUpOffer]:
        """Whether signing up is open, by invitation or closed."""
        return get(path("auth", "sign-up"), SignUpOffer)

    @Call
    def login(self, email: str, password: str) -> Request[LoggedIn]:
        """A session token for `Client(url, token)`."""
        return once(post(path("auth", "personal", "login"), LoggedIn, Login(email=email, password=password)))

    @Call
    def logout(self) -> Request[None]:
        """End the session this client speaks with."""
        return once(post(path("auth", "logout"), type(None)))

    @Call
    def me(self) -> Request[Me]:
        return get(path("me"), Me)


def once(request: Request[T]) -> Request[T]:
    """These routes ignore idempotency keys."""
    return replace(request, repeat=Repeat.NEVER)
