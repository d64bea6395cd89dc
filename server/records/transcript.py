"""The wire as one seat saw it: what was sent, what came back and when, and why a move did not count."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gdl.errors import KifSyntaxError, UnknownRoleError
from gdl.game import Game, Role, State
from gdl.language.kif import read_term
from gdl.wire.scrambling import Scrambling
from server.errors import MatchRecordError, RecordDiffersError
from server.records.journal import StoredRecord, WireLine
from server.records.replay import replay

_SHOWN: Final = 20
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
            yield f"{_since_start(record, line):>11}  {shown(first)}"
            yield from (f"{'':11}  {shown(rest)}" for rest in more)
            yield from (f"{'':11}  {shown(more)}" for more in _error(line, role, states, scrambling))


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
        return f"step {line.step}: sent {abbreviated(line.text)}"
    took = f"after {line.elapsed_ms:,} ms" if line.elapsed_ms is not None else ""
    text = line.text.strip()
    came = f"received {text}" if text else "received nothing"
    return f"step {line.step}: {came} ({took})"


def shown(text: str) -> str:
    """Return *text*, which a player may have written, in one line that leaves a terminal as it is."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


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
    if line.error.startswith("IL") and line.step in states:
        moves = states[line.step].legal_moves(role)
        as_told = " (as the scrambled names were told)" if scrambling is not None else ""
        first = [str(move if scrambling is None else scrambling.scrambled(move)) for move in moves[:_SHOWN]]
        more = f" and {len(moves) - _SHOWN} more" if len(moves) > _SHOWN else ""
        yield f"legal{as_told}: {' '.join(first)}{more}"


def _move(text: str) -> str:
    """Return the move *text* as rule files write it, without the blanks of the public format."""
    try:
        return str(read_term(text))
    except KifSyntaxError:
        return text
