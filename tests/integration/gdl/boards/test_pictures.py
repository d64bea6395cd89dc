"""Boards to pictures: whole ones as files, what they tell, and that nothing in them is ever markup."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.boards.boards import Board
from gdl.boards.layout import Layout
from gdl.boards.pictures import board_css, picture, svg_of
from gdl.boards.pieces import Mark
from gdl.engines import make_game
from gdl.games.library import find_game, game_names
from gdl.language.kif import read_term
from tests.kit.gdl.boards.drawn import CELLS, GRID, NAMESPACE, PICTURES, board, case, cells, labels, parsed, texts

ELEMENTS = {"svg", "title", "desc", "g", "rect", "circle", "line", "path", "text"}
ATTRIBUTES = {
    "viewBox", "width", "height", "class", "role", "transform", "data-cell", "aria-label", "x", "y", "rx", "x1", "y1",
    "x2", "y2", "cx", "cy", "r", "d", "fill", "fill-rule", "stroke", "stroke-width", "stroke-linejoin",
    "stroke-linecap", "font-size", "font-weight", "text-anchor",
}  # fmt: skip


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.toml")), ids=lambda path: path.stem)
def test_a_board_is_drawn_as_in_the_file(path: Path) -> None:
    drawn, look = case(path)
    expected = path.with_suffix(".svg").read_text(encoding="utf-8").rstrip("\n")
    assert svg_of(drawn, **look) == expected  # type: ignore[arg-type]  # a look of any words


def test_every_picture_has_a_name_and_a_description() -> None:
    svg = svg_of(board(GRID | {"pieces": [CELLS], "turn": "(control ?role)"}, "(cell 2 3 x)", "(control o)"))
    assert parsed(svg).attrib["role"] == "img"
    assert [element.tag for element in parsed(svg)][:2] == [f"{NAMESPACE}title", f"{NAMESPACE}desc"]
    assert texts(svg, "desc") == ["3 columns, 3 rows. x: 2 3. o to move."]
    assert texts(svg_of(board({}, "p"), title="A game"), "title")[0] == "A game"


def test_cells_are_named_from_the_upper_left_corner() -> None:
    svg = svg_of(
        board({"kind": "grid", "columns": "1..2", "rows": "1..2", "y": "up", "pieces": [CELLS]}, "(cell 1 1 x)")
    )
    assert cells(svg) == dict.fromkeys(("0,0", "1,0", "0,1", "1,1"), "cell")
    occupied = [cell.attrib["data-cell"] for cell in parsed(svg).iter() if "data-cell" in cell.attrib and len(cell) > 1]
    assert occupied == ["0,1"]


def test_highlighted_cells_have_a_class() -> None:
    svg = svg_of(
        board(GRID | {"columns": "1..2", "rows": "1..1"}), highlighted={"0,0": "from", "1,0": "to", "7,7": "to"}
    )
    assert cells(svg) == {"0,0": "cell from", "1,0": "cell to"}


def test_a_playable_board_tells_of_every_cell() -> None:
    layout = GRID | {"columns": "1..2", "rows": ["a"], "pieces": [CELLS | {"fluent": "(cell ?x ?piece)"}]}
    svg = svg_of(board(layout, "(cell 2 x)"), playable=True)
    assert (parsed(svg).attrib["role"], labels(svg)) == ("group", {"0,0": "1 a: empty", "1,0": "2 a: x"})


def test_heaps_are_one_column_of_cells() -> None:
    layout = {"kind": "heaps", "heaps": {"fluent": "(heap ?heap ?size)"}}
    svg = svg_of(board(layout, "(heap a 2)", "(heap b 0)"), playable=True)
    assert labels(svg) == {"0,0": "heap a: 2", "0,1": "heap b: 0"}


def test_captions_stand_below_or_are_left_to_the_page() -> None:
    layout = {"turn": "(control ?role)", "captions": [{"fluent": "(step ?n)", "text": "step ?n of 9"}]}
    drawn = board(layout, "(control white)", "(step 4)")
    assert texts(svg_of(drawn)) == ["white to move", "step 4 of 9"]
    assert texts(svg_of(drawn, captions=False)) == []


def test_a_piece_of_a_role_and_not_its_ground_stands_before_whose_turn_it_is() -> None:
    looks = {"symbol": "r", "shape": "square"}
    layout = GRID | {"turn": "(control ?role)", "pieces": [
        looks | {"fluent": "(temple ?piece ?x ?y)", "source": "rules", "fills": {"red": "bright_black"}},
        looks | {"fluent": "(pawn ?x ?y ?piece)", "fills": {"red": "red"}},
    ]}  # fmt: skip
    svg = svg_of(board(layout, "(control red)", rules="(role red) (temple red 1 1)"))
    drawn = [path.attrib["class"] for path in parsed(svg).iter(f"{NAMESPACE}path") if "piece" in path.attrib["class"]]
    assert drawn == ["piece bright_black", "piece red"]


@pytest.mark.parametrize(
    ("name", "facts", "shown"),
    [
        ("minesweeper", ("(open 3 4)", "(number 3 4 2)"), ["2"]),
        ("quarto", ("(cell 1 2 short_dark_square_hollow)", "(cell 3 2 tall_light_round_solid)"), ["S□", "t●"]),
    ],
)
def test_a_sign_is_all_that_is_written_on_a_piece_of_the_library(
    name: str, facts: tuple[str, ...], shown: list[str]
) -> None:
    file = find_game(name)
    svg = picture(file.read(), file.metadata(), map(read_term, facts), captions=False)
    on_pieces = [text for text in parsed(svg).iter(f"{NAMESPACE}text") if text.attrib["class"].startswith("on-")]
    assert [text.text for text in on_pieces] == shown


def test_long_captions_are_wrapped_and_many_are_cut() -> None:
    layout = GRID | {"labels": False, "captions": [{"fluent": "(say ?what)", "text": "?what ?what ?what"}]}
    assert texts(svg_of(board(layout, f"(say {'a' * 15})"))) == [f"{'a' * 15} {'a' * 15}", "a" * 15]
    lines = texts(svg_of(board({}, *(f"(p{1000 + n} 1)" for n in range(99)))))
    assert (len(lines), lines[-1]) == (60, "... and 40 lines more")


def test_several_pieces_of_a_cell_stand_side_by_side_and_what_lies_below_stays() -> None:
    layout = GRID | {"columns": "1..1", "rows": "1..1", "labels": False, "pieces": [
        {"fluent": "(door ?x ?y)", "symbol": "D", "shape": "door"},
        {"fluent": "(at ?x ?y ?piece)", "shape": "token"},
    ]}  # fmt: skip
    scales = [
        "scale(0.5)" in group.attrib.get("transform", "")
        for group in parsed(svg_of(board(layout, "(door 1 1)", "(at 1 1 ann)", "(at 1 1 bob)"))).iter(f"{NAMESPACE}g")
        if "data-cell" not in group.attrib
    ]
    assert scales[1:] == [False, True, True]
    many = svg_of(board(layout, *(f"(at 1 1 p{n:02})" for n in range(100))), captions=False)
    assert texts(many)[:5] == ["p96", "p97", "p98", "p99", "99+"]


def test_names_and_trays_are_in_groups_that_only_say_that_they_stay_upright() -> None:
    drawn, look = case(PICTURES / "hands.toml")
    svg = svg_of(drawn, **look)  # type: ignore[arg-type]  # a look of any words
    groups = [group for group in parsed(svg).iter() if group.attrib.get("class") == "upright"]
    assert [group.attrib for group in groups] == [{"class": "upright"}] * len(groups)
    names = [*drawn.columns, *drawn.rows, *(tray.name for tray in drawn.trays)]
    assert [group.findtext(f".//{NAMESPACE}text") for group in groups] == names


def test_only_a_picture_for_a_file_has_a_style_sheet() -> None:
    drawn = board(GRID)
    assert texts(svg_of(drawn, standalone=True), "style") == [board_css()]
    assert "<style" not in svg_of(drawn)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", game_names())
def test_every_game_of_the_library_has_a_picture(name: str) -> None:
    file = find_game(name)
    game, about = make_game(file.read(), "interpreter"), file.metadata()
    assert about is not None
    svg = picture(game.description, about, game.initial_state.facts)
    assert texts(svg, "title")[0] == about.title
    assert_safe(svg)


def test_what_is_known_of_a_state_is_drawn_like_a_whole_one() -> None:
    file = find_game("tictactoe")
    svg = picture(file.read(), file.metadata(), [read_term("(cell 2 2 x)")])
    assert texts(svg, "desc") == ["3 columns, 3 rows. x: 2 2."]


def test_a_game_without_a_description_is_drawn_by_a_guessed_layout() -> None:
    game = make_game(find_game("tictactoe").read(), "interpreter")
    svg = picture(game.description, None, game.initial_state.facts, title="Some game")
    assert (texts(svg, "title")[0], len(cells(svg))) == ("Some game", 9)


def assert_safe(svg: str) -> None:
    for element in parsed(svg).iter():
        assert element.tag.removeprefix(NAMESPACE) in ELEMENTS
        assert set(element.attrib) <= ATTRIBUTES
        assert all(text.isprintable() for text in element.attrib.values())


HOSTILE = (
    "<script>alert(1)</script>",
    '"onload="x',
    "&amp;&#0;]]>",
    "'><svg>",
    "\u202eright\u2066",
    "\x00\x08\x1b[2J",
    "\ud800",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text(name: str) -> None:
    mark = Mark(name, name, "red", 2, "token", None)
    layout = Layout.model_validate(GRID | {"captions": [{"fluent": "(p ?x)", "text": "?x"}]})
    drawn = Board(layout, (name, "2", "3"), (name, "2", "3"), {(0, 0): (mark,)}, frozenset(), (), name, (name,))
    shown = "".join(letter if letter.isprintable() else "?" for letter in name)
    svg = svg_of(drawn, title=name, highlighted={"0,0": "to"}, playable=True)
    assert_safe(svg)
    assert texts(svg, "title")[0] == shown
    assert labels(svg)["0,0"].endswith(" (2)")
    heaps = Layout.model_validate({"kind": "heaps", "heaps": {"fluent": "(heap ?heap ?size)"}})
    assert_safe(svg_of(Board(heaps, (), (), {}, frozenset(), ((name, 3),), name, (name,)), title=name))


def names() -> st.SearchStrategy[str]:
    return st.text(max_size=8) | st.sampled_from(HOSTILE)


def marks() -> st.SearchStrategy[Mark]:
    shapes = st.sampled_from(["disc", "block", "token", "tile", "queen", None])
    return st.builds(Mark, names(), names(), st.sampled_from(["red", "black", None]), st.integers(1, 200), shapes)


@given(
    st.lists(names(), min_size=1, max_size=4, unique=True),
    st.dictionaries(
        st.tuples(st.integers(0, 3), st.integers(0, 3)), st.lists(marks(), max_size=6).map(tuple), max_size=5
    ),
    names(),
    st.lists(names(), max_size=5),
    st.dictionaries(st.sampled_from(["0,0", "1,1", "9,9"]), st.sampled_from(["from", "to", "named"])),
)
def test_any_board_is_a_picture_of_known_elements_and_attributes(
    columns: list[str], standing: Mapping[tuple[int, int], tuple[Mark, ...]], turn: str, lines: list[str],
    highlighted: Mapping[str, str],
) -> None:  # fmt: skip
    layout = Layout.model_validate(GRID | {"checkered": True})
    inside = {place: found for place, found in standing.items() if max(place) < len(columns)}
    drawn = Board(layout, tuple(columns), tuple(columns), inside, frozenset(), (), turn, tuple(lines))
    assert_safe(svg_of(drawn, title=turn, highlighted=highlighted, playable=True))  # type: ignore[arg-type]  # words


def test_the_largest_board_is_of_bounded_size() -> None:
    side = "1..100"
    layout = {"kind": "grid", "columns": side, "rows": side, "pieces": [{"fluent": "(cell ?x ?y ?piece)"}]}
    facts = [f"(cell {x} {y} {'p' * 300}{n})" for x in range(1, 101) for y in (1, 50) for n in range(6)]
    assert len(svg_of(board(layout, *facts), playable=True)) < 4_000_000
