"""The table of the state machine."""

from __future__ import annotations

from server.match.phases import TABLE, Phase, Trigger


def test_every_phase_is_reached_and_left_but_the_first_and_the_last() -> None:
    assert set(Phase) - set(TABLE.values()) == {Phase.NEW}
    assert set(Phase) - {phase for phase, _ in TABLE} == {Phase.CLOSED}


def test_every_trigger_has_a_use() -> None:
    assert {trigger for _, trigger in TABLE} == set(Trigger)


def test_every_way_leads_to_the_end() -> None:
    ending = {Phase.CLOSED}
    for _ in Phase:
        ending |= {phase for (phase, _), target in TABLE.items() if target in ending}
    assert ending == set(Phase)


def test_a_match_can_be_aborted_until_its_end_is_known() -> None:
    never = {Phase.NEW, Phase.STOPPING, Phase.ABORTING, Phase.CLOSED}
    assert {phase for phase in Phase if (phase, Trigger.ABORT) not in TABLE} == never
