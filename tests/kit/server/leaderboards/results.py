"""Results of three players at chess, of whom the first is the best."""

from __future__ import annotations

from server.storage.rows import RatedResult
from server.tournament.fixtures import MatchResult


def won(winner: str, loser: str, at_ms: int, errors: int = 0) -> RatedResult:
    return RatedResult(MatchResult("chess", (winner, loser), (100, 0), (0, errors), f"m{at_ms}"), at_ms)


RESULTS = [won("ada", "bob", 1), won("bob", "cyd", 2), won("ada", "cyd", 3, errors=2), won("ada", "bob", 4)]
