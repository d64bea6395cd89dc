"""A match without sockets: the events that the match core would emit for moves written down beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from gdl.engines import make_game
from gdl.game import Role, State
from gdl.games.library import find_game
from gdl.language.kif import read_term
from gdl.language.rules import Description, read_rules
from server.match.exchange import (
    Answered,
    Closed,
    Completed,
    Event,
    Message,
    MoveOrigin,
    Sent,
    Started,
    StateReached,
    StepFinished,
)
from server.match.position import state_text
from server.match.profiles import Profile
from server.match.setup import MatchSetup, Seat
from server.records.entries import Circumstances, Entry, StartedEntry

PLAIN = Profile()
START_MS = 1_700_000_000_000

TURNS = """
(role a) (role b) (init (at 0)) (init (control a)) (succ 0 1) (succ 1 2)
(<= (legal ?r go) (true (control ?r)))
(<= (legal ?r (jump ?n)) (true (control ?r)) (true (at ?n)))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (at ?m)) (true (at ?n)) (succ ?n ?m))
(<= (next (control a)) (true (control b)))
(<= (next (control b)) (true (control a)))
(<= terminal (true (at 2)))
(goal a 100) (goal b 0)
"""
"""Two steps, a then b, each with two moves; moves make no difference."""

TURNS_MOVES = (("go", "noop"), ("noop", "(jump 1)"))

CIRCUMSTANCES = Circumstances(game="turns", random_token="token")


def turns() -> Description:
    """Return the rules of the game of two steps."""
    return read_rules(TURNS, "turns.kif")


def library(name: str) -> Description:
    """Return the rules of a game that comes with the package."""
    return find_game(name).read()


def events(description: Description, moves: Sequence[Sequence[str]], profile: Profile = PLAIN) -> Iterator[Event]:
    """Yield what happens when *moves* are played; the first move of the first role is late and replaced."""
    game, clock = make_game(description), count(START_MS)
    seats = tuple(Seat(role, f"{role}-player", profile) for role in game.roles if str(role) != "random")
    setup = MatchSetup(seats, 10, 5, match_id="match.m1", seed=7, scramble_seed=8)
    yield Started(next(clock), setup, description, game.roles)
    state = game.initial_state
    yield StateReached(next(clock), 0, state_text(state.facts), None)
    asked = [seat.role for seat in seats]
    for role in asked:
        yield Sent(next(clock), 0, role, Message.START, f"(START match.m1 {role} (...) 10 5)")
        yield Answered(next(clock), 0, role, Message.START, "ready", 3, "", "", None)
    n = len(game.roles)
    thinking = tuple(5 if role in asked else None for role in game.roles)
    yield StepFinished(next(clock), 0, None, ("",) * n, ("",) * n, thinking, ())
    for step, texts in enumerate(moves):
        joint = tuple(read_term(text) for text in texts)
        yield from _asked(step, game.roles, asked, texts, clock)
        errors = tuple("TO" if step == 0 and index == 0 else "" for index in range(n))
        details = tuple("late" if error else "" for error in errors)
        origins = tuple(
            MoveOrigin.CHANCE if role not in asked else MoveOrigin.SUBSTITUTE if error else MoveOrigin.PLAYER
            for role, error in zip(game.roles, errors, strict=True)
        )
        yield StepFinished(next(clock), step, joint, errors, details, thinking, origins)
        percepts = tuple(state.percepts(role, joint) for role in game.roles) if description.is_gdl2 else None
        state = state.next_state(joint)
        yield StateReached(next(clock), step + 1, state_text(state.facts), percepts)
    yield from _end(state, game.roles, len(moves), clock)


def start_of(entries: Sequence[Entry]) -> StartedEntry:
    """Return the first entry of a journal."""
    first = entries[0]
    assert isinstance(first, StartedEntry)
    return first


def _asked(
    step: int, roles: Sequence[Role], asked: Sequence[Role], texts: Sequence[str], clock: Iterator[int]
) -> Iterator[Event]:
    for index, (role, text) in enumerate(zip(roles, texts, strict=True)):
        if role in asked:
            is_late = step == 0 and index == 0
            yield Sent(next(clock), step, role, Message.PLAY, f"(PLAY match.m1 {step})")
            error, detail = ("TO", "late") if is_late else ("", "")
            said = "" if is_late else text
            yield Answered(next(clock), step, role, Message.PLAY, said, 5, error, detail, read_term(text))


def _end(state: State, roles: Sequence[Role], step: int, clock: Iterator[int]) -> Iterator[Event]:
    if state.is_terminal:
        yield Completed(next(clock), step, tuple(state.goal(role) for role in roles))
        yield Closed(next(clock))
