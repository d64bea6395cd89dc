"""Random terms, and random texts that are nearly rule files."""

from __future__ import annotations

import re
from typing import Final

from hypothesis import strategies as st

from gdl.language.kif import read_term
from gdl.language.terms import Compound, Constant, Term, Variable

SYMBOLS: Final = st.text(
    st.characters(exclude_characters=" \t\r\n\f\v();\0", exclude_categories=["Cs"]), min_size=1, max_size=6
)
NAMES: Final = SYMBOLS.filter(lambda name: not name.startswith("?"))
ATOMIC: Final = st.one_of(NAMES.map(Constant), SYMBOLS.map(lambda name: Variable(f"?{name}")))
TERMS: Final[st.SearchStrategy[Term]] = st.recursive(
    ATOMIC, lambda inner: st.builds(Compound, NAMES, st.lists(inner, min_size=1, max_size=4).map(tuple)), max_leaves=25
)

GAME: Final = """
(role r) (role s) (init (cell 1 b)) (init (control r)) (succ 1 2) (succ 2 3)
(<= (legal ?r (mark ?x)) (true (cell ?x b)) (true (control ?r)))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (cell ?x ?r)) (does ?r (mark ?x)))
(<= (next (control ?r)) (role ?r) (true (control ?s)) (distinct ?r ?s))
(<= (reach ?x ?y) (or (succ ?x ?y) (and (reach ?x ?z) (succ ?z ?y))))
(<= terminal (reach 1 ?x) (true (cell ?x r)))
(<= (goal ?r 100) (role ?r) (not (goal ?r 0))) (<= (goal s 0) (true (cell 1 r)))
"""
TOKENS: Final = re.findall(r"[()]|[^\s()]+", GAME)


@st.composite
def damaged_files(draw: st.DrawFn) -> str:
    """Draw a rule file with tokens dropped, doubled, swapped or replaced by others."""
    tokens = list(TOKENS)
    for _ in range(draw(st.integers(1, 6))):
        at, other = (draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
        match draw(st.sampled_from(["drop", "double", "swap", "replace", "insert"])):
            case "drop":
                del tokens[at]
            case "double":
                tokens.insert(at, tokens[at])
            case "swap":
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case "replace":
                tokens[at] = tokens[other]
            case "insert":
                tokens.insert(at, draw(st.sampled_from(["not", "or", "?z", "(", ")", "<=", "true", "sees", ";", "\0"])))
    return " ".join(tokens)


def nested(depth: int, innermost: str = "a") -> Term:
    """Return the term `(f (f ... a))` of that depth."""
    return read_term("(f " * depth + innermost + ")" * depth)
