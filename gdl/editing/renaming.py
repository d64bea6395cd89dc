"""A name of a rule file given another spelling at all its places, so that the rules mean what they meant."""

from __future__ import annotations

import re
from typing import Final

from gdl.editing.edits import Edit
from gdl.editing.symbols import Kind, Occurrence, SymbolIndex
from gdl.errors import RenamingError
from gdl.kif import Form
from gdl.rules import GDL2_KEYWORDS, KEYWORDS

_NAME: Final = re.compile(r"[^ \t\r\n\f\v();?\0\ud800-\udfff][^ \t\r\n\f\v();\0\ud800-\udfff]*")
_NUMBER: Final = re.compile(r"-?[0-9]+")
_WORDS: Final = KEYWORDS | GDL2_KEYWORDS


def renamable(index: SymbolIndex, offset: int) -> Occurrence:
    """Return the name at *offset*, if it may have another.

    Raises:
        RenamingError: there is none, or it is a word of the language or a number, or stands where all is not readable.
    """
    found = index.at(offset)
    if found is None:
        raise RenamingError("there is no name here")
    if found.kind is Kind.KEYWORD:
        raise RenamingError(f"`{found.symbol.name}` is a word of the language")
    if found.kind is Kind.CONSTANT and _NUMBER.fullmatch(found.symbol.name):
        raise RenamingError(f"{found.symbol.name} is a number")
    broken = [item for item in index.broken if _concerns(item, found)]
    if broken:
        place = broken[0].span
        raise RenamingError(f"the rule in line {place.line} has `{found.token.name}` and cannot be read: mend it first")
    return found


def rename(index: SymbolIndex, offset: int, name: str) -> list[Edit]:
    """Return the edits that give the name at *offset* the spelling *name*; a variable's question mark may be left out.

    Raises:
        RenamingError: as `renamable`, or *name* is none, or is taken.
    """
    found = renamable(index, offset)
    is_variable = found.kind is Kind.VARIABLE
    new = f"?{name.removeprefix('?')}" if is_variable else name
    if new == found.token.name:
        return []
    if not _NAME.fullmatch(new.removeprefix("?") if is_variable else new):
        raise RenamingError(f"{name!r} is no name: it needs a character, and no blanks, parentheses or semicolons")
    if not is_variable and (new.lower() in _WORDS or _NUMBER.fullmatch(new)):
        raise RenamingError(f"`{new}` is {'a number' if _NUMBER.fullmatch(new) else 'a word of the language'}")
    if any(new == other.token.name and _shares(found, other) for other in index.occurrences):
        raise RenamingError(f"{'this rule' if is_variable else 'this file'} has the name {new} already")
    return [Edit(use.span, new) for use in index.uses(found.symbol)]


def _concerns(broken: Form, found: Occurrence) -> bool:
    """Return whether what *broken* means may matter for *found*."""
    if found.kind is Kind.VARIABLE:
        return broken.start <= found.token.start < broken.end
    todo = [broken]
    while todo:
        top = todo.pop()
        if top.name == found.token.name:
            return True
        todo += top.children or ()
    return False


def _shares(found: Occurrence, other: Occurrence) -> bool:
    """Return whether the two names must stay apart: those of one file, or variables of one rule."""
    return found.kind is not Kind.VARIABLE or other.symbol.rule == found.symbol.rule
