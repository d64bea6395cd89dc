"""What people do with a tournament: why an entry is refused."""

from __future__ import annotations

import pytest

from server.hosting.tournament_changes import entered
from server.refusals import RequestError
from server.storage.tournament_rows import TournamentStatus
from server.storage.tournaments import StoredTournament
from tests.kit.server.hosting.tournaments import entrants, tournament


@pytest.mark.parametrize(
    ("status", "play_format", "message"),
    [
        ("running", "swiss", "this tournament is running: only its host enters players now; ask the host"),
        ("running", "knockout", "this tournament is running: it admits no entrant"),
        ("over", "swiss", "this tournament is over: it admits no entrant"),
    ],
)
def test_who_comes_late_learns_whether_the_host_can_help(status: str, play_format: str, message: str) -> None:
    *first, late = entrants("legal", "legal", "legal")
    found = StoredTournament(tournament(status=TournamentStatus(status), format=play_format), tuple(first), ())
    with pytest.raises(RequestError) as raised:
        entered(found, late, 12, is_host=False)
    assert (raised.value.code, str(raised.value)) == ("entry_closed", message)
