"""The queue: which matches that wait may begin now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

PATIENCE_S: Final = 60.0
"""How long a match may be overtaken by younger ones before its players are kept for it."""


@dataclass(frozen=True, slots=True)
class QueuedMatch:
    """A match that waits for its *players*, each named as often as it has seats. *Units*: seconds."""

    match_id: str
    players: tuple[str, ...]
    waited_s: float = 0.0


def startable(
    queued: Sequence[QueuedMatch],
    running: Mapping[str, int],
    limits: Mapping[str, int],
    n_slots: int,
    patience_s: float = PATIENCE_S,
) -> list[str]:
    """Return the ids of the matches among *queued*, the oldest first, that may begin now, *n_slots* at most.

    *limits* says how many matches a player plays at once, 0 for one that plays none now; a player that is not there
    plays any number. *running* says how many each plays already.

    A match whose players are free begins even if an older one waits. But when a match has waited for *patience_s*
    and nothing but other matches keeps its players, they are kept for it as they become free, so that no match waits
    forever.
    """
    free = {player: limit - running.get(player, 0) for player, limit in limits.items()}
    found: list[str] = []
    for match in queued:
        if len(found) >= n_slots:
            break
        # A player in several seats of one match plays one match.
        needed = {player for player in match.players if player in limits}
        is_free = all(free[player] > 0 for player in needed)
        is_kept = match.waited_s >= patience_s and all(limits[player] > 0 for player in needed)
        if is_free:
            found.append(match.match_id)
        if is_free or is_kept:
            for player in needed:
                free[player] -= 1
    return found


def n_matches(players_of_running: Sequence[Sequence[str]]) -> Counter[str]:
    """Return in how many of the running matches each player plays."""
    return Counter(player for players in players_of_running for player in set(players))
