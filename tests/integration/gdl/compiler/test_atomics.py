"""Numbers in memory that several threads change at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np

from gdl.compiler.kernels.atomics import acquired_at, add_at, claim, lock, release, unlock
from gdl.compiler.kernels.jit import kernel
from gdl.compiler.kernels.lanes import Spare
from gdl.compiler.kernels.words import U, addresses, at, put

N_THREADS = 4
N_TIMES = 200_000


@kernel
def _add_often(room, n):
    where = addresses(Spare(room)).rows
    for i in range(n):
        add_at(where, U(0), np.int64(1))
        add_at(where, U(1), np.int64(-(i & 1)))


@kernel
def _add_in_turn(room, n):
    where = addresses(Spare(room)).rows
    for _ in range(n):
        lock(where)
        put(where, U(16), at(where, U(16)) + 1)
        unlock(where)


@kernel
def _claim_each(room, first, n, thread):
    where, n_claimed = addresses(Spare(room)).rows, 0
    for i in range(first, n):
        n_claimed += int(claim(where, U(i), np.int64(0), thread))
    return n_claimed


@kernel
def _send(room, n):
    where = addresses(Spare(room)).rows
    for i in range(1, n):
        while acquired_at(where, U(16)) != i - 1:
            pass
        put(where, U(32), np.int64(i))
        release(where, U(0), np.int64(i))


@kernel
def _receive(room, n):
    where, n_wrong = addresses(Spare(room)).rows, 0
    for i in range(1, n):
        while acquired_at(where, U(0)) != i:
            pass
        n_wrong += int(at(where, U(32)) != i)
        release(where, U(16), np.int64(i))
    return n_wrong


def together(*calls: Callable[[], int | None]) -> list[int | None]:
    """Return what the calls return that begin at the same time."""
    gate = Barrier(len(calls))

    def run(call: Callable[[], int | None]) -> int | None:
        gate.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_no_addition_is_lost() -> None:
    room = np.zeros(64, np.int32)
    together(*[lambda: _add_often(room, N_TIMES)] * N_THREADS)
    assert room[:3].tolist() == [N_THREADS * N_TIMES, -N_THREADS * N_TIMES // 2, 0]


def test_a_lock_is_held_by_one_thread() -> None:
    room = np.zeros(64, np.int32)
    together(*[lambda: _add_in_turn(room, N_TIMES // 10)] * N_THREADS)
    assert (room[0], room[16]) == (0, N_THREADS * N_TIMES // 10)


def test_each_item_is_claimed_once() -> None:
    room = np.zeros(N_TIMES, np.int32)
    calls = [lambda thread=thread: _claim_each(room, 0, N_TIMES, thread) for thread in range(1, N_THREADS + 1)]
    counts = together(*calls)
    assert sum(int(n or 0) for n in counts) == N_TIMES
    assert [int((room == thread).sum()) for thread in range(1, N_THREADS + 1)] == counts


def test_what_was_written_before_a_release_is_seen() -> None:
    room = np.zeros(64, np.int32)
    assert together(lambda: _send(room, 300), lambda: _receive(room, 300))[1] == 0
