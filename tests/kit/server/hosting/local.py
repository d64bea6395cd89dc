"""Matches between players of this machine, as `ggp match` runs them."""

from __future__ import annotations

from collections.abc import Mapping

from gdl.game import Game
from server.hosting.runner import MatchRunner
from server.links.player_spec import player_spec
from server.links.seating import seated
from server.match.profiles import Profile
from server.match.referee import LocalReferee
from server.match.setup import MatchSetup
from server.records.journal import FileRecorder
from tests.kit.server.scripted import CIRCUMSTANCES, PLAIN


def local_match(
    game: Game,
    players: Mapping[str, str],
    recorder: FileRecorder | None = None,
    *,
    profile: Profile = PLAIN,
    clock_s: int = 10,
    seed: int = 1,
) -> MatchRunner:
    """Return the runner of a match of *game*; without a recorder its record is kept in memory alone."""
    found = seated(game, {role: player_spec(text) for role, text in players.items()})
    seats = tuple(player.seat(role, profile) for role, player in found.items())
    setup = MatchSetup(seats, clock_s, clock_s, seed=seed)
    return MatchRunner(setup, found, LocalReferee(game), recorder or FileRecorder(CIRCUMSTANCES))
