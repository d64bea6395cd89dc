"""What a person sees from a seat: the question, and what the role knows, never anything of the others."""

from __future__ import annotations

from typing import Any

from gdl.kif import read_term
from server.hosting.game_manager import GameManager
from server.links.human_seat import Turn, turn_of
from server.records.replay import facts_of
from server.registry.answers import Text
from server.spectating.record import journal
from server.storage.rows import MatchRow


class SeatStep(Text):
    """A step as one role knows it: its move, and in GDL-II what it perceived of the joint move."""

    step: int
    move: str
    percepts: list[str] | None = None


class SeatView(Text):
    """What a person sees.

    `isAsked` is whether a move is wanted in `step`, one of `legalMoves`, within `secondsLeft`. `told` is what the
    question tells: the last joint move, or in GDL-II the percepts of it. `state` are the facts, in GDL-I alone; `steps`
    are the person's own.
    """

    match_id: str
    role: str
    status: str
    step: int
    is_asked: bool
    seconds_left: float | None
    legal_moves: list[str]
    told: list[str] | None
    state: list[str] | None
    steps: list[SeatStep]


async def view_of_seat(manager: GameManager, match: MatchRow, role: str) -> SeatView:
    """Return what the person who plays *role* in *match* sees now."""
    has_seat = manager.mailboxes.has_seat(match.id, role)
    turn = turn_of(manager.mailboxes.seat(match.id, role)) if has_seat else None
    record = await journal(manager, match.id)
    known = record.as_json() if record.has_begun else None
    return SeatView(
        match_id=match.id,
        role=role,
        status=match.status,
        step=_step(turn, known),
        is_asked=turn is not None,
        seconds_left=None if turn is None or turn.left_s is None else round(turn.left_s, 3),
        legal_moves=[] if turn is None else list(map(str, turn.legal_moves)),
        told=None if turn is None or turn.told is None else list(map(str, turn.told)),
        state=None if known is None else _state(known),
        steps=[] if known is None else _steps(known, role),
    )


def _step(turn: Turn | None, record: dict[str, Any] | None) -> int:
    if turn is not None:
        return turn.step
    return 0 if record is None else max(0, len(record["states"]) - 1)


def _state(record: dict[str, Any]) -> list[str] | None:
    if record["x-gdl2"] or not record["states"]:
        return None
    return sorted(map(str, facts_of(record["states"][-1])))


def _steps(record: dict[str, Any], role: str) -> list[SeatStep]:
    place = record["x-roles"].index(role)
    percepts = record.get("x-percepts", [])
    return [
        SeatStep(
            step=step,
            move=_bare(moves[place]),
            percepts=list(map(_bare, percepts[step][place])) if step < len(percepts) else None,
        )
        for step, moves in enumerate(record["moves"])
    ]


def _bare(spaced: str) -> str:
    """Return a term of a record as rule files write it."""
    return str(read_term(spaced))
