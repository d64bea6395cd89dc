"""The pages as the server sends them: whole, safe whatever names there are, and silent about what is hidden."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from aiohttp import FormData

from gdl.games.library import find_game
from server.access.settings import AccessSettings
from server.hosting.game_manager import GameManager
from server.hosting.order import MatchRequest
from server.hosting.settings import GameManagerSettings
from server.hosting.uploads import Upload, keep_game
from server.match.exchange import Message
from server.principal import Role
from server.records.entries import SentEntry, StateEntry
from server.storage.rows import MatchRow, MatchStatus, PlayerRow, SeatKind
from server.validating.checker import Checker
from tests.kit.polling import until
from tests.kit.server.api.whole_server import Client, manager_of, whole_server
from tests.kit.server.storage.samples import keep
from tests.kit.server.web.fetching import page_at, words_of
from tests.kit.server.web.markup import Page
from tests.kit.server.web.matches import ordered, over

DAY_MS = 86_400_000

HOSTILE = Path(__file__).parents[3] / "kit/server/web/hostile.kif"
HOSTILE_PLAYER = "<img src=x onerror=alert(5)>"
ELEMENTS_OF_OURS = {"script": 1, "img": 1}


async def asked(manager: GameManager, match_id: str) -> None:
    """Let everybody come, and wait until a person is asked for a move."""
    for seat in (await manager.matches.seats([match_id]))[match_id]:
        await manager.note_arrival(match_id, seat.role)

    async def is_asked() -> bool:
        entries = await manager.journals.entries(match_id)
        return any(isinstance(entry, SentEntry) and entry.message is Message.PLAY for entry in entries)

    await until(is_asked)


async def reached(manager: GameManager, match_id: str, step: int) -> None:
    async def is_reached() -> bool:
        entries = await manager.journals.entries(match_id)
        return any(isinstance(entry, StateEntry) and entry.step == step for entry in entries)

    await until(is_reached)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "path",
    ["/", "/parts/live", "/matches", "/matches?status=running", "/matches?player=nobody", "/queue", "/games",
     "/games/tictactoe", "/games/zion", "/players", "/players/mcts", "/start", "/start?game=kuhnpoker", "/validate"],
)  # fmt: skip
async def test_every_page_is_there_when_nothing_was_played(client: Client, path: str) -> None:
    await page_at(client, path)


async def test_an_empty_list_of_matches_says_whether_there_are_none_at_all(client: Client) -> None:
    none_yet, none_such = [await page_at(client, path) for path in ("/matches", "/matches?status=running")]
    assert "No match was ordered yet. Start one." in words_of(none_yet)
    assert "There are no such matches." in words_of(none_such)


async def test_a_field_that_refuses_what_was_typed_says_what_it_takes(client: Client) -> None:
    for path in ("/start", "/start/tournament", "/players", "/admin"):
        async with client.get(path) as answer:
            fields = re.findall(r"<input [^>]*pattern=[^>]*>", await answer.text())
        assert [field for field in fields if ' title="' not in field] == []
        assert fields, path


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("path", "status", "told"),
    [
        ("/nothing", 404, "There is nothing here"),
        ("/matches/nothing", 404, "no match 'nothing'"),
        ("/matches?before=nothing", 404, "no match 'nothing'"),
        ("/matches/a%00b", 404, "There is nothing here"),
        ("/games/nothing", 404, "there is no game called 'nothing'"),
        ("/players/nothing", 404, "there is no player called 'nothing'"),
        ("/matches/nothing/play/x", 404, "no match 'nothing'"),
        ("/static/nothing.js", 404, "There is nothing here"),
        ("/games/%3Cscript%3E", 404, "there is no game called '<script>'"),
    ],
)
async def test_a_page_says_what_is_not_there(client: Client, path: str, status: int, told: str) -> None:
    assert told in (await page_at(client, path, status)).text


async def test_what_a_summary_has_between_backticks_is_set_as_code(client: Client) -> None:
    async with client.get("/games/chess") as answer:
        lead = (await answer.text()).partition('<p class="lead">')[2].partition("</p>")[0]
    assert ("<code>" in lead, "`" in lead) == (True, False)


async def test_static_files_are_kept_for_long_under_the_address_of_their_content(client: Client) -> None:
    async with client.get("/") as answer:
        text = await answer.text()
    address = text.partition('rel="stylesheet" href="')[2].partition('"')[0]
    for path, expected in ((address, "public, max-age=31536000, immutable"), (address.partition("?")[0], "no-cache")):
        async with client.get(path) as answer:
            assert (answer.status, answer.content_type) == (200, "text/css")
            assert answer.headers["Cache-Control"] == expected


async def test_a_match_is_shown_at_each_step_without_any_script(client: Client) -> None:
    manager = manager_of(client)
    match_id = (await ordered(manager, game="tictactoe", players={"x": "legal", "o": "legal"}, seed=1)).row.id
    n_steps = (await over(manager, match_id)).n_steps
    first, last = await page_at(client, f"/matches/{match_id}?step=0"), await page_at(client, f"/matches/{match_id}")
    assert "Step 0 of" in first.text
    assert f"Step {n_steps} of {n_steps}" in " ".join(last.text.split())
    assert f"?step={n_steps - 1}" in last.links
    assert "x to move" in first.text
    assert "(mark 1 1)" in last.text
    assert "completed" in last.text
    await page_at(client, f"/matches/{match_id}?step=999999")
    await page_at(client, f"/matches/{match_id}?step=x&as=y")
    await page_at(client, "/")
    await page_at(client, "/players/legal")
    await page_at(client, "/games/tictactoe")


@pytest.mark.exhaustive
async def test_what_players_thought_is_shown_step_by_step_after_the_end(client: Client) -> None:
    manager = manager_of(client)
    players = {"x": "mcts:playouts=20", "o": "legal"}
    match_id = (await ordered(manager, game="tictactoe", players=players, seed=1)).row.id
    await over(manager, match_id)
    first, second = [await page_at(client, f"/matches/{match_id}?step={step}") for step in (0, 1)]
    assert "The goal that each expected" in first.text
    assert "Step on to read what they thought before each move." in first.text
    assert "Before the move of step 1, as the players tell it" in second.text
    silent = (await ordered(manager, game="tictactoe", players={"x": "legal", "o": "legal"}, seed=1)).row.id
    await over(manager, silent)
    assert "The goal that each expected" not in (await page_at(client, f"/matches/{silent}")).text


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_live", [True, False])
async def test_what_players_think_is_shown_live_where_the_host_wants_it(tmp_path: Path, is_live: bool) -> None:
    async with whole_server(tmp_path, GameManagerSettings(live_insight=is_live)) as (client, _):
        manager = manager_of(client)
        players = {"x": "mcts:playouts=20", "o": "human"}
        match = await ordered(manager, game="tictactoe", players=players, seed=1)
        await asked(manager, match.row.id)
        await reached(manager, match.row.id, 1)
        shown = await page_at(client, f"/matches/{match.row.id}")
        assert ("Before the move of step 1, as the players tell it" in shown.text) is is_live
        async with client.get(f"/api/v1/matches/{match.row.id}") as answer:
            assert ("x-insights" in await answer.json()) is is_live


async def test_nothing_that_a_user_wrote_becomes_an_element(client: Client) -> None:
    manager, rules = manager_of(client), HOSTILE.read_text()
    version = await keep_game(manager.games, Checker(), Upload("odd", rules, "<u>ann</u>", about=None))
    players = dict.fromkeys(version.roles, "legal")
    match = await ordered(manager, game="odd", players=players, tournament="<h1>cup</h1>")
    row = await over(manager, match.row.id)
    assert row.status == "completed"
    for path in ("/", "/games", "/games/odd", "/matches", f"/matches/{row.id}", f"/matches/{row.id}?step=1",
                 "/start?game=odd", "/matches?tournament=%3Ch1%3Ecup%3C/h1%3E&player=%3Cb%3E"):  # fmt: skip
        found = await page_at(client, path)
        counts = {name: found.counts.get(name, 0) for name in ("b", "u", "i", "iframe")}
        assert counts == {"b": 0, "u": 0, "i": 0, "iframe": 0}, path
        assert [source for source in found.pictures if not source.startswith(("/static/", "/games/"))] == [], path
        assert [source for source in found.scripts if not source.startswith("/static/")] == [], path
        assert found.counts["h1"] == 1
    assert "<b>x</b>" in (await page_at(client, f"/matches/{row.id}")).text


@pytest.mark.exhaustive
async def test_names_of_players_are_text(client: Client) -> None:
    manager = manager_of(client)
    row = (await ordered(manager, game="nim", players={"left": "legal"})).row
    seats = (await manager.matches.seats([row.id]))[row.id]
    await over(manager, row.id)
    copied = {name: getattr(row, name) for name in MatchRow.__slots__} | {"id": "odd", "status": MatchStatus.RUNNING}
    odd = [type(seat)("odd", seat.role, seat.position, HOSTILE_PLAYER, SeatKind.HTTP) for seat in seats]
    await keep(manager.matches, MatchRow(**copied), odd)
    for path in ("/", "/matches", "/matches/odd", f"/players/{HOSTILE_PLAYER.replace(' ', '%20')}"):
        found = await page_at(client, path)
        assert found.counts["img"] == 1
        assert HOSTILE_PLAYER in found.text


async def test_viewers_see_nothing_hidden_before_the_end(client: Client) -> None:
    manager = manager_of(client)
    match = await ordered(manager, game="kuhnpoker", players={"alice": "human", "bob": "human"}, seed=123456789)
    await asked(manager, match.row.id)
    for path in ("/", "/matches", f"/matches/{match.row.id}", f"/matches/{match.row.id}?step=0&as=alice",
                 f"/matches/{match.row.id}/parts?step=1&as=bob", "/games/kuhnpoker"):  # fmt: skip
        found = await page_at(client, path)
        assert "(deal" not in found.text.partition("Rules")[0]
        assert "123456789" not in found.text
        assert "svg" not in {name for name in found.counts if path.startswith("/matches/match")} - {"svg"}
    shown = await page_at(client, f"/matches/{match.row.id}")
    assert "Not everybody may know everything here" in shown.text
    await manager.abort(match.row.id, "enough")
    await over(manager, match.row.id)
    assert "As alice saw it" in (await page_at(client, f"/matches/{match.row.id}")).text


@pytest.mark.exhaustive
async def test_a_scrambled_match_does_not_tell_its_game_before_the_end(client: Client) -> None:
    manager = manager_of(client)
    match = await ordered(manager, game="nim", players={"left": "human"}, scramble=True)
    await asked(manager, match.row.id)
    for path in ("/matches", f"/matches/{match.row.id}", f"/matches/{match.row.id}?step=0", "/parts/live"):
        text = (await page_at(client, path)).text
        assert "Scrambled game" in text
        assert "Nim" not in text
        assert "(take" not in text
    assert match.row.id not in str((await page_at(client, "/matches?game=nim")).links)
    assert match.row.id not in str((await page_at(client, "/games/nim")).links)
    await manager.abort(match.row.id, "enough")
    await over(manager, match.row.id)
    assert "Nim" in (await page_at(client, f"/matches/{match.row.id}")).text


@pytest.mark.exhaustive
async def test_chance_that_everybody_sees_is_shown_live(client: Client) -> None:
    manager = manager_of(client)
    match = await ordered(manager, game="zionsmall", players={"player": "human"})
    await asked(manager, match.row.id)
    shown = await page_at(client, f"/matches/{match.row.id}")
    assert "Not everybody may know everything here" not in shown.text
    assert "first position" in shown.text
    assert shown.counts["svg"] > 4  # those of the buttons that go from step to step, and the board
    async with client.get(f"/api/v1/matches/{match.row.id}/states/0") as answer:
        assert "(phase act)" in (await answer.json())["facts"]


async def test_a_delayed_broadcast_says_so(client: Client) -> None:
    manager = manager_of(client)
    match = await ordered(manager, game="nim", players={"left": "human"}, broadcastDelay="end")
    await asked(manager, match.row.id)
    shown = await page_at(client, f"/matches/{match.row.id}")
    assert "This match is broadcast after its end." in shown.text
    assert "No move yet." in shown.text
    await manager.abort(match.row.id, "enough")
    await over(manager, match.row.id)
    assert "broadcast after its end" not in (await page_at(client, f"/matches/{match.row.id}")).text


async def test_passers_by_do_not_see_who_ordered_a_match(tmp_path: Path) -> None:
    public = AccessSettings(is_loopback=False, is_public=True)
    async with whole_server(tmp_path, access=public) as (client, access):
        await access.issuing.issue("root", Role.ADMIN)
        row = (await ordered(manager_of(client), game="tictactoe", players={"x": "human"})).row
        token = (await access.issuing.issue("bea", Role.SPECTATOR)).text
        found = []
        for headers in ({}, {"Authorization": f"Bearer {token}"}):
            async with client.get(f"/matches/{row.id}", headers=headers) as answer:
                found.append((answer.status, "<bdi>ann</bdi>" in await answer.text()))
    assert found == [(200, False), (200, True)]


async def test_older_matches_are_a_page_further(client: Client) -> None:
    manager = manager_of(client)
    row = (await ordered(manager, game="nim", players={"left": "human"})).row
    values = {name: getattr(row, name) for name in MatchRow.__slots__}
    for n in range(60):
        copied = MatchRow(**values | {"id": f"old.{n:02}", "created_ms": n, "status": "aborted"})
        await keep(manager.matches, copied, ())
    first = await page_at(client, "/matches?status=aborted")
    (older,) = (link for link in first.links if "before=" in link)
    second = await page_at(client, older)
    seen = [link for link in first.links + second.links if link.startswith("/matches/old.")]
    assert seen == [f"/matches/old.{n:02}" for n in reversed(range(60))]
    assert not [link for link in second.links if "before=" in link]
    assert "aborted" in (await page_at(client, "/matches/old.00")).text


async def test_recent_matches_go_by_their_end_and_other_lists_by_their_order_as_the_last_column_says(
    client: Client,
) -> None:
    manager = manager_of(client)
    row = (await ordered(manager, game="nim", players={"left": "human"})).row
    values = {name: getattr(row, name) for name in MatchRow.__slots__} | {"status": "aborted"}
    for created, ended in ((9, 2), (8, 4), (7, 3)):
        times = {"created_ms": row.created_ms - created * DAY_MS, "ended_ms": row.created_ms - ended * DAY_MS}
        await keep(manager.matches, MatchRow(**values | {"id": f"made.{created}"} | times), ())
    home, matches = await page_at(client, "/"), await page_at(client, "/matches?status=aborted")

    def listed(page: Page, column: str) -> tuple[list[str], list[str]]:
        table = words_of(page).partition(f"Steps{column}")[2]
        return re.findall(r"\d+ days ago", table), [
            link.removeprefix("/matches/") for link in page.links if link.startswith("/matches/made.")
        ]

    assert listed(home, "Ended") == (["2 days ago", "3 days ago", "4 days ago"], ["made.9", "made.7", "made.8"])
    assert listed(matches, "Ordered") == (["7 days ago", "8 days ago", "9 days ago"], ["made.7", "made.8", "made.9"])


async def test_the_rules_of_the_library_are_listed_with_line_numbers(client: Client) -> None:
    found = await page_at(client, "/games/nim")
    n_lines = find_game("nim").read().source.text.count("\n") + 1
    assert {f"L{n}" for n in range(1, n_lines + 1)} <= found.ids


async def test_who_ordered_a_match_is_hidden_from_passers_by_on_its_page_and_in_the_queue(tmp_path: Path) -> None:
    settings = AccessSettings(is_loopback=False, is_public=True)
    async with whole_server(tmp_path, access=settings) as (client, access):
        await access.issuing.issue("admin", Role.ADMIN)
        token = (await access.issuing.issue("bob", Role.SPECTATOR)).text
        await manager_of(client).players.put(PlayerRow("absent", SeatKind.DIAL_IN, "zoe", 0))
        text = MatchRequest.model_validate({"game": "tictactoe", "players": {"x": "absent", "o": "legal"}})
        row = (await manager_of(client).order(text, "zoe")).row
        names = []
        for headers in ({}, {"Authorization": f"Bearer {token}"}):
            texts = [
                await (await client.get(path, headers=headers)).text() for path in ("/queue", f"/matches/{row.id}")
            ]
            names.append([f"/matches/{row.id}" in text and "zoe" in text for text in texts])
    assert names == [[False, False], [True, True]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("field", "content", "problem"),
    [
        ("file", b"\xff", "The file of the rules is no text in UTF-8. Save it as text and choose it again."),
        (
            "about-file",
            b"\xff",
            "The file of the description is no text in UTF-8. Save it as text and choose it again.",
        ),
        ("file", b" ", "There are no rules yet. Paste them into the field, or choose a file."),
        ("file", b"; " * 250_001, "These rules are too long: at most 500,000 characters are checked."),
    ],
)
async def test_what_was_typed_stays_when_a_chosen_file_cannot_be_used(
    client: Client, field: str, content: bytes, problem: str
) -> None:
    async with client.get("/validate") as answer:
        token = (await answer.text()).partition('name="csrf_token" value="')[2].partition('"')[0]
    form = FormData({"csrf_token": token, "rules": "(role x)", "about": 'title = "Mine"'})
    form.add_field(field, content, filename="mine.kif")
    async with client.post("/validate", data=form) as answer:
        text = unescape(await answer.text())
    assert (answer.status, re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", text)) == (
        400, ["(role x)", 'title = "Mine"'],
    )  # fmt: skip
    assert problem in text
