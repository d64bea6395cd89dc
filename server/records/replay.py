"""A match record read again: by the rules, up to the first difference, and as one seat saw the wire.

The rules are compared with everything that the record tells. Records of other hosts may have upper-case names, states
in any order, and keys missing: what is absent is not compared.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gdl.diagnostics import escaped
from gdl.errors import KifSyntaxError, UnknownRoleError
from gdl.game import RANDOM, Game, Role, State
from gdl.language.kif import read_term
from gdl.language.rules import rules_sha256
from gdl.language.terms import Term
from gdl.wire.insights import Insight
from gdl.wire.replies import find_move
from gdl.wire.scrambling import Scrambling
from server.match.exchange import Message
from server.records.errors import MatchRecordError, RecordDiffersError
from server.records.stored_record import KIF_LIMITS, StoredRecord, WireLine, facts_of, place_in

_SHOWN: Final = 5
"""How many facts a difference names."""


class DifferenceKind(StrEnum):
    """What of a record differs from the rules."""

    RULES = "rules"
    LENGTH = "length"
    STATE = "state"
    MOVE = "move"
    PERCEPTS = "percepts"
    TERMINAL = "terminal"
    GOAL = "goal"


@dataclass(frozen=True, slots=True)
class ReplayedStep:
    """A state that the record and the rules agree on, and the joint move that the record says was made in it."""

    step: int
    state: State
    moves: tuple[Term, ...] | None
    errors: tuple[str, ...]
    failures: tuple[str, ...] = ()
    insights: tuple[Insight | None, ...] = ()


def replay(game: Game, record: StoredRecord) -> Iterator[ReplayedStep]:
    """Yield every step of *record*, each once it is known to agree with the rules of *game*.

    Raises:
        RecordDiffersError: the first difference; the steps before it were yielded.
        MatchRecordError: a state or move of the record is no KIF.
        LimitExceeded: as the questions to a state.
    """
    _check_rules(game, record)
    _check_lengths(game, record)
    state, last = game.initial_state, len(record.moves)
    for step in range(last + 1):
        _check_state(step, state, record)
        if step == last:
            _check_end(step, state, game, record)
        moves = None if step == last else _joint_move(step, state, game, record)
        insights = record.insights[step] if step < len(record.insights) else ()
        yield ReplayedStep(step, state, moves, _of_step(record.errors, step), _of_step(record.failures, step), insights)
        if moves is not None:
            _check_percepts(step, state, moves, game, record)
            state = state.next_state(moves)


def _of_step(recorded: Sequence[tuple[str, ...]], step: int) -> tuple[str, ...]:
    """Return what the record says of the moves of a step; the first entry of all belongs to START."""
    return recorded[step + 1] if step + 1 < len(recorded) else ()


def _check_rules(game: Game, record: StoredRecord) -> None:
    """Raise RecordDiffersError unless the record is of these rules, with these roles."""
    if record.rules is not None and record.rules_sha256 is not None:
        digest = rules_sha256(record.rules)
        if digest != record.rules_sha256:
            raise RecordDiffersError(
                0, "", DifferenceKind.RULES.value, f"SHA-256 {record.rules_sha256}", f"SHA-256 {digest}"
            )
    roles = record.raw.get("x-roles")
    expected = [str(role) for role in game.roles]
    if roles is not None and roles != expected:
        raise RecordDiffersError(
            0, "", DifferenceKind.RULES.value, f"roles {_listed(roles)}", f"roles {_listed(expected)}"
        )


def _listed(roles: object) -> str:
    return ", ".join(map(str, roles)) if isinstance(roles, list) else str(roles)


def _check_lengths(game: Game, record: StoredRecord) -> None:
    n_states = len(record.moves) + 1
    recorded = {"states": record.states, "stateTimes": record.state_times_ms, "errors": record.errors}
    for key, values in recorded.items():
        if values and len(values) != n_states:
            raise _length(len(values), f"{n_states}: one more than moves", f"`{key}`")
    for step, moves in enumerate(record.moves):
        if len(moves) != len(game.roles):
            raise _length(len(moves), f"{len(game.roles)}, one per role", "moves", step, is_of_joint_move=True)


def _length(
    found: int, expected: str, what: str, step: int = 0, *, is_of_joint_move: bool = False
) -> RecordDiffersError:
    return RecordDiffersError(step, "", DifferenceKind.LENGTH.value, f"{found} {what}", expected, is_of_joint_move)


def _check_state(step: int, state: State, record: StoredRecord) -> None:
    if not record.states:
        return
    recorded = facts_of(record.states[step], place_in("states", step))
    if recorded == state.facts:
        return
    surplus, missing = _unmatched(recorded, state.facts), _unmatched(state.facts, recorded)
    if surplus or missing:
        raise RecordDiffersError(step, "", DifferenceKind.STATE.value, _shown(surplus), _shown(missing))


def _unmatched(these: Iterable[Term], those: Iterable[Term]) -> list[str]:
    """Return what *these* have and *those* have not, whatever the case, ordered by text."""
    known = {str(term).casefold() for term in those}
    return sorted(str(term) for term in these if str(term).casefold() not in known)


def _shown(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return " ".join(texts[:_SHOWN]) + more if texts else "nothing besides"


def _joint_move(step: int, state: State, game: Game, record: StoredRecord) -> tuple[Term, ...]:
    """Return the joint move that the record has at *step*, as the rules write it; it must be legal."""
    if state.is_terminal:
        raise RecordDiffersError(step, "", DifferenceKind.TERMINAL.value, "moves", "none: the state is terminal")
    found = []
    for role, text in zip(game.roles, record.moves[step], strict=True):
        legal = state.legal_moves(role)
        move = find_move(_term(text, place_in("moves", step)), legal)
        if move is None:
            expected = f"one of {_shown([str(move) for move in legal])}"
            raise RecordDiffersError(step, str(role), DifferenceKind.MOVE.value, text, expected, is_of_joint_move=True)
        found.append(move)
    return tuple(found)


def _term(text: str, where: str) -> Term:
    try:
        return read_term(text, KIF_LIMITS)
    except KifSyntaxError as error:
        raise MatchRecordError(f"{error.message} in {text[:100]!r}", where) from error


def _check_percepts(step: int, state: State, moves: tuple[Term, ...], game: Game, record: StoredRecord) -> None:
    """Raise RecordDiffersError unless the percepts after *moves* are those of the record, if it has them."""
    if record.percepts is None or step >= len(record.percepts):
        return
    if len(record.percepts[step]) != len(game.roles):
        n_percepts = len(record.percepts[step])
        raise _length(n_percepts, f"{len(game.roles)}, one per role", "x-percepts", step, is_of_joint_move=True)
    for role, recorded in zip(game.roles, record.percepts[step], strict=True):
        seen = [_term(text, place_in("x-percepts", step)) for text in recorded]
        expected = state.percepts(role, moves)
        if sorted(map(str, seen)) != sorted(map(str, expected)):
            found, ours = (" ".join(map(str, terms)) or "nothing" for terms in (seen, expected))
            raise RecordDiffersError(step, str(role), DifferenceKind.PERCEPTS.value, found, ours, is_of_joint_move=True)


def _check_end(step: int, state: State, game: Game, record: StoredRecord) -> None:
    """Raise RecordDiffersError unless *state*, the last one, is terminal and has the goals as the record says."""
    if record.is_completed and not state.is_terminal:
        raise RecordDiffersError(step, "", DifferenceKind.TERMINAL.value, "completed", "not terminal")
    if not record.goals:
        return
    if len(record.goals) != len(game.roles):
        raise _length(len(record.goals), f"{len(game.roles)}, one per role", "goalValues", step)
    for role, recorded in zip(game.roles, record.goals, strict=True):
        goal = state.goal(role)
        if goal != recorded and not (role == RANDOM and goal is None):
            raise RecordDiffersError(step, str(role), DifferenceKind.GOAL.value, str(recorded), str(goal))


_SHOWN_MOVES: Final = 20
"""How many legal moves are listed beside an illegal one."""
_START: Final = re.compile(r"\((?P<head>START\s+\S+\s+\S+)\s+(?P<rules>\(.*\))\s+(?P<clocks>\d+\s+\d+)\)", re.DOTALL)
_MAX_RULES: Final = 200


def seat_of(record: StoredRecord, role: str, roles: Sequence[Role]) -> Role:
    """Return the role called *role* if a player had it.

    Raises:
        UnknownRoleError: no player had it.
        MatchRecordError: the record tells nothing of the wire, as those of other hosts do.
    """
    if not record.wire:
        raise MatchRecordError("what was sent and answered is not in this record", "x-wire")
    asked = {line.role for line in record.wire}
    found = [known for known in roles if str(known) == role and role in asked]
    if not found:
        raise UnknownRoleError(role, [str(known) for known in roles if str(known) in asked])
    return found[0]


def transcript(record: StoredRecord, role: Role, game: Game) -> Iterator[str]:
    """Yield the lines of the transcript for the seat of *role*: times count from the match's start."""
    states = _states(record, game)
    scrambling = _scrambling(record, role, game)
    for line in record.wire:
        if line.role == str(role):
            # A message to a child may have a line of legal moves before it; what a player wrote stays on one line.
            first, *more = _what(line).split("\n") if line.direction == "sent" else [_what(line)]
            yield f"{_since_start(record, line):>11}  {escaped(first)}"
            yield from (f"{'':11}  {escaped(rest)}" for rest in more)
            yield from (f"{'':11}  {escaped(more)}" for more in _error(line, role, states, scrambling))


def _states(record: StoredRecord, game: Game) -> Mapping[int, State]:
    found = {}
    try:
        for step in replay(game, record):
            found[step.step] = step.state
    except RecordDiffersError:
        pass  # the steps before are still worth their legal moves
    return found


def _scrambling(record: StoredRecord, role: Role, game: Game) -> Scrambling | None:
    seats, seed = record.raw.get("x-seats"), record.raw.get("x-scramble-seed")
    index = game.roles.index(role)
    if not record.scrambling or not isinstance(seed, int) or not isinstance(seats, list) or index >= len(seats):
        return None
    is_scrambled = isinstance(seats[index], dict) and seats[index].get("isScrambled") is True
    return Scrambling(game.description, seed) if is_scrambled else None


def _since_start(record: StoredRecord, line: WireLine) -> str:
    return f"{(line.at - (record.start_time_ms or 0)) / 1000:,.3f} s"


def _what(line: WireLine) -> str:
    if line.direction == "sent":
        return f"{_when(line)}: sent {abbreviated(line.text)}"
    took = f"after {line.elapsed_ms:,} ms" if line.elapsed_ms is not None else ""
    text = line.text.strip()
    came = f"received {text}" if text else "received nothing"
    return f"{_when(line)}: {came} ({took})"


def _when(line: WireLine) -> str:
    """Return the step that a message is about, whose joint move PLAY asks for; others come before the first or last."""
    if line.message == Message.PLAY:
        return f"step {line.step + 1}"
    return "start" if line.message in (Message.PREVIEW, Message.START) else "end"


def abbreviated(text: str) -> str:
    """Return a message with long rules left out."""
    found = _START.fullmatch(text)
    if found is None or len(found["rules"]) <= _MAX_RULES:
        return text
    return f"({found['head']} (... rules, {len(found['rules']):,} characters ...) {found['clocks']})"


def _error(line: WireLine, role: Role, states: Mapping[int, State], scrambling: Scrambling | None) -> Iterator[str]:
    """Yield the lines about the error or failure in *line*, with the legal moves where it was an illegal one."""
    if line.failure:
        yield f"the player failed: {line.failure}"
    if not line.error:
        return
    yield f"error {line.error}: {line.detail}"
    if line.move is not None:
        yield f"played instead: {_move(line.move)}"
    if line.message == Message.PLAY and line.error.startswith("IL") and line.step in states:
        moves = states[line.step].legal_moves(role)
        as_told = " (in the scrambled names)" if scrambling is not None else ""
        first = [str(move if scrambling is None else scrambling.scrambled(move)) for move in moves[:_SHOWN_MOVES]]
        more = f" and {len(moves) - _SHOWN_MOVES} more" if len(moves) > _SHOWN_MOVES else ""
        yield f"legal{as_told}: {' '.join(first)}{more}"


def _move(text: str) -> str:
    """Return the move *text* as rule files write it, without the blanks of the public format."""
    try:
        return str(read_term(text))
    except KifSyntaxError:
        return text
