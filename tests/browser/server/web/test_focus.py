"""What has the focus keeps it while pages change by themselves, and hidden pages ask for nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.kit.server.web.fixtures import OpenPage, see
from tests.kit.server.web.live_site import LiveSite


def mark(place: Locator) -> None:
    """Give *place* the focus, and a mark by which the same node is known again."""
    place.focus()
    place.evaluate("one => { one.isOld = true; }")


def is_new_and_focused(place: Locator) -> bool:
    """Return whether *place* has the focus and is another node than the one with the mark."""
    return bool(place.evaluate("one => one === document.activeElement && !one.isOld"))


def move(seat: Page, cell: str) -> None:
    seat.locator(f"#seat [data-cell='{cell}']").click()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("selector", ["#seats li[data-seat='1'] a", "#moves [data-step-link='1']"])
def test_a_link_of_a_live_match_keeps_the_focus(open_page: OpenPage, site: LiveSite, selector: str) -> None:
    match_id = site.order(game="tictactoe", players={"x": "human", "o": "legal"})
    seat, watching = open_page(f"/matches/{match_id}/play/x"), open_page(f"/matches/{match_id}")
    move(seat, "0,0")
    expect(watching.locator("#position")).to_have_attribute("data-step", "2")
    mark(watching.locator(selector))
    move(seat, "1,1")
    expect(watching.locator("#position")).to_have_attribute("data-step", "4")
    assert is_new_and_focused(watching.locator(selector))


@pytest.mark.exhaustive
def test_of_two_links_to_the_same_player_the_one_with_the_focus_keeps_it(open_page: OpenPage, site: LiveSite) -> None:
    match_id = site.order(game="tictactoe", players={"x": "human", "o": "human"})
    watching = open_page(f"/matches/{match_id}")
    link = watching.locator("#seats li[data-seat='1'] a")
    mark(link)
    site.ask(lambda: site.manager.note_arrival(match_id, "x"))
    site.ask(lambda: site.manager.note_arrival(match_id, "o"))
    expect(watching.locator("#position")).to_have_attribute("data-status", "running")
    assert is_new_and_focused(link)


def test_a_live_match_of_the_first_page_keeps_the_focus_while_others_come(open_page: OpenPage, site: LiveSite) -> None:
    page = open_page("/")
    first, second = (site.order(game="nim", players={"left": "human"}) for _ in range(2))
    links = [page.locator(f"#live a[href='/matches/{match_id}']").first for match_id in (first, second)]
    site.ask(lambda: site.manager.note_arrival(first, "left"))
    expect(links[0]).to_be_visible()
    mark(links[0])
    site.ask(lambda: site.manager.note_arrival(second, "left"))
    expect(links[1]).to_be_visible()
    assert is_new_and_focused(links[0])


@pytest.mark.exhaustive
def test_the_choice_of_a_game_keeps_the_focus(open_page: OpenPage) -> None:
    page = open_page("/start?game=tictactoe")
    choice = page.get_by_label("Game", exact=True)
    choice.focus()
    choice.select_option("breakthrough")
    page.wait_for_url("**/start?game=breakthrough")
    expect(page.get_by_label("Who plays white?")).to_be_visible()
    expect(choice).to_be_focused()
    page.get_by_role("button", name="Start this match").click()
    page.wait_for_url("**/matches/*")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Breakthrough")


def test_a_hidden_page_asks_for_what_is_worked_out_once_it_is_seen(open_page: OpenPage) -> None:
    page, asked = open_page("/games/chess"), list[str]()
    expect(page.locator("figcaption")).to_have_text("First position")
    early = page.content().replace("First position", "Being worked out")
    again = '<meta name="refresh-s" content="0.1"><script type="module" src="/static/refresh.js"></script></head>'
    page.route("**/games/chess", lambda route: route.fulfill(body=early.replace("</head>", again)), times=1)
    page.add_init_script("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    page.clock.install()
    page.reload()
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(10_000)
    expect(page.locator("figcaption")).to_have_text("Being worked out")
    n_asked = len(asked)
    see(page, is_hidden=False)
    expect(page.locator("figcaption")).to_have_text("First position")
    assert n_asked == 0


@pytest.mark.exhaustive
def test_what_is_unfolded_of_a_state_stays_open_and_focused_from_step_to_step(
    open_page: OpenPage, site: LiveSite
) -> None:
    match = site.over(site.order(game="quarto", players={"first": "legal", "second": "legal"}, seed=1))
    page = open_page(f"/matches/{match.id}?step=3")
    more = page.locator("#position details.more")
    more.locator("summary").click()
    mark(more.locator("summary"))
    page.keyboard.press("ArrowRight")
    expect(page.locator("#position")).to_have_attribute("data-step", "4")
    expect(more).to_have_attribute("open", "")
    assert is_new_and_focused(more.locator("summary"))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("selector", ["#slider", "#speed", "[data-replay=flip]", "#seats li[data-seat='1'] a"])
def test_what_has_the_focus_when_a_match_ends_keeps_it(open_page: OpenPage, site: LiveSite, selector: str) -> None:
    match_id = site.order(game="tictactoe", players={"x": "human", "o": "legal"})
    seat, watching = open_page(f"/matches/{match_id}/play/x"), open_page(f"/matches/{match_id}")
    for step, cell in enumerate(("0,0", "1,1")):
        move(seat, cell)
        expect(watching.locator("#position")).to_have_attribute("data-step", str(2 * step + 2))
    mark(watching.locator(selector))
    move(seat, "2,2")
    expect(watching.locator("[data-match]")).to_have_attribute("data-live", "no")
    assert is_new_and_focused(watching.locator(selector))


def test_what_is_replaced_with_more_before_it_keeps_the_focus(open_page: OpenPage) -> None:
    page = open_page("/games")
    found = page.evaluate(
        """async () => {
            const { replace } = await import("/static/parts.js");
            const rounds = (...ids) => {
                const part = document.createElement("section");
                part.innerHTML = ids.map((id) => `<details id="${id}"><summary>${id}</summary></details>`).join("");
                return part;
            };
            const old = rounds("round-2", "round-1");
            document.body.append(old);
            old.querySelector("#round-1 summary").focus();
            replace(old, rounds("round-3", "round-2", "round-1"));
            return document.activeElement.textContent;
        }"""
    )
    assert found == "round-1"


@pytest.mark.exhaustive
def test_a_match_that_waits_tells_nothing_again_and_again(open_page: OpenPage, site: LiveSite) -> None:
    match_id = site.order(game="tictactoe", players={"x": "human", "o": "human"})
    page = open_page("/")
    page.clock.install()
    page.goto(f"/matches/{match_id}")
    page.evaluate(
        """() => {
            window.nTold = 0;
            const told = document.getElementById("announcement");
            new MutationObserver((changes) => { window.nTold += changes.length; }).observe(told, { childList: true });
        }"""
    )
    for _ in range(3):
        with page.expect_response("**/parts?**"):
            page.clock.run_for(3_000)
    expect(page.locator("#announcement")).to_have_text("Step 0 \u00b7 first position")
    assert page.evaluate("window.nTold") == 1
