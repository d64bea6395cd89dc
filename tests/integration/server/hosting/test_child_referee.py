"""Rules from outside run in a process of their own: the same positions, and limits that hold."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import Process

import pytest

from gdl.engines import make_game
from gdl.errors import ChildProcessDiedError, LimitExceeded, RuleFileError
from gdl.game import EvaluationLimits
from gdl.language.rules import read_rules
from server.hosting.referees import ChildReferee, EngineProcesses, RefereeLimits
from server.match.position import Position
from server.match.referee import LocalReferee, Referee
from tests.kit.polling import until
from tests.kit.server.hosting.refereeing import EXPLODING, refereeing
from tests.kit.server.plays import DEALT, TWO_STEPS


def told(position: Position) -> tuple[object, ...]:
    return position.step, position.text, position.moves, position.percepts, position.legal_moves, position.goals


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rules", [TWO_STEPS, DEALT])
async def test_positions_are_those_of_the_engine_here(rules: str) -> None:
    local = LocalReferee(make_game(read_rules(rules)))
    async with refereeing(rules) as referee:
        here, there = await local.first_position(), await referee.first_position()
        while not here.is_terminal:
            assert told(there) == told(here)
            moves = [legal[-1] for legal in here.legal_moves]
            here, there = await local.next_position(here, moves), await referee.next_position(there, moves)
        assert told(there) == told(here)


async def test_matches_of_one_game_share_the_process() -> None:
    async with refereeing(TWO_STEPS) as referee:
        first, second = await asyncio.gather(referee.first_position(), referee.first_position())
        assert told(first) == told(second)


async def test_rules_that_take_too_long_are_stopped_and_the_next_question_is_answered() -> None:
    patient = EvaluationLimits(max_rows=10**9, max_seconds=600)
    async with refereeing(EXPLODING, RefereeLimits(0.3, evaluation=patient)) as referee:
        for _ in range(2):
            with pytest.raises(LimitExceeded, match=r"more than 0\.3 seconds"):
                await referee.first_position()


@pytest.mark.exhaustive
async def test_rules_that_take_too_much_memory_are_stopped() -> None:
    patient = EvaluationLimits(max_rows=10**9, max_seconds=600)
    async with refereeing(EXPLODING, RefereeLimits(60, 400, patient)) as referee:
        with pytest.raises((LimitExceeded, ChildProcessDiedError)):
            await referee.first_position()


async def test_the_referee_reports_what_the_rules_lack_as_the_engine_here_does() -> None:
    async with refereeing("(role one) (init (at 0)) (<= (legal one go) (true (at 1)))") as referee:
        with pytest.raises(RuleFileError, match="no legal move"):
            await referee.first_position()


async def test_a_process_that_was_killed_is_replaced() -> None:
    async with refereeing(TWO_STEPS) as referee:
        first = await referee.first_position()
        process = referee._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        await until(lambda: process.returncode is not None)
        assert told(await referee.first_position()) == told(first)


async def test_a_question_whose_time_the_server_did_not_see_pass_is_asked_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where it is suspended, with all that it has started: that says nothing about the rules."""
    loop, suspended_s = asyncio.get_running_loop(), 0.0
    now, start = loop.time, ChildReferee._start

    async def suspended(referee: ChildReferee) -> Process:
        nonlocal suspended_s
        process, suspended_s = await start(referee), 3600.0
        return process

    monkeypatch.setattr(loop, "time", lambda: now() + suspended_s)
    monkeypatch.setattr(ChildReferee, "_start", suspended)
    async with refereeing(TWO_STEPS, RefereeLimits(60)) as referee:
        assert (await referee.first_position()).step == 0


async def test_no_more_processes_run_than_may_however_many_games_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    start, processes, n_running = ChildReferee._start, EngineProcesses(2), list[int]()
    games = [make_game(read_rules(f"{TWO_STEPS} (word w{i})")) for i in range(5)]
    referees = [
        ChildReferee(game.description, game.roles, has_imperfect_information=False, processes=processes)
        for game in games
    ]

    async def counting(referee: ChildReferee) -> Process:
        found = await start(referee)
        n_running.append(sum(other._process is not None for other in referees))
        return found

    monkeypatch.setattr(ChildReferee, "_start", counting)
    try:
        firsts = await asyncio.gather(*(referee.first_position() for referee in referees))
        seconds = await asyncio.gather(*map(_after_first_moves, referees, firsts))
    finally:
        for referee in referees:
            await referee.close()
    assert max(n_running) == 2
    assert [told(second) for second in seconds] == [
        told(await _after_first_moves(LocalReferee(game), await LocalReferee(game).first_position())) for game in games
    ]


async def _after_first_moves(referee: Referee, first: Position) -> Position:
    return await referee.next_position(first, [legal[0] for legal in first.legal_moves])
