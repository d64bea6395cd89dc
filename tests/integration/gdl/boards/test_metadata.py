"""TOML descriptions: what they may say, and that whatever else they say is refused with a sentence."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.boards.findings import metadata_findings
from gdl.boards.layout import Layout
from gdl.boards.metadata import MAX_BYTES, Clarification, Counts, GameMetadata, metadata_of, read_metadata
from gdl.diagnostics import Source
from gdl.errors import MetadataError
from gdl.games.library import find_game, game_names
from gdl.language.rules import read_rules

LEAST = """
title = "A game"
authors = ["me", "you"]
roles = ["a", "random"]
players = 1
summary = "What it is."
"""

SHOWN = "docs/games.md shows what a description says, and how"
PATTERNS = "docs/games.md, *Patterns*, says what a pattern matches"
PIECES = """
  [[board.pieces]] # {0}
  fluent = "(at {0} ?y)"
  symbol = "x"
"""


def problems(text: str | bytes) -> tuple[str, ...]:
    with pytest.raises(MetadataError) as error:
        metadata_of(text.encode() if isinstance(text, str) else text)
    return tuple(error.value.problems)


def test_a_description_needs_five_things_and_has_defaults_for_the_rest() -> None:
    assert metadata_of(LEAST.encode()) == GameMetadata(
        title="A game",
        authors=("me", "you"),
        roles=("a", "random"),
        players=1,
        summary="What it is.",
        source=None,
        decisions=(),
        board=Layout(),
        keys={},
        counts=Counts(),
    )


def test_paragraphs_become_one_line() -> None:
    text = LEAST + '[[decisions]]\nunclear = """\nWho\nbegins?"""\ndecided = "  White.\\n"\n'
    assert metadata_of(text.encode()).decisions == (Clarification(unclear="Who begins?", decided="White."),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LEAST.replace("players = 1", "players = 2"), "`players` is 2, but `roles` names 1 that players play"),
        (LEAST.replace('title = "A game"', ""), "title: missing"),
        (
            LEAST.replace("A game", "A\\u001b[31m game"),
            "title: 'A\\x1b[31m game' holds characters that cannot be printed",
        ),
        (LEAST + "titel = 1", "titel: unknown key"),
        (LEAST + "title = 2\n", "Cannot overwrite a value (at line 7, column 10)"),
        (LEAST + "[counts]\nperft = [1, -1]", "counts.perft[2]: must be 0 or more"),
        (
            LEAST + '[board]\nedges.nort = "red"\n',
            "board.edges.nort: the key must be 'north', 'south', 'east' or 'west'",
        ),
        (
            LEAST + '[keys]\nq = "quit"',
            "keys.q: the key 'q' is taken: q quits, c lets the computer choose, a number picks from a list",
        ),
    ],
)
def test_a_wrong_description_is_refused_with_the_place(text: str, expected: str) -> None:
    assert problems(text) == (expected,)


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\xfe",
        b"title = ",
        b"a = " + b"[" * 5000 + b"]" * 5000,
        b"a = " + b"9" * 5000,
        b"a.b" * 20_000,
        ("[" + ".".join("a" * 20_000) + "]").encode(),
    ],
    ids=["no UTF-8", "half a line", "deep lists", "a long number", "a long key", "deep tables"],
)
def test_garbage_is_refused_with_our_own_error(raw: bytes) -> None:
    assert len(problems(raw)) > 0


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        (LEAST + "titel = 1", "titel = 1", "did you mean title?"),
        (LEAST + "zzz = 1", "zzz = 1", "remove it; docs/games.md shows the keys that there are"),
        (LEAST + "title = 2\n", "title = 2", SHOWN),
        (LEAST + '[board]\ncells = "point"\n', 'cells = "point"', "did you mean points?"),
        (LEAST + 'information = "full"\n', 'information = "full"', SHOWN),
        (LEAST + PIECES.format("?piece") + '  shape = "dsic"\n', '  shape = "dsic"', "did you mean disc?"),
        (
            LEAST + PIECES.format("?piece") + '  shapes."it\'s" = "dsic"\n',
            '  shapes."it\'s" = "dsic"',
            "did you mean disc?",
        ),
        (LEAST + '[board]\nedges.nort = "red"\n', 'edges.nort = "red"', "did you mean north?"),
        (LEAST + PIECES.format("?piece") + "  shape = 5\n", "  shape = 5", SHOWN),
        (LEAST + '[board]\nturn = "(control ?r)"\n', 'turn = "(control ?r)"', SHOWN),
        (LEAST + "\n[counts]\nplays = -1\n", "plays = -1", SHOWN),
        (LEAST + "counts.plays = -1\n", "counts.plays = -1", SHOWN),
        (LEAST + '[board]\nkind = "grid"\n', "[board]", SHOWN),
        (LEAST + PIECES.format("?x") + PIECES.format("?z"), "  [[board.pieces]] # ?z", SHOWN),
        (LEAST + "[counts]\nperft = [", "perft = [", SHOWN),
        (LEAST.replace('title = "A game"', "# without"), "", SHOWN),
        ("", "", SHOWN),
    ],
)
def test_a_finding_is_where_its_key_is(text: str, place: str, hint: str, tmp_path: Path) -> None:
    path = tmp_path / "game.toml"
    path.write_text(text, encoding="utf-8")
    found = metadata_findings(path)[0]
    assert (found.code.name, found.span.source.name, found.hint) == ("gdl/wrong-description", str(path), hint)
    assert (found.span.text, place in text.splitlines() or not place) == (place.strip(), True)


def test_a_right_description_has_no_findings(tmp_path: Path) -> None:
    path = tmp_path / "game.toml"
    path.write_text(LEAST, encoding="utf-8")
    assert metadata_findings(path) == []


ROOK = read_rules("""
(role first) (role second) (init (rook 6 5)) (init (control first)) (corner 1 1)
(<= (next (control second)) (true (control first)))
(<= (next (rook ?x ?y)) (does ?r (move ?x ?y)))
(<= (legal ?r (move 1 1)) (role ?r))
""")
ROOK_ABOUT = """
title = "The rook's way home"
authors = ["me"]
roles = ["first", "second"]
players = 2
summary = "Who brings it home wins."
[board]
kind = "grid"
columns = "1..6"
rows = "1..5"
turn = "(control ?role)"
[[board.pieces]]
fluent = "(rook ?x ?y)"
symbol = "R"
[[board.pieces]]
source = "rules"
fluent = "(corner ?x ?y)"
symbol = "c"
"""


@pytest.mark.parametrize(
    ("right", "wrong", "line", "message", "hint"),
    [
        ('"first", "second"', '"white", "black"', 4, "roles: the roles of the rules are first, second",
         "name these, as the rules do"),
        ("(rook ?x", "(rock ?x", 13, "board.pieces[1].fluent: no fluent of the rules is called rock",
         "did you mean rook?"),
        ("(control", "(whose", 11, "board.turn: no fluent of the rules is called whose",
         "the rules have control, rook"),
        ("(rook ?x ?y)", "(rook ?x ?y 1)", 13,
         "board.pieces[1].fluent: rook of the rules has another number of arguments: 2, not 3", PATTERNS),
        ("(control ?role)", "(control (to ?role))", 11,
         "board.turn: no fluent of the rules is ever of the form (control (to ?role))", PATTERNS),
        ("(corner", "(rook", 17, "board.pieces[2].fluent: no fact of the rules is called rook",
         "the rules have corner, init, role"),
        ("1..6", "1..4", 13, "board.pieces[1].fluent: (rook 6 5) holds at first, and is in none of the cells that "
         "`columns` and `rows` name", "name the columns and rows that the facts have"),
    ],
)  # fmt: skip
def test_what_a_description_says_of_the_rules_that_they_do_not_is_found_at_its_key(
    right: str, wrong: str, line: int, message: str, hint: str
) -> None:
    found = metadata_findings(Source("rook.toml", ROOK_ABOUT.replace(right, wrong, 1)), ROOK)
    assert [(one.code.name, one.span.line, one.message, one.hint) for one in found] == [
        ("gdl/description-mismatch", line, message, hint)
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", game_names())
def test_the_description_of_a_game_of_the_library_fits_its_rules(name: str) -> None:
    file = find_game(name)
    assert metadata_findings(file.metadata_path, file.read()) == []


@pytest.mark.exhaustive
@given(st.text() | st.text(st.sampled_from('[]{}".=a1\n')))
def test_any_text_is_read_or_refused_with_our_own_error(text: str) -> None:
    with contextlib.suppress(MetadataError):
        metadata_of((LEAST + text).encode("utf-8", "surrogatepass"))


def test_a_file_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "game.toml"
    path.write_text(LEAST + "#" * MAX_BYTES, encoding="utf-8")
    with pytest.raises(MetadataError, match="more than 200,000 bytes"):
        read_metadata(path)


def test_a_text_too_large_is_not_read() -> None:
    assert problems(LEAST + "#" * MAX_BYTES) == ("the description has more than 200,000 bytes",)


def test_a_key_of_too_many_parts_is_refused() -> None:
    assert problems(".".join("a" * 17) + " = 1") == ("a key has more than 16 parts (at line 1, column 1)",)


def test_many_problems_are_cut() -> None:
    assert len(problems(LEAST + "".join(f"x{n} = 1\n" for n in range(100)))) == 10
