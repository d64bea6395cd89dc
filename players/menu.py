"""What a person may type for a move: its number, a key of the game, its text, or the beginning of its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from gdl.terms import Constant, Term
from players.errors import UnclearMoveError

MAX_SHOWN: Final = 60


class Menu:
    """The legal moves of one turn, numbered from 1; *keys* maps what may be typed to the text of a move."""

    def __init__(self, moves: Sequence[Term], keys: Mapping[str, str] = MappingProxyType({})) -> None:
        self.moves = tuple(moves)
        by_text = {str(move): move for move in moves}
        self.keys: dict[str, Term] = {key: by_text[text] for key, text in keys.items() if text in by_text}

    @property
    def is_forced(self) -> bool:
        """Whether there is only one move, and it says no more than that one waits or must."""
        return len(self.moves) == 1 and isinstance(self.moves[0], Constant)

    @property
    def is_by_keys(self) -> bool:
        """Whether every move has a key."""
        return bool(self.keys) and set(self.keys.values()) == set(self.moves)

    def lines(self) -> list[str]:
        """Return the moves as they are shown: by their keys where all have one, otherwise by their numbers."""
        if self.is_by_keys:
            return [", ".join(f"{key or 'Enter'} = {_bare(move)}" for key, move in self.keys.items())]
        shown = [f"{number}. {move}" for number, move in enumerate(self.moves[:MAX_SHOWN], 1)]
        n_more = len(self.moves) - len(shown)
        more = [f"... and {n_more} more: type how a move begins to see those"] if n_more else []
        return [*_columns(shown), *more]

    def move(self, typed: str) -> Term:
        """Return the move that *typed* means.

        Raises:
            UnclearMoveError: none, or several; it lists them.
        """
        key = typed.strip()
        if key in self.keys:
            return self.keys[key]
        if key.isascii() and key.isdecimal():
            return self._numbered(key)
        wanted = _folded(key)
        fits = [move for move in self.moves if _folded(str(move)).startswith(wanted)] if wanted else []
        exact = [move for move in fits if _folded(str(move)) == wanted]
        found = exact or fits
        if len(found) == 1:
            return found[0]
        raise UnclearMoveError(key, [str(move) for move in found[:MAX_SHOWN]])

    def _numbered(self, digits: str) -> Term:
        number = int(digits) if len(digits) < 10 else 0
        if not 1 <= number <= len(self.moves):
            raise UnclearMoveError(digits, [])
        return self.moves[number - 1]


def _folded(text: str) -> str:
    """Return *text* without parentheses, in one case, with single blanks: `move up` means `(move up)`."""
    return " ".join(text.replace("(", " ").replace(")", " ").casefold().split())


def _bare(move: Term) -> str:
    return str(move).removeprefix("(").removesuffix(")")


def _columns(texts: Sequence[str], width: int = 78) -> list[str]:
    """Return *texts* in columns, read from left to right."""
    cell = max((len(text) for text in texts), default=0) + 2
    n_columns = max(1, width // cell)
    rows = (texts[i : i + n_columns] for i in range(0, len(texts), n_columns))
    return ["".join(text.ljust(cell) for text in row).rstrip() for row in rows]
