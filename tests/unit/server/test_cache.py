"""`BackgroundCache`: one search for all who ask, pages that do without, answers that grow old, and a bounded size."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter

import pytest

from server.cache import BackgroundCache


class Search:
    """Finds the length of a key, when it is let go; *failing* keys are not found."""

    def __init__(self, *failing: str) -> None:
        self.n_begun: Counter[str] = Counter()
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.failing = set(failing)

    async def __call__(self, key: str) -> int | None:
        self.n_begun[key] += 1
        await self.may_end.wait()
        if key in self.failing:
            raise OSError(key)
        return len(key) or None


def cache_of(search: Search, *, n_kept: int = 10, patience_s: float = 30) -> BackgroundCache[str, int | None]:
    return BackgroundCache(search, n_kept=n_kept, patience_s=patience_s)


async def test_those_who_ask_for_the_same_wait_for_one_search() -> None:
    search = Search()
    cache = cache_of(search)
    assert await asyncio.gather(*(cache.of("abc") for _ in range(5))) == [3] * 5
    assert await cache.of("abc") == 3
    assert search.n_begun == {"abc": 1}


async def test_that_there_is_nothing_is_remembered_too() -> None:
    search = Search()
    cache = cache_of(search)
    assert (await cache.of(""), await cache.of("")) == (None, None)
    assert search.n_begun == {"": 1}


async def test_a_page_that_does_not_wait_goes_without_and_the_next_has_the_answer() -> None:
    search = Search()
    search.may_end.clear()
    cache = cache_of(search)
    assert await cache.of("abc", 0) is None
    assert cache.is_at_work("abc")
    search.may_end.set()
    assert await cache.of("abc") == 3
    assert not cache.is_at_work("abc")


async def test_a_search_that_was_waited_for_is_not_waited_for_again() -> None:
    search, now_s = Search(), [0.0]
    search.may_end.clear()
    cache = BackgroundCache(search, n_kept=10, patience_s=30, clock=lambda: now_s[0])
    assert await cache.of("abc", 0) is None
    now_s[0] = 30.0
    assert await asyncio.wait_for(cache.of("abc"), 20) is None
    search.may_end.set()
    await cache.close(grace_s=30)


async def test_an_old_answer_is_given_while_a_new_one_is_found() -> None:
    now_s, numbers = [0.0], iter(range(100))

    async def count(_key: str) -> int:
        return next(numbers)

    cache = BackgroundCache(count, n_kept=10, patience_s=30, fresh_s=60, clock=lambda: now_s[0])
    found = []
    for now_s[0] in (0.0, 60.0, 61.0):
        found.append(await cache.of("key"))
    await cache.close(grace_s=30)
    found.append(await cache.of("key"))
    assert found == [0, 0, 0, 1]


async def test_a_new_answer_is_waited_for_where_it_may_not_be_old() -> None:
    now_s, search = [0.0], Search()
    cache = BackgroundCache(search, n_kept=10, patience_s=30, fresh_s=60, clock=lambda: now_s[0])
    found = []
    for now_s[0] in (0.0, 60.0, 61.0):
        found.append((await cache.of("key", may_be_old=False), search.n_begun["key"]))
    assert found == [(3, 1), (3, 1), (3, 2)]


async def test_an_old_answer_is_given_where_a_new_one_takes_too_long() -> None:
    now_s, search = [0.0], Search()
    cache = BackgroundCache(search, n_kept=10, patience_s=30, fresh_s=60, clock=lambda: now_s[0])
    assert await cache.of("key") == 3
    now_s[0] = 61.0
    search.may_end.clear()
    assert await cache.of("key", 0, may_be_old=False) == 3
    await cache.close()


async def test_a_search_that_fails_is_logged_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    search = Search("abc")
    cache = cache_of(search)
    with caplog.at_level(logging.ERROR):
        assert await cache.of("abc") is None
    assert len(caplog.records) == 1
    search.failing.clear()
    assert (await cache.of("abc"), search.n_begun["abc"]) == (3, 2)


async def test_the_answers_that_were_asked_for_last_are_kept() -> None:
    search = Search()
    cache = cache_of(search, n_kept=2)
    for key in ("a", "bb", "a", "ccc", "a", "bb"):
        await cache.of(key)
    assert search.n_begun == {"a": 1, "bb": 2, "ccc": 1}


async def test_of_many_searches_the_oldest_is_given_up() -> None:
    search = Search()
    search.may_end.clear()
    cache = cache_of(search, n_kept=2)
    for key in ("a", "bb", "ccc"):
        await cache.of(key, 0)
    assert [cache.is_at_work(key) for key in ("a", "bb", "ccc")] == [False, True, True]
    search.may_end.set()
    assert [await cache.of(key) for key in ("bb", "ccc", "a")] == [2, 3, 1]
    await cache.close()


async def test_closing_ends_what_is_being_found() -> None:
    search = Search()
    search.may_end.clear()
    cache = cache_of(search)
    await cache.of("abc", 0)
    await cache.close()
    assert not cache.is_at_work("abc")
