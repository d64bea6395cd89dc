"""Figures as a table, and the page that holds it."""

from __future__ import annotations

import math

import pytest

from benchmarks.load.figures import Figure, quantile, table, with_figures


def test_a_promise_that_is_not_kept_stands_out() -> None:
    figures = [Figure("share", 6.94, "ms", 5), Figure("errors", 0, "", 0), Figure("steps", 1_234, "")]
    assert table(figures).splitlines() == [
        "| what | measured | promised |",
        "| --- | ---: | --- |",
        "| share | 6.94 ms | **at most 5 ms: missed** |",
        "| errors | 0 | at most 0 |",
        "| steps | 1,234 | |",
    ]


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 2.0), (0.99, 4.0), (1.0, 4.0)])
def test_a_quantile_is_one_of_the_values(share: float, expected: float) -> None:
    assert quantile([4.0, 1.0, 3.0, 2.0], share) == expected


def test_nothing_has_no_quantile_and_keeps_no_promise() -> None:
    assert math.isnan(quantile([], 0.5))
    assert not Figure("share", math.nan, "ms", 5).is_kept


def test_a_page_gets_new_figures_and_keeps_what_is_around_them() -> None:
    page = "before\n<!-- figures -->\nold\n<!-- end of figures -->\nafter\n"
    assert with_figures(page, "new") == "before\n<!-- figures -->\nnew\n<!-- end of figures -->\nafter\n"
    assert with_figures(with_figures(page, "new"), "new") == with_figures(page, "new")
