"""Validations made by hand, with everything in them that a report must show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from gdl.checks.suppression import Allowed
from gdl.diagnostics import Diagnostic, Related, Severity, Source, Span, codes
from server.validating.validation import Validation

RULES: Final = Source(
    "games/robot.kif",
    "(role robot)\n"
    "\n"
    "(<= (legal robot (go ?x)) (not wall))\n"
    "(p a) (p b) (p a b)\n"
    "(q\t日本 \x1b[31mred)\n"
    f"(r {'a ' * 80}(odd %1,2:3) b)\n"
    "(<= (s a)\n"
    "    (t a))\n",
)
"""With a tab, wide characters, an order to the terminal, a long line, and a rule of two lines."""


def place(text: str, source: Source = RULES) -> Span:
    start = source.text.index(text)
    return Span(source, start, start + len(text))


def found(code: str, severity: Severity, text: str, message: str, hint: str = "", *related: Related) -> Diagnostic:
    kind = replace(codes()[f"gdl/{code}"], severity=severity)
    return Diagnostic(kind, place(text), message, hint or None, related)


UNSAFE: Final = found(
    "open-fact",
    Severity.ERROR,
    "?x",
    "no condition says which values ?x has",
    "add a condition such as (index ?x)",
    Related(place("(not wall)"), "this one does not count"),
)
ARITY: Final = found(
    "relation-arities",
    Severity.WARNING,
    "(p a b)",
    "`p` has 2 arguments here, and 1 elsewhere",
    "",
    Related(place("(p a)"), "1 here"),
    Related(place("(role robot)"), "far from here"),
    Related(place("(t a)"), "and\nhere"),
)
ESCAPE: Final = found("capitalisation", Severity.ERROR, "\x1b[31mred", "`\x1b[31mred` is odd", "write `red`")
LONG: Final = found("keyword-as-object", Severity.NOTE, "(odd %1,2:3)", "50% of this,\r\nor more: odd")
TWO_LINES: Final = found("empty-body", Severity.WARNING, "(<= (s a)\n    (t a))", "two lines")
ALLOWED: Final = found("sees-in-gdl1", Severity.WARNING, "(p b)", "`p` looks like another")

WRONG: Final = Validation(
    RULES,
    diagnostics=(UNSAFE, ARITY, ESCAPE, LONG, TWO_LINES),
    allowed=(Allowed(ALLOWED, "kept for the variants"),),
    evidence={("gdl/open-fact", UNSAFE.span.start): Path("plays/robot-1.json")},
)
FINE: Final = Validation(
    Source("games/fine.kif", "(role robot)\n"),
    figures={"plays": 3},
    lines=("3 random plays in 0.1 s", "steps per play: 5"),
)
UNKNOWN: Final = Validation(Source("games/50%.kif", "(role robot)\n"), limit="limit reached: more than 30 seconds")
REFUSED_SOURCE: Final = Source("games/large.kif", "")
REFUSED: Final = Validation(
    REFUSED_SOURCE,
    diagnostics=(Diagnostic(codes()["gdl/too-large"], Span(REFUSED_SOURCE, 0, 0), "the file is too large"),),
)
ALL: Final = (WRONG, FINE, UNKNOWN, REFUSED)
