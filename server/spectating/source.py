"""Where spectating looks: the stores of a game manager, and its news."""

from __future__ import annotations

from typing import Protocol

from server.hosting.news import News
from server.storage.games import GameStore
from server.storage.matches import MatchStore
from server.storage.players import PlayerStore


class Source(Protocol):
    """What of a game manager is needed to watch matches.

    Attributes:
        news: wakes who waits for something new.
    """

    games: GameStore
    players: PlayerStore
    matches: MatchStore
    news: News
