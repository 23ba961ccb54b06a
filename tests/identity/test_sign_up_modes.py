"""Signing up is open, by invitation or closed, by a setting."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from litestar.types import ASGIApp

from gpuaas.api.app import create_app
from gpuaas.core.settings import SettingsError, load
from gpuaas.wire.identity import SignUpMode
from tests.isolation.asgi import Answer, Ask, send
from tests.world import PASSWORD, World


@pytest.fixture
async def modes(world: World) -> AsyncIterator[dict[SignUpMode, ASGIApp]]:
    services, apps = world.services, {}
    for mode in SignUpMode:
        apps[mode] = create_app(replace(services, sign_up=mode), world._routes)
    yield apps
    world._routes.state.services = services


async def sign_up(world: World, mode: SignUpMode, apps: dict[SignUpMode, ASGIApp], **fields: Any) -> Answer:
    world._routes.state.services = replace(world.services, sign_up=mode)
    body = json.dumps({"email": "new@example.com", "password": PASSWORD, **fields}).encode()
    return await send(apps[mode], Ask(method="POST", target="/api/v1/auth/personal/signup", body=body))


async def invited(world: World) -> str:
    sent = await world.http.post(f"/api/v1/projects/{world.ada.project_id}/members", json={"email": "n@example.com"})
    return str(sent.raise_for_status().json()["link"]).partition("#")[2]


async def test_closed_lets_nobody_in(world: World, modes: dict[SignUpMode, ASGIApp]) -> None:
    refused = await sign_up(world, SignUpMode.CLOSED, modes, invitation=await invited(world))
    assert (refused.status, refused.json()["code"]) == (403, "sign_up_closed")
    offer = await send(modes[SignUpMode.CLOSED], Ask(method="GET", target="/api/v1/auth/sign-up"))
    assert offer.json() == {"mode": "closed"}


async def test_by_invitation_needs_a_secret_that_holds_and_uses_it_up(
    world: World, modes: dict[SignUpMode, ASGIApp]
) -> None:
    for wrong in ({}, {"invitation": "gpi_nothing"}):
        refused = await sign_up(world, SignUpMode.INVITATION, modes, **wrong)
        assert (refused.status, refused.json()["code"]) == (403, "invitation_needed")
    secret = await invited(world)
    made = await sign_up(world, SignUpMode.INVITATION, modes, invitation=secret)
    assert made.status == 201, made.body
    me = await send(world.app, Ask(method="GET", target="/api/v1/me", token=made.json()["access_token"]))
    assert world.ada.project_id in {project["id"] for project in me.json()["projects"]}
    again = await sign_up(world, SignUpMode.INVITATION, modes, invitation=secret, email="second@example.com")
    assert again.json()["code"] == "invitation_needed"


async def test_open_is_the_default(world: World, modes: dict[SignUpMode, ASGIApp]) -> None:
    assert load({}).sign_up is SignUpMode.OPEN
    assert load({"GPUAAS_SIGN_UP": "closed"}).sign_up is SignUpMode.CLOSED
    with pytest.raises(SettingsError, match="GPUAAS_SIGN_UP: Invalid enum value 'ajar'"):
        load({"GPUAAS_SIGN_UP": "ajar"})
    assert (await sign_up(world, SignUpMode.OPEN, modes)).status == 201
