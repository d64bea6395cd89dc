"""As whom a principal asks about a match, what names it sees, and why a match ended as far as it may be known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from server.principal import ANONYMOUS_NAME, Principal, Role
from server.spectating.viewers import end_reason, has_in_seat, orderer_of, people_of, secrecy_of, viewer_of
from server.storage.rows import MatchRow, MatchStatus, PlayerRow, SeatKind, SeatRow
from server.visibility import Secrecy, Viewer

PEOPLE: Final = {"a": "zoe"}
TEXT: Final[dict[str, Any]] = {"players": {"a": {}, "b": {}}}
MATCH: Final = MatchRow("m", "turns", "5ha", {"text": TEXT, "people": PEOPLE}, 1_000, ordered_by="olga")
SEAT: Final = SeatRow("m", "a", 0, "deep", SeatKind.DIAL_IN)
PLAYER: Final = PlayerRow("deep", SeatKind.DIAL_IN, "carol", 1_000)
ANONYMOUS: Final = Principal(ANONYMOUS_NAME, Role.SPECTATOR)
CAROL: Final = Principal("carol", Role.PLAYER)

CALLERS: Final = [
    (None, False, Viewer.STRANGER),
    (None, True, Viewer.PERSON),
    (ANONYMOUS, False, Viewer.ANONYMOUS),
    (ANONYMOUS, True, Viewer.PERSON),
    (Principal("sven", Role.SPECTATOR), False, Viewer.SPECTATOR),
    (Principal("olga", Role.SPECTATOR), False, Viewer.SPECTATOR),
    (Principal("olga", Role.PLAYER), False, Viewer.ORDERER),
    (Principal("pia", Role.PLAYER), False, Viewer.SPECTATOR),
    (Principal("hugo", Role.HOST), False, Viewer.SPECTATOR),
    (Principal("ada", Role.ADMIN), False, Viewer.ADMIN),
]
"""Who asks, whether with the secret of a seat, and as whom that is."""


@pytest.mark.parametrize(("who", "is_person", "viewer"), CALLERS)
def test_a_principal_asks_as_one_viewer(who: Principal | None, is_person: bool, viewer: Viewer) -> None:
    assert viewer_of(who, MATCH, is_person=is_person) == viewer


@pytest.mark.parametrize(("who", "is_person", "viewer"), CALLERS)
def test_names_of_people_are_for_those_with_a_token_and_for_who_plays(
    who: Principal | None, is_person: bool, viewer: Viewer
) -> None:
    sees_names = viewer not in (Viewer.STRANGER, Viewer.ANONYMOUS)
    found = people_of(MATCH, who, is_person=is_person), orderer_of(MATCH, who, is_person=is_person)
    assert found == ((PEOPLE, "olga") if sees_names else ({}, ""))


@pytest.mark.parametrize("who", [None, ANONYMOUS])
def test_who_asks_for_names_has_no_seat_unless_it_says_so(who: Principal | None) -> None:
    assert (people_of(MATCH, who), orderer_of(MATCH, who)) == ({}, "")


def test_a_match_without_people_has_no_names() -> None:
    assert people_of(replace(MATCH, order={"text": TEXT}), CAROL) == {}


@pytest.mark.parametrize(
    ("player", "has_it"),
    [
        (PLAYER, True),
        (None, False),
        (replace(PLAYER, created_ms=999), True),
        (replace(PLAYER, created_ms=1_001), False),
        (replace(PLAYER, kind=SeatKind.HTTP), False),
        (replace(PLAYER, owner="mallory"), False),
    ],
)
def test_a_seat_is_of_who_registered_its_player_by_the_time_of_the_order(
    player: PlayerRow | None, has_it: bool
) -> None:
    assert has_in_seat(CAROL, player, SEAT, MATCH) == has_it


FAILURE: Final = "NoLegalMoveError: in (at 3): no move"
ENDED: Final = replace(MATCH, status=MatchStatus.FAILED, abort_reason=FAILURE)
OPEN: Final = replace(ENDED, is_hidden=True, is_set_open=True)


@pytest.mark.parametrize(
    ("match", "reason"),
    [
        (ENDED, FAILURE),
        (replace(ENDED, status=MatchStatus.ABORTED), FAILURE),
        (replace(ENDED, status=MatchStatus.COMPLETED, abort_reason=None), ""),
        (replace(ENDED, status=MatchStatus.RUNNING), ""),
        (replace(ENDED, is_hidden=True), FAILURE),
        (OPEN, "NoLegalMoveError"),
        (replace(OPEN, status=MatchStatus.ABORTED), FAILURE),
    ],
)
def test_the_reason_of_an_end_is_told_after_it(match: MatchRow, reason: str) -> None:
    assert end_reason(match) == reason


HIDDEN: Final = replace(MATCH, is_hidden=True)
SCRAMBLED: Final = replace(HIDDEN, order={"text": TEXT | {"scramble": True}})
ONE_SCRAMBLED: Final = replace(HIDDEN, order={"text": {"players": {"a": {}, "b": {"scramble": True}}}})
LIVE: Final = {"text": TEXT, "liveInsight": True}
PLAIN: Final = Secrecy(is_imperfect=False, is_scrambled=False, has_ended=False)


@pytest.mark.parametrize(
    ("match", "is_gdl2", "secrecy"),
    [
        (MATCH, None, PLAIN),
        (HIDDEN, None, replace(PLAIN, is_imperfect=True)),
        (SCRAMBLED, None, replace(PLAIN, is_imperfect=True, is_scrambled=True)),
        (SCRAMBLED, False, replace(PLAIN, is_scrambled=True)),
        (SCRAMBLED, True, replace(PLAIN, is_imperfect=True, is_scrambled=True)),
        (ONE_SCRAMBLED, False, replace(PLAIN, is_scrambled=True)),
        (replace(SCRAMBLED, is_hidden=False), None, PLAIN),  # between people, who see the game's own names
        (replace(MATCH, order=LIVE), None, replace(PLAIN, shows_insight=True)),
        (replace(MATCH, order=LIVE | {"liveInsight": 1}), None, PLAIN),
        (replace(MATCH, status=MatchStatus.FAILED), None, replace(PLAIN, has_ended=True)),
        (replace(MATCH, is_set_open=True), None, replace(PLAIN, is_set_open=True)),
    ],
)
def test_a_match_is_as_secret_as_it_was_ordered(match: MatchRow, is_gdl2: bool | None, secrecy: Secrecy) -> None:
    assert secrecy_of(match, is_gdl2=is_gdl2) == secrecy
