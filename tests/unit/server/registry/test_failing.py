"""Which players of a match did nothing but fail."""

import pytest

from server.registry.health import has_only_failed


@pytest.mark.parametrize(
    ("errors", "failed"),
    [
        ([], {"a": False, "b": False}),
        ([["", "TO"], ["", "CE"]], {"a": False, "b": True}),
        ([["TO", "TO"], ["", "TO"]], {"a": False, "b": True}),
        ([["IL noop", "TO"], ["TO", ""]], {"a": False, "b": False}),
    ],
)
def test_who_has_only_failed(errors: list[list[str]], failed: dict[str, bool]) -> None:
    assert has_only_failed({"playerNamesFromHost": ["a", "b"], "errors": errors}) == failed


def test_a_player_that_did_well_in_one_seat_has_not_failed() -> None:
    record = {"playerNamesFromHost": ["a", "a"], "errors": [["TO", ""], ["TO", ""]]}
    assert has_only_failed(record) == {"a": False}


def test_a_record_of_nothing_tells_nothing() -> None:
    assert has_only_failed({}) == {}
