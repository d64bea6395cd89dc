"""The API against its own description: schemathesis asks what that allows, and what it does not, and checks answers."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

from server.access.settings import AccessSettings, Limits
from server.hosting.settings import GameManagerSettings
from server.links.addresses import AllowedAddresses
from server.principal import Role
from tests.kit.server.api.whole_server import Client, ordered, record, told, whole_server

CONFIGURATION: Final = Path(__file__).with_name("schemathesis.toml")
UNHURRIED: Final = AccessSettings(limits=Limits("100000/minute", "100000/minute", "100000/minute", "100000/minute"))
CLOSING: Final = "^/api/v1/tokens"
"""Where a token could be issued, which would close a server that is open."""


async def furnished(client: Client) -> dict[str, str]:
    """Make something to ask about: a match that is over, and a player; return what parameters may be."""
    url = await ordered(client, game="nim", players={"left": "http://127.0.0.1:9", "right": "http://127.0.0.1:9"})
    await told(await client.post("/api/v1/players", json={"name": "deep"}), 201)
    return {"match_id": (await record(client, url))["matchId"], "role": "left"}


def run(url: str, token: str, parameters: dict[str, str], folder: Path, options: list[str]) -> None:
    """Run schemathesis against the server at *url*."""
    lines = [f'"path.{name}" = "{value}"' for name, value in parameters.items()]
    text = CONFIGURATION.read_text()
    if "id" not in parameters and token:  # the server refuses callers who may do nothing: no warning
        text = text.replace('"missing_auth", ', "")
    configured = folder / "schemathesis.toml"
    configured.write_text("\n".join([text, "[parameters]", *lines]))
    assert tomllib.loads(configured.read_text())
    header = ["--header", f"Authorization: Bearer {token}"] if token else ["--exclude-path-regex", CLOSING]
    command = [sys.executable, "-m", "schemathesis.cli", "--no-color", "--config-file", str(configured), "run"]
    done = subprocess.run(
        [*command, f"{url}api/v1/openapi.json", *header, *options],
        check=False, cwd=folder, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.exhaustive
async def test_a_server_without_accounts_does_as_it_says(tmp_path: Path) -> None:
    async with whole_server(tmp_path, GameManagerSettings(targets=AllowedAddresses())) as (client, _):
        parameters = await furnished(client)
        url = str(client.make_url("/"))
        await asyncio.to_thread(run, url, "", parameters, tmp_path, ["--phases", "coverage,fuzzing"])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("role", [Role.ADMIN, Role.SPECTATOR])
async def test_a_server_with_accounts_does_as_it_says(tmp_path: Path, role: Role) -> None:
    async with whole_server(tmp_path, GameManagerSettings(targets=AllowedAddresses()), UNHURRIED) as (client, access):
        parameters = await furnished(client)
        tokens = [await access.issuing.issue(each.word, each) for each in (Role.ADMIN, Role.ADMIN, role)]
        parameters |= {"id": tokens[1].row.id} if role is Role.ADMIN else {}
        url = str(client.make_url("/"))
        await asyncio.to_thread(run, url, str(tokens[2].text), parameters, tmp_path, ["--phases", "fuzzing"])
