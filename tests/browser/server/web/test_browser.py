"""The pages in a browser: matches that go on, people who play, problems in rules, phones, keys and the dark."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from gdl.games.library import find_game
from server.access.settings import AccessSettings
from server.principal import Role
from server.storage.rows import MatchRow, PlayerRow, SeatKind
from tests.kit.server.web.fixtures import PHONE, OpenPage, no_wider_than_the_screen, see
from tests.kit.server.web.live_site import LiveSite, live_site

HOSTILE = (Path(__file__).parents[3] / "kit/server/web/hostile.kif").read_text("utf-8")
WRONG = "(role x)\n(init (cell 1 ?y))\n(<= (legal x (mark ?z)) (true (cell ?x 1)))\n"


@pytest.fixture(scope="module")
def finished(site: LiveSite) -> MatchRow:
    """Return a match that is over."""
    return site.over(site.order(game="tictactoe", players={"x": "legal", "o": "legal"}, seed=1))


def contrast_of(page: Page, selector: str) -> float:
    """Return the contrast of the text of an element against the nearest background that is not transparent."""
    script = """(selector) => {
        const numbers = (text) => text.match(/[0-9.]+/g).map(Number);
        const light = (text) => {
            const [r, g, b] = numbers(text).slice(0, 3).map((c) => c / 255)
                .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const element = document.querySelector(selector);
        let behind = element;
        while (behind && numbers(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
        const both = [getComputedStyle(element).color, getComputedStyle(behind ?? document.body).backgroundColor];
        const [low, high] = both.map(light).sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    }"""
    return float(page.evaluate(script, selector))


def win_as_x(seat: Page, since: int = 0) -> None:
    """Make moves from step *since* on, on the page of a seat, that win tic-tac-toe against `legal`."""
    for step, cell in [(0, "0,0"), (2, "1,1"), (4, "2,2")][since // 2 :]:
        expect(seat.locator(f"#turn[data-asked=yes][data-step='{step}']")).to_be_visible()
        seat.locator(f"#seat [data-cell='{cell}']").click()
    expect(seat.locator("#turn")).to_contain_text("The match is over.")


def test_a_match_is_started_and_watched_to_its_end(open_page: OpenPage, site: LiveSite) -> None:
    page = open_page("/")
    page.get_by_role("link", name="Start a match").first.click()
    page.get_by_label("Game", exact=True).select_option("breakthrough")
    page.wait_for_url("**/start?game=breakthrough")
    page.get_by_label("Who plays white?").fill("greedy")
    page.get_by_label("Who plays black?").fill("random")
    page.get_by_label("Seed").fill("5")
    page.get_by_role("button", name="Start this match").click()
    page.wait_for_url("**/matches/*")
    expect(page.locator(".status")).to_have_text("live")
    expect(page.locator("#moves tbody tr[data-row='3']")).to_be_visible()
    expect(page.locator(".page-head .status")).to_have_text("completed")
    row = site.over(page.url.rpartition("/")[2])
    expect(page.locator("#moves tbody tr[data-row]")).to_have_count(row.n_steps)
    expect(page.locator("#position figcaption")).to_contain_text(f"Step {row.n_steps} of {row.n_steps}")
    expect(page.locator("#seats .goal.best")).to_have_text("goal 100")


@pytest.mark.exhaustive
def test_a_game_that_is_chosen_before_the_script_is_there_is_shown(open_page: OpenPage, site: LiveSite) -> None:
    page, held = open_page("/"), list[Route]()
    page.route("**/start.js*", lambda route: held.append(route), times=1)  # noqa: PLW0108 -- a bound method is not taken
    with page.expect_request("**/start.js*"):
        page.goto(f"{site.url}/start", wait_until="commit")
    page.get_by_label("Game", exact=True).select_option("breakthrough")
    held.pop().continue_()
    page.wait_for_url("**/start?game=breakthrough")
    expect(page.get_by_label("Who plays white?")).to_be_visible()


def test_thoughts_follow_the_step_that_is_looked_at(open_page: OpenPage, site: LiveSite) -> None:
    row = site.over(site.order(game="tictactoe", players={"x": "mcts:playouts=20", "o": "legal"}, seed=1))
    page = open_page(f"/matches/{row.id}?step=1")
    expect(page.locator("#thoughts-step")).to_have_text("Before the move of step 1, as the players tell it")
    expect(page.locator("#thoughts .marked")).to_have_count(1)
    page.get_by_role("link", name="One step on").click()
    expect(page.locator("#thoughts")).to_contain_text("No player told what it thought before the move of step 2.")
    page.get_by_role("link", name="First position").click()
    expect(page.locator("#thoughts .marked")).to_have_count(0)
    assert no_wider_than_the_screen(page)


@pytest.mark.exhaustive
def test_thoughts_are_hidden_where_no_player_tells(open_page: OpenPage, finished: MatchRow) -> None:
    expect(open_page(f"/matches/{finished.id}").locator("#thoughts")).to_be_hidden()


def test_the_first_page_shows_what_begins_and_ends(open_page: OpenPage, site: LiveSite) -> None:
    home = open_page("/")
    match_id = site.order(game="tictactoe", players={"x": "human", "o": "legal"})
    card = home.locator(f"#live a[href='/matches/{match_id}']").first
    seat = open_page(f"/matches/{match_id}/play/x")
    expect(card).to_be_visible()
    win_as_x(seat)
    expect(card).to_have_count(0)


def test_a_page_comes_back_when_the_server_was_away(open_page: OpenPage, site: LiveSite) -> None:
    match_id = site.order(game="tictactoe", players={"x": "human", "o": "legal"})
    page = open_page("/", "502 (Bad Gateway)")
    page.route("**/events*", lambda route: route.fulfill(status=502, body="the server is away"))
    page.goto(f"/matches/{match_id}/play/x")
    expect(page.locator("#connection")).to_be_visible()
    page.unroute("**/events*")
    expect(page.locator("#connection")).to_be_hidden()
    expect(page.locator("#turn[data-asked=yes][data-step='0']")).to_be_visible()
    page.locator("#seat [data-cell='0,0']").click()
    expect(page.locator("#turn[data-asked=yes][data-step='2']")).to_be_visible()


@pytest.mark.exhaustive
def test_hidden_pages_leave_room_for_others_and_follow_again_once_they_are_seen(
    open_page: OpenPage, site: LiveSite
) -> None:
    match_id = site.order(game="tictactoe", players={"x": "human", "o": "legal"})
    seat = open_page(f"/matches/{match_id}/play/x")
    expect(seat.locator("#turn[data-asked=yes][data-step='0']")).to_be_visible()
    hidden = [seat.context.new_page() for _ in range(5)]  # a browser has six connections to a host
    for page, path in zip(hidden, (f"/matches/{match_id}", *["/"] * 4), strict=True):
        page.goto(path)
        see(page, is_hidden=True)
    seat.context.new_page().goto("/games")
    seat.locator("#seat [data-cell='0,0']").click()
    expect(seat.locator("#turn[data-asked=yes][data-step='2']")).to_be_visible()
    expect(hidden[0].locator("#position")).to_have_attribute("data-step", "0")
    see(hidden[0], is_hidden=False)
    expect(hidden[0].locator("#position")).to_have_attribute("data-step", "2")


@pytest.mark.exhaustive
def test_the_clock_of_a_person_goes_by_the_question_that_a_server_asks_anew(
    open_page: OpenPage, site: LiveSite
) -> None:
    match_id = site.order(game="tictactoe", players={"x": "human", "o": "legal"})
    page = open_page(f"/matches/{match_id}/play/x", "502 (Bad Gateway)")
    expect(page.locator("#turn[data-asked=yes][data-step='0']")).to_be_visible()
    page.route("**/events*", lambda route: route.fulfill(status=502, body="the server is away"))
    page.reload()
    expect(page.locator("#connection")).to_be_visible()
    page.route("**/parts", answer_with_two_hours_left)
    page.unroute("**/events*")
    expect(page.get_by_role("timer", name="Time left")).to_have_text(re.compile(r"^119:\d\d$"))


def answer_with_two_hours_left(route: Route) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, body=re.sub(r'data-left="\d+"', 'data-left="7200000"', answer.text()))


def test_a_person_plays_by_clicks_on_the_board(open_page: OpenPage) -> None:
    page = open_page("/start?game=tictactoe")
    page.get_by_label("Who plays x?").fill("human")
    page.get_by_label("Who plays o?").fill("legal")
    page.get_by_label("Play clock, in seconds").fill("60")
    page.get_by_role("button", name="Start this match").click()
    expect(page.get_by_role("heading", name="You play x")).to_be_visible()
    win_as_x(page)
    expect(page.locator("#seat .seats .goal.best")).to_have_text("100")


def test_a_person_plays_by_keys_with_a_piece_that_moves(open_page: OpenPage, site: LiveSite) -> None:
    match_id = site.order(game="breakthrough", players={"white": "human", "black": "legal"})
    page = open_page(f"/matches/{match_id}")
    page.get_by_role("link", name="Play as white").click()
    expect(page.locator("#turn[data-asked=yes]")).to_be_visible()
    n_moves = page.locator("[data-choices] button").count()
    page.locator("#seat [data-cell='0,6']").press("Enter")
    expect(page.locator("[data-choices] button:visible")).to_have_count(2)
    page.keyboard.press("Escape")
    expect(page.locator("[data-choices] button:visible")).to_have_count(n_moves)
    page.locator("#seat [data-cell='0,6']").press("Enter")
    page.locator("#seat [data-cell='1,5']").press("Enter")
    expect(page.locator("#turn[data-asked=yes][data-step='2']")).to_be_visible()
    expect(page.locator(".past tbody tr").last).to_contain_text("(move 1 2 2 3)")
    page.locator("[data-choices] button").first.click()
    expect(page.locator("#turn[data-asked=yes][data-step='4']")).to_be_visible()
    page.goto(f"/matches/{match_id}")
    page.get_by_role("button", name="Abort").click()
    page.wait_for_url("**/abort?")
    page.get_by_role("button", name="Abort").click()
    expect(page.locator(".page-head .status")).to_have_text("aborted")


def test_a_person_with_hidden_information_sees_what_the_role_perceives_alone(
    open_page: OpenPage, site: LiveSite
) -> None:
    match_id = site.order(game="kuhnpoker", players={"alice": "human", "bob": "legal"}, seed=2)
    watching = open_page(f"/matches/{match_id}")
    expect(watching.locator("#position")).to_contain_text("Not everybody may know everything here")
    page = open_page(f"/matches/{match_id}/play/alice")
    expect(page.locator("#turn[data-asked=yes]")).to_be_visible()
    expect(page.locator(".percepts")).to_contain_text("card")
    page.locator("[data-choices] button").first.click()
    site.over(match_id)
    expect(watching.locator(".page-head .status")).to_have_text("completed")
    expect(watching.locator("#position")).not_to_contain_text("Not everybody")
    watching.get_by_role("link", name="As alice saw it").click()
    expect(watching.locator("#moves thead")).to_contain_text("perceived")
    expect(watching.locator("#moves thead")).not_to_contain_text("bob")


def test_history_is_walked_through_by_keys_slider_and_links(open_page: OpenPage, finished: MatchRow) -> None:
    page, n = open_page(f"/matches/{finished.id}"), finished.n_steps
    where = page.locator("#position figcaption")
    for key, step in (("ArrowLeft", n - 1), ("ArrowLeft", n - 2), ("ArrowRight", n - 1), ("Home", 0), ("End", n)):
        page.keyboard.press(key)
        expect(where).to_contain_text(f"Step {step} of")
    page.locator("#slider").fill("3")
    expect(where).to_contain_text("Step 3 of")
    expect(page.locator("#moves tr[aria-current]")).to_have_attribute("data-row", "3")
    expect(page.locator("#announcement")).to_contain_text("Step 3 of")
    page.wait_for_url("**?step=3")
    page.locator("#moves [data-step-link='1']").click()
    expect(where).to_contain_text("Step 1 of")
    page.get_by_role("link", name="One step on").click()
    expect(where).to_contain_text("Step 2 of")
    page.wait_for_url("**?step=2")
    page.reload()
    expect(where).to_contain_text("Step 2 of")


@pytest.mark.exhaustive
def test_keys_that_come_faster_than_steps_are_loaded_count_each(open_page: OpenPage, finished: MatchRow) -> None:
    page, n, held = open_page(f"/matches/{finished.id}"), finished.n_steps, list[Route]()
    page.route(re.compile(r"/parts\?"), lambda route: held.append(route))  # noqa: PLW0108 -- a bound method is not taken
    for step in (n - 1, n - 2, n - 3):
        with page.expect_request(re.compile(rf"/parts\?step={step}$")):
            page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert [route.request.url.partition("?")[2] for route in held] == [f"step={n - each}" for each in (1, 2, 3)]
    for route in reversed(held):
        route.continue_()
    expect(page.locator("#position figcaption")).to_contain_text(f"Step {n - 2} of")
    expect(page.locator("#slider")).to_have_value(str(n - 2))


@pytest.mark.exhaustive
def test_a_picture_that_is_worked_out_is_asked_for_until_it_comes_whatever_else_fails_to_load(
    open_page: OpenPage, finished: MatchRow
) -> None:
    def answer_early(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace(" data-step=", " data-soon data-step=", 1))

    page, held = open_page("/", "status of 404"), list[Route]()
    page.clock.install()
    page.route("**/matches/*?step=1", answer_early, times=1)
    page.route(re.compile(r"/parts\?step=2$"), lambda route: held.append(route))  # noqa: PLW0108 -- as above
    page.route(re.compile(r"/parts\?step=1$"), lambda route: route.fulfill(status=404), times=1)
    page.goto(f"/matches/{finished.id}?step=1")
    with page.expect_request(re.compile(r"/parts\?step=2$")):
        page.keyboard.press("ArrowRight")
    page.clock.run_for(1_000)
    with page.expect_response(re.compile(r"/parts\?step=2$")):
        held.pop().fulfill(status=404)
    for _ in range(2):  # the first of them fails
        with page.expect_request(re.compile(r"/parts\?step=1$")):
            page.clock.run_for(1_000)
    expect(page.locator("#position[data-step='1']")).to_be_visible()


def pass_time(page: Page, is_enough: Callable[[], bool]) -> None:
    """Let seconds of the clock of *page* pass until *is_enough*; it may set a timer after the first of them."""
    for _ in range(100):
        if is_enough():
            return
        page.clock.run_for(1_000)
    raise AssertionError("it did not come")


def test_a_step_that_fails_to_load_is_asked_for_again_until_another_one_is(
    open_page: OpenPage, finished: MatchRow
) -> None:
    page, n, asked = open_page(f"/matches/{finished.id}", "ailed"), finished.n_steps, list[str]()

    def fail(route: Route) -> None:
        asked.append(route.request.url.partition("=")[2])
        route.abort()

    page.clock.install()
    page.route(re.compile(r"/parts\?"), fail, times=2)
    page.keyboard.press("ArrowLeft")
    pass_time(page, lambda: len(asked) == 2)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(f"#position[data-step='{n - 2}']")).to_be_visible()
    page.clock.run_for(5_000)
    assert (asked, page.locator("#position").get_attribute("data-step")) == ([f"{n - 1}"] * 2, f"{n - 2}")
    page.route(re.compile(r"/parts\?"), fail, times=1)
    page.keyboard.press("Home")
    pass_time(page, lambda: page.locator("#position[data-step='0']").count() == 1)
    assert len(asked) == 3


@pytest.mark.exhaustive
def test_a_match_that_goes_on_takes_no_key_back(open_page: OpenPage, site: LiveSite) -> None:
    match_id = site.order(game="tictactoe", players={"x": "human", "o": "legal"})
    seat, watching, held = open_page(f"/matches/{match_id}/play/x"), open_page(f"/matches/{match_id}"), list[Route]()
    seat.locator("#seat [data-cell='0,0']").click()
    expect(watching.locator("#position")).to_have_attribute("data-step", "2")
    watching.route(re.compile(r"/parts"), lambda route: held.append(route), times=2)  # noqa: PLW0108 -- as above
    with watching.expect_request(re.compile(r"/parts\?step=1$")):
        watching.keyboard.press("ArrowLeft")
    with watching.expect_request(re.compile(r"/parts")) as refresh:
        win_as_x(seat, since=2)
    assert refresh.value.url.endswith("/parts?step=1")
    expect(watching.locator("[data-match][data-live=no]")).to_be_visible()
    for route in held:
        route.continue_()
    expect(watching.locator("#position")).to_have_attribute("data-step", "1")


@pytest.mark.exhaustive
def test_a_view_opens_at_the_step_that_is_shown(open_page: OpenPage, site: LiveSite) -> None:
    row = site.over(site.order(game="kuhnpoker", players={"alice": "legal", "bob": "legal"}, seed=2))
    page = open_page(f"/matches/{row.id}")
    page.keyboard.press("Home")
    expect(page.locator("#position figcaption")).to_contain_text("Step 0 of")
    page.get_by_role("link", name="As alice saw it").click()
    expect(page.locator("#moves thead")).to_contain_text("perceived")
    expect(page.locator("#position figcaption")).to_contain_text("Step 0 of")


def test_a_look_back_at_a_live_match_lasts_until_the_viewer_follows_again(open_page: OpenPage, site: LiveSite) -> None:
    match_id = site.order(game="tictactoe", players={"x": "human", "o": "legal"})
    seat, watching = open_page(f"/matches/{match_id}/play/x"), open_page(f"/matches/{match_id}")
    seat.locator("#seat [data-cell='0,0']").click()
    expect(watching.locator("#position")).to_have_attribute("data-step", "2")
    watching.keyboard.press("Home")
    watching.wait_for_url("**?step=0")
    watching.keyboard.press("End")
    watching.wait_for_url(f"**/matches/{match_id}")
    watching.keyboard.press("ArrowLeft")
    watching.wait_for_url("**?step=1")
    win_as_x(seat, since=2)
    expect(watching.locator("[data-match][data-live=no]")).to_be_visible()
    expect(watching.locator("#position")).to_have_attribute("data-step", "1")


@pytest.mark.exhaustive
def test_a_match_that_ends_while_the_server_is_away_shows_its_end_later(open_page: OpenPage, site: LiveSite) -> None:
    match_id = site.order(game="tictactoe", players={"x": "human", "o": "legal"})
    seat, watching = open_page(f"/matches/{match_id}/play/x"), open_page(f"/matches/{match_id}", "net::ERR_FAILED")
    watching.locator("#position").press("f")
    watching.route(f"**/matches/{match_id}", lambda route: route.abort())
    with watching.expect_event("requestfailed", lambda request: request.url.endswith(match_id)):
        win_as_x(seat)
    watching.unroute(f"**/matches/{match_id}")
    expect(watching.locator("[data-match][data-live=no]")).to_be_visible()
    expect(watching.get_by_role("button", name="Flip the board")).to_have_attribute("aria-pressed", "true")


def test_a_match_is_played_like_a_film_and_seen_from_the_other_side(open_page: OpenPage, finished: MatchRow) -> None:
    page, n = open_page(f"/matches/{finished.id}"), finished.n_steps
    play, where = page.locator("[data-replay=play]"), page.locator("#position figcaption")
    page.locator("#speed").select_option("4")
    page.keyboard.press("Escape")
    play.click()
    expect(play).to_have_text("Pause")
    expect(where).to_contain_text(f"Step {n} of")
    expect(play).to_have_text("Play")
    flip = page.get_by_role("button", name="Flip the board")
    flip.click()
    expect(flip).to_have_attribute("aria-pressed", "true")
    cell = page.locator("#position [data-cell='0,0'] .ground").bounding_box()
    frame = page.locator("#position svg.board").bounding_box()
    assert cell is not None
    assert frame is not None
    assert cell["y"] > frame["y"] + frame["height"] / 2


@pytest.mark.exhaustive
def test_the_key_that_flips_the_board_works_on_the_board_alone(open_page: OpenPage, finished: MatchRow) -> None:
    page = open_page(f"/matches/{finished.id}")
    flip, found = page.get_by_role("button", name="Flip the board"), []
    for focused, key in (
        (page.get_by_role("link", name="Record"), "f"),
        (page.get_by_role("link", name="Games"), "F"),
        (page.locator("#speed"), "f"),
        (flip, "Control+f"),
        (flip, "f"),
        (page.get_by_role("link", name="One step back"), "F"),
    ):
        focused.focus()
        page.keyboard.press(key)
        found.append(flip.get_attribute("aria-pressed"))
    page.locator("#position svg.board").click()
    page.keyboard.press("f")
    found.append(flip.get_attribute("aria-pressed"))
    assert found == ["false", "false", "false", "false", "true", "false", "true"]


def test_pages_can_be_read_without_scripts(open_page: OpenPage, finished: MatchRow) -> None:
    page = open_page(f"/matches/{finished.id}?step=2", java_script_enabled=False)
    expect(page.locator("#position figcaption")).to_contain_text("Step 2 of")
    page.get_by_role("link", name="One step back").click()
    expect(page.locator("#position figcaption")).to_contain_text("Step 1 of")
    page.get_by_role("button", name="Go").click()
    expect(page.locator("#position figcaption")).to_contain_text("Step 1 of")


def test_wrong_rules_are_uploaded_and_their_problems_read_in_place(open_page: OpenPage, tmp_path: Path) -> None:
    (tmp_path / "wrong.kif").write_text(WRONG, "utf-8")
    page = open_page("/validate")
    page.get_by_label("or a file").set_input_files(tmp_path / "wrong.kif")
    expect(page.get_by_role("textbox", name="Rules")).to_have_value(WRONG)
    page.get_by_role("button", name="Check these rules").click()
    expect(page.get_by_role("heading", name="These rules cannot be played yet")).to_be_visible()
    expect(page.locator("#L3 mark.error").first).to_have_text("(")
    expect(page.locator("#L3 .said.error")).to_contain_text("no condition gives a value to the variable ?z of the head")
    expect(page.locator("#L3 .said .hint").first).to_contain_text("add a condition that lists the values of ?z")
    page.get_by_role("link", name="Line 2: the variable ?y").click()
    assert page.url.endswith("#L2")


@pytest.mark.exhaustive
def test_a_description_that_does_not_fit_good_rules_is_shown_beside_them(open_page: OpenPage) -> None:
    game = find_game("nim")
    page = open_page("/validate")
    page.get_by_role("textbox", name="Rules").fill(game.text())
    about = game.metadata_path.read_text("utf-8").replace("(heap ", "(heep ")
    page.get_by_role("textbox", name="Description of the game").fill(about)
    page.get_by_role("button", name="Check these rules").click()
    expect(page.get_by_role("heading", name="The description does not fit the rules")).to_be_visible()
    expect(page.locator(".problems .warning")).to_contain_text(
        ", warning: board.heaps.fluent: no fluent of the rules is called heep; did you mean heap?"
    )


@pytest.mark.exhaustive
def test_a_players_name_has_as_much_room_on_a_phone_as_its_owner(open_page: OpenPage, site: LiveSite) -> None:
    row = PlayerRow("n" * 64, SeatKind.DIAL_IN, "Maximiliane Alexandra Müller-Lüdenscheidt-Hohenzollern", 0)
    site.ask(lambda: site.manager.players.put(row))
    page = open_page("/players", **PHONE)
    name, owner = (page.locator(f".folds tbody td:nth-child({n})").first.bounding_box() for n in (1, 2))
    assert name is not None
    assert owner is not None
    assert name["width"] >= owner["width"]
    assert no_wider_than_the_screen(page)


@pytest.mark.exhaustive
def test_sections_of_a_games_page_stand_apart(open_page: OpenPage) -> None:
    page = open_page("/games/tictactoe")
    above, below = (page.locator(one).bounding_box() for one in (".split", ".split + section"))
    assert above is not None
    assert below is not None
    assert below["y"] - above["y"] - above["height"] >= 24


@pytest.mark.exhaustive
def test_the_page_shows_that_a_check_runs(open_page: OpenPage) -> None:
    page = open_page("/validate")
    page.evaluate("document.querySelector('[data-rules-form]').addEventListener('submit', e => e.preventDefault())")
    page.get_by_role("button", name="Check these rules").click()
    expect(page.get_by_role("status")).to_contain_text("Checking for")
    expect(page.get_by_role("button", name="Check these rules")).to_be_disabled()


@pytest.mark.exhaustive
def test_a_file_that_is_no_text_is_refused_with_what_to_do(open_page: OpenPage, tmp_path: Path) -> None:
    (tmp_path / "wrong.kif").write_bytes(b"\xff\xfe(role x)\x00")
    page = open_page("/validate", expected="400 (Bad Request)")
    page.get_by_role("textbox", name="Description of the game").fill('title = "Mine"')
    page.get_by_label("or a file").set_input_files(tmp_path / "wrong.kif")
    page.get_by_role("button", name="Check these rules").click()
    expect(page.get_by_role("alert")).to_contain_text("The file of the rules is no text in UTF-8. Save it as text")


@pytest.mark.exhaustive
def test_good_rules_become_a_game_that_can_be_played(open_page: OpenPage) -> None:
    page = open_page("/validate")
    rules = find_game("nim").read().source.text.replace("; ", "; our own ", 1)
    page.get_by_role("textbox", name="Rules").fill(rules)
    page.get_by_role("button", name="Check these rules").click()
    expect(page.get_by_role("heading", name="These rules are fit to play")).to_be_visible()
    page.get_by_label("Keep it as a game called").fill("our-nim")
    page.get_by_role("button", name="Keep this game").click()
    page.wait_for_url("**/games/our-nim")
    expect(page.locator(".verdict")).to_have_text("Fit to play")
    expect(page.locator(".listing .k").first).to_have_text("role")
    page.get_by_role("main").get_by_role("link", name="Start a match").click()
    expect(page.get_by_label("Who plays left?")).to_be_visible()


def test_what_is_worked_out_later_comes_to_the_page_and_leaves_its_forms_alone(open_page: OpenPage) -> None:
    page = open_page("/games/chess")
    expect(page.locator("figcaption")).to_have_text("First position")
    early = page.content().replace("First position", "Being worked out")
    again = '<meta name="refresh-s" content="1"><script type="module" src="/static/refresh.js"></script></head>'
    page.route("**/games/chess", lambda route: route.fulfill(body=early.replace("</head>", again)), times=1)
    page.reload()
    expect(page.locator("figcaption")).to_have_text("Being worked out")
    page.evaluate("window.isSamePage = true")
    page.get_by_label("Against").select_option("random")
    expect(page.locator("figcaption")).to_have_text("First position")
    expect(page.get_by_label("Against")).to_have_value("random")
    assert page.evaluate("window.isSamePage && document.querySelector('meta[name=refresh-s]') === null")


@pytest.mark.exhaustive
def test_a_part_that_comes_or_goes_leaves_the_forms_of_others_alone(open_page: OpenPage) -> None:
    page = open_page("/games/chess")
    expect(page.locator("figcaption")).to_have_text("First position")
    matches = '<section aria-labelledby="matches-title">'
    early = page.content().replace(matches, f'<p class="early">Being worked out</p>{matches}')
    again = '<meta name="refresh-s" content="1"><script type="module" src="/static/refresh.js"></script></head>'
    page.route("**/games/chess", lambda route: route.fulfill(body=early.replace("</head>", again)), times=1)
    page.reload()
    page.get_by_label("Against").select_option("random")
    expect(page.locator(".early")).to_have_count(0)
    assert page.get_by_label("Against").input_value() == "random"


def test_a_button_that_is_pushed_twice_orders_one_match(open_page: OpenPage) -> None:
    push_twice = """button => {
        const sent = [];
        addEventListener("submit", (event) => sent.push(!event.defaultPrevented));
        for (const _ of [1, 2]) button.click();
        return sent;
    }"""
    page = open_page("/start?game=tictactoe")
    assert page.get_by_role("button", name="Start this match").evaluate(push_twice) == [True, False]
    page.wait_for_url("**/matches/*")


@pytest.mark.exhaustive
def test_a_player_is_registered_paused_and_forgotten(open_page: OpenPage) -> None:
    page = open_page("/players")
    page.get_by_label("Name").fill("Ann.1")
    page.get_by_role("button", name="Register this player").click()
    page.wait_for_url("**/players/Ann.1")
    expect(page.locator(".page-head .status")).to_have_text("not connected")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".page-head .status")).to_have_text("paused")
    page.get_by_role("button", name="Let it play again").click()
    page.get_by_role("button", name="Forget it").click()
    page.wait_for_url("**/players/Ann.1/forget?")
    page.get_by_role("button", name="Forget it").click()
    page.wait_for_url("**/players")
    expect(page.get_by_role("main")).not_to_contain_text("Ann.1")


@pytest.mark.exhaustive
def test_live_matches_come_to_the_first_page_by_themselves(open_page: OpenPage, site: LiveSite) -> None:
    page = open_page("/")
    match_id = site.order(game="nim", players={"left": "human"})
    site.ask(lambda: site.manager.note_arrival(match_id, "left"))
    link = page.locator(f"#live a[href='/matches/{match_id}']")
    expect(link).to_be_visible()
    site.ask(lambda: site.manager.abort(match_id, "enough"))
    expect(link).to_have_count(0)


PAGES = ["/", "/matches", "/matches/{id}", "/queue", "/games", "/games/breakthrough", "/games/zion", "/players",
         "/players/legal", "/start", "/validate", "/api/v1/docs"]  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.usefixtures("finished")
def test_a_table_that_scrolls_breaks_no_name_on_a_phone(open_page: OpenPage) -> None:
    page = open_page("/players/legal", **PHONE)
    name = page.locator(".table-frame .table:not(.folds) tbody a").first
    while not name.count():  # what the table tells is worked out in the background
        page.reload()
    assert name.evaluate("element => element.getClientRects().length") == 1


@pytest.mark.exhaustive
def test_a_token_can_be_revoked_without_scrolling_whatever_names_are_like(chromium: Browser, tmp_path: Path) -> None:
    with live_site(tmp_path, AccessSettings(is_loopback=False)) as site:
        token = site.ask(lambda: site.access.issuing.issue("root", Role.ADMIN)).text
        name = "Bartholomew Wolfeschlegelsteinhausenbergerdorff the Third"
        site.ask(lambda: site.access.issuing.issue(name, Role.PLAYER, days=120, note="group 1"))
        context = chromium.new_context(
            viewport={"width": 1280, "height": 900}, extra_http_headers={"Authorization": f"Bearer {token}"}
        )
        page = context.new_page()
        page.goto(f"{site.url}/admin")
        expect(page.get_by_role("button", name=f"Revoke the token of {name}")).to_be_visible()
        widths = page.evaluate(
            "(({scrollWidth, clientWidth}) => [scrollWidth, clientWidth])(document.querySelector('.table-frame'))"
        )
        assert widths[0] <= widths[1]
        context.close()


@pytest.mark.exhaustive
def test_the_filters_of_games_end_with_their_button_in_the_second_row(open_page: OpenPage) -> None:
    page = open_page("/games", viewport={"width": 1280, "height": 800})
    kinds, button = page.locator(".filters .kinds").bounding_box(), page.locator(".filters button").bounding_box()
    assert kinds is not None
    assert button is not None
    assert kinds["y"] <= button["y"] < kinds["y"] + kinds["height"]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", PAGES)
def test_every_page_fits_a_phone_in_the_dark(open_page: OpenPage, finished: MatchRow, path: str) -> None:
    page = open_page(path.format(id=finished.id), color_scheme="dark", **PHONE)
    assert no_wider_than_the_screen(page)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, background.removeprefix("rgb(").removesuffix(")").split(", "))) < 50


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", PAGES)
def test_text_stands_out_from_what_is_behind_it(open_page: OpenPage, finished: MatchRow, path: str) -> None:
    page = open_page(path.format(id=finished.id))
    shown = [selector for selector in ("body", "h1", "main a", ".quiet", ".button", ".status", ".listing .c1",
             ".listing .k", ".listing .o", ".listing .nv", ".listing .mi", ".took", ".hint", "footer p")
             if page.locator(selector).count()]  # fmt: skip
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert [selector for selector in shown if contrast_of(page, selector) < 4.5] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_landmarks_one_heading_and_names_for_its_controls(
    open_page: OpenPage, finished: MatchRow, path: str
) -> None:
    page = open_page(path.format(id=finished.id))
    counts = {name: page.locator(name).count() for name in ("header", "nav[aria-label=Main]", "main", "footer", "h1")}
    assert counts == dict.fromkeys(counts, 1)
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("a, button, input:not([type=hidden]), select, textarea")]
            .filter((e) => e.checkVisibility() && !(e.labels?.length || e.ariaLabel || e.textContent.trim()))
            .map((e) => e.outerHTML)"""
    )
    assert unnamed == []


def test_keys_reach_the_content_first_and_show_where_they_are(open_page: OpenPage) -> None:
    page = open_page("/games")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Add a game")).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.exhaustive
def test_hostile_rules_stay_text_in_a_browser(open_page: OpenPage, site: LiveSite) -> None:
    page = open_page("/validate")
    page.get_by_role("textbox", name="Rules").fill(HOSTILE)
    page.get_by_role("button", name="Check these rules").click()
    expect(page.get_by_role("heading", name="These rules are fit to play")).to_be_visible()
    page.get_by_label("Keep it as a game called").fill("odd")
    page.get_by_role("button", name="Keep this game").click()
    page.wait_for_url("**/games/odd")
    version = site.ask(lambda: site.manager.games.find("odd"))
    assert version is not None
    row = site.over(site.order(game="odd", players=dict.fromkeys(version.roles, "legal")))
    page.goto(f"/matches/{row.id}")
    expect(page.locator("#seats")).to_contain_text("<b>x</b>")
    page.keyboard.press("Home")
    expect(page.locator("#position figcaption")).to_contain_text("Step 0 of")
    assert page.locator("main img, main script, main b, #seats b").count() == 0
