"""Who may enter which players in a tournament over HTTP, and who may withdraw them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from server.access.settings import AccessSettings
from server.api import tournaments
from server.principal import Role
from server.storage.tournaments import TournamentChange
from tests.kit.server.access.guarded_app import bearer
from tests.kit.server.api.whole_server import Client, manager_of, told, whole_server

URL = "/api/v1/tournaments"
CUP = {
    "name": "cup", "format": "swiss", "games": ["tictactoe"], "rounds": 3, "startClock": 1, "playClock": 1,
    "players": [],
}  # fmt: skip


@dataclass(frozen=True)
class Entering:
    """A server with a host, and with Ann, whose player is `deep`, and Bob; and the headers of each."""

    client: Client
    host: dict[str, str]
    ann: dict[str, str]
    bob: dict[str, str]

    async def order(self, **words: object) -> None:
        """Have the host order the tournament `cup`."""
        await told(await self.client.post(URL, json=CUP | words, headers=self.host), 201)

    async def enter(self, who: dict[str, str], player: str) -> int:
        """Return the status of the answer to an entry."""
        return (await self.client.post(f"{URL}/cup/entries", json={"player": player}, headers=who)).status

    async def withdraw(self, who: dict[str, str], entrant: str) -> int:
        """Return the status of the answer to a withdrawal."""
        return (await self.client.delete(f"{URL}/cup/entries/{entrant}", headers=who)).status


@pytest.fixture
async def entering(tmp_path: Path) -> AsyncIterator[Entering]:
    async with whole_server(tmp_path, access=AccessSettings(is_loopback=False)) as (client, access):
        host, ann, bob = [
            bearer(str((await access.issuing.issue(name, role)).text))
            for name, role in (("host", Role.ADMIN), ("ann", Role.PLAYER), ("bob", Role.PLAYER))
        ]
        await told(await client.post("/api/v1/players", json={"name": "deep"}, headers=ann), 201)
        yield Entering(client, host, ann, bob)


async def test_people_enter_players_of_their_own_once_and_hosts_any(entering: Entering) -> None:
    await entering.order()
    entries = ((entering.bob, "deep"), (entering.ann, "legal"), (entering.ann, "deep"), (entering.ann, "deep"))
    assert [await entering.enter(*entry) for entry in entries] == [403, 404, 201, 409]
    assert await entering.enter(entering.host, "legal") == 201


async def test_by_invitation_only_hosts_enter_players(entering: Entering) -> None:
    await entering.order(entry="invitation")
    assert [await entering.enter(who, "deep") for who in (entering.ann, entering.host)] == [409, 201]


async def test_after_the_close_of_entry_only_hosts_enter_players(
    entering: Entering, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(tournaments, "now_ms", lambda: 0)
        await entering.order(entryCloses="2026-01-01T08:00:00Z")
    assert [await entering.enter(who, "deep") for who in (entering.ann, entering.host)] == [409, 201]


async def test_people_withdraw_players_of_their_own(entering: Entering) -> None:
    await entering.order(players=["legal", "deep"])
    assert [await entering.withdraw(who, "deep") for who in (entering.bob, entering.ann)] == [403, 200]
    found = await told(await entering.client.get(f"{URL}/cup", headers=entering.ann))
    assert [(one["name"], one["enteredBy"]) for one in found["entrants"]] == [("legal", "host")]


async def test_a_withdrawal_by_a_host_is_listed_with_its_reason(entering: Entering) -> None:
    await entering.order(players=["legal"])
    url = f"{URL}/cup/entries/legal?reason=a%20mistake"
    [done] = (await told(await entering.client.delete(url, headers=entering.host)))["interventions"]
    assert (done["kind"], done["by"], done["entrant"], done["reason"]) == ("withdraw", "host", "legal", "a mistake")


async def test_who_takes_the_name_of_a_player_does_not_speak_for_its_entrant(entering: Entering) -> None:
    client, host, ann, bob = entering.client, entering.host, entering.ann, entering.bob
    await entering.order(players=["legal", {"name": "Ann", "player": "deep"}])
    await client.delete("/api/v1/players/deep", headers=ann)
    await told(await client.post("/api/v1/players", json={"name": "deep"}, headers=bob), 201)
    await manager_of(client).tournaments.change(  # as if all had entered long before
        "cup",
        lambda found: TournamentChange(entrants=[replace(one, created_ms=1) for one in found.entrants]),
    )
    assert await entering.withdraw(bob, "Ann") == 403
    substitution = {"player": "deep", "reason": "Bob plays for Ann"}
    await told(await client.post(f"{URL}/cup/entries/Ann/substitute", json=substitution, headers=host))
    assert await entering.withdraw(bob, "Ann") == 200
