"""Which matches begin: fair, full, and none waits forever."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from server.registry.queueing import Capacity, Hindrance, QueuedMatch, WaitReason, n_matches, startable, wait_reasons

LIMITS = {"a": 1, "b": 1, "c": 1, "d": 2, "away": 0}


def start(*queued: tuple[str, float], running: dict[str, int] | None = None, n_slots: int = 10) -> list[str]:
    """Return what begins of matches that are called like their players."""
    matches = [QueuedMatch(players, tuple(players.split("-")), waited_s) for players, waited_s in queued]
    return startable(matches, running or {}, LIMITS, Capacity(n_slots), patience_s=60)


def test_a_match_begins_when_its_players_are_free() -> None:
    assert start(("a-b", 0)) == ["a-b"]


def test_players_of_ours_are_always_free() -> None:
    assert start(("mcts-random", 0), ("mcts-mcts", 0)) == ["mcts-random", "mcts-mcts"]


def test_the_older_match_has_the_player_that_both_need() -> None:
    assert start(("a-b", 1), ("b-c", 0)) == ["a-b"]


def test_a_younger_match_with_free_players_overtakes() -> None:
    assert start(("a-b", 1), ("b-c", 0), running={"a": 1}) == ["b-c"]


def test_a_match_that_was_overtaken_for_long_keeps_its_players() -> None:
    assert start(("a-b", 60), ("b-c", 0), ("c-d", 0), running={"a": 1}) == ["c-d"]


def test_no_player_is_kept_for_a_match_whose_other_player_is_away() -> None:
    assert start(("away-b", 1000), ("b-c", 0)) == ["b-c"]


def test_a_player_may_play_several_matches() -> None:
    assert start(("d-x", 0), ("d-y", 0), ("d-z", 0)) == ["d-x", "d-y"]


def test_a_player_in_both_seats_plays_one_match() -> None:
    assert start(("a-a", 0)) == ["a-a"]


def test_no_more_matches_begin_than_there_are_slots() -> None:
    assert start(("x-y", 0), ("x-z", 0), n_slots=1) == ["x-y"]
    assert start(("x-y", 0), n_slots=0) == []


def test_a_player_that_plays_more_than_it_may_now_gets_no_match() -> None:
    assert start(("a-b", 0), running={"a": 3}) == []


def test_matches_are_counted_once_for_each_player() -> None:
    assert n_matches([("a", "a", "b"), ("b", "c")]) == Counter({"a": 1, "b": 2, "c": 1})


def begun(n_core_slots: int, *needed: int, waited_s: float = 0.0) -> list[str]:
    """Return which of the matches that need so many slots begin; the first has waited for *waited_s*."""
    matches = [
        QueuedMatch(str(i), ("mcts",), waited_s if i == 0 else 0.0, n_core_slots)
        for i, n_core_slots in enumerate(needed)
    ]
    return startable(matches, {}, {}, Capacity(10, n_core_slots))


def test_players_of_ours_wait_for_room_in_their_order() -> None:
    assert begun(8, 4, 4, 4) == ["0", "1"]


def test_a_match_with_a_person_does_not_wait_for_the_slots_that_older_ones_wait_for() -> None:
    older = [QueuedMatch(f"older {i}", ("mcts", "mcts"), 100.0, 8, n_processes=2) for i in range(9)]
    person = QueuedMatch("person", ("human", "mcts"), 0.0, 1, n_processes=1, has_person=True)
    assert startable([*older, person], {}, {}, Capacity(20, 0, 4)) == ["person"]
    assert startable([*older, person], {}, {}, Capacity(20, 8, 4)) == ["older 0", "person"]
    assert startable([*older, person], {}, {}, Capacity(20, 0, 0)) == []
    told = wait_reasons([*older, person], ["older 0"], {}, {}, Capacity(20, 8, 4))
    assert list(told) == [f"older {i}" for i in range(1, 9)]


def test_a_match_with_a_person_that_waits_keeps_no_slot_of_others() -> None:
    person = QueuedMatch("person", ("human", "mcts"), 100.0, 1, n_processes=1, has_person=True)
    other = QueuedMatch("other", ("mcts", "mcts"), 0.0, 4, n_processes=2)
    assert startable([person, other], {}, {}, Capacity(20, 4, 0)) == ["other"]


def test_matches_without_processes_begin_whatever_the_others_hold() -> None:
    assert begun(-4, 4, 0, 0) == ["1", "2"]


def test_a_large_match_is_overtaken_at_first_and_then_kept_room_for() -> None:
    assert (begun(4, 8, 4), begun(4, 8, 4, waited_s=60)) == (["1"], [])


PLAYERS = st.sampled_from("abcd")
QUEUES = st.lists(st.tuples(st.lists(PLAYERS, min_size=1, max_size=3), st.floats(0, 120)), max_size=8)


@given(QUEUES, st.dictionaries(PLAYERS, st.integers(0, 3)), st.dictionaries(PLAYERS, st.integers(0, 3)))
def test_no_player_gets_more_than_it_may(
    queue: list[tuple[list[str], float]], running: dict[str, int], limits: dict[str, int]
) -> None:
    queued = [QueuedMatch(str(i), tuple(players), waited_s) for i, (players, waited_s) in enumerate(queue)]
    begun = startable(queued, running, limits, Capacity(5))
    counts = n_matches([queued[int(match_id)].players for match_id in begun])
    assert all(running.get(player, 0) + counts[player] <= limit for player, limit in limits.items() if counts[player])


@given(st.integers(0, 16), st.lists(st.tuples(st.integers(0, 8), st.floats(0, 120)), max_size=12))
def test_no_more_slots_are_taken_than_there_are(n_core_slots: int, queue: list[tuple[int, float]]) -> None:
    queued = [QueuedMatch(str(i), ("mcts",), waited_s, n) for i, (n, waited_s) in enumerate(queue)]
    begun = startable(queued, {}, {}, Capacity(20, n_core_slots))
    assert sum(queued[int(match_id)].n_core_slots for match_id in begun) <= n_core_slots


@given(QUEUES)
def test_every_match_begins_at_last_when_matches_end(queue: list[tuple[list[str], float]]) -> None:
    waiting = [QueuedMatch(str(i), tuple(players), waited_s) for i, (players, waited_s) in enumerate(queue)]
    n_rounds = 0
    while waiting:
        begun = startable(waiting, {}, dict.fromkeys("abcd", 1), Capacity(1))
        assert begun
        waiting = [match for match in waiting if match.match_id not in begun]
        n_rounds += 1
    assert n_rounds == len(queue)


def test_a_stream_of_younger_matches_starves_no_match() -> None:
    """One match of a and b waits; in every round the match of one of them ends, and younger ones want both."""
    busy, waited_s = {"a": 1, "b": 0}, 0.0
    for second in range(200):
        queued = [QueuedMatch("old", ("a", "b"), waited_s), QueuedMatch("1", ("a",)), QueuedMatch("2", ("b",))]
        begun = startable(queued, busy, {"a": 1, "b": 1}, Capacity(10), patience_s=60)
        if "old" in begun:
            break
        ended = "ab"[second % 2]
        busy = {"a": int("1" in begun) or busy["a"], "b": int("2" in begun) or busy["b"]} | {ended: 0}
        waited_s += 1
    assert waited_s == 61


def at(address: str, limit: int, match_id: str) -> QueuedMatch:
    return QueuedMatch(match_id, (address,), limits={address: limit})


def test_an_address_plays_as_many_matches_as_each_order_says() -> None:
    queued = [at("http://h", 1, "a"), at("http://h", 1, "b"), at("http://h", 3, "c"), at("http://h", 3, "d")]
    assert startable(queued, {}, LIMITS, Capacity(10)) == ["a", "c", "d"]
    assert startable(queued, {"http://h": 2}, LIMITS, Capacity(10)) == ["c"]
    assert startable(queued, {"http://h": 3}, LIMITS, Capacity(10)) == []


def test_a_match_is_told_with_the_players_and_the_core_that_it_waits_for() -> None:
    away, url = Hindrance.NOT_CONNECTED, "http://h:1/secret"
    waiting = [
        QueuedMatch("both", ("a", "away"), n_core_slots=4),
        QueuedMatch("address", (url, "b"), limits={url: 1}),
        QueuedMatch("core", ("mcts", "b"), n_core_slots=5),
        QueuedMatch("turn", ("mcts", "b"), n_core_slots=4),
        QueuedMatch("begun", ("mcts", "c"), n_core_slots=4),
        QueuedMatch("after", ("c", "b")),
    ]
    assert wait_reasons(waiting, ["begun"], {"a": 1, url: 1}, LIMITS | {"away": away}, Capacity(10, 8)) == {
        "both": WaitReason({"a": Hindrance.BUSY, "away": away}),
        "address": WaitReason({"h:1": Hindrance.BUSY}),
        "core": WaitReason(needs_core=True),
        "after": WaitReason({"c": Hindrance.BUSY}),
    }
