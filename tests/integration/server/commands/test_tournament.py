"""`ggp tournament` and `ggp ratings`: whole tournaments with real players in processes of their own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gdl.compiler.kernel_loading import NOTICE
from server.arena.folder import RESULTS, SCHEDULE
from server.errors import TournamentFolderError
from server.operation import warm_up
from server.principal import Role
from tests.kit.polling import wait_until
from tests.kit.server.api.whole_server import whole_server
from tests.kit.server.commands.fixtures import Ggp
from tests.kit.server.processes import running

QUICK = ("--start-clock", 5, "--play-clock", 5)
PLAYER = """
from players import Player

class Mine(Player):
    def move(self, state, role, deadline):
        return state.legal_moves(role)[-1]
"""


def found(text: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def test_a_round_robin_is_played_and_told(ggp: Ggp, tmp_path: Path) -> None:
    out = tmp_path / "cup"
    words = ("--game", "tictactoe", "-p", "a=random", "-p", "b=legal", "-p", "c=random", "--rounds", 2, "--seed", 3)
    ended = ggp("tournament", "run", *words, *QUICK, "--out", out, "--json")
    standings = found(ended.output)
    assert (ended.exit_code, standings["format"], standings["matches"]) == (0, "round-robin", 12)
    assert sorted(row["player"] for row in standings["standings"]) == ["a", "b", "c"]
    assert [row["matches"] for row in standings["standings"]] == [8, 8, 8]
    assert sum(row["errors"] for row in standings["standings"]) == 0
    assert {"index.html", "results.csv", "standings.json", "standings.md"} <= {path.name for path in out.iterdir()}
    assert len(list((out / "records").glob("*.json"))) == 12
    rated = found(ggp("ratings", out / "records", "--json").output)
    assert {(each["player"], each["elo"]) for each in rated["players"]} == {
        (row["player"], row["elo"]) for row in standings["standings"]
    }


@pytest.mark.exhaustive
def test_a_file_is_a_plan_and_our_players_are_processes(ggp: Ggp, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLAYER)
    (tmp_path / "cup.toml").write_text(
        f"""
        format = "gauntlet"
        games = ["tictactoe", "lightsout"]
        play_clock = 5
        [players]
        mine = "{tmp_path / "mine.py"}"
        first = "legal"
        """.replace('"lightsout"', '"nim"')
    )
    ended = ggp("tournament", "run", tmp_path / "cup.toml", "--out", tmp_path / "out", "--json")
    assert (ended.exit_code, found(ended.output)["matches"]) == (0, 4)
    assert [row["errors"] for row in found(ended.output)["standings"]] == [0, 0]


def test_a_tournament_that_was_killed_goes_on_with_nothing_lost_or_played_twice(ggp: Ggp, tmp_path: Path) -> None:
    out = tmp_path / "cup"
    words = (
        "--game",
        "tictactoe",
        "-p",
        "a=random",
        "-p",
        "b=legal",
        "--rounds",
        "40",
        "--seed",
        "3",
        "--out",
        str(out),
    )
    command = [sys.executable, "-m", "server", "tournament", "run", *words, "--concurrency", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        wait_until(lambda: (out / RESULTS).exists() and (out / RESULTS).read_text().count("\n") >= 5)
        os.kill(running.pid, signal.SIGKILL)
    before = (out / RESULTS).read_text().splitlines()
    ended = ggp("tournament", "run", "--out", out, "--json")
    after = (out / RESULTS).read_text().splitlines()
    ids = [json.loads(line)["result"]["match_id"] for line in after]
    assert (ended.exit_code, found(ended.output)["matches"], len(set(ids)), len(ids)) == (0, 80, 80, 80)
    assert after[: len(before)] == before
    undisturbed = ggp("tournament", "run", *words, "--out", tmp_path / "other")
    assert undisturbed.exit_code == 0
    assert (tmp_path / "other" / SCHEDULE).read_text() == (out / SCHEDULE).read_text()


@pytest.mark.exhaustive
def test_ctrl_c_ends_a_tournament_and_says_how_it_goes_on(ggp: Ggp, tmp_path: Path) -> None:
    words = ("--game", "tictactoe", "-p", "a=random", "-p", "b=legal", "--rounds", 5000, "--out", tmp_path)
    with running("tournament", "run", *words, folder=tmp_path) as child:
        wait_until(lambda: (tmp_path / RESULTS).exists() and (tmp_path / RESULTS).read_text().count("\n") >= 5)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=30)
    told = [
        f"interrupted; go on with: ggp tournament run --out {tmp_path}",
        f"reports of what is over: ggp tournament standings {tmp_path}",
    ]
    assert (child.returncode, errors.splitlines()[-2:]) == (130, told)


def test_away_from_a_terminal_a_line_says_that_kernels_are_compiled(
    ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def compiling(say: Callable[[str], object]) -> None:
        say(NOTICE)
        raise TournamentFolderError(tmp_path, "full")

    monkeypatch.setattr(warm_up, "fill_cache", compiling)
    words = ("--game", "tictactoe", "-p", "a=mcts", "-p", "b=legal", "--out", tmp_path)
    ended = ggp("tournament", "run", *words)
    assert (ended.exit_code, ended.output, ended.errors.splitlines()[0]) == (2, "", NOTICE)


def test_a_sequential_test_ends_a_tournament_early(ggp: Ggp, tmp_path: Path) -> None:
    words = ("--game", "tictactoe", "-p", "strong=legal", "-p", "weak=random", "--sprt", "elo0=-100,elo1=-50")
    ended = ggp("tournament", "run", *words, "--seed", 1, "--out", tmp_path / "cup", "--json")
    sprt = found(ended.output)["sprt"]
    assert (ended.exit_code, sprt["decision"]) == (0, "H1")
    assert found(ended.output)["matches"] < 1000


def test_a_sequential_test_without_a_game_of_two_roles_is_refused(ggp: Ggp, tmp_path: Path) -> None:
    words = ("--game", "lightsout", "-p", "a=random", "-p", "b=legal", "--sprt", "elo0=0,elo1=50", "--out", tmp_path)
    told = "ggp: a sequential test is of matches of two roles, which none of its games has\n"
    assert ggp("tournament", "run", *words) == (2, "", told)


def test_another_tournament_in_the_same_folder_is_refused(ggp: Ggp, tmp_path: Path) -> None:
    words = ("--game", "tictactoe", "-p", "a=random", "-p", "b=legal", "--out", tmp_path)
    assert ggp("tournament", "run", *words).exit_code == 0
    ended = ggp("tournament", "run", *words, "--measure", "goals")
    assert (ended.exit_code, "another tournament is in this folder" in ended.errors) == (2, True)


def test_what_is_missing_is_asked_for(ggp: Ggp, tmp_path: Path) -> None:
    ended = ggp("tournament", "run", "--out", tmp_path / "cup")
    assert (ended.exit_code, "name a tournament" in ended.errors, list(tmp_path.iterdir())) == (2, True, [])


def test_files_that_are_no_records_are_named_and_the_others_rated(ggp: Ggp, tmp_path: Path) -> None:
    for name, text in {"a.json": "{}", "b.json": "[1]", "c.json": "nonsense", "d.json": '{"isCompleted": 1}'}.items():
        (tmp_path / name).write_text(text)
    ended = ggp("ratings", tmp_path, "--json")
    assert (ended.exit_code, ended.errors.count("no match record"), found(ended.output)["players"]) == (1, 4, [])


def test_names_in_records_of_others_are_neither_markup_nor_orders(ggp: Ggp, tmp_path: Path) -> None:
    told = {"matchId": "1", "isCompleted": True, "goalValues": [100, 0], "x-game": "nim[/old]\x1b[2J"}
    (tmp_path / "a.json").write_text(json.dumps(told | {"playerNamesFromHost": ["[bold]a", "b\x1b[2J"]}))
    ended = ggp("ratings", tmp_path, "--by-game")
    assert (ended.exit_code, ended.errors, ended.output.count("nim[/old]\\x1b[2J")) == (0, "", 1)
    assert (ended.output.count("[bold]a"), ended.output.count("b\\x1b[2J")) == (2, 2)


async def test_a_file_orders_a_tournament_at_a_server(ggp: Ggp, tmp_path: Path) -> None:
    file = tmp_path / "Spring Cup.toml"
    file.write_text('games = ["tictactoe"]\n[players]\nmine = "random"\ntheirs = "legal"\n')
    async with whole_server(tmp_path) as (client, _):
        server = str(client.make_url("/"))
        done = await asyncio.to_thread(ggp, "tournament", "order", file, "--server", server)
        async with client.get("/api/v1/tournaments/spring-cup") as answer:
            found = await answer.json()
        again = await asyncio.to_thread(ggp, "tournament", "order", file, "--server", server)
        file.write_text('name = "timed"\nstarts = 2030-01-01T18:00:00Z\n' + file.read_text())
        timed = await asyncio.to_thread(ggp, "tournament", "order", file, "--server", server)
    gone = await asyncio.to_thread(ggp, "tournament", "order", file, "--server", server)
    address = f"{server}api/v1/tournaments/spring-cup"
    assert [(one.exit_code, one.output.splitlines()[-1], one.errors) for one in (done, timed)] == [
        (0, address, f"it begins when you start it: on {server}tournaments/spring-cup, or by POST {address}/start\n"),
        (0, f"{server}api/v1/tournaments/timed", ""),
    ]
    assert [(one["name"], one["player"]) for one in found["entrants"]] == [("mine", "random"), ("theirs", "legal")]
    assert (again.exit_code, again.errors.splitlines()[-1]) == (
        2, f"ggp: {server[:-1]}: there is a tournament 'spring-cup' already",
    )  # fmt: skip
    assert gone == (2, "", f"ggp: {server[:-1]}: it cannot be reached: Connection refused\n")


@pytest.mark.parametrize("stem", ['a"b', "a\\b", "a\x7fb\udcff"])
async def test_a_file_of_any_name_is_ordered_by_that_name(ggp: Ggp, tmp_path: Path, stem: str) -> None:
    file = tmp_path / f"{stem}.toml"
    file.write_text('\ufeffgames = ["tictactoe"]\n[players]\nmine = "random"\ntheirs = "legal"\n', encoding="utf-8")
    async with whole_server(tmp_path) as (client, _):
        server = str(client.make_url("/"))
        refused = await asyncio.to_thread(ggp, "tournament", "order", file, "--server", server)
    assert refused.exit_code == 2
    assert "name: " in refused.errors


async def test_an_order_that_a_server_refuses_says_what_to_do(ggp: Ggp, tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text('gamez = ["tictactoe"]\n')
    async with whole_server(tmp_path) as (client, access):
        server = str(client.make_url("/")).rstrip("/")
        misspelt = await asyncio.to_thread(ggp, "tournament", "order", file, "--server", server)
        await access.issuing.issue("Ada", Role.ADMIN)
        unknown = await asyncio.to_thread(ggp, "tournament", "order", file, "--server", server)
    nowhere = await asyncio.to_thread(ggp, "tournament", "order", file, "--server", "foo")
    assert [ended.exit_code for ended in (misspelt, unknown, nowhere)] == [2, 2, 2]
    assert [misspelt.errors, unknown.errors, nowhere.errors] == [
        f"ggp: {server}: gamez: unknown key (did you mean games?)\n",
        f"ggp: {server}: a token is needed here (give one that is known there with --token or GGP_TOKEN)\n",
        "ggp: foo: expected the address of a game manager, as in http://host:9148\n",
    ]


def test_a_tournament_without_a_match_is_refused_and_no_report_written(ggp: Ggp, tmp_path: Path) -> None:
    words = ("tournament", "run", *QUICK, "--player", "random", "--out", tmp_path / "cup", "--json")
    alone = ggp(*words, "--game", "tictactoe")
    sentence = "Error: no match of tictactoe comes of a round-robin with one player; name more with --player NAME=SPEC"
    assert (alone.exit_code, alone.output, alone.errors.splitlines()[-1]) == (2, "", sentence)
    assert not (tmp_path / "cup" / "index.html").exists()
    assert found(ggp(*words, "--game", "lightsout", "--format", "score-table").output)["matches"] == 1


def test_a_player_that_there_is_not_leaves_no_folder_behind(ggp: Ggp, tmp_path: Path) -> None:
    words = ("tournament", "run", "--game", "nim", "-p", "legal", *QUICK, "--out", tmp_path / "cup")
    refused = ggp(*words, "-p", "b=randon")
    assert (refused.exit_code, refused.errors) == (2, "ggp: no player 'randon'; did you mean random?\n")
    assert not (tmp_path / "cup").exists()


def test_rounds_are_added_to_a_tournament_that_is_over(ggp: Ggp, tmp_path: Path) -> None:
    words = ("--game", "nim", "-p", "a=random", "-p", "b=legal", *QUICK, "--out", tmp_path / "cup")
    assert ggp("tournament", "run", *words, "--rounds", 1).exit_code == 0
    ended = ggp("tournament", "run", "--rounds", 3, "--out", tmp_path / "cup", "--json")
    assert (ended.exit_code, found(ended.output)["matches"]) == (0, 6)
    refused = ggp("tournament", "run", "--play-clock", 7, "--out", tmp_path / "cup")
    assert (refused.exit_code, "play_clock is 5, not 7" in refused.errors) == (2, True)


@pytest.mark.exhaustive
def test_a_tournament_that_is_over_says_so_when_it_is_run_again(
    ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--game", "nim", "-p", "a=random", "-p", "b=legal", *QUICK, "--out", tmp_path / "cup", "--json")
    first = ggp("tournament", "run", *words)
    monkeypatch.setattr("server.commands.tournament.PlayerProcesses", None)  # no player is started
    again = ggp("tournament", "run", *words)
    said = "this tournament is over: no match is left to play\n"
    assert [(ended.exit_code, ended.output, ended.errors) for ended in (first, again)] == [
        (0, first.output, ""), (0, first.output, said),
    ]  # fmt: skip


@pytest.mark.exhaustive
def test_a_player_that_fails_in_its_own_code_has_errors(ggp: Ggp, tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text(PLAYER.replace("return state.legal_moves(role)[-1]", "raise ValueError"))
    words = ("--game", "nim", "-p", f"failing={tmp_path / 'failing.py'}", "-p", "legal", *QUICK)
    rows = found(ggp("tournament", "run", *words, "--out", tmp_path / "cup", "--json").output)["standings"]
    assert {row["player"]: row["errors"] > 0 for row in rows} == {"failing": True, "legal": False}


@pytest.mark.exhaustive
def test_a_player_whose_file_has_changed_is_not_mixed_with_what_it_was(ggp: Ggp, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLAYER)
    words = ("--game", "nim", "-p", f"mine={tmp_path / 'mine.py'}", "-p", "legal", *QUICK, "--out", tmp_path / "cup")
    assert ggp("tournament", "run", *words).exit_code == 0
    (tmp_path / "mine.py").write_text(PLAYER + "# version 2")
    refused = ggp("tournament", "run", "--out", tmp_path / "cup")
    assert (refused.exit_code, "the file of mine is not as when it was begun" in refused.errors) == (2, True)


@pytest.mark.exhaustive
def test_a_player_s_file_that_is_not_found_from_another_folder_is_named(
    ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(PLAYER)
    monkeypatch.chdir(tmp_path)
    assert ggp("tournament", "run", "--game", "nim", "-p", "mine=mine.py", "-p", "legal", "--out", "cup").exit_code == 0
    monkeypatch.chdir("cup")
    told = "the file mine.py of mine is not found from here; go on in the folder where it was begun, or put it back"
    assert ggp("tournament", "run", "--out", tmp_path / "cup") == (2, "", f"ggp: {tmp_path}/cup: {told}\n")


def test_another_seed_in_the_file_is_another_tournament(ggp: Ggp, tmp_path: Path) -> None:
    file, words = tmp_path / "cup.toml", ("tournament", "run", tmp_path / "cup.toml", "--out", tmp_path / "cup")
    text = 'games = ["nim"]\nplayers = ["random", "legal"]\n'
    file.write_text(text)
    assert ggp(*words, "--seed", 5).exit_code == 0
    assert ggp(*words).exit_code == 0  # the file names no seed, so that the one of the folder stands
    file.write_text(f"seed = 7\n{text}")
    told = "another tournament is in this folder (seed is 5, not 7); choose another one with --out"
    assert ggp(*words) == (2, "", f"ggp: {tmp_path}/cup: {told}\n")


def test_two_players_of_one_name_are_refused(ggp: Ggp) -> None:
    refused = ggp("tournament", "run", "--game", "nim", "-p", "random", "-p", "random")
    assert (refused.exit_code, "two players are called random" in refused.errors) == (2, True)
