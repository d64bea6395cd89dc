"""People without tokens on a server where others have some: the link to a seat is all that they need, and no more."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from server.access.settings import AccessSettings
from server.hosting.order import MatchRequest
from server.principal import Role
from tests.kit.server.web.fixtures import PHONE, OpenPage
from tests.kit.server.web.live_site import LiveSite, live_site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    """Return a server on which callers may do nothing without a token."""
    with live_site(tmp_path_factory.mktemp("site"), AccessSettings(is_loopback=False)) as found:
        found.ask(lambda: found.access.issuing.issue("root", Role.ADMIN))
        yield found


def links(site: LiveSite, **order: object) -> dict[str, str]:
    """Order a match, and return the link to each seat of a person, and under the empty name the match."""
    text = MatchRequest.model_validate({"game": "tictactoe", "startClock": 60, "playClock": 60} | order)
    ordered = site.ask(lambda: site.manager.order(text, "root"))
    match = f"/matches/{ordered.row.id}"
    return {"": match} | {role: f"{match}/play/{role}?claim={claim}" for role, claim in ordered.seat_secrets.items()}


def turn(page: Page, step: int) -> None:
    expect(page.locator(f"#turn[data-asked=yes][data-step='{step}']")).to_be_visible()


@pytest.mark.exhaustive
def test_two_people_come_play_and_see_the_end_by_their_links_alone(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, players={"x": "human", "o": "human"})
    x = open_page(of["x"])
    refused: list[str] = []
    x.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
    expect(x.locator(".lobby .there")).to_have_text("x: has come")
    expect(x.locator(".lobby .missing")).to_have_text("o: not there yet")
    expect(x.locator("#turn")).to_contain_text("waits until everybody has come")
    o = open_page(of["o"])
    for step, cell in enumerate(("0,0", "1,1", "1,0", "2,2", "2,0")):
        page = (x, o)[step % 2]
        turn(page, step)
        page.locator(f"#seat [data-cell='{cell}']").click()
    for page in (x, o):
        expect(page.locator("#turn[data-over=yes]")).to_contain_text("The match is over")
        expect(page.locator("#result-title")).to_be_visible()
    assert refused == []


def test_the_link_to_a_seat_opens_nothing_else(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, players={"x": "human", "o": "human"})
    page = open_page(of["x"], "401 (Unauthorized)")
    expect(page.locator(".lobby")).to_be_visible()
    match = of[""]
    asked = [match, f"{match}/play/o", f"{match}/play/o/parts", f"{match}/play/o/events", "/matches",
             "/games/tictactoe", f"/api/v1{match}", f"/api/v1{match}/events", f"/api/v1{match}/seats/x",
             "/api/v1/matches", "/api/v1/events"]  # fmt: skip
    found = page.evaluate(
        """(paths) => Promise.all(paths.map(async (path) => [path, (await fetch(path)).status]))""", asked
    )
    assert [tuple(each) for each in found] == [(path, 401) for path in asked]


@pytest.mark.exhaustive
def test_a_move_that_was_refused_is_chosen_again(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, players={"x": "human", "o": "legal"})
    page = open_page(of["x"], "403 (Forbidden)")
    turn(page, 0)
    page.context.clear_cookies(name="ggp_forms")
    page.locator("#seat [data-cell='1,1']").click()
    expect(page.locator("#problem")).to_have_text("The server did not take the move (error 403). Try again.")
    page.locator("#seat [data-cell='1,1']").click()
    turn(page, 2)
    expect(page.locator("#problem")).to_be_empty()


@pytest.mark.exhaustive
def test_a_seat_whose_match_is_cancelled_says_why(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, players={"x": "human", "o": "human"})
    page = open_page(of["x"])
    expect(page.locator(".lobby .there")).to_be_visible()
    site.ask(lambda: site.manager.abort(of[""].rpartition("/")[2], "enough"))
    expect(page.locator("#turn[data-over=yes]")).to_contain_text("The match was aborted: enough.")


@pytest.mark.exhaustive
def test_without_scripts_a_person_comes_by_a_button(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, players={"x": "human", "o": "human"})
    page = open_page(of["o"], java_script_enabled=False)
    expect(page.locator(".lobby .missing")).to_have_count(2)
    page.get_by_role("button", name="I am here").click()
    expect(page.locator(".lobby .there")).to_have_text("o: has come")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def focused(page: Page) -> str | None:
    found: str | None = page.evaluate("document.activeElement.dataset.cell ?? null")
    return found


def to_cell(page: Page, cell: str) -> None:
    """Go from the cell that has the focus to another one by arrows."""
    (x, y), (to_x, to_y) = map(int, (focused(page) or "").split(",")), map(int, cell.split(","))
    press(page, *["ArrowRight" if to_x > x else "ArrowLeft"] * abs(to_x - x))
    press(page, *["ArrowDown" if to_y > y else "ArrowUp"] * abs(to_y - y))
    assert focused(page) == cell


def to_board(page: Page) -> None:
    """Go to the board by the tabulator alone; it is one stop."""
    for _ in range(30):
        page.keyboard.press("Tab")
        if focused(page) is not None:
            return
    raise AssertionError("the tabulator does not reach the board")


@pytest.mark.exhaustive
def test_a_whole_game_of_tictactoe_is_played_by_keys(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, players={"x": "human", "o": "legal"})
    page = open_page(of["x"])
    turn(page, 0)
    to_board(page)
    page.keyboard.press("Tab")
    assert focused(page) is None
    page.keyboard.press("Shift+Tab")
    for step, (x, y) in ((0, (0, 0)), (2, (1, 1)), (4, (2, 2))):
        turn(page, step)
        assert focused(page) is not None
        to_cell(page, f"{x},{y}")
        page.keyboard.press("Enter")
    expect(page.locator("#turn[data-over=yes]")).to_be_focused()
    expect(page.locator("#result-title")).to_be_visible()


def first_move(page: Page) -> tuple[str, ...]:
    """Return the cells of the move that goes furthest up the board."""
    found = page.evaluate(
        """() => [...document.querySelectorAll("[data-choices] button")].map((one) => one.dataset.cells.split(" "))
            .sort((a, b) => a.at(-1).split(",")[1] - b.at(-1).split(",")[1])[0]"""
    )
    return tuple(found)


def to_the_end(page: Page, choose: object) -> int:
    """Make moves, each cell of which *choose* chooses, until the match is over; return how many."""
    assert callable(choose)
    n_moves = 0
    while True:
        page.wait_for_selector("#turn[data-asked=yes], #turn[data-over=yes]")
        if page.locator("#turn[data-over=yes]").count():
            return n_moves
        step = page.locator("#turn").get_attribute("data-step")
        for cell in first_move(page):
            choose(cell)
        page.wait_for_selector(f"#turn:not([data-step='{step}']), #turn[data-over=yes], #turn[data-asked=no]")
        n_moves += 1


@pytest.mark.exhaustive
def test_a_whole_game_of_breakthrough_is_played_by_keys(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, game="breakthrough", players={"white": "human", "black": "legal"})
    page = open_page(of["white"])
    turn(page, 0)
    to_board(page)

    def choose(cell: str) -> None:
        to_cell(page, cell)
        page.keyboard.press("Enter")

    assert to_the_end(page, choose) >= 5
    expect(page.locator(".past tbody tr").first).to_be_visible()


def test_a_whole_game_of_breakthrough_is_played_by_touch(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, game="breakthrough", players={"white": "human", "black": "legal"})
    page = open_page(of["white"], **PHONE)
    turn(page, 0)
    expect(page.locator("[data-help]")).to_have_text(
        "Click where the piece stands, then where it goes; or choose from the list."
    )
    expect(page.locator("#seat [data-cell] .choice.source")).to_have_count(8)
    page.locator("#seat [data-cell='3,6']").tap()
    expect(page.locator("#seat [data-cell='3,6'] .choice.chosen")).to_have_count(1)
    expect(page.locator("#seat .choice.target")).to_have_count(3)
    page.locator("#seat [data-cell='3,6']").tap()
    expect(page.locator("#seat .choice.target")).to_have_count(0)
    assert to_the_end(page, lambda cell: page.locator(f"#seat [data-cell='{cell}']").tap()) >= 5


@pytest.mark.exhaustive
def test_clocks_show_no_grace_and_are_on_the_first_screen_of_a_phone(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, game="breakthrough", players={"white": "human", "black": "legal"}, playClock=50, grace=9)
    page = open_page(of["white"], **PHONE)
    clocks = [page.locator("#turn [data-clock]"), page.locator("#seats .clock.runs")]
    turn(page, 0)
    shown = []
    for clock in clocks:
        expect(clock).to_be_in_viewport()
        expect(clock).to_have_text(re.compile(r"^[0-9]+ s$"))
        shown.append(int(clock.inner_text().removesuffix(" s")))
        token = site.ask(lambda: site.access.issuing.issue("ann", Role.SPECTATOR))
        page.set_extra_http_headers({"Authorization": f"Bearer {token.text}"})
        page.goto(of[""])
    assert max(shown) <= 50


HOLDING_ANSWERS = """() => {
    const [fetched, held] = [window.fetch, []];
    window.isHolding = true;
    window.fetch = async (address, options) => {
        const answer = await fetched(address, options);
        if (window.isHolding && address.endsWith("/parts")) await new Promise((go) => held.push(go));
        return answer;
    };
    window.hasHeld = () => held.length > 0;
    window.letGo = async () => {
        held.forEach((go) => go());
        await (await fetched("/static/mark.svg")).text(); // ends after those before it
    };
}"""


@pytest.mark.exhaustive
def test_an_answer_that_comes_late_takes_no_question_back(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, players={"x": "human", "o": "human"})
    seat, other = open_page(of["x"]), open_page(of["o"])
    turn(seat, 0)
    seat.evaluate(HOLDING_ANSWERS)
    seat.locator("#seat [data-cell='0,0']").click()
    seat.wait_for_function("() => window.hasHeld()")
    turn(other, 1)
    seat.evaluate("window.isHolding = false")
    other.locator("#seat [data-cell='1,1']").click()
    turn(seat, 2)
    seat.evaluate("window.letGo()")
    shown = seat.locator("#turn")
    assert (shown.get_attribute("data-asked"), shown.get_attribute("data-step")) == ("yes", "2")


@pytest.mark.exhaustive
def test_a_question_is_shown_although_the_server_failed_when_it_came(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, players={"x": "human", "o": "human"})
    seat, other = open_page(of["x"], "503 (Service Unavailable)"), open_page(of["o"])
    turn(seat, 0)
    seat.locator("#seat [data-cell='0,0']").click()
    turn(other, 1)
    with seat.expect_response(lambda answer: answer.status == 503):
        seat.route("**/parts", lambda route: route.fulfill(status=503))
        other.locator("#seat [data-cell='1,1']").click()
        expect(other.locator("#turn[data-asked=no]")).to_be_visible()
    seat.unroute("**/parts")
    turn(seat, 2)


def test_once_the_server_is_back_a_page_tells_no_more_that_it_is_away(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, players={"x": "human", "o": "human"})
    seat, other = open_page(of["x"], "net::ERR_FAILED"), open_page(of["o"])
    turn(seat, 0)
    for address in ("**/events*", "**/parts"):
        seat.route(address, lambda route: route.abort())
    seat.reload()
    seat.route("**/play/x", lambda route: route.abort())
    seat.locator("#seat [data-cell='0,0']").click()
    expect(seat.get_by_role("alert")).to_have_text("The server could not be reached. Try again.")
    seat.unroute_all()
    expect(seat.locator("#connection")).to_be_hidden()
    expect(seat.get_by_role("alert")).to_have_count(0)
    seat.locator("#seat [data-cell='0,0']").click()
    turn(other, 1)


@pytest.mark.exhaustive
def test_a_move_is_no_problem_whose_answer_alone_was_lost(open_page: OpenPage, site: LiveSite) -> None:
    of = links(site, players={"x": "human", "o": "human"})
    seat, other = open_page(of["x"], "net::ERR_FAILED"), open_page(of["o"])

    def lose_answer(route: Route) -> None:
        route.fetch()
        route.abort()

    turn(seat, 0)
    seat.route("**/play/x", lose_answer, times=1)
    with seat.expect_event("requestfailed"):
        seat.locator("#seat [data-cell='0,0']").click()
    turn(other, 1)
    other.locator("#seat [data-cell='1,1']").click()
    turn(seat, 2)
    expect(seat.get_by_role("alert")).to_have_count(0)


@pytest.mark.exhaustive
def test_a_seat_comes_to_say_what_its_match_waits_for(open_page: OpenPage, site: LiveSite) -> None:
    site.ask(lambda: site.manager.registry.register("away", "root"))
    seat = open_page(links(site, players={"x": "human", "o": "away"})["x"])
    expect(seat.locator("#turn")).to_have_text(re.compile(r"^\s*The match waits for away \(not connected\)\.\s*$"))
