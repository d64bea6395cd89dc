"""Files of solved positions: what is read, and what is refused with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from gdl.engines import make_game
from gdl.language.kif import read_term
from server.errors import PositionFileError
from server.measuring import solved_positions
from server.measuring.solved_positions import FORMAT, SolvedPosition, read_positions

HEAD: Final = json.dumps({"format": FORMAT, "game": "nim"})
FIRST: Final = {"half": "tuning", "role": "x", "moves": [], "values": {"(mark 1 1)": 50, "(mark 1 2)": 0}}


def written(folder: Path, *lines: str | bytes) -> Path:
    path = folder / "some.jsonl"
    path.write_bytes(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines))
    return path


def position(**changes: object) -> str:
    return json.dumps({**FIRST, **changes})


def test_positions_are_read_with_the_lines_that_they_are_on(tmp_path: Path) -> None:
    file = read_positions(written(tmp_path, HEAD, position(), position(half="test")))
    assert (file.game.name, [(number, one.half) for number, one in file.numbered]) == (
        "nim",
        [(2, "tuning"), (3, "test")],
    )
    assert [number for number, _ in file.of_half("test").numbered] == [3]
    assert file.of_half("all").numbered == file.numbered


def test_a_line_reads_as_it_was_written() -> None:
    one = SolvedPosition.model_validate(FIRST)
    assert SolvedPosition.model_validate_json(one.line()) == one
    assert [one.keeps_value(read_term(move)) for move in ("(mark 1 1)", "(mark 1 2)", "(mark 3 3)")] == [
        True,
        False,
        False,
    ]


def test_the_rules_are_those_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "own.kif").write_text("(role x)")
    file = read_positions(written(tmp_path, json.dumps({"format": FORMAT, "rules": "own.kif"})))
    assert (file.game.name, file.game.path, file.numbered) == ("own", tmp_path / "own.kif", ())


@pytest.mark.parametrize(
    ("lines", "line", "reason"),
    [
        ((), 0, "empty"),
        (("{",), 1, "Invalid JSON"),
        ((b"\xff\xfe",), 1, "Invalid JSON"),
        (("[]",), 1, "must have keys and values"),
        (('{"format": "ggp-positions-2", "game": "nim"}',), 1, "format: "),
        (('{"format": "ggp-positions-1"}',), 1, "either game or rules"),
        (('{"format": "ggp-positions-1", "game": "nim", "rules": "a.kif"}',), 1, "either game or rules"),
        (('{"format": "ggp-positions-1", "game": "nimm"}',), 1, "did you mean nim?"),
        (('{"format": "ggp-positions-1", "rules": "absent.kif"}',), 1, "absent"),
        (('{"format": "ggp-positions-1", "rules": "../nim.kif"}',), 1, "rules: "),
        ((HEAD, "", position()), 2, "Invalid JSON"),
        ((HEAD, position(), "{}"), 3, "half: missing"),
        ((HEAD, position(half="third")), 2, "half: "),
        ((HEAD, position(more=1)), 2, "more: unknown key"),
        ((HEAD, position(values={})), 2, "values: "),
        ((HEAD, position(values={"a": 101})), 2, "values.a: "),
        ((HEAD, position(values={"a": "50"})), 2, "values.a: "),
        ((HEAD, position(values={"": 50})), 2, 'values."": the key must have 1 or more characters'),
        ((HEAD, position(moves=[[]])), 2, "moves.0: "),
        ((HEAD, position(moves=[["a"]] * 1_001)), 2, "moves: "),
        ((HEAD, "[" * 100_000), 2, "Invalid JSON"),
    ],
)
def test_a_faulty_file_is_refused_with_the_line(
    tmp_path: Path, lines: tuple[str | bytes, ...], line: int, reason: str
) -> None:
    path = written(tmp_path, *lines)
    with pytest.raises(PositionFileError) as refused:
        read_positions(path)
    assert (refused.value.path, refused.value.line) == (path, line)
    assert reason in refused.value.message


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solved_positions, "MAX_BYTES", 10)
    with pytest.raises(PositionFileError, match="longer than 10 bytes"):
        read_positions(written(tmp_path, HEAD))
    monkeypatch.undo()
    monkeypatch.setattr(solved_positions, "MAX_POSITIONS", 1)
    with pytest.raises(PositionFileError, match="more than 1 positions"):
        read_positions(written(tmp_path, HEAD, position(), position()))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "the values are not those of the legal moves of x"),
        ({"role": "z"}, "no role 'z'"),
        ({"moves": [["(mark 9 9)", "noop"]]}, "(mark 9 9) is not a legal move of x"),
        ({"moves": [["(mark 1 1)"]]}, "one move per role"),
        ({"moves": [["(mark 1", "noop"]]}, "("),
        ({"values": {"(": 1}}, "("),
    ],
)
def test_a_position_that_the_rules_do_not_have_is_refused(
    tmp_path: Path, changes: dict[str, object], reason: str
) -> None:
    path = written(tmp_path, json.dumps({"format": FORMAT, "game": "tictactoe"}), position(**changes))
    file = read_positions(path)
    game = make_game(file.game.read(), "interpreter")
    with pytest.raises(PositionFileError) as refused:
        file.state(game, *file.numbered[0])
    assert refused.value.line == 2
    assert reason in refused.value.message
