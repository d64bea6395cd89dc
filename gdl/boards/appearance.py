"""The appearance of pieces in a game without a description: symbol, shape and colour, by what a piece is called."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gdl.boards.field_types import Colour, ShapeName, Symbol

_EMPTY: Final = frozenset({
    "blank", "empty", "none", "nil", "null", "nothing", "free", "clear", "open", "noone", "nobody", "unmarked",
    "unoccupied", "vacant", "dirt",
})  # fmt: skip
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_COLOURS: Final[dict[str, Colour]] = {
    "white": "white", "black": "black", "red": "red", "green": "green", "blue": "blue", "yellow": "yellow",
    "purple": "magenta", "violet": "magenta", "pink": "bright_magenta", "magenta": "magenta", "cyan": "cyan",
    "teal": "cyan", "orange": "bright_red", "gray": "bright_black", "grey": "bright_black", "brown": "yellow",
    "gold": "yellow", "silver": "bright_black", "x": "red", "o": "blue", "wall": "bright_black",
    "hole": "bright_black", "brick": "bright_black", "fire": "bright_red", "arrow": "bright_black",
    "food": "green", "apple": "green", "goal": "yellow", "exit": "yellow",
}  # fmt: skip
_SHAPES: Final[dict[str, ShapeName]] = {
    "pawn": "pawn", "knight": "knight", "bishop": "bishop", "rook": "rook", "queen": "queen", "king": "king",
    "x": "cross", "o": "ring", "wall": "block", "hole": "block", "brick": "block", "arrow": "block", "block": "block",
    "robot": "robot", "zombie": "zombie", "mummy": "mummy", "player": "person", "hero": "person", "explorer": "person",
    "man": "pawn", "exit": "door", "door": "door", "goal": "flag", "flag": "flag", "star": "star", "mine": "star",
    "ghost": "mummy", "snake": "square", "fire": "star", "food": "dot", "dot": "dot", "pellet": "dot",
    "disc": "disc", "stone": "disc", "checker": "disc", "amazon": "queen", "pacman": "disc", "kitten": "person",
}  # fmt: skip
_CODES: Final[dict[str, ShapeName]] = {
    "p": "pawn", "n": "knight", "b": "bishop", "r": "rook", "q": "queen", "k": "king", "m": "pawn",
}  # fmt: skip
_CODE: Final = re.compile(r"([wb])([pnbrqkm])")
_ENDS: Final = (
    "player",
    "pawn",
    "knight",
    "bishop",
    "rook",
    "queen",
    "king",
    "checker",
    "disc",
    "head",
    "coin",
    "coins",
    "stone",
)
"""What names of pieces end in, without a mark between."""
_PALETTE: Final[tuple[Colour, ...]] = (
    "red", "blue", "green", "yellow", "magenta", "cyan", "bright_red", "bright_blue", "bright_green", "bright_black",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Appearance:
    """What one kind of piece looks like: `symbol` and `colour` in text, `shape` and `fill` in pictures."""

    symbol: Symbol
    shape: ShapeName
    fill: Colour

    @property
    def colour(self) -> Colour | None:
        """The colour in text, where the background may be dark or light: none for white and black."""
        return None if self.fill in ("white", "black") else self.fill


def appearances(values: Iterable[str], owners: Sequence[str] = ()) -> dict[str, Appearance]:
    """Return the appearance of every value that is something; *owners* have colours of their own."""
    names = sorted(values)
    empty = _empty_names(names)
    drawn = [name for name in names if name not in empty]
    symbols = _symbols(drawn)
    taken = {_colour(name, drawn) for name in drawn}
    free = [colour for colour in _PALETTE if colour not in taken] or list(_PALETTE)
    found: dict[str, Appearance] = {}
    for name in drawn:
        fill = _colour(name, drawn)
        if fill is None:
            number = owners.index(name) if name in owners else len(found)
            fill = "bright_yellow" if name.isdecimal() else free[number % len(free)]
        found[name] = Appearance(symbols[name], shape_of(name), fill)
    return found


def shape_of(name: str) -> ShapeName:
    """Return the shape that *name* speaks of: a token with its symbol where it speaks of none."""
    code = _CODE.fullmatch(name.lower())
    if code is not None:
        return _CODES[code[2]]
    words = _words(name)
    shaped = [_SHAPES[word] for word in words if word in _SHAPES and word != "player"]
    if shaped:
        return shaped[-1]
    if "player" in words:
        return "person" if len(words) == 1 else "disc"
    if name.isdecimal():
        return "tile"
    return "disc" if any(word in _COLOURS for word in words) or name.lower() in ("w", "b") else "token"


def colour_of(name: str) -> Colour | None:
    """Return the colour that *name* speaks of, if it does."""
    code = _CODE.fullmatch(name.lower())
    if code is not None:
        return "white" if code[1] == "w" else "black"
    return next((_COLOURS[word] for word in _words(name) if word in _COLOURS), None)


def symbol_of(name: str) -> Symbol:
    """Return a short symbol for *name*."""
    return _symbols([name])[name]


def _colour(name: str, names: Sequence[str]) -> Colour | None:
    if name.lower() in ("w", "b") and {"w", "b"} <= {other.lower() for other in names}:
        return "white" if name.lower() == "w" else "black"
    return colour_of(name)


def _empty_names(names: Sequence[str]) -> set[str]:
    """Return the names that stand for nothing; `b` and `e` are letters of colours as well."""
    found = {name for name in names if _words(name) and _words(name)[-1] in _EMPTY}
    is_colour = "w" in names and not {"x", "o"} & set(names)
    if not found and "b" in names and not is_colour:
        found = {"b"}
    if not found and "e" in names:
        found = {"e"}
    return found


def _words(name: str) -> list[str]:
    words = [word.lower() for word in _WORDS.findall(name[:40])]
    return [part for word in words for part in _parted(word)]


def _parted(word: str) -> list[str]:
    """Return `x` and `player` of `xplayer`: names of roles are often written so."""
    for end in _ENDS:
        if word.endswith(end) and word != end:
            return [word.removesuffix(end), end]
    return [word]


def _symbols(names: Sequence[str]) -> dict[str, Symbol]:
    """Return different symbols for *names*, as far as three letters tell them apart."""
    for make in (_initial, _initials, _beginning, _end):
        found = {name: make(_plain(name), name) for name in names}
        if len(set(found.values())) == len(found):
            break
    return found


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "", name) or "?"


def _initial(text: str, name: str) -> str:
    if name.lower() == "knight":
        return "N"
    return text if len(text) <= 2 and (len(text) == 2 or text.isdecimal()) else text[0].upper()


def _initials(text: str, name: str) -> str:
    words = _words(name)
    return (
        "".join("N" if word == "knight" else word[0].upper() for word in words)[:3]
        if len(words) > 1
        else text[:2].capitalize()
    )


def _beginning(text: str, name: str) -> str:  # noqa: ARG001 -- one of four ways to shorten
    return text[:3]


def _end(text: str, name: str) -> str:  # noqa: ARG001 -- one of four ways to shorten
    return text[-3:]
