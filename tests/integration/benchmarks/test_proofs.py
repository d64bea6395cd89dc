"""The benchmark of proofs: late positions are solved, and values that are wrong are noticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.proofs import FILES, WrongValueError, main

HEAD, *LINES = FILES[0].read_text().splitlines()
LATE = next(line for line in LINES if len(json.loads(line)["moves"]) == 15)


@pytest.mark.exhaustive
def test_late_positions_are_solved(tmp_path: Path) -> None:
    path = tmp_path / "late.jsonl"
    path.write_text(f"{HEAD}\n{LATE}\n{LINES[0]}\n")
    done = CliRunner().invoke(main, [str(path), "--seconds", "60", "--json"])
    (found,) = json.loads(done.stdout)
    assert (found["line"], found["n_steps"], found["is_solved"]) == (2, 15, True)


def test_a_table_has_a_row_for_each_number_of_steps(tmp_path: Path) -> None:
    path = tmp_path / "late.jsonl"
    path.write_text(f"{HEAD}\n{LATE}\n")
    done = CliRunner().invoke(main, [str(path), "--seconds", "60"])
    assert [cell.strip() for cell in done.stdout.splitlines()[3].split("│")][1:5] == ["late", "15", "1", "1"]


def test_a_value_that_is_wrong_is_noticed(tmp_path: Path) -> None:
    path, position = tmp_path / "wrong.jsonl", json.loads(LATE)
    position["values"] = {move: min(value, 50) for move, value in position["values"].items()}
    path.write_text(f"{HEAD}\n{json.dumps(position)}\n")
    with pytest.raises(WrongValueError, match="line 2"):
        CliRunner().invoke(main, [str(path), "--seconds", "60"], catch_exceptions=False)


def test_a_file_that_has_no_positions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    done = CliRunner().invoke(main, [str(path)])
    assert (done.exit_code, "empty" in done.output) == (2, True)
