"""What handlers of the API and of the pages ask, by its key in the application: the game manager, and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiohttp import web

if TYPE_CHECKING:
    from server.hosting.game_manager import GameManager
    from server.hosting.imports import GameImports
    from server.leaderboards.cache import Leaderboards
    from server.spectating.overview import Overview
    from server.spectating.stream import MatchFeeds
    from server.validating.checker import Checker

MANAGER: Final[web.AppKey[GameManager]] = web.AppKey("manager")
"""The game manager, which plays the matches."""
CHECKER: Final[web.AppKey[Checker]] = web.AppKey("checker")
"""Validates rules that clients send."""
IMPORTS: Final[web.AppKey[GameImports]] = web.AppKey("imports")
"""The imports of many games that are under way, and what became of earlier ones."""
LEADERBOARDS: Final[web.AppKey[Leaderboards]] = web.AppKey("leaderboards")
"""The ratings of players, and what two of them made against each other."""
OVERVIEW: Final[web.AppKey[Overview]] = web.AppKey("overview")
"""The overview of all matches that wait or are played."""
FEEDS: Final[web.AppKey[MatchFeeds]] = web.AppKey("feeds")
"""The public events of each match, as they come."""
