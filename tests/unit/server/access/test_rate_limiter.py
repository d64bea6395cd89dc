"""The rate limiter, and the clock of the machine."""

from __future__ import annotations

import time

import pytest

from server.access.rate_limiter import REQUESTS, RateLimiter
from server.access.settings import Limits
from server.refusals import TooManyRequestsError


@pytest.mark.parametrize("set_by_s", [-3600.0, 0.0, 30.0])
async def test_a_window_ends_when_its_time_has_passed_whatever_the_clock_is_set_to(
    monkeypatch: pytest.MonkeyPatch, set_by_s: float
) -> None:
    limiter, clock = RateLimiter(Limits(requests="1/minute")), time.time
    await limiter.count_one(REQUESTS, "a party")
    monkeypatch.setattr("time.time", lambda: clock() + set_by_s)
    with pytest.raises(TooManyRequestsError) as caught:
        await limiter.count_one(REQUESTS, "a party")
    assert 50 < caught.value.wait_s <= 60


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/info"),
        ("GET", "/api/v1/players/deep/info"),
        ("POST", "/api/v1/players"),
        ("PATCH", "/api/v1/players/deep"),
        ("POST", "/api/v1/players/deep/pause"),
        ("POST", "/api/v1/players/deep/resume"),
        ("POST", "/players"),
        ("POST", "/players/deep"),
    ],
)
async def test_what_asks_registers_or_changes_a_player_is_limited_together(method: str, path: str) -> None:
    limiter = RateLimiter(Limits(calls="1/minute"))
    async with limiter.counted("a party", "POST", "/api/v1/players"):
        pass
    with pytest.raises(TooManyRequestsError) as caught:
        async with limiter.counted("a party", method, path):
            pass
    assert caught.value.what == "calls"


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", "/api/v1/matches", "orders"),
        ("POST", "/api/v1/matches/m1/rematch", "orders"),
        ("POST", "/start", "orders"),
        ("POST", "/games/tiny/play", "orders"),
        ("PUT", "/api/v1/games/tiny", "uploads"),
        ("POST", "/games", "uploads"),
        ("POST", "/games/import", "uploads"),
        ("POST", "/validate", "uploads"),
        ("POST", "/api/v1/validations", "uploads"),
        ("POST", "/api/v1/imports", "uploads"),
        ("GET", "/api/v1/info", "calls"),
        ("HEAD", "/api/v1/info", "calls"),
        ("GET", "/api/v1/matches", ""),
        ("GET", "/api/v1/games/tiny", ""),
        ("POST", "/api/v1/info", ""),
        ("POST", "/api/v1/matches/m1/abort", ""),
        ("DELETE", "/api/v1/players/deep", ""),
    ],
)
async def test_a_request_counts_for_its_kind_alone(method: str, path: str, kind: str) -> None:
    limiter = RateLimiter(Limits(orders="1/minute", uploads="1/minute", calls="1/minute"))
    for other in sorted({"orders", "uploads", "calls"} - {kind}):
        await limiter.count_one(other, "a party")
    assert [await refused(limiter, method, path) for _ in range(2)] == ["", kind]


async def refused(limiter: RateLimiter, method: str, path: str) -> str:
    """Return the kind of which a request is one too many; empty where it is answered."""
    try:
        async with limiter.counted("a party", method, path):
            return ""
    except TooManyRequestsError as error:
        return error.what
