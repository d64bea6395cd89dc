"""Random lives of tournaments: what hosts, entrants, matches and restarts do in any order leaves a sound tournament."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from server.storage.rows import MatchStatus
from tests.kit.exhaustive import IS_EXHAUSTIVE
from tests.kit.server.api.tournament_lives import (
    Circumstances,
    TournamentLife,
    check_consistent,
    check_over,
    tournament_life,
)
from tests.kit.server.api.tournaments import order_cup

FORMATS = ("swiss", "round-robin", "double-knockout", "knockout", "gauntlet", "ladder", "score-table")
GAMES = {"score-table": ["lightsout"], "swiss": ["tictactoe", "connectfour"], "knockout": ["chinesecheckersthree"]}
N_STEPS = 40
N_LIVES = 30 if IS_EXHAUSTIVE else 1
"""How many lives there are of each format."""


def terms_of(form: str, chance: random.Random) -> dict[str, Any]:
    """Return the order of a tournament of that format."""
    terms: dict[str, Any] = {"format": form, "games": GAMES.get(form, ["tictactoe"]), "rounds": chance.randint(1, 3)}
    if chance.random() < 0.3:
        terms["roundsBegin"] = {"everySeconds": 10}
    if chance.random() < 0.3:
        terms["forfeitErrors"] = 3
    players = [chance.choice(("legal", "random")) for _ in range(chance.randint(2, 5))]
    return terms | {"players": [{"name": f"p{i}", "player": player} for i, player in enumerate(players)]}


async def intervene(life: TournamentLife) -> None:
    """Do something that a host can do, or what is to be refused."""
    chance, found = life.chance, await life.found()
    name, fixtures = f"p{chance.randrange(7)}", found.fixtures
    match chance.choice(("enter", "withdraw", "start", "pause", "resume", "resume", "annul", "annul", "substitute")):
        case "enter":
            await life.ask("POST", "/entries", player="legal", name=name)
        case "withdraw":
            await withdraw(life, name)
        case "annul" if fixtures:
            match_id, is_replayed = chance.choice(fixtures).match.match_id, chance.random() < 0.6
            await life.ask("POST", f"/matches/{match_id}/annul", reason="a storm", replay=is_replayed)
        case "substitute":
            await life.ask("POST", f"/entries/{name}/substitute", player="random", reason="its laptop burned")
        case "pause":
            await life.ask("POST", "/pause", reason="lunch")
        case "start" | "resume" as command:
            await life.ask("POST", f"/{command}")


async def withdraw(life: TournamentLife, name: str) -> None:
    """Withdraw an entrant; where its matches are annulled, none counts from then on, also none that was to come."""
    is_annulled = life.chance.random() < 0.5
    status = await life.ask("DELETE", f"/entries/{name}" + "?annul=true" * is_annulled)
    found = await life.found()
    if status == 200 and is_annulled and not found.row.waits_to_start:
        life.annulled.add(name)


async def step(life: TournamentLife) -> None:
    """Have something happen, and check what it has led to."""
    before = await life.found()
    chance = life.chance
    what = chance.choices(("drive", "play", "intervene", "wait", "break off"), (30, 25, 30, 8, 7))[0]
    live = [one.match.match_id for one in before.fixtures if one.is_live]
    match what:
        case "drive":
            await life.drive(chance.randint(1, 3))
        case "play":
            await life.play(chance.randint(1, 4))
        case "intervene":
            await intervene(life)
        case "wait":
            life.clock.now_ms += 1_000 * chance.choice((1, 11))
        case "break off" if live:
            await life.break_off(chance.choice(live))
    found = await life.found()
    check_consistent(found, life.annulled)
    if found.row.status == before.row.status != "running":
        assert [one.match for one in found.fixtures if one.ordered_ms] == [
            one.match for one in before.fixtures if one.ordered_ms
        ]


async def finish(life: TournamentLife) -> None:
    """Take away all that keeps the tournament from its end, which comes then."""
    for i in range(3):
        await life.ask("POST", "/entries", player="legal", name=f"late{i}")
    await life.ask("POST", "/start")
    for _ in range(200):
        found = await life.found()
        if found.row.status == "over":
            break
        broken = [one.match.match_id for one in found.fixtures if one.status == MatchStatus.ABORTED]
        for match_id in broken if found.row.status == "paused" else ():
            await life.ask("POST", f"/matches/{match_id}/annul", reason="the hall burned", replay=True)
        await life.ask("POST", "/resume")
        await life.drive(3)
        await life.play(100)
        life.clock.now_ms += 11_000
    found = await life.found()
    assert found.row.status == "over", found.row.reason
    check_consistent(found, life.annulled)
    check_over(found)
    assert await life.manager.queue.length() == 0


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(N_LIVES))
@pytest.mark.parametrize("form", FORMATS)
async def test_a_tournament_stays_sound_and_ends_whatever_happens_to_it(tmp_path: Path, form: str, seed: int) -> None:
    circumstances = Circumstances(random.Random(f"{form} {seed}"))
    async with tournament_life(tmp_path, circumstances) as life:
        await order_cup(life.client, **terms_of(form, life.chance))
        for _ in range(N_STEPS // 2):
            await step(life)
    async with tournament_life(tmp_path, circumstances) as life:  # of a server that begins anew
        for _ in range(N_STEPS // 2):
            await step(life)
        await finish(life)
