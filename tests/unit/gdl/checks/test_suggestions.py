"""Near misses of names are found, and nothing that is far from them."""

from __future__ import annotations

import pytest

from gdl.checks.suggestions import Spellings


@pytest.mark.parametrize(
    "written", ["adjcent", "adjacentt", "adjacemt", "ajdacent", "Adjacent", "adja-cent", "adja_cent", "adjacen"]
)
def test_a_slip_of_the_finger_is_recognised(written: str) -> None:
    assert Spellings(["control", "adjacent"]).near(written) == "adjacent"


@pytest.mark.parametrize("written", ["adjoining", "x", "", "c", "controls-it"])
def test_what_is_far_from_every_name_suggests_none(written: str) -> None:
    assert Spellings(["control", "adjacent", "y"]).near(written) is None


def test_a_name_is_not_suggested_for_itself() -> None:
    assert Spellings(["cell", "cells"]).near("cell") == "cells"
    assert Spellings(["cell"]).near("cell") is None


def test_names_of_any_length_take_linear_memory() -> None:
    assert Spellings(["x" * 100_000]).near("x" * 99_999) is None
