"""Numbers with what they are of, as sentences for people have them."""


def quantity(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, whose plural is *plural*, or ends with `s`.

    >>> quantity(1, "step"), quantity(2_500, "step"), quantity(0, "match", "matches")
    ('1 step', '2,500 steps', '0 matches')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
