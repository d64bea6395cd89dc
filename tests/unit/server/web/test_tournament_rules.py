"""The terms of tournaments in plain words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from server.storage.tournament_rows import EntryRule, PinnedGame, TournamentRow, TournamentStatus
from server.tournament.plan import TournamentFormat, TournamentTerms
from server.tournament.timetable import Timetable
from server.web.tournament_rules import rules_in_words

SWISS = "in each, entrants with like scores meet who have not met before. A bye counts as a won meeting."
EVEN = "After equal points there are up to 2 more, then the one that entered earlier goes on."


def words(
    *,
    games: tuple[str, ...] = ("chess", "nim"),
    entry: EntryRule = EntryRule.OPEN,
    status: TournamentStatus = TournamentStatus.OPEN,
    **terms: Any,
) -> dict[str, str]:
    """Return the rules of a tournament by their titles."""
    read = TournamentTerms.model_validate({"games": ["chess", "nim"]} | terms)
    pinned = {game: PinnedGame("5ha", 2) for game in read.games}
    row = TournamentRow("cup", "ann", read, pinned, 10, status, entry, started_ms=None if status == "open" else 20)
    return dict(rules_in_words(row, games, 0))


@pytest.mark.parametrize(
    ("terms", "told"),
    [
        ({"format": "round-robin"}, "Each entrant meets each other one in each game."),
        ({"format": "round-robin", "rounds": 3}, "Each entrant meets each other one in each game, 3 times."),
        ({"format": "gauntlet"}, "The first entrant meets each of the others in each game."),
        ({"format": "swiss"}, f"5 rounds; {SWISS}"),
        ({"format": "knockout"}, f"Who loses a meeting is out. A meeting has 1 set of matches. {EVEN}"),
        ({"format": "double-knockout"}, f"Who has lost two meetings is out. A meeting has 1 set of matches. {EVEN}"),
        ({"format": "ladder"}, "Those meet whose match tells most about the ratings, up to 100 times."),
        ({"format": "score-table"}, "Each entrant plays each game alone, in 1 attempt, and the goals are compared."),
    ],
)
def test_each_format_is_described(terms: dict[str, Any], told: str) -> None:
    assert words(**terms)["Format"] == f"{TournamentFormat(terms['format']).words}. {told}"


def test_games_take_turns_where_not_all_are_played() -> None:
    assert words(format="swiss")["Games"] == "chess, nim; they take turns by round."
    assert words(format="swiss", all_games=True)["Games"] == "chess, nim; each meeting plays all of them."
    assert words(format="round-robin")["Games"] == "chess, nim."


def test_places_of_a_knockout_go_by_rounds_and_others_by_scores() -> None:
    assert words(format="double-knockout")["Places"] == (
        "Places go by the round in which entrants are put out; those of one round share a place."
    )
    assert words(format="swiss")["Places"] == (
        "Places go by scores; equal ones are parted by direct comparison, then Buchholz, then Sonneborn-Berger,"
        " then fewer errors."
    )


@pytest.mark.parametrize(
    ("status", "format_name", "told"),
    [
        ("running", "swiss", "Entry is closed; a host may let players in late."),
        ("paused", "swiss", "Entry is closed; a host may let players in late."),
        ("running", "double-knockout", "Entry is closed."),
        ("over", "swiss", "Entry is closed."),
        ("cancelled", "swiss", "Entry is closed."),
    ],
)
def test_late_entry_is_promised_only_where_there_is_such(status: str, format_name: str, told: str) -> None:
    assert words(status=TournamentStatus(status), format=format_name)["Entry"] == told


def test_games_of_one_role_have_no_seats_that_rotate() -> None:
    row = TournamentRow(
        "cup", "ann", TournamentTerms(games=("maze",)), {"maze": PinnedGame("5ha", 1)}, 10, TournamentStatus.OPEN
    )
    assert dict(rules_in_words(row, (), 0))["Seats"] == "Everyone plays with the same chance as the others."


def test_secret_games_are_counted_and_not_named() -> None:
    found = words(games=(), scramble=True)
    assert found["Games"] == "2 games, whose names appear at the end."
    assert "scrambled" in found["Names"]
    assert "chess" not in str(found)


def test_the_page_says_what_is_agreed_besides() -> None:
    found = words(forfeit_errors=1, start_clock=30, play_clock=5, entry=EntryRule.INVITATION, measure="goals")
    assert found["Errors"].endswith("1 error in a match lose it.")
    assert found["Clocks"] == "30 s to prepare, 5 s for each move; a reply may be 1 s late on its way."
    assert found["What counts"] == "The mean goal of all matches counts, from 0 to 100."
    assert found["Entry"] == "The host enters players."
    test = words(sprt={"elo0": 0, "elo1": 20})["Test"]
    assert test == (
        "A sequential test ends it once it is sure whether the first is better by 0 or by 20 points of normalised Elo."
    )


def test_the_page_says_what_happens_by_the_clock() -> None:
    fields = {
        "entryCloses": "2026-11-29T23:59:00+01:00",
        "starts": "2026-11-30T18:00:00+01:00",
        "roundsBegin": {"weekday": "monday", "time": "18:00", "zone": "Europe/Berlin"},
        "absenceLimit": 600,
    }
    terms = TournamentTerms(games=("nim",))
    row = TournamentRow("cup", "ann", terms, {}, 1, timetable=Timetable.model_validate(fields))
    told = dict(rules_in_words(row, ("nim",), 0))
    assert {name: told[name] for name in ("Entry", "Start", "Rounds", "Absence")} == {
        "Entry": "Everybody with a registered player may enter until 2026-11-29 22:59 UTC.",
        "Start": "2026-11-30 17:00 UTC, by itself.",
        "Rounds": "A round begins each Monday at 18:00, by the clocks of Europe/Berlin.",
        "Absence": "Who is not there for 600 s when its match could begin has lost it.",
    }
    after = dict(rules_in_words(row, ("nim",), round(datetime(2026, 11, 29, 23, tzinfo=UTC).timestamp() * 1000)))
    assert after["Entry"] == "Entry is closed; a host may let players in late."
