"""Tools for language models: `ggp mcp` as a process, asked by the client of the protocol's own package."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

mcp = pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters  # noqa: E402 -- after importorskip
from mcp.server.mcpserver.exceptions import ToolError  # noqa: E402 -- after importorskip

from gdl.game import Role, State  # noqa: E402 -- after importorskip
from gdl.language.terms import Term  # noqa: E402 -- after importorskip
from players.deadline import Deadline  # noqa: E402 -- after importorskip
from players.player import Player  # noqa: E402 -- after importorskip
from server.model_context.matches import MAX_SEATS, Seats  # noqa: E402 -- after importorskip
from server.model_context.positions import game, games  # noqa: E402 -- after importorskip
from server.model_context.service import _alone, model_context_server  # noqa: E402 -- after importorskip


@asynccontextmanager
async def connected() -> AsyncIterator[Client]:
    parameters = StdioServerParameters(command=sys.executable, args=["-m", "server", "mcp"])
    async with Client(parameters, read_timeout_seconds=120) as client:
        yield client


async def told(client: Client, tool: str, **arguments: Any) -> Any:
    """Return the structured answer of a tool that did not fail."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    return answer.structured_content.get("result", answer.structured_content)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Return the text of the error of a tool."""
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return " ".join(getattr(part, "text", "") for part in answer.content)


@pytest.mark.exhaustive
async def test_every_tool_is_listed_with_what_it_does() -> None:
    async with connected() as client:
        tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == {
        "list_games", "show_game", "validate_rules", "show_position", "begin_match", "make_move",
    }  # fmt: skip
    assert all(tool.description for tool in tools)
    reading = {tool.name for tool in tools if tool.annotations is not None and tool.annotations.read_only_hint}
    assert reading == {"list_games", "show_game", "validate_rules", "show_position"}


@pytest.mark.exhaustive
async def test_games_positions_and_rules_are_shown() -> None:
    async with connected() as client:
        games = {each["game"]: each for each in await told(client, "list_games")}
        shown = await told(client, "show_game", game_name="tictactoe")
        after = await told(client, "show_position", game_name="tictactoe", steps=[["mark 1 1", "noop"]])
        won = [["(mark 1 1)", "noop"], ["noop", "(mark 1 2)"], ["(mark 2 2)", "noop"], ["noop", "(mark 1 3)"],
               ["(MARK 3 3)", "noop"]]  # fmt: skip
        end = await told(client, "show_position", game_name="tictactoe", steps=won)
        wrong = await told(client, "validate_rules", rules="(role x) (<= (legal x ?y) (true z))")
    assert games["tictactoe"]["roles"] == ["x", "o"]
    assert "(role x)" in shown["rules"]
    assert len(shown["position"]["legalMoves"]["x"]) == 9
    assert (after["board"].splitlines()[0], len(after["legalMoves"]["o"])) == ("1 X . .", 8)
    assert (end["isTerminal"], end["goals"]) == (True, {"x": 100, "o": 0})
    assert "gdl/unsafe-variable" in [found["code"] for found in wrong["diagnostics"]]


async def test_a_role_is_played_to_the_end() -> None:
    async with connected() as client:
        seen = await told(client, "begin_match", game_name="tictactoe", role="o", opponent="legal")
        match = seen["match"]
        while not seen["isTerminal"]:
            assert seen["role"] == "o"
            seen = await told(client, "make_move", match=match, move=seen["legalMoves"]["o"][-1])
        over = await refused(client, "make_move", match=match, move="noop")
    assert sum(seen["goals"].values()) == 100
    assert "the match is over" in over


@pytest.mark.exhaustive
async def test_wrong_questions_are_explained() -> None:
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("show_game", {"game_name": "tictacto"}, "no game 'tictacto'; did you mean tictactoe"),
        ("show_game", {"game_name": "rules/tictactoe/tictactoe.kif"}, "no game"),
        ("show_position", {"game_name": "tictactoe", "steps": [["noop", "noop"]]}, "'noop' is no legal move of x"),
        ("show_position", {"game_name": "tictactoe", "steps": [["noop"]]}, "step 1 has 1 move for 2 roles"),
        ("show_position", {"game_name": "tictactoe", "steps": [[]] * 1_001}, "1,001 steps are more than 1,000"),
        ("begin_match", {"game_name": "tictactoe", "role": "z"}, "the roles of tictactoe are x, o, not 'z'"),
        ("begin_match", {"game_name": "tictactoe", "role": "x", "opponent": "rm -rf"}, "opponents are legal, random"),
        ("make_move", {"match": "0", "move": "noop"}, "there is no match '0'"),
    ]
    async with connected() as client:
        answers = [await refused(client, tool, **arguments) for tool, arguments, _ in wrong]
    assert [message for answer, (*_, message) in zip(answers, wrong, strict=True) if message not in answer] == []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of games that `GGP_GAMES` names, with one game, `odd`."""
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "odd.kif").write_text(ODD, encoding="utf-8")
    monkeypatch.setenv("GGP_GAMES", str(tmp_path))
    return tmp_path


ODD = "(role me) (legal me wait) (init start) (<= terminal (not (true start))) (goal me 50)"


async def test_a_file_of_the_folder_that_is_gone_is_told_without_its_place(folder: Path) -> None:
    (folder / "odd" / "odd.kif").unlink()
    (folder / "odd" / "odd.kif").symlink_to(folder / "gone.kif")
    async with Client(model_context_server("1")) as client:
        answer = await refused(client, "show_game", game_name="odd")
    assert answer.endswith("a file of the game cannot be read: No such file or directory")


def test_games_of_the_folder_in_the_environment_are_games_too(folder: Path) -> None:
    assert games()[-1] == {"game": "odd", "title": "odd", "roles": [], "summary": ""}
    (folder / "odd" / "odd.toml").write_text("title = ", encoding="utf-8")
    assert games()[-1] == {"game": "odd", "title": "odd", "roles": [], "summary": ""}
    (folder / "odd" / "odd.toml").unlink()
    assert game("odd")["rules"] == ODD
    assert Seats().begin("odd", "me", "legal")["goals"] == {"me": 50}


def test_a_game_is_shown_as_its_files_are_after_a_change(folder: Path) -> None:
    before = game("odd")["position"]["legalMoves"]
    changed = ODD.replace("wait", "stay")
    (folder / "odd" / "odd.kif").write_text(changed, encoding="utf-8")
    about = 'title = "Odd"\nroles = ["me"]\nplayers = 1\nsummary = "One step."\nauthors = ["x"]\n'
    (folder / "odd" / "odd.toml").write_text(about, encoding="utf-8")
    after = game("odd")
    assert (before, after["position"]["legalMoves"]) == ({"me": ["wait"]}, {"me": ["stay"]})
    assert (after["rules"], after["title"], after["summary"]) == (changed, "Odd", "One step.")


def test_the_oldest_match_makes_room_for_a_new_one() -> None:
    seats = Seats()
    first, *_, last = [seats.begin("tictactoe", "x", "legal")["match"] for _ in range(MAX_SEATS + 1)]
    with pytest.raises(Exception, match="there is no match"):
        seats.move(first, "mark 1 1")
    assert seats.move(last, "mark 1 1")["steps"] == 2


def test_a_seat_of_a_game_in_which_all_is_seen_is_told_the_moves_since_it_chose_last() -> None:
    seats = Seats()
    begun = seats.begin("tictactoe", "o", "legal")
    assert begun["moves"] == [{"x": "(mark 1 1)", "o": "noop"}]
    after = seats.move(begun["match"], "mark 2 2")
    assert after["moves"] == [{"x": "noop", "o": "(mark 2 2)"}, {"x": "(mark 1 2)", "o": "noop"}]


def test_a_role_that_chooses_first_in_a_game_of_hidden_information_knows_the_first_state() -> None:
    begun = Seats().begin("montyhall", "candidate", "legal")
    assert (begun["isGuess"], begun["steps"], begun["seen"]) == (False, 0, [])


def test_a_seat_of_a_game_of_hidden_information_sees_its_percepts_alone() -> None:
    seen = Seats().begin("kuhnpoker", "alice", "legal")
    assert (seen["isGuess"], seen["seen"][-1]) == (True, seen["seen"][-1])
    assert "moves" not in seen
    assert not any("bob" in percept and "dealt" in percept for step in seen["seen"] for percept in step)


class Cheat(Player):
    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        return role


class Broken(Player):
    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        raise KeyError("plan")


@pytest.mark.parametrize(
    ("player", "reason"), [(Cheat, "o is not a legal move of o in this state"), (Broken, "KeyError: 'plan'")]
)
def test_a_match_in_which_a_player_fails_is_given_up(
    player: type[Player], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.model_context.matches.find_player", lambda _: player)
    seats = Seats()
    match = seats.begin("tictactoe", "x", "random")["match"]
    with pytest.raises(ToolError) as failed:
        seats.move(match, "mark 1 1")
    assert str(failed.value) == f"the match has failed and is given up: {reason}"
    with pytest.raises(ToolError, match="there is no match"):
        seats.move(match, "mark 1 1")
    with pytest.raises(ToolError, match="the match has failed and is given up"):
        seats.begin("tictactoe", "o", "random")


def test_an_illegal_move_does_not_end_a_match() -> None:
    seats = Seats()
    match = seats.begin("tictactoe", "x", "legal")["match"]
    with pytest.raises(ToolError, match="no legal move of x"):
        seats.move(match, "mark 9 9")
    assert seats.move(match, "mark 1 1")["steps"] == 2


async def test_after_a_call_that_is_cancelled_the_next_waits_for_its_thread() -> None:
    lock, begun, may_end, told = asyncio.Lock(), threading.Event(), threading.Event(), list[str]()

    def work() -> None:
        begun.set()
        may_end.wait()
        told.append("first")

    first = asyncio.create_task(_alone(lock, work))
    await asyncio.to_thread(begun.wait)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    was_locked, second = lock.locked(), asyncio.create_task(_alone(lock, told.append, "second"))
    may_end.set()
    await second
    assert (was_locked, told, lock.locked()) == (True, ["first", "second"], False)
