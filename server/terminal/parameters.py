"""Options that several commands share: numbers that are finite, and ways of output that exclude each other."""

import math
from typing import Any

import click


class FiniteRange(click.FloatRange):
    """A number within bounds; neither `nan`, which lies within all bounds, nor `inf`."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number that *value* names, or fail as click's types do."""
        found = float(super().convert(value, param, ctx))
        if not math.isfinite(found):
            self.fail(f"{value} is no finite number.", param, ctx)
        return found


def check_one_output(**chosen: object) -> None:
    """Look that at most one of the options *chosen*, by their names with `_` for `-`, was given.

    Raises:
        click.UsageError: there are several.
    """
    given = [f"--{name.replace('_', '-')}" for name, value in chosen.items() if value]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} exclude each other; choose one of them")


def check_needs(needed: str, is_there: object, **given: object) -> None:
    """Look that options which mean something only with the option *needed* were not given without it.

    Raises:
        click.UsageError: one was.
    """
    for name, value in given.items():
        if value and not is_there:
            raise click.UsageError(f"--{name.replace('_', '-')} needs {needed}")
