"""`ggp bench --positions`: the share of solved positions whose value a player keeps, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.kit.server.commands.fixtures import Ggp

HEAD: Final = '{"format": "ggp-positions-1", "game": "tictactoe"}'
MOVES: Final = '[["(mark 1 1)", "noop"], ["noop", "(mark 2 2)"], ["(mark 1 2)", "noop"]]'
VALUES: Final = (
    '{"(mark 1 3)": 50, "(mark 2 1)": 0, "(mark 2 3)": 0, "(mark 3 1)": 0, "(mark 3 2)": 0, "(mark 3 3)": 0}'
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    halves = [f'{{"half": "{half}", "role": "o", "moves": {MOVES}, "values": {VALUES}}}' for half in ("tuning", "test")]
    found = tmp_path / "threat.jsonl"
    found.write_text("\n".join((HEAD, *halves)))
    return found


@pytest.mark.exhaustive
def test_a_table_has_a_line_for_each_file_and_clock(ggp: Ggp, path: Path) -> None:
    ended = ggp("bench", "--positions", path, "--player", "legal", "--seconds", "0.01,0.02", "--half", "test")
    lines = [line.split() for line in ended.output.splitlines()]
    assert (ended.exit_code, ended.errors, len(lines)) == (0, "", 3)
    assert [(line[:3], line[4:]) for line in lines[1:]] == [
        (["threat.jsonl", "test", clock], ["1", "100.0", "20.7", "to", "100.0"]) for clock in ("0.01", "0.02")
    ]


def test_programs_get_the_lines_of_the_positions_that_were_missed(ggp: Ggp, path: Path) -> None:
    (path.parent / "last.py").write_text(
        "from players import Player\n"
        "class Last(Player):\n"
        "    def move(self, state, role, deadline):\n"
        "        return state.legal_moves(role)[-1]\n"
    )
    ended = ggp("bench", "--positions", path, "--player", path.parent / "last.py", "--seconds", 0.01, "--json")
    (found,) = json.loads(ended.output)
    assert ended.exit_code == 0
    assert (found["file"], found["game"], found["half"], found["seconds"]) == ("threat.jsonl", "tictactoe", "all", 0.01)
    assert (found["n_positions"], found["n_kept"], found["missed"], found["share"]) == (2, 0, [2, 3], 0.0)
    assert [round(bound, 2) for bound in found["interval"]] == [0.0, 0.66]


@pytest.mark.parametrize(
    "words",
    [
        ("--positions", "x.jsonl"),
        ("--player", "legal"),
        ("tictactoe", "--positions", "x.jsonl", "--player", "legal"),
        ("--positions", "x.jsonl", "--player", "legal", "--threads", 2),
        ("--positions", "x.jsonl", "--player", "legal", "--seconds", "0.1,x"),
        ("--positions", "absent.jsonl", "--player", "legal"),
        ("tictactoe", "--seconds", "0.1,0.2"),
        (),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(ggp: Ggp, words: tuple[object, ...]) -> None:
    ended = ggp("bench", *words)
    assert (ended.exit_code, ended.output) == (2, "")


def test_a_faulty_file_is_reported_with_its_line(ggp: Ggp, path: Path) -> None:
    path.write_text(f"{HEAD}\n{{}}\n")
    ended = ggp("bench", "--positions", path, "--player", "legal")
    assert (ended.exit_code, ended.errors.splitlines()) == (1, [f"ggp: {path}, line 2: half: missing"])


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.py"
    path.write_text(
        "from players import Player\n"
        "class Broken(Player):\n"
        "    def move(self, state, role, deadline):\n"
        "        if deadline.remaining_s < 0.1: raise ValueError('oops')\n"
        "        return state.legal_moves(role)[0]\n"
    )
    return path


@pytest.mark.exhaustive
def test_a_player_that_fails_is_reported_and_measured_at_the_other_clocks(ggp: Ggp, path: Path, broken: Path) -> None:
    ended = ggp("bench", "--positions", path, "--player", broken, "--seconds", "0.01,0.4")
    assert (ended.exit_code, ended.errors) == (1, "ggp: threat.jsonl at 0.01 s a move: oops\n")
    assert [line.split()[2] for line in ended.output.splitlines()[1:]] == ["0.4"]


@pytest.mark.exhaustive
def test_programs_get_the_error_of_a_player_that_fails(ggp: Ggp, path: Path, broken: Path) -> None:
    ended = ggp("bench", "--positions", path, "--player", broken, "--seconds", 0.01, "--json")
    error = {"code": "internal", "message": "ValueError: oops", "hint": ""}
    assert (ended.exit_code, json.loads(ended.output)) == (
        1,
        [{"file": "threat.jsonl", "seconds": 0.01, "error": error}],
    )
