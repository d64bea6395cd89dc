"""Games and their positions, as tools tell them to a language model.

Games are those of the library and of the folder in `GGP_GAMES`, by name: no tool reads a path. Rules that a model
writes are validated under limits, and never run outside of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from mcp.server.mcpserver.exceptions import ToolError

from gdl.boards import GameMetadata, board_of, layout_of, text_of
from gdl.diagnostics import Source
from gdl.engines import make_game
from gdl.errors import MetadataError, UnknownNameError
from gdl.game import Game, JointMove, Role, State
from gdl.games.library import GameFile, named_games, nearest_names
from gdl.language.rules import Description
from gdl.language.terms import Term
from gdl.quantities import quantity
from server.validating.formats import file_report
from server.validating.validation import ValidationOptions, check_source

MAX_GAMES: Final = 100
"""How many games are kept that were asked for; the one that was asked for longest ago is given up for a new one."""
MAX_MOVES: Final = 1_000
"""How many legal moves are listed of a role."""
MAX_STEPS: Final = 1_000
"""How many joint moves a position may be away from the first one."""
CHECK_S: Final = 20.0
"""How long rules are checked."""


@lru_cache(MAX_GAMES)
def _made(rules: Description) -> Game:
    return make_game(rules)


@dataclass(frozen=True, slots=True)
class NamedGame:
    """A game as its files are now: the game, and its description, if it has one."""

    game: Game
    metadata: GameMetadata | None
    rules: Description

    @classmethod
    def find(cls, name: str) -> NamedGame:
        """Return the game of that name.

        Raises:
            UnknownNameError: there is none.
            RuleFileError, LimitExceeded: its rules cannot be played.
            MetadataError: its description cannot be read.
        """
        file = next((each for each in named_games() if each.name == name), None)
        if file is None:
            raise UnknownNameError("game", name, nearest_names(name))
        rules = file.read()
        return cls(_made(rules), file.metadata(), rules)


def games() -> list[dict[str, Any]]:
    """Return the games that have a name: this, title, roles, and what they are."""
    return [{"game": file.name} | _said(file) for file in named_games()]


def _said(file: GameFile) -> dict[str, Any]:
    """Return what the description of a game says; of one that cannot be read, the name alone."""
    try:
        metadata = file.metadata()
    except MetadataError:
        metadata = None
    if metadata is None:
        return {"title": file.name, "roles": [], "summary": ""}
    return {"title": metadata.title, "roles": list(metadata.roles), "summary": metadata.summary.strip()}


def game(name: str) -> dict[str, Any]:
    """Return what there is of a game: its rules, how unclear points were decided, its first position."""
    named = NamedGame.find(name)
    found: dict[str, Any] = {} if named.metadata is None else {
        "title": named.metadata.title, "summary": named.metadata.summary.strip(),
        "decisions": [f"{one.unclear} {one.decided.strip()}" for one in named.metadata.decisions],
    }  # fmt: skip
    first = told(named, named.game.initial_state, named.game.roles)
    return found | {"rules": named.rules.source.text, "position": first}


def position(name: str, steps: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return the position after joint moves: what holds, the board, the legal moves, at the end the goals.

    Raises:
        ToolError: there are too many steps, or one of them is no joint move.
        UnknownNameError: there is no such game.
    """
    if len(steps) > MAX_STEPS:
        raise ToolError(f"{len(steps):,} steps are more than {MAX_STEPS:,}")
    named = NamedGame.find(name)
    of = named.game
    state = of.initial_state
    for number, step in enumerate(steps, 1):
        if state.is_terminal:
            raise ToolError(f"the play ended before step {number}")
        state = state.next_state(_joint_move(of, state, step, number))
    return told(named, state, of.roles)


def _joint_move(of: Game, state: State, step: Sequence[str], number: int) -> JointMove:
    if len(step) != len(of.roles):
        raise ToolError(f"step {number} has {quantity(len(step), 'move')} for {quantity(len(of.roles), 'role')}")
    return tuple(legal_move(state, role, text) for role, text in zip(of.roles, step, strict=True))


def legal_move(state: State, role: Role, text: str) -> Term:
    """Return the legal move of *role* that *text* writes, in any case, with or without the outer parentheses.

    Raises:
        ToolError: it writes none.
    """
    wanted = " ".join(text.split()).casefold()
    legal = state.legal_moves(role)
    found = [move for move in legal if str(move).casefold() in (wanted, f"({wanted})")]
    if len(found) != 1:
        listed = ", ".join(map(str, legal[:MAX_MOVES]))
        raise ToolError(f"{text[:200]!r} is no legal move of {role}; these are: {listed}")
    return found[0]


def told(named: NamedGame, state: State, roles: Sequence[Role]) -> dict[str, Any]:
    """Return what tools tell a model of *state*: the legal moves of *roles*, or the goals of all at the end."""
    board = text_of(board_of(layout_of(named.rules, named.metadata), named.rules, state.facts))
    found = {"facts": sorted(map(str, state.facts)), "board": board, "isTerminal": state.is_terminal}
    if state.is_terminal:
        return found | {"goals": {str(role): state.goal(role) for role in named.game.roles}}
    return found | {"legalMoves": {str(role): _listed(state.legal_moves(role)) for role in roles}}


def _listed(moves: Sequence[Term]) -> list[str]:
    return [str(move) for move in moves[:MAX_MOVES]]


def validation(rules: str) -> dict[str, Any]:
    """Return what the static checks say of *rules*, as `ggp validate --json` has it for a file."""
    return file_report(check_source(Source("rules", rules), ValidationOptions(CHECK_S)))
