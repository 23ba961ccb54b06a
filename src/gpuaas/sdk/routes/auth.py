"""Routes of auth. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, R_co, Resource
from gpuaas.sdk.requests import Request, get, once, path, post
from gpuaas.wire.identity import LoggedIn, Login, Me, SignUp, SignUpOffer


class AuthRoutes(Resource[R_co]):
    @Call
    def login(self, email: str, password: str) -> Request[LoggedIn]:
        """Log in with e-mail and password; the token is also set as a session cookie."""
        body = Login(email=email, password=password)
        return once(post(path("auth", "personal", "login"), LoggedIn, body))

    @Call
    def logout(self) -> Request[None]:
        """End this session, here and everywhere its token is used."""
        return once(post(path("auth", "logout"), type(None)))

    @Call
    def me(self) -> Request[Me]:
        """Who you are and what you can reach."""
        return get(path("me"), Me)

    @Call
    def sign_up(self, email: str, password: str, *, invitation: str | None = None) -> Request[LoggedIn]:
        """Make an account with a tenant and a project of its own, and log in."""
        body = SignUp(email=email, password=password, invitation=invitation)
        return once(post(path("auth", "personal", "signup"), LoggedIn, body))

    @Call
    def sign_up_offer(self) -> Request[SignUpOffer]:
        """Who may sign up here: everybody, those with an invitation, or nobody."""
        return get(path("auth", "sign-up"), SignUpOffer)
