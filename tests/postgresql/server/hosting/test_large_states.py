"""States of many facts and moves: what is large is worked on beside the event loop, what is too large is refused."""

from __future__ import annotations

import json
import threading
from typing import Any, Final

import pytest

from gdl.boards import layout_of
from gdl.boards.pictures import svg_of
from gdl.errors import LimitExceeded
from gdl.language.rules import read_rules
from gdl.language.terms import Compound
from server.hosting.engine_process import MAX_PERCEPTS
from server.hosting.game_manager import GameManager
from server.hosting.order import MatchRequest
from server.hosting.referees import RefereeLimits
from server.hosting.settings import GameManagerSettings
from server.match.position import fact_texts, facts_in
from server.records.entries import FailedEntry
from server.spectating.public_record import public_record, public_record_text
from server.spectating.state import state_at
from server.storage.database import Database
from server.web import boards
from server.web.boards import picture_of, recorded_board
from server.web.game_versions import ShownRules
from tests.kit.server.hosting.managing import managing, until
from tests.kit.server.hosting.refereeing import refereeing

MAX_TERMS: Final = 200
"""How many terms the event loop may make in all of a match, however large its states are."""


def squares(n: int, *, has_moves: bool = False) -> str:
    """Return rules of some kilobytes whose states have n * n facts, and as many moves if *has_moves*."""
    moves = "(pick ?x ?y)) (i ?x) (i ?y" if has_moves else "go"
    return f"""
        (role r) (role s) {" ".join(f"(i {number})" for number in range(n))} (succ 0 1) (succ 1 2)
        (<= (init (cell ?x ?y)) (i ?x) (i ?y)) (init (at 0))
        (<= (next (cell ?x ?y)) (i ?x) (i ?y)) (<= (next (at ?n)) (true (at ?m)) (succ ?m ?n))
        (<= (legal ?p {moves}) (role ?p)) (<= terminal (true (at 2))) (goal r 100) (goal s 0)
    """


@pytest.fixture
def n_made(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Count the terms that this thread makes."""
    loop_thread, counted, make = threading.get_ident(), {"terms": 0}, Compound._intern

    def counting(key: Any) -> Compound:
        counted["terms"] += threading.get_ident() == loop_thread
        return make(key)

    monkeypatch.setattr(Compound, "_intern", counting)
    return counted


def ordered(rules: str) -> MatchRequest:
    return MatchRequest.model_validate({"rules": rules, "players": {"r": "random", "s": "legal"}, "playClock": 20})


@pytest.mark.sampled(4)
@pytest.mark.parametrize("has_moves", [False, True])
async def test_the_loop_makes_no_terms_of_large_states_and_moves(
    database: Database, n_made: dict[str, int], *, has_moves: bool
) -> None:
    async with managing(database) as manager:
        match_id = (await manager.order(ordered(squares(70, has_moves=has_moves)))).row.id
        row = await until(manager, match_id, "completed", "failed")
        record = await public_record(manager, match_id)
        assert json.loads(await public_record_text(manager, match_id)) == record
        states = record["states"]
        seen = await state_at(manager, match_id, 2)
    assert (row.status, row.n_errors, len(states)) == ("completed", 0, 3)
    assert seen.facts is not None
    assert (len(seen.facts), seen.facts[0], seen.facts[-1]) == (4901, "(at 2)", "(cell 9 9)")
    assert min(map(len, states)) > 70_000
    assert n_made["terms"] < MAX_TERMS


@pytest.mark.sampled(2)
async def test_a_match_whose_states_are_too_large_fails_with_the_limit(
    database: Database, n_made: dict[str, int]
) -> None:
    async with managing(database, GameManagerSettings(referee_limits=RefereeLimits(max_state_kb=16))) as manager:
        match_id = (await manager.order(ordered(squares(70)))).row.id
        await until(manager, match_id, "failed")
        reason = await _reason(manager, match_id)
    assert reason == "LimitExceeded: limit reached: more than 16 kilobytes of facts in one state of these rules"
    assert n_made["terms"] < MAX_TERMS


async def _reason(manager: GameManager, match_id: str) -> str:
    (failed,) = [entry for entry in await manager.journals.entries(match_id) if isinstance(entry, FailedEntry)]
    return failed.reason


async def test_too_many_moves_and_too_many_percepts_are_refused_as_well() -> None:
    limits = RefereeLimits(max_state_kb=16)
    moves = squares(70, has_moves=True).replace("(<= (init (cell ?x ?y)) (i ?x) (i ?y))", "")
    async with refereeing(moves, limits) as referee:
        with pytest.raises(LimitExceeded, match="more than 16 kilobytes of legal moves"):
            await referee.first_position()
    seen = squares(90) + "(role random) (legal random roll) (<= (sees r (cell ?x ?y)) (true (cell ?x ?y)))"
    async with refereeing(seen) as referee:
        first = await referee.first_position()
        with pytest.raises(LimitExceeded, match=f"more than {MAX_PERCEPTS:,} characters of percepts"):
            await referee.next_position(first, [legal[0] for legal in first.legal_moves])


async def test_a_process_that_forgot_a_state_reads_it_again() -> None:
    async with refereeing(squares(20)) as referee:
        first = await referee.first_position()
        moves = [legal[0] for legal in first.legal_moves]
        known = await referee.next_position(first, moves)
        await referee.close()
        assert (await referee.next_position(first, moves)).text == known.text


@pytest.mark.sampled(2)
async def test_a_large_board_is_read_and_drawn_beside_the_loop(
    n_made: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    description = read_rules(squares(40))
    rules = ShownRules(description, layout_of(description, None))
    state = f"( {' '.join(f'( cell {x} {y} )' for x in range(40) for y in range(40))} )"
    threads: list[int] = []

    def drawing(*words: Any, **options: Any) -> str:
        threads.append(threading.get_ident())
        return svg_of(*words, **options)

    monkeypatch.setattr(boards, "svg_of", drawing)
    n_made["terms"] = 0
    picture = await picture_of(await recorded_board(rules, state), "a board")
    assert picture is not None
    assert picture.board is not None
    assert n_made["terms"] < MAX_TERMS
    assert threads
    assert threading.get_ident() not in threads


def test_texts_of_facts_are_those_of_the_facts() -> None:
    text = "( ( at 0 ) done ( last left ( say Yes ) ) )"
    assert fact_texts(text) == sorted(map(str, facts_in(text))) == ["(at 0)", "(last left (say Yes))", "done"]
