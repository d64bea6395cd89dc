"""A class helps itself: practice matches of players, rematches, and by hand from a game's page."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from server.access.settings import AccessSettings
from server.hosting.settings import GameManagerSettings, PracticeLimits
from server.principal import Role
from server.storage.rows import GameVersion
from tests.kit.server.access.guarded_app import bearer
from tests.kit.server.api.whole_server import MATCHES, Client, manager_of, record, refused, told, whole_server
from tests.kit.server.peers import listening, replying

QUICK = {"startClock": 1, "playClock": 1}


@dataclass(frozen=True)
class Class:
    """A server with accounts: a host, and two students, each of whom has a player that never dials in."""

    client: Client
    host: dict[str, str]
    ann: dict[str, str]
    bob: dict[str, str]

    async def order(self, who: dict[str, str], game: str = "tictactoe", **players: str) -> Any:
        """Return the answer to an order."""
        words = {"game": game, "players": players} | QUICK
        return await self.client.post(MATCHES, json=words, headers=who)

    async def code(self, who: dict[str, str], **players: str) -> str:
        """Return why an order is refused."""
        return str((await refused(await self.order(who, **players)))[1]["code"])


@asynccontextmanager
async def school(folder: Path, limits: PracticeLimits) -> AsyncIterator[Class]:
    """Yield a class."""
    settings, access = GameManagerSettings(practice=limits), AccessSettings(is_loopback=False)
    async with whole_server(folder, settings, access) as (client, control):
        roles = {"host": Role.ADMIN, "ann": Role.PLAYER, "bob": Role.PLAYER}
        tokens = {name: bearer(str((await control.issuing.issue(name, role)).text)) for name, role in roles.items()}
        for name in ("ann", "bob"):
            told_of = {"name": f"{name}s", "allowsChallenges": name == "bob"}
            await told(await client.post("/api/v1/players", json=told_of, headers=tokens[name]), 201)
        yield Class(client, **tokens)


async def test_players_practise_with_a_part_of_their_own(tmp_path: Path) -> None:
    async with school(tmp_path, PracticeLimits(10, 10)) as found:
        taken = [{"x": "anns"}, {"x": "anns", "o": "bobs"}, {"x": "human", "o": "legal"}]
        made = [await told(await found.order(found.ann, **players), 201) for players in taken]
        listed = await told(await found.client.get(MATCHES, headers=found.bob))
        codes = [
            await found.code(found.ann, x="legal"),
            await found.code(found.bob, x="bobs", o="anns"),
            await found.code(found.ann, x="anns", o="http://127.0.0.1:9"),
            await found.code(found.ann, x="anns", o="nosuch"),
        ]
        words = {"game": "tictactoe", "players": {"x": "anns"}} | QUICK
        others = [{**words, "tournament": "cup"}, {"rules": "(role x)", "players": {"x": "anns"}}]
        refusals = [await found.client.post(MATCHES, json=body, headers=found.ann) for body in others]
        ordered = await told(await found.order(found.host, x="anns", o="legal"), 201)
        by_host = await told(await found.client.get(f"{MATCHES}?limit=1", headers=found.host))
    assert [one["purpose"] for one in listed["matches"]] == ["practice"] * 3
    assert set(made[2]["seats"]) == {"x"}
    assert codes == ["no_own_seat", "not_challengeable", "forbidden", "unknown_player"]
    assert [answer.status for answer in refusals] == [403, 403]
    assert (by_host["matches"][0]["id"], "purpose" in by_host["matches"][0]) == (ordered["id"], False)


async def test_who_challenges_a_player_of_others_knows_nothing_of_what_chance_will_do(tmp_path: Path) -> None:
    async with school(tmp_path, PracticeLimits(10, 10)) as found:
        seats = {"kuhnpoker": ("alice", "bob"), "tictactoe": ("x", "o")}
        answers = {}
        for game, other in (("kuhnpoker", "bobs"), ("kuhnpoker", "legal"), ("tictactoe", "bobs")):
            words = {"game": game, "players": dict(zip(seats[game], ("anns", other), strict=True)), "seed": 7} | QUICK
            answers[game, other] = await found.client.post(MATCHES, json=words, headers=found.ann)
        drawn = await found.order(found.ann, "kuhnpoker", alice="anns", bob="bobs")
        refusal = await refused(answers["kuhnpoker", "bobs"])
    assert [answer.status for answer in (*answers.values(), drawn)] == [403, 201, 201, 201]
    assert (refusal[1]["code"], refusal[1]["hint"]) == ("forbidden", "leave `seed` out")


async def test_practice_has_limits_by_day_and_at_once(tmp_path: Path) -> None:
    async with school(tmp_path, PracticeLimits(3, 2)) as found:
        ids = [(await told(await found.order(found.ann, x="anns"), 201))["id"] for _ in range(2)]
        at_once = await found.code(found.ann, x="anns")
        for match_id in ids:
            await manager_of(found.client).abort(match_id, "enough")
        await told(await found.order(found.ann, x="anns"), 201)
        by_day = await refused(await found.order(found.ann, x="anns"))
        await told(await found.order(found.bob, x="bobs"), 201)
        await told(await found.order(found.host, x="anns"), 201)
    assert at_once == "too_much_practice"
    assert by_day[0] == 429
    assert by_day[1]["message"] == "you have ordered 3 practice matches in 24 hours, and may order 3"


async def test_who_ordered_a_practice_match_aborts_it_and_nothing_else(tmp_path: Path) -> None:
    async with school(tmp_path, PracticeLimits(10, 1)) as found:
        own = await told(await found.order(found.ann, x="anns"), 201)
        by_host = await told(await found.order(found.host, x="human"), 201)
        at_once = await refused(await found.order(found.ann, x="anns"))
        tries = [(own, found.bob), (by_host, found.ann), (own, found.ann), (own, found.ann)]
        answers = [await found.client.post(f"{one['url']}/abort", headers=who) for one, who in tries]
        await told(await found.order(found.ann, x="anns"), 201)
    assert [answer.status for answer in answers] == [403, 403, 202, 409]
    assert at_once[1]["hint"] == "wait until one is over, or abort one"


async def test_who_plays_a_practice_match_by_hand_gives_it_up_on_the_page_of_the_seat(tmp_path: Path) -> None:
    async with school(tmp_path, PracticeLimits(10, 10)) as found:
        own = await told(await found.order(found.ann, x="human"), 201)
        by_host = await told(await found.order(found.host, x="human"), 201)
        pages = [f"/matches/{own['id']}", f"/matches/{own['id']}/play/x", f"/matches/{by_host['id']}"]
        texts = [await (await found.client.get(page, headers=found.ann)).text() for page in pages]
        token = texts[0].partition('name="csrf_token" value="')[2].partition('"')[0]
        address = f"/matches/{own['id']}/abort"
        answer = await found.client.post(address, data={"csrf_token": token}, headers=found.ann, allow_redirects=False)
        over = await record(found.client, own["url"], "aborted", headers=found.ann)
    assert [f'action="{page}/abort"' in text for page, text in zip(pages[::2], texts[::2], strict=True)] == [
        True,
        False,
    ]
    assert f'action="{address}"' in texts[1]
    assert (answer.status, over["x-end"]["reason"]) == (303, "given up")


async def test_a_rematch_has_the_same_rules_and_swapped_seats(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        words = {"game": "tictactoe", "players": {"x": {"player": "legal", "grace": 2}, "o": "random"}} | QUICK
        first = await told(await client.post(MATCHES, json=words), 201)
        over = await record(client, first["url"])
        second = await told(await client.post(f"{first['url']}/rematch"), 201)
        after = await record(client, second["url"])
        waiting = await told(await client.post(MATCHES, json=words | {"players": {"x": "human"}}), 201)
        early = await refused(await client.post(f"{waiting['url']}/rematch"))
        missing = await refused(await client.post(f"{MATCHES}/nosuch/rematch"))
    assert over["playerNamesFromHost"] == ["legal", "random"]
    assert after["playerNamesFromHost"] == ["random", "legal"]
    assert over["x-rules"] == after["x-rules"]
    assert (early[1]["code"], missing[1]["code"]) == ("match_not_over", "unknown_match")


async def test_a_rematch_of_a_player_is_practice_and_needs_a_part_of_its_own(tmp_path: Path) -> None:
    async with school(tmp_path, PracticeLimits(10, 10)) as found:
        first = await told(await found.order(found.ann, x="human", o="legal"), 201)
        foreign = await told(await found.order(found.host, x="legal", o="random"), 201)
        for one in (first, foreign):
            await manager_of(found.client).abort(one["id"], "enough")
            await record(found.client, one["url"], headers=found.host)
        again = await told(await found.client.post(f"{first['url']}/rematch", headers=found.ann), 201)
        refusal = await refused(await found.client.post(f"{foreign['url']}/rematch", headers=found.ann))
    assert set(again["seats"]) == {"o"}
    assert refusal[1]["code"] == "no_own_seat"


async def test_players_order_practice_on_the_pages_as_far_as_they_may(tmp_path: Path) -> None:
    async with school(tmp_path, PracticeLimits(10, 10)) as found:
        shy = {"name": "shy", "allowsChallenges": False}
        await told(await found.client.post("/api/v1/players", json=shy, headers=found.bob), 201)
        page = await (await found.client.get("/players/anns", headers=found.ann)).text()
        form = await (await found.client.get("/start?player=anns", headers=found.ann)).text()
        words = {"game": "tictactoe", "startClock": "1", "playClock": "1"}
        words["csrf_token"] = form.partition('name="csrf_token" value="')[2].partition('"')[0]
        answers = [
            await found.client.post("/start", data=words | seats, headers=found.ann, allow_redirects=False)
            for seats in ({"player.x": "anns", "player.o": "mcts"}, {"player.x": "anns", "player.o": "shy"})
        ]
        refusal = await answers[1].text()
        [match] = (await told(await found.client.get(MATCHES, headers=found.ann)))["matches"]
    assert 'href="/start?player=anns"' in page
    assert re.findall(r'name="player.x"[^>]* value="(.*?)"', form) == ["anns"]
    assert re.findall(r'<option value="(\w+)">registered', form) == ["anns", "bobs"]
    assert (match["purpose"], match["players"]) == ("practice", {"x": "anns", "o": "mcts"})
    assert (answers[0].status, answers[0].headers["Location"]) == (303, f"/matches/{match['id']}")
    assert (answers[1].status, "does not allow others to challenge it" in refusal) == (400, True)


async def test_a_person_plays_by_hand_with_one_click_on_a_games_page(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        page = await (await client.get("/games/tictactoe")).text()
        token = page.partition('name="csrf_token" value="')[2].partition('"')[0]
        form = {"csrf_token": token, "opponent": "legal"}
        answer = await client.post("/games/tictactoe/play", data=form, allow_redirects=False)
        wrong = await client.post("/games/tictactoe/play", data=form | {"opponent": "cmd:rm"}, allow_redirects=False)
        [match] = (await told(await client.get(MATCHES)))["matches"]
    assert 'action="/games/tictactoe/play"' in page
    assert answer.status == 303
    assert answer.headers["Location"].startswith(f"/matches/{match['id']}/play/x?claim=")
    assert match["players"] == {"x": "human", "o": "legal"}
    assert wrong.status == 400


@pytest.mark.exhaustive
async def test_a_game_of_chance_alone_is_not_played_by_hand(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        rules = "(role random) (init a) (legal random go) (<= (next b) (true a)) (<= terminal (true b))"
        await manager_of(client).games.put(GameVersion("alone", "0" * 64, rules, ("random",), True, 0))
        page = await (await client.get("/games/alone")).text()
        token = (await (await client.get("/games/tictactoe")).text()).partition('name="csrf_token" value="')[2]
        form = {"csrf_token": token.partition('"')[0], "opponent": "legal"}
        answer = await client.post("/games/alone/play", data=form, allow_redirects=False)
        text = await answer.text()
    assert ("Play by hand" in page, answer.status) == (False, 400)
    assert "the game has no role that a player takes" in text.lower()


async def test_a_player_is_shown_with_its_version_and_results_by_it(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _), listening(replying(lambda _: "(mark nowhere)")) as url:
        wanted = {"name": "deep", "url": url, "version": "1.0", "joinsLadder": False}
        made = await told(await client.post("/api/v1/players", json=wanted), 201)
        for version in ("1.0", "2.0"):
            change = {"version": version, "allowsChallenges": version == "2.0"}
            await told(await client.patch("/api/v1/players/deep", json=change))
            words = {"game": "tictactoe", "players": {"x": "deep", "o": "legal"}, "seed": 1} | QUICK
            await record(client, (await told(await client.post(MATCHES, json=words), 201))["url"])
        found = await told(await client.get("/api/v1/players/deep"))
    assert (made["version"], made["allowsChallenges"], made["joinsLadder"], "results" in made) == (
        "1.0", False, False, False,
    )  # fmt: skip
    assert (found["version"], found["allowsChallenges"], found["joinsLadder"]) == ("2.0", True, False)
    results = [{name: one[name] for name in ("game", "version", "matches")} for one in found["results"]]
    assert results == [{"game": "tictactoe", "version": version, "matches": 1} for version in ("1.0", "2.0")]
    assert all(one["errors"] >= 3 for one in found["results"])
