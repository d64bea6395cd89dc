"""Moving pictures: every frame in its time, and only the last one where less motion is asked for."""

from __future__ import annotations

from gdl.boards.pictures import MAX_FRAMES, animation_of, drawing
from tests.kit.gdl.boards.drawn import CELLS, GRID, NAMESPACE, board, parsed, texts

FRAMES = [drawing(board(GRID | {"pieces": [CELLS]}, *facts)) for facts in ((), ("(cell 1 1 x)",), ("(cell 2 2 o)",))]


def test_frames_are_shown_one_after_the_other_and_the_last_one_longer() -> None:
    animation = parsed(animation_of(FRAMES, "A <match>", seconds=2))
    found = [(a.attrib["values"], a.attrib["keyTimes"], a.attrib["dur"]) for a in animation.iter(f"{NAMESPACE}animate")]
    assert found == [
        ("visible;hidden", "0;0.2", "10s"),
        ("hidden;visible;hidden", "0;0.2;0.4", "10s"),
        ("hidden;visible", "0;0.4", "10s"),
    ]
    assert texts(animation_of(FRAMES, "A <match>"), "title")[0] == "A <match>"


def test_who_wants_less_motion_sees_the_last_frame() -> None:
    (style,) = texts(animation_of(FRAMES, "A match"), "style")
    assert "@media (prefers-reduced-motion: reduce) {\n  .frame-of-film { visibility: hidden !important; }" in style


def test_a_film_is_of_bounded_length() -> None:
    animation = parsed(animation_of([FRAMES[0]] * (MAX_FRAMES + 9), "A match"))
    assert len(list(animation.iter(f"{NAMESPACE}animate"))) == MAX_FRAMES
