"""The whole application: no route of it, old or new, lets a caller in who may not."""

from __future__ import annotations

import pytest

from server.access.rate_limiter import KINDS
from server.principal import Role
from tests.kit.server.access.guarded_app import FORM, bearer
from tests.kit.server.access.sites import Route, Site, filled

FOR_ANYBODY: set[Route] = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),  # which looks itself who asks
    ("GET", "/static/{name}"),
    ("GET", "/api/v1/docs"),
    ("GET", "/api/v1/openapi.json"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("POST", "/logout"),
}
BY_SECRET: set[Route] = {
    ("GET", "/api/v1/matches/{match_id}/seats/{role}"),
    ("GET", "/api/v1/matches/{match_id}/seats/{role}/events"),
    ("POST", "/api/v1/matches/{match_id}/seats/{role}/move"),
    ("GET", "/matches/{id}/play/{role}"),
    ("GET", "/matches/{id}/play/{role}/parts"),
    ("GET", "/matches/{id}/play/{role}/events"),
    ("POST", "/matches/{id}/play/{role}"),
}
"""The seat of a person: a caller that has its secret takes it, with or without a token."""


async def cookie(site: Site, role: Role) -> dict[str, str]:
    """Return the header of a browser in which a user of that role is logged in."""
    secret = await site.access.authentication.begin_session(site.tokens[role].split("_")[1], 100)
    return {"Cookie": f"ggp_session={secret}"}


async def test_nothing_is_there_for_those_without_a_token_but_what_is_for_anybody(site: Site) -> None:
    assert await site.not_refused(site.routes, {}, 401) - FOR_ANYBODY - BY_SECRET == set()


async def test_every_kind_of_request_that_is_counted_apart_is_one_of_the_application(site: Site) -> None:
    asked = [(method, filled(path)) for method, path in site.routes]
    unused = {
        pattern.pattern
        for method, pattern, _ in KINDS
        if not any(method == its_method and pattern.fullmatch(path) for its_method, path in asked)
    }
    assert unused == set()


async def test_people_without_a_token_are_led_to_the_login_from_every_page(site: Site) -> None:
    pages = [route for route in site.routes if route[0] == "GET" and not route[1].startswith("/api/")]
    assert await site.not_refused(pages, {"Accept": "text/html"}, 303) - FOR_ANYBODY - BY_SECRET == set()


async def test_spectators_change_nothing(site: Site) -> None:
    headers = bearer(site.tokens[Role.SPECTATOR])
    assert await site.not_refused(site.changing, headers, 403) - FOR_ANYBODY - BY_SECRET == set()


async def test_a_seat_is_taken_with_its_secret_alone(site: Site) -> None:
    assert await site.not_refused(sorted(BY_SECRET), {"Content-Type": "application/json"}, 400, 401, 403, 404) == set()


async def test_only_admins_come_near_tokens(site: Site) -> None:
    routes = [route for route in site.routes if "/tokens" in route[1] or "/admin" in route[1]]
    assert len(routes) >= 9
    assert await site.not_refused(routes, bearer(site.tokens[Role.HOST]), 403) == set()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("headers", [{}, FORM, {"Content-Type": "application/json"}, {"X-CSRF-Token": "0" * 64}])
async def test_a_cookie_changes_nothing_without_the_token_of_a_form(site: Site, headers: dict[str, str]) -> None:
    assert await site.not_refused(site.changing, headers | await cookie(site, Role.ADMIN), 403) == set()


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
async def test_pages_of_other_sites_change_nothing_whatever_they_have_got_hold_of(
    site: Site, headers: dict[str, str]
) -> None:
    assert await site.not_refused(site.changing, headers | bearer(site.tokens[Role.ADMIN]), 403) == set()


async def test_head_is_answered_wherever_get_is_and_alike(site: Site) -> None:
    headers = bearer(site.tokens[Role.ADMIN])
    paths = [path for method, path in site.routes if method == "GET"]
    found = [[await site.status((method, path), headers) for path in paths] for method in ("HEAD", "GET")]
    assert dict(zip(paths, found[0], strict=True)) == dict(zip(paths, found[1], strict=True))


async def test_people_without_a_token_are_led_to_the_login_by_head_too(site: Site) -> None:
    assert await site.status(("HEAD", "/matches"), {"Accept": "text/html"}) == 303
