"""What may stand where in a rule file, and a Pygments lexer that colours it."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Final

from pygments.lexer import RegexLexer, include, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, Whitespace

from gdl.language.kif import BLANK, COMMENT, NAME, NAME_END, NUMBER
from gdl.language.syntax import ARITIES, CONNECTIVES, GDL2_KEYWORDS, KEYWORDS


class Part(StrEnum):
    """What stands at a place, in the words of the field."""

    ITEM = "fact or rule"
    HEAD = "head"
    CONDITION = "condition"
    ROLE = "role"
    FLUENT = "fluent"
    MOVE = "move"
    PERCEPT = "percept"
    OBJECT = "object"


SENTENCES: Final = frozenset({Part.ITEM, Part.HEAD, Part.CONDITION})
"""Where relations stand; at other places there are terms."""

ARGUMENTS: Final[Mapping[str, tuple[Part, ...]]] = {
    "role": (Part.ROLE,),
    "init": (Part.FLUENT,),
    "true": (Part.FLUENT,),
    "next": (Part.FLUENT,),
    "base": (Part.FLUENT,),
    "does": (Part.ROLE, Part.MOVE),
    "legal": (Part.ROLE, Part.MOVE),
    "input": (Part.ROLE, Part.MOVE),
    "goal": (Part.ROLE, Part.OBJECT),
    "sees": (Part.ROLE, Part.PERCEPT),
}
"""What the arguments of the relations of the language are."""

DEFINED: Final[Mapping[str, int]] = {
    "role": 0, "init": 0, "next": 0, "base": 0, "legal": 1, "input": 1, "sees": 1,
}  # fmt: skip
"""The argument that comes about where such a relation is the head."""

MEANINGS: Final[Mapping[str, str]] = {
    "role": "a role of the game: a seat that a player takes",
    "init": "a fluent that is true in the initial state",
    "true": "a fluent is true in the present state",
    "next": "a fluent that is true in the next state",
    "does": "a role makes a move in the present step",
    "legal": "a move that a role may make in the present state",
    "goal": "what the present state is worth to a role, from 0 to 100",
    "terminal": "the present state ends the match",
    "base": "a fluent that can be true in some state",
    "input": "a move that a role can make in some state",
    "sees": "what a role perceives after the present step",
    "random": "the role that moves by chance, each legal move equally likely",
    "<=": "the head holds where all conditions hold",
    "not": "the condition does not hold",
    "and": "all of the conditions hold",
    "or": "one of the conditions holds",
    "distinct": "the two terms differ",
}
"""What each word of the language says."""


def inside(part: Part, functor: str, number: int) -> Part:
    """Return what argument *number*, from 0, of a list that begins with *functor* is, where the list is a *part*.

    *functor* is in lower case where it is a word of the language. Such words begin no term, so where one seems to,
    a parenthesis is missing before it, and it is taken for what it is.

    Example:
        >>> inside(Part.CONDITION, "does", 1), inside(Part.MOVE, "mark", 0)
        (<Part.MOVE: 'move'>, <Part.OBJECT: 'object'>)
    """
    if functor == "<=":
        return Part.CONDITION if number else Part.HEAD
    if functor in CONNECTIVES:
        return Part.OBJECT if functor == "distinct" else Part.CONDITION
    parts = ARGUMENTS.get(functor, ()) if part in SENTENCES or functor in KEYWORDS else ()
    return parts[number] if number < len(parts) else Part.OBJECT


_RELATIONS: Final = tuple(sorted(frozenset(ARITIES) | GDL2_KEYWORDS))


class GdlLexer(RegexLexer):
    """Tells comments, connectives, relations of the language, variables, numbers, heads of lists and other names apart.

    Any text is cut into tokens, and they make up the text again; what the text means is not looked at.
    """

    name = "Game Description Language"
    aliases: ClassVar = ["gdl"]
    filenames: ClassVar = ["*.kif", "*.gdl"]
    mimetypes: ClassVar = ["text/x-gdl"]
    flags = re.IGNORECASE
    tokens: ClassVar = {
        "root": [
            include("between"),
            (r"\(", Punctuation, "head"),
            (r"\)", Punctuation),
            (rf"\?(?:{NAME})?", Name.Variable),
            (f"{NUMBER}{NAME_END}", Number.Integer),
            (words(_RELATIONS, suffix=NAME_END), Keyword),
            (NAME, Name),
        ],
        "head": [
            include("between"),
            (r"\(", Punctuation),
            (r"\)", Punctuation, "#pop"),
            (rf"\?(?:{NAME})?", Name.Variable, "#pop"),
            (f"<={NAME_END}", Operator, "#pop"),
            (words(sorted(CONNECTIVES - {"<="}), suffix=NAME_END), Operator.Word, "#pop"),
            (words(_RELATIONS, suffix=NAME_END), Keyword, "#pop"),
            (NAME, Name.Function, "#pop"),
        ],
        "between": [
            (f"{BLANK}+", Whitespace),
            (COMMENT, Comment.Single),
        ],
    }
