"""Another spelling for a name of a rule file: whether it may have one, and the edits that give it everywhere."""

import re
from typing import Final

from gdl.editing.edits import Edit
from gdl.editing.symbols import Occurrence, SymbolIndex, SymbolKind
from gdl.errors import RenamingError
from gdl.language.kif import BINARY, NAME_CHARACTER, NUMBER, Form
from gdl.language.syntax import GDL2_KEYWORDS, KEYWORDS

_NAME: Final = re.compile(rf"(?!\?)(?:(?![{BINARY}]){NAME_CHARACTER})+")
_NUMBER: Final = re.compile(NUMBER)
_WORDS: Final = KEYWORDS | GDL2_KEYWORDS


def renamable(index: SymbolIndex, offset: int) -> Occurrence:
    """Return the name at *offset*, if it may have another.

    Raises:
        RenamingError: there is none, or it is a word of the language or a number, or stands where all is not readable.
    """
    found = index.at(offset)
    if found is None:
        raise RenamingError("there is no name here")
    if found.kind is SymbolKind.KEYWORD:
        raise RenamingError(f"`{found.symbol.name}` is a word of the language")
    if found.kind is SymbolKind.CONSTANT and _NUMBER.fullmatch(found.symbol.name):
        raise RenamingError(f"{found.symbol.name} is a number")
    broken = [item for item in index.broken if _concerns(item, found)]
    if broken:
        place = broken[0].span
        raise RenamingError(f"the rule in line {place.line} has `{found.token.name}` and cannot be read: mend it first")
    return found


def rename(index: SymbolIndex, offset: int, name: str) -> list[Edit]:
    """Return the edits that give the name at *offset* the spelling *name*; a variable's question mark may be left out.

    Raises:
        RenamingError: as `renamable`, or *name* is none, or is taken, be it in other upper and lower case.
    """
    found = renamable(index, offset)
    is_variable = found.kind is SymbolKind.VARIABLE
    new = f"?{name.removeprefix('?')}" if is_variable else name
    if new == found.token.name:
        return []
    if not _NAME.fullmatch(new.removeprefix("?") if is_variable else new):
        raise RenamingError(f"{name!r} is no name: it needs a character, and no blanks, parentheses or semicolons")
    if _NUMBER.fullmatch(new):
        raise RenamingError(f"`{new}` is a number")
    if new.lower() in _WORDS:
        raise RenamingError(f"`{new}` is a word of the language")
    for other in index.occurrences:
        if other.symbol != found.symbol and other.token.name.lower() == new.lower() and _shares(found, other):
            where = "this rule" if is_variable else "this file"
            raise RenamingError(f"{where} has the name {other.token.name} already")
    return [Edit(use.span, new) for use in index.uses(found.symbol)]


def _concerns(broken: Form, found: Occurrence) -> bool:
    """Return whether what *broken* means may matter for *found*."""
    if found.kind is SymbolKind.VARIABLE:
        return broken.start <= found.token.start < broken.end
    return any(part.name == found.token.name for part in broken.walk())


def _shares(found: Occurrence, other: Occurrence) -> bool:
    """Return whether the two names must stay apart: those of one file, or variables of one rule."""
    return found.kind is not SymbolKind.VARIABLE or other.symbol.rule == found.symbol.rule
