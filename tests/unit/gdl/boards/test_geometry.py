"""Where cells lie in pictures: neighbours share an edge, and every edge has one side of the board."""

from __future__ import annotations

import pytest

from gdl.boards.boards import Place
from gdl.boards.geometry import CELL, Geometry

ALL = [
    Geometry("squares", "right", 4, 3),
    Geometry("points", "right", 4, 3),
    *(Geometry("hexagons", shift, 4, 3) for shift in ("right", "left", "odd", "even")),
    *(Geometry("flat-hexagons", shift, 4, 3) for shift in ("down", "up", "odd", "even")),
]
PLACES = [(x, y) for x in range(4) for y in range(3)]


def behind(geometry: Geometry, place: Place) -> set[Place]:
    return {found for found, *_ in geometry.around(place) if found is not None}


@pytest.mark.parametrize("geometry", ALL, ids=lambda geometry: f"{geometry.cells} {geometry.shift}")
def test_cells_behind_an_edge_are_as_near_as_cells_can_be(geometry: Geometry) -> None:
    for place in PLACES:
        x, y = geometry.centre(place)
        near = {
            other
            for other in PLACES
            if other != place
            and (geometry.centre(other)[0] - x) ** 2 + (geometry.centre(other)[1] - y) ** 2 < (1.01 * CELL) ** 2
        }
        assert behind(geometry, place) == near


@pytest.mark.parametrize("geometry", ALL, ids=lambda geometry: f"{geometry.cells} {geometry.shift}")
def test_all_cells_lie_inside(geometry: Geometry) -> None:
    width, height = geometry.size
    for place in PLACES:
        for _, _, (x, y), _ in geometry.around(place):
            assert -0.01 <= x <= width + 0.01
            assert -0.01 <= y <= height + 0.01


def test_in_a_rhombus_a_cell_touches_the_one_to_the_right_above_and_the_one_to_the_left_below() -> None:
    assert behind(Geometry("hexagons", "right", 4, 3), (1, 1)) == {(1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2)}


def test_all_sides_of_a_rhombus_are_as_long_as_the_board() -> None:
    geometry = Geometry("hexagons", "right", 3, 3)
    sides = [side for x in range(3) for y in range(3) for found, side, *_ in geometry.around((x, y)) if found is None]
    assert {side: sides.count(side) for side in sides} == {"north": 6, "south": 6, "west": 5, "east": 5}
