"""A match of guesses at a card that is dealt, in which roles know more or less of what is done; and delays."""

from __future__ import annotations

from dataclasses import replace

from gdl.engines import make_game
from gdl.language.kif import read_term
from gdl.language.rules import Description, read_rules
from server.match.position import Position, first_position, next_position
from server.records.entries import Entry, StateEntry, entry_of
from server.storage.rows import MatchRow
from tests.kit.server.scripted import CIRCUMSTANCES, events
from tests.kit.server.spectating.written_match import MATCH, WrittenMatch
from tests.kit.server.storage.samples import keep

GUESS = """
(role random) (role left) (role right) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(card ace) (card king)
(<= (legal random (deal ?c)) (true (at 0)) (card ?c))
(<= (legal random noop) (not (true (at 0))))
(<= (legal ?r (say ?c)) (role ?r) (distinct ?r random) (true (at 1)) (card ?c))
(<= (legal ?r noop) (role ?r) (distinct ?r random) (not (true (at 1))))
(<= (next (at ?j)) (true (at ?i)) (succ ?i ?j))
(<= (next (dealt ?c)) (does random (deal ?c)))
(<= (next (dealt ?c)) (true (dealt ?c)))
(<= terminal (true (at 3)))
(<= (goal ?r 50) (role ?r) (distinct ?r random))
"""
DEAL, SAY = ("(deal ace)", "noop", "noop"), ("noop", "(say ace)", "(say king)")
PERCEPTS = {
    "each sees all": "(<= (sees ?r (did ?q ?m)) (role ?r) (does ?q ?m))",
    "each sees the others": "(<= (sees ?r (did ?q ?m)) (role ?r) (does ?q ?m) (distinct ?r ?q))",
    "one sees no deal": "(<= (sees ?r (did ?q ?m)) (role ?r) (does ?q ?m) (distinct ?q random)) "
    "(<= (sees left (dealt ?c)) (does random (deal ?c)))",
    "no say is seen": "(<= (sees ?r (dealt ?c)) (role ?r) (does random (deal ?c)))",
}
"""Rules by which roles perceive something, by what they say."""


def positions(rules: Description, *moves: tuple[str, ...]) -> list[Position]:
    """Return the positions of a play with those joint *moves*."""
    game = make_game(rules)
    found = [first_position(game)]
    for joint in moves:
        found.append(next_position(game, found[-1], tuple(map(read_term, joint))))
    return found


def journal(percepts: str) -> list[Entry]:
    """Return the journal of a match as a referee makes it."""
    rules = read_rules(GUESS + PERCEPTS[percepts])
    found = [entry_of(event, CIRCUMSTANCES) for event in events(rules, (DEAL, SAY))]
    position = iter(positions(rules, DEAL, SAY))
    return [
        replace(entry, is_common=next(position).is_common) if isinstance(entry, StateEntry) else entry
        for entry in found
    ]


async def delayed(played: WrittenMatch, text: str) -> None:
    """Delay the broadcast of the match."""
    row = await played.matches.get(MATCH)
    assert row is not None
    changed = {**row.order, "text": {**row.order["text"], "broadcastDelay": text}}
    seats = (await played.matches.seats([MATCH]))[MATCH]
    await played.matches.delete(MATCH)
    values = {name: getattr(row, name) for name in MatchRow.__slots__}
    await keep(played.matches, MatchRow(**values | {"order": changed}), seats)
