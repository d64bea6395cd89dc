"""A Pygments lexer of the language, for documents, web pages and terminals.

Where the package is installed, Pygments finds it by the name `gdl` and by the file names `*.kif` and `*.gdl`.
"""

from __future__ import annotations

import re
from typing import ClassVar, Final

from pygments.lexer import RegexLexer, include, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, Whitespace

from gdl.rules import ARITIES, CONNECTIVES, GDL2_KEYWORDS

_BLANKS: Final = r" \t\r\n\f\v"
_NAME: Final = rf"[^{_BLANKS}();]+"
_END: Final = rf"(?![^{_BLANKS}();])"
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
            (rf"\?(?:{_NAME})?", Name.Variable),
            (rf"-?[0-9]+{_END}", Number.Integer),
            (words(_RELATIONS, suffix=_END), Keyword),
            (_NAME, Name),
        ],
        "head": [
            include("between"),
            (r"\(", Punctuation),
            (r"\)", Punctuation, "#pop"),
            (rf"\?(?:{_NAME})?", Name.Variable, "#pop"),
            (rf"<={_END}", Operator, "#pop"),
            (words(sorted(CONNECTIVES - {"<="}), suffix=_END), Operator.Word, "#pop"),
            (words(_RELATIONS, suffix=_END), Keyword, "#pop"),
            (_NAME, Name.Function, "#pop"),
        ],
        "between": [
            (rf"[{_BLANKS}]+", Whitespace),
            (r";[^\n]*", Comment.Single),
        ],
    }
