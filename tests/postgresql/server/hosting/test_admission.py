"""Matches behind many that cannot begin are reached, and what waits says what for."""

from __future__ import annotations

import pytest

from server.hosting.admission import AdmissionControl
from server.hosting.game_manager import GameManager
from server.hosting.settings import GameManagerSettings
from server.registry.queueing import Hindrance, WaitReason
from server.storage.database import Database
from tests.kit.server.hosting.managing import order

AWAY = WaitReason({"away": Hindrance.NOT_CONNECTED})


class Seconds:
    """A clock that a test sets, and that goes on by a second each time that it is asked."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        self.now_s += 1
        return self.now_s


@pytest.fixture
def manager(database: Database) -> GameManager:
    return GameManager(database, GameManagerSettings(max_running=3))


async def ordered(manager: GameManager, *lefts: str) -> list[str]:
    """Order a match of each of the players, one after the other, and return their ids."""
    return [(await manager.order(order(left, "random"))).row.id for left in lefts]


def admission_control(manager: GameManager, clock_s: Seconds) -> AdmissionControl:
    return AdmissionControl(manager.database, manager.registry, manager.supervisor, 2, clock_s)


@pytest.mark.sampled(2)
async def test_a_match_behind_many_of_an_absent_player_begins(manager: GameManager) -> None:
    await manager.registry.register("away", "ann")
    *waiting, last = await ordered(manager, "away", "away", "away", "legal")
    admission = admission_control(manager, Seconds())
    assert await admission.admit() == [last]
    assert admission.wait_reasons == dict.fromkeys(waiting, AWAY)


@pytest.mark.sampled(2)
async def test_all_that_waits_is_looked_at_again_after_four_times_as_long_as_it_took(manager: GameManager) -> None:
    await manager.registry.register("away", "ann")
    *waiting, last = await ordered(manager, "away", "away", "away", "legal")
    clock_s = Seconds()
    admission = admission_control(manager, clock_s)
    await admission.admit()  # from second 1 to 2
    clock_s.now_s = 4
    assert await admission.admit() == []
    assert admission.wait_reasons == dict.fromkeys(waiting, AWAY)
    assert await admission.admit() == [last]


@pytest.mark.sampled(2)
async def test_an_empty_queue_has_no_wait_reasons(manager: GameManager) -> None:
    await manager.registry.register("away", "ann")
    [waiting] = await ordered(manager, "away")
    admission = admission_control(manager, Seconds())
    await admission.admit()
    assert admission.wait_reasons == {waiting: AWAY}
    await manager.abort(waiting, "enough")
    assert await admission.admit() == []
    assert admission.wait_reasons == {}
