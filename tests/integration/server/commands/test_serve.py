"""`ggp serve` as a process, and its options in the documentation."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest

from gdl.games.library import find_game
from server.commands.serve import command
from tests.kit import polling
from tests.kit.polling import wait_until
from tests.kit.server.commands.fixtures import Ggp
from tests.kit.server.spectating.spectator_server import spectator_server

PAGE = Path(__file__).resolve().parents[4] / "docs/hosting.md"
GGP = Path(sys.executable).parent / "ggp"


def options() -> Iterator[click.Option]:
    for parameter in command.params:
        assert isinstance(parameter, click.Option)
        yield parameter


def default_of(option: click.Option) -> str:
    if option.multiple or option.default in (None, False) or not isinstance(option.default, str | int | float):
        return ""
    return (
        "on"
        if option.default is True
        else f"{option.default:g}"
        if isinstance(option.default, float)
        else str(option.default)
    )


def table() -> str:
    """Return the table of options that belongs into the documentation."""
    rows = [
        f"| `{'/'.join([*option.opts, *option.secondary_opts])}` | {default_of(option)} | {option.help} |"
        for option in options()
    ]
    return "\n".join(["| option | default | what it does |", "| --- | --- | --- |", *rows])


def test_every_option_is_in_the_table_of_the_documentation() -> None:
    found = re.search(r"<!-- options -->\n(.*?)\n<!-- end of options -->", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    assert found[1] == table()


def test_every_option_is_called_alike_as_flag_variable_and_key() -> None:
    for option in options():
        assert f"--{(option.name or '').replace('_', '-')}" in option.opts


@contextmanager
def served(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `ggp serve` in *folder* while the block runs; yield the process and its address."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GGP_")}
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            [GGP, "serve", "--port", "0", "--no-warm-up", *arguments],
            cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True, env=kept,
        ) as process,
    ):  # fmt: skip
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().removeprefix("serving on ").strip()
        finally:
            process.kill()


def test_ctrl_c_ends_the_look_at_a_folder_whose_game_the_ladder_waits_for(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "mine.kif").write_text(find_game("chess").text().replace("pawn", "soldier"), "utf-8")
    words = [str(GGP), "serve", "--port", "0", "--no-warm-up", "--games", "games", "--ladder", "mine"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        looking = next(line for line in process.stderr if "looking at the games" in line)
        process.send_signal(signal.SIGINT)
        output, log = process.communicate(timeout=60)
    assert (process.returncode, output, "ggp: " in log) == (0, "", False), looking + log


@contextmanager
def players(*, seconds: float) -> Iterator[str]:
    """Run the players of the load benchmark, who think for *seconds*; yield their address."""
    words = [sys.executable, "-m", "benchmarks.load.players", "--shortest", str(seconds), "--longest", str(seconds)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().removeprefix("listening on ").strip()
        finally:
            process.terminate()


def order(url: str, players_url: str) -> str:
    """Order a match of tictactoe, wait until its first step is made, and return where it is."""
    text = {
        "game": "tictactoe",
        "players": {role: f"{players_url}/1/{role}" for role in "xo"},
        "startClock": 10,
        "playClock": 10,
    }
    path = f"/api/v1/matches/{ordered(url, text)}"
    until(f"{url}{path}", lambda record: len(record.get("moves", ())) > 0)
    return path


def ordered(url: str, text: dict[str, Any]) -> str:
    """Order the match that *text* says, and return its id."""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/api/v1/matches", json.dumps(text).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(json.loads(answer.read())["id"])


def until(url: str, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return the record at *url* as soon as *is_so* holds of it."""

    def looked_at() -> dict[str, Any] | None:
        _, record = get(url)
        assert isinstance(record, dict)
        return record if is_so(record) else None

    return wait_until(looked_at, 120)


def get(url: str) -> tuple[int, Any]:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.status, json.loads(answer.read())


def test_a_server_gets_ready_and_ends_with_sigterm(tmp_path: Path) -> None:
    with served(tmp_path) as (process, url):
        assert get(f"{url}/readyz") == (200, {"status": "ok", "database": "ok", "process": "ok"})
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    lines = [json.loads(line) for line in (tmp_path / "log").read_text("utf-8").splitlines()]
    assert [line["event"] for line in lines if line["logger"] == "server.ending"] == ["shutting down", "shut down"]
    assert (tmp_path / "ggp.sqlite").is_file()


@pytest.mark.exhaustive
async def test_an_end_that_a_killed_server_has_not_published_is_published_by_the_next(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent_address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with served(tmp_path, "--publish", silent_address) as (process, url):
            match_id = ordered(url, {"game": "tictactoe", "players": {}, "startClock": 1, "playClock": 1})
            until(f"{url}/api/v1/matches", lambda found: found["matches"][0]["status"] == "completed")
            process.kill()
            process.wait()
    async with spectator_server() as (server, address):
        with served(tmp_path, "--publish", address):
            await polling.until(lambda: server.updates)
    assert [(update["matchId"], update["isCompleted"]) for update in server.updates] == [(match_id, True)]


@pytest.mark.exhaustive
def test_logs_that_are_not_read_hold_nothing_up(tmp_path: Path) -> None:
    with subprocess.Popen(
        [GGP, "serve", "--port", "0", "--no-warm-up"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pipesize=4096,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            url = process.stdout.readline().removeprefix("serving on ").strip()
            assert {get(f"{url}/api/v1/games/tictactoe")[0] for _ in range(60)} == {200}
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()


@pytest.mark.exhaustive
def test_a_second_server_on_the_same_file_is_refused(tmp_path: Path) -> None:
    with served(tmp_path):
        second = subprocess.run(
            [GGP, "serve", "--port", "0"], cwd=tmp_path, check=False, capture_output=True, text=True, timeout=60
        )
    assert second.returncode == 2
    assert "ggp.sqlite" in second.stderr


@pytest.mark.exhaustive
def test_a_port_that_is_taken_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with served(tmp_path) as (_, url):
        second = subprocess.run(
            [GGP, "serve", "--port", url.rpartition(":")[2]],
            cwd=tmp_path / "other", check=False, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert second.returncode == 2
    assert "cannot listen on 127.0.0.1:" in second.stderr


@pytest.mark.exhaustive
def test_a_file_that_cannot_be_opened_is_no_address_that_is_taken(tmp_path: Path) -> None:
    done = subprocess.run(
        [GGP, "serve", "--port", "0", "--sign", "nowhere/key.pem"],
        cwd=tmp_path, check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, "nowhere/key.pem" in done.stderr, "cannot listen" in done.stderr) == (2, True, False)


@pytest.mark.exhaustive
def test_a_server_that_others_reach_needs_an_administrator(tmp_path: Path) -> None:
    done = subprocess.run(
        [GGP, "serve", "--host", "0.0.0.0", "--port", "0"],
        cwd=tmp_path, check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "ggp token issue NAME --role admin" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--trusted-proxy", "here"], "a network is written 10.0.0.0/8"),
        (["--rate-orders", "many"], "one is written 300/minute"),
        (["--tls-cert", "nowhere.pem"], "no certificate with its key"),
        (["--config", "nowhere.toml"], "No such file"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    arguments: list[str], expected: str, ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = ggp("serve", *arguments)
    assert ended.exit_code == 2
    assert expected in ended.errors
    assert list(tmp_path.iterdir()) == []


def test_a_parked_match_goes_on_with_the_next_start(tmp_path: Path) -> None:
    with players(seconds=0.3) as players_url:
        with served(tmp_path) as (process, url):
            path = order(url, players_url)
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=60) == 0
        with served(tmp_path) as (_, url):
            record = until(f"{url}{path}", lambda record: record["isCompleted"])
    assert {error for errors in record["errors"] for error in errors} == {""}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("shutdown", "seconds", "outcome"), [("finish", 0.05, "isCompleted"), ("abort", 0.3, "isAborted")]
)
def test_a_match_ends_before_the_server_as_was_chosen(
    tmp_path: Path, shutdown: str, seconds: float, outcome: str
) -> None:
    with players(seconds=seconds) as players_url, served(tmp_path, "--shutdown", shutdown) as (process, url):
        path = order(url, players_url)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    with served(tmp_path) as (_, url):
        assert get(f"{url}{path}")[1][outcome] is True


@pytest.mark.exhaustive
def test_the_metrics_tell_of_a_match(tmp_path: Path) -> None:
    with players(seconds=0.01) as players_url, served(tmp_path) as (_, url):
        path = order(url, players_url)
        until(f"{url}{path}", lambda record: record["isCompleted"])
        with urllib.request.urlopen(f"{url}/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
    assert 'ggp_matches_ended_total{status="completed"} 1.0' in lines
    nothing = {
        f"{name} 0.0" for name in ("ggp_writer_batch_events_count", "ggp_step_share_seconds_count", "ggp_steps_total")
    }
    assert nothing.isdisjoint(lines)
