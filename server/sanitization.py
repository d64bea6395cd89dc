"""Text from outside, cleaned once where it comes in: players' answers, names, queries, forms; and where it goes out.

What is left can be stored, sent as UTF-8, and shown without turning the text around it or moving a cursor.
"""

import csv
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Annotated, Final, TextIO

from pydantic import AfterValidator

MAX_LINE: Final = 500
_REPLACEMENT: Final = "\ufffd"
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters but for those between words and lines, separators, and what is in no UTF-8."""
_DIRECTIONS: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the direction of text, also of what stands beside it.

Source: https://www.unicode.org/reports/tr9/
"""
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
"""What is in no UTF-8, or what databases do not take."""


def clean_text(text: str, max_characters: int) -> str:
    r"""Return *text*, which may have several lines, with what cannot be shown replaced, and not longer.

    >>> clean_text("a\ud800\n\x00\u202eb", 10)
    'a\ufffd\n\ufffdb'
    """
    return _UNPRINTABLE.sub(_REPLACEMENT, _DIRECTIONS.sub("", text[:max_characters]))


def clean_line(text: str, max_characters: int = MAX_LINE) -> str:
    r"""Return *text* as `clean_text` does, in normal form C, on one line, with single blanks.

    >>> clean_line(" Ada\tLovelace\n")
    'Ada Lovelace'
    """
    # Only short text: to bring many combining characters into order takes quadratic time.
    normal = unicodedata.normalize("NFC", clean_text(text, 2 * max_characters))
    return " ".join(normal.split())[:max_characters].rstrip()


def clean_name(text: str) -> str:
    """Return *text* as `clean_line` does.

    Raises:
        ValueError: nothing is left of it.
    """
    found = clean_line(text)
    if not found:
        raise ValueError("it has no character that can be shown")
    return found


def is_storable(text: str) -> bool:
    """Return whether *text* can be stored and sent: it has no NUL and no lone surrogate."""
    return _UNSTORABLE.search(text) is None


HIDDEN: Final = "***"
"""What stands where a secret was."""
_PASSWORD: Final = re.compile(r"(\w://[^\s/:@]*):[^\s/]+@")


def without_passwords(text: str) -> str:
    """Return *text* with the passwords of the addresses in it covered.

    Example:
        >>> without_passwords("llm:model=m,url=http://bob:hunter2@host/v1")
        'llm:model=m,url=http://bob:***@host/v1'
    """
    return _PASSWORD.sub(rf"\1:{HIDDEN}@", text)


def game_name_of(text: str) -> str:
    """Return *text*, which may be the name of a file, as games are called: `TicTacToe 2.kif` is `tictactoe-2`."""
    stem = re.sub(r"\.(kif|gdl|txt)$", "", text.strip(), flags=re.IGNORECASE)
    return re.sub(r"[\s.]+", "-", stem.lower())


_FORMULA: Final = re.compile(r"[=+\-@\t\r]")
"""What begins a formula in a spreadsheet."""


def write_csv(rows: Iterable[Sequence[str]], stream: TextIO) -> None:
    """Write *rows* as CSV; a cell that a spreadsheet would take for a formula gets an apostrophe before it.

    `server.access.issuing.read_class_list` takes that away again.

    Source: https://owasp.org/www-community/attacks/CSV_Injection
    """
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([f"'{cell}" if _FORMULA.match(cell) else cell for cell in row] for row in rows)


CleanName = Annotated[str, AfterValidator(clean_name)]
"""A name in a request, for pydantic models."""
CleanLine = Annotated[str, AfterValidator(clean_line)]
"""A line in a request, perhaps empty, for pydantic models."""
