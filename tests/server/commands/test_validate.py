"""`ggp validate`: what is refused, where it is wrong, and the exit code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import pytest

from gdl.library import game_names
from tests.server.commands.conftest import Ggp

ROOT: Final = Path(__file__).resolve().parents[3]
CORPUS: Final = ROOT / os.environ.get("GGP_SHARED", "../shared") / "conformance"

GOOD: Final = """
(role robot) (init (at 1))
(<= (legal robot stay) (true (at ?x)))
(<= (next (at ?x)) (true (at ?x)) (does robot stay))
(<= terminal (true (at 2)))
(<= (goal robot 0) (true (at ?x)))
"""


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.kif"
    path.write_text(GOOD, encoding="utf-8")
    return path


def broken(folder: Path, text: str) -> Path:
    path = folder / "broken.kif"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_that_can_be_played_is_ok(ggp: Ggp, good: Path) -> None:
    assert ggp("validate", good) == (0, f"{good}: ok\n", "")


def test_a_parenthesis_too_few_is_shown_in_its_line_with_a_caret(ggp: Ggp, tmp_path: Path) -> None:
    path = broken(tmp_path, "(role white)\n(init (at 1)\n")
    ended = ggp("validate", path)
    assert ended.exit_code == 1
    assert ended.output.splitlines()[:3] == [
        f"{path}:2:1: this parenthesis is never closed",
        "2 | (init (at 1)",
        "    ^",
    ]


def test_an_unsafe_rule_is_refused_with_its_place(ggp: Ggp, tmp_path: Path) -> None:
    path = broken(tmp_path, GOOD + "(<= (next (at ?y)) (true (at ?x)))\n")
    ended = ggp("validate", path, "--json")
    (verdict,) = json.loads(ended.output)
    (error,) = verdict["errors"]
    assert (ended.exit_code, verdict["file"], verdict["ok"]) == (1, str(path), False)
    assert (error["kind"], error["source"], error["line"]) == ("unsafe_rule", str(path), 7)


def test_a_relation_that_needs_its_own_negation_is_refused_with_the_cycle(ggp: Ggp, tmp_path: Path) -> None:
    path = broken(tmp_path, GOOD + "(<= p (true (at 1)) (not q))\n(<= q (true (at 1)) (not p))\n")
    ended = ggp("validate", path, "--json")
    (error,) = json.loads(ended.output)[0]["errors"]
    assert (ended.exit_code, error["kind"]) == (1, "stratification")
    assert error["cycle"] == ["p", "not q", "p"]


def test_all_files_are_checked_when_one_is_wrong(ggp: Ggp, good: Path, tmp_path: Path) -> None:
    ended = ggp("validate", broken(tmp_path, ")"), good)
    assert ended.exit_code == 1
    assert ended.output.endswith(f"{good}: ok\n")


def test_json_of_a_good_file_is_alone_on_standard_output(ggp: Ggp, good: Path) -> None:
    ended = ggp("validate", "--json", good)
    assert (ended.exit_code, json.loads(ended.output)) == (0, [{"file": str(good), "ok": True, "errors": []}])


def test_a_file_that_is_not_there_is_wrong_usage(ggp: Ggp, tmp_path: Path) -> None:
    ended = ggp("validate", tmp_path / "absent.kif")
    assert (ended.exit_code, ended.output) == (2, "")
    assert "absent.kif" in ended.errors


def test_a_misspelt_game_gets_a_suggestion(ggp: Ggp) -> None:
    assert ggp("validate", "tictacto") == (2, "", "ggp: no game 'tictacto'; did you mean tictactoe?\n")


def test_no_file_at_all_is_wrong_usage(ggp: Ggp) -> None:
    assert ggp("validate").exit_code == 2


@pytest.mark.parametrize("name", game_names())
def test_every_game_of_the_library_can_be_played(ggp: Ggp, name: str) -> None:
    assert ggp("validate", name).exit_code == 0


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no conformance material at {CORPUS}; GGP_SHARED names its parent")
def test_no_public_file_is_refused_that_the_field_accepts(ggp: Ggp) -> None:
    rows = [line.split("\t") for line in (CORPUS / "verdicts.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    accepted = [str(CORPUS / name) for name, verdict, *_ in rows if verdict in ("pass", "warn")]
    verdicts = json.loads(ggp("validate", "--json", *accepted).output)
    assert [verdict for verdict in verdicts if not verdict["ok"]] == []
    assert len(verdicts) == len(accepted) > 200
