"""Players that need nothing but their legal moves: always in time, with no process, knowing no more than their role."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Any

import pytest

from gdl.engines import make_game
from gdl.games.library import find_game
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Constant
from server.clock import SystemClock, Timeout
from server.links.own_player import IN_PROCESS, InProcessPlayer
from server.match.driver import DriverOptions, MatchDriver
from server.match.exchange import Answered, Completed, Event
from server.match.link import PlayerRequest, ReplyBuffer
from server.match.profiles import Case, Profile
from server.match.referee import LocalReferee
from tests.kit.server.hosting.local import local_match
from tests.kit.server.plays import DEALT, LEFT, RIGHT, setup, two_steps
from tests.kit.server.processes import children_of

MOVES = tuple(read_term(text) for text in ("(say no)", "(say yes)"))


class Impatient(SystemClock):
    """Time is over for every player before it is asked, but not for the referee, whose limit is far longer."""

    def timeout(self, limit_s: float) -> AbstractAsyncContextManager[Timeout]:
        return super().timeout(limit_s if limit_s > 100 else -1.0)


async def said(name: str, request: PlayerRequest) -> str:
    reply = ReplyBuffer()
    await InProcessPlayer(name).deliver(request, reply)
    return bytes(reply.raw).decode()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("(START m.1 a () 1 1)", "ready"),
        ("(STOP m.1 NIL)", "done"),
        ("(ABORT m.1)", "aborted"),
        ("(INFO)", "available"),
    ],
)
async def test_what_is_no_question_is_answered_as_players_do(text: str, answer: str) -> None:
    assert await said("random", PlayerRequest(text)) == answer


async def test_legal_takes_the_first_move_and_random_any() -> None:
    request = PlayerRequest("(PLAY m.1 NIL)", legal_moves=MOVES)
    assert {await said("legal", request) for _ in range(30)} == {"(say no)"}
    assert {await said("random", request) for _ in range(60)} == {"(say no)", "(say yes)"}


async def test_equal_seeds_make_equal_choices() -> None:
    request = PlayerRequest("(PLAY m.1 NIL)", legal_moves=MOVES * 50)

    async def chosen(seed: int) -> list[str]:
        player, replies = InProcessPlayer("random", seed), [ReplyBuffer() for _ in range(60)]
        for reply in replies:
            await player.deliver(request, reply)
        return [bytes(reply.raw).decode() for reply in replies]

    assert await chosen(1) == await chosen(1) != await chosen(2)


@pytest.mark.parametrize(("before", "again"), [("(say yes)", "(say yes)"), ("(say \ud800)", "(say ?)")])
async def test_what_was_answered_before_is_answered_again(before: str, again: str) -> None:
    assert await said("random", PlayerRequest("(PLAY m.1 NIL)", legal_moves=MOVES, answered=before)) == again


async def test_a_move_that_has_no_bytes_is_said_as_well_as_can_be() -> None:
    assert await said("legal", PlayerRequest("(PLAY m.1 NIL)", legal_moves=(Constant("é\ud800"),))) == "é?"


@pytest.mark.parametrize("name", IN_PROCESS)
async def test_no_clock_is_ever_missed_however_late_the_loop_comes_to_it(name: str) -> None:
    events: list[Event] = []
    links = {LEFT: InProcessPlayer(name), RIGHT: InProcessPlayer(name)}
    referee = LocalReferee(two_steps())
    options = DriverOptions(clock=Impatient())
    outcome = await MatchDriver(referee, setup(), links, [events.append], options).run()
    assert isinstance(outcome, Completed)
    assert {event.error for event in events if isinstance(event, Answered)} == {""}


@pytest.mark.parametrize("profile", [Profile(), Profile(is_scrambled=True), Profile(case=Case.UPPER)])
async def test_its_moves_are_legal_in_whatever_names_it_is_spoken_to(profile: Profile) -> None:
    record = await _played("tictactoe", profile, {"x": "random", "o": "legal"})
    assert {error for errors in record["errors"] for error in errors} == {""}
    assert record["isCompleted"]


async def _played(game: str, profile: Profile, players: dict[str, str]) -> dict[str, Any]:
    return await local_match(make_game(find_game(game).read()), players, profile=profile, clock_s=1).play()


async def test_it_is_given_the_moves_of_its_own_role_alone() -> None:
    """What chance may deal is not among the moves that the player of the cards is given."""
    requests: list[PlayerRequest] = []

    class Notes(InProcessPlayer):
        async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
            requests.append(request)
            await super().deliver(request, reply)

    left = Constant("left")
    driver = MatchDriver(LocalReferee(make_game(read_rules(DEALT))), setup(roles=(left,)), {left: Notes("random")})
    await driver.run()
    moves = {str(move) for request in requests for move in request.legal_moves}
    assert moves == {"(guess ace)", "(guess king)", "(guess queen)"}


def players_of_this_process() -> set[int]:
    """Return the children of this process, but for those that compile a game meanwhile."""
    found = set()
    for child in children_of(os.getpid()):
        with suppress(OSError):  # it has ended
            if b"gdl.worker" not in Path(f"/proc/{child}/cmdline").read_bytes():
                found.add(child)
    return found


async def test_a_match_between_them_starts_no_process() -> None:
    before = players_of_this_process()
    seen: set[int] = set()
    game = make_game(find_game("tictactoe").read())
    match = local_match(game, {"x": "random", "o": "legal"}, clock_s=1)
    await match.play([lambda _: seen.update(players_of_this_process())])
    assert seen <= before


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_set_up", [True, False])
def test_a_language_model_is_offered_where_it_is_set_up(is_set_up: bool) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GGP_LLM_")}
    added = {"GGP_LLM_URL": "http://127.0.0.1:1/v1", "GGP_LLM_MODEL": "small"} if is_set_up else {}
    text = "from server.links.player_spec import OWN_PLAYERS; print(*OWN_PLAYERS)"
    told = subprocess.run([sys.executable, "-c", text], env=kept | added, capture_output=True, text=True, check=True)
    always = ["legal", "random", "greedy", "minimax", "mcts", "planner", "nested"]
    assert told.stdout.split() == ([*always, "llm"] if is_set_up else always)
