"""The table of the state machine."""

from __future__ import annotations

from server.match.phases import TABLE, MatchPhase, Trigger


def test_every_phase_is_reached_and_left_but_the_first_and_the_last() -> None:
    assert set(MatchPhase) - set(TABLE.values()) == {MatchPhase.NEW}
    assert set(MatchPhase) - {phase for phase, _ in TABLE} == {MatchPhase.CLOSED}


def test_every_trigger_has_a_use() -> None:
    assert {trigger for _, trigger in TABLE} == set(Trigger)


def test_every_way_leads_to_the_end() -> None:
    ending = {MatchPhase.CLOSED}
    for _ in MatchPhase:
        ending |= {phase for (phase, _), target in TABLE.items() if target in ending}
    assert ending == set(MatchPhase)


def test_a_match_can_be_aborted_until_its_end_is_known() -> None:
    never = {MatchPhase.NEW, MatchPhase.STOPPING, MatchPhase.ABORTING, MatchPhase.CLOSED}
    assert {phase for phase in MatchPhase if (phase, Trigger.ABORT) not in TABLE} == never
