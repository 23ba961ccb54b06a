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
        """End this session, everywhere that its token is used."""
        return once(post(path("auth", "logout"), type(None)))

    @Call
    def me(self) -> Request[Me]:
        """Your account, roles and permissions."""
        return get(path("me"), Me)

    @Call
    def sign_up(self, email: str, password: str, *, invitation: str | None = None) -> Request[LoggedIn]:
        """Create an account with a new tenant and project, and log in."""
        body = SignUp(email=email, password=password, invitation=invitation)
        return once(post(path("auth", "personal", "signup"), LoggedIn, body))

    @Call
    def sign_up_offer(self) -> Request[SignUpOffer]:
        """The sign-up mode: open to everybody, to people with an invitation, or to nobody."""
        return get(path("auth", "sign-up"), SignUpOffer)
