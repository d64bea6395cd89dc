"""Referees in child processes, and rules that are too much for one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gdl.engines import make_game
from gdl.language.rules import read_rules
from server.hosting.referees import DEFAULT_LIMITS, ChildReferee, RefereeLimits

EXPLODING = """
(role one) (digit 0) (digit 1) (digit 2) (digit 3) (digit 4) (digit 5) (digit 6) (digit 7) (digit 8) (digit 9)
(<= (tuple ?a ?b ?c ?d ?e ?f ?g ?h) (digit ?a) (digit ?b) (digit ?c) (digit ?d) (digit ?e) (digit ?f) (digit ?g)
    (digit ?h))
(init (at 0)) (<= (legal one go) (tuple 1 2 3 4 5 6 7 ?x) (tuple ?a ?a ?b ?b ?c ?c ?d ?x))
(<= (next (at 1)) (does one go)) (<= terminal (true (at 1))) (goal one 100)
"""
"""Rules whose first legal moves take far too long to find."""


@asynccontextmanager
async def refereeing(rules: str, limits: RefereeLimits = DEFAULT_LIMITS) -> AsyncIterator[ChildReferee]:
    """Give a referee of *rules* in a child process, which is ended."""
    game = make_game(read_rules(rules))
    referee = ChildReferee(
        game.description, game.roles, has_imperfect_information=game.has_imperfect_information, limits=limits
    )
    try:
        yield referee
    finally:
        await referee.close()
