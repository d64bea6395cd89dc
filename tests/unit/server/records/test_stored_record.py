"""Match records as they are read: what notebooks show of them."""

from __future__ import annotations

import pytest

from gdl.display import board_svg
from gdl.games.library import find_game
from gdl.language.kif import read_term
from server.records.stored_record import stored


def test_a_record_shows_its_last_position_in_a_notebook_by_the_layout_of_the_library() -> None:
    file = find_game("nim")
    raw = {"moves": [], "states": ["( ( heap a 1 ) )", "( ( true ( heap b 2 ) ) )"], "x-rules": file.text()}
    last = {read_term("(heap b 2)")}
    assert stored(raw | {"x-game": "nim"})._repr_svg_() == board_svg(file.read(), last)
    guessed = stored(raw | {"x-game": "other"})
    description = guessed.description()
    assert description is not None
    assert guessed._repr_svg_() == board_svg(description, last) != board_svg(file.read(), last)


@pytest.mark.parametrize("missing", ["states", "x-rules"])
def test_a_record_without_rules_or_states_shows_no_board(missing: str) -> None:
    raw = {"moves": [], "states": ["( ( heap a 1 ) )"], "x-rules": "(role a)"}
    assert stored({key: value for key, value in raw.items() if key != missing})._repr_svg_() is None
