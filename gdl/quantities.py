"""Numbers in texts: with what they are of, as sentences for people have them, and read from outside."""


def quantity(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, whose plural is *plural*, as templates name it, or ends with `s`.

    >>> quantity(1, "step"), quantity(2_500, "step"), quantity(0, "match", "matches")
    ('1 step', '2,500 steps', '0 matches')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def whole_number(text: str) -> int | None:
    """Return the number that *text* is, of up to nine ASCII digits; None where it is none.

    >>> whole_number("100"), whole_number("-1"), whole_number("1" * 10)
    (100, None, None)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
