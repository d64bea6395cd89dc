"""Leaderboards, two players head to head, and what a game's and a player's page say of ratings."""

from __future__ import annotations

from threading import get_ident
from types import ModuleType

import pytest

from server.leaderboards import cache
from server.storage import results
from tests.kit.polling import until
from tests.kit.server.api.tournaments import command_cup, played_cup
from tests.kit.server.api.whole_server import Client
from tests.kit.server.web.fetching import page_at, words_of
from tests.kit.server.web.markup import Page


async def worked_out(client: Client, path: str, part: str = "", told: str = "") -> Page:
    """Return the page once it has the part *part* and tells *told*, which may be worked out in the background."""

    async def looked_at() -> Page | None:
        page = await page_at(client, path)
        return page if (not part or part in page.ids) and told in words_of(page) else None

    return await until(looked_at)


async def test_without_matches_there_are_no_ratings(client: Client) -> None:
    for path in ("/leaderboards", "/leaderboards/tictactoe"):
        await worked_out(client, path, told="No match between programs is over yet")
    assert "no game called 'nothing'" in words_of(await page_at(client, "/leaderboards/nothing", 404))
    assert "have not met" in words_of(await page_at(client, "/players/mcts/against/legal", 404))


@pytest.mark.exhaustive
async def test_players_are_rated_over_all_games_and_in_each(client: Client) -> None:
    found = await played_cup(client, players=["greedy", "random", "legal"], rounds=2)
    n_matches = len(found["matches"])
    for path in ("/leaderboards", "/leaderboards/tictactoe"):
        page = await worked_out(client, path, "board-title")
        assert {"history-title"} <= page.ids
        assert {"/players/greedy", "/players/random", "/players/legal", "/leaderboards/tictactoe"} <= set(page.links)
        assert f"{n_matches} matches" in words_of(page)
    game = await worked_out(client, "/games/tictactoe", "balance-title")
    assert "What a role is worth, in Elo x" in words_of(game)
    player = await worked_out(client, "/players/greedy", "strength-title")
    assert "/players/greedy/against/random" in player.links


async def test_games_are_called_by_their_titles_where_players_are_rated(client: Client) -> None:
    await played_cup(client, players=["greedy", "random"], rounds=1)
    for path, part, told in (
        ("/leaderboards", "board-title", "All games Tic-tac-toe 2"),
        ("/leaderboards/tictactoe", "board-title", "Ratings in Tic-tac-toe"),
        ("/players/greedy", "statistics-title", "By game"),
    ):
        words = words_of(await worked_out(client, path, part, told))
        assert [name in words for name in ("tictactoe", "Tic-tac-toe")] == [False, True]


@pytest.mark.exhaustive
async def test_a_leaderboard_of_many_results_is_worked_out_in_a_process_of_its_own(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played_cup(client, players=["greedy", "random", "legal"], rounds=2)
    here = words_of(await worked_out(client, "/leaderboards/tictactoe", "board-title"))
    monkeypatch.setattr(cache, "_MOST_HERE", 0)
    apart = words_of(await worked_out(client, "/leaderboards", "board-title"))
    table = here[here.index("Elo") :].partition("Curves")[0]
    assert table.split()[:20] == apart[apart.index("Elo") :].split()[:20]


async def test_results_are_made_outside_of_the_event_loop(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: dict[str, set[int]] = {"_results": set(), "by_version": set()}

    def observed(module: ModuleType, name: str) -> None:
        made = getattr(module, name)

        def make(*arguments: object) -> object:
            threads[name].add(get_ident())
            return made(*arguments)

        monkeypatch.setattr(module, name, make)

    observed(results, "_results")
    observed(cache, "by_version")
    await played_cup(client, players=["greedy", "random"], rounds=1)
    await worked_out(client, "/leaderboards/tictactoe", "board-title")
    assert {name: bool(found) and get_ident() not in found for name, found in threads.items()} == {
        "_results": True,
        "by_version": True,
    }


@pytest.mark.exhaustive
async def test_two_players_are_compared_by_their_matches(client: Client) -> None:
    found = await played_cup(client, players=["greedy", "random", "legal"], rounds=2)
    page = await page_at(client, "/players/greedy/against/random")
    words = words_of(page)
    own = [one for one in found["matches"] if set(one["players"]) == {"greedy", "random"}]
    goals = [dict(zip(one["players"], one["goals"], strict=True)) for one in own]
    n_won = sum(each["greedy"] > each["random"] for each in goals)
    n_lost = sum(each["greedy"] < each["random"] for each in goals)
    assert f"{n_won}-{len(own) - n_won - n_lost}-{n_lost}won, drawn, lost" in words
    assert [words.count(f"Tic-tac-toe{role}") for role in "xo"] == [1, 1]
    assert {f"/matches/{one['match']}" for one in own} <= set(page.links)
    assert f"{n_lost}-{len(own) - n_won - n_lost}-{n_won}won, drawn, lost" in words_of(
        await page_at(client, "/players/random/against/greedy")
    )


async def test_annulled_matches_are_not_rated(client: Client) -> None:
    found = await played_cup(client)
    await command_cup(client, f"matches/{found['matches'][0]['match']}/annul", reason="a draught")
    assert "1matches" in words_of(await page_at(client, "/players/legal/against/random"))
