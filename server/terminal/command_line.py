"""What command lines share: the option of an engine, finite numbers, options that exclude each other, TOML, tables."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from gdl.toml import toml_of
from server.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.console import Console

_Command = TypeVar("_Command", bound=Callable[..., Any])
WIDTH_OF_A_PIPE: Final = 200
"""How wide tables are that no terminal shows. *Units*: characters."""


class FiniteRange(click.FloatRange):
    """A number within bounds; neither `nan`, which lies within all bounds, nor `inf`."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number that *value* names, or fail as click's types do."""
        found = float(super().convert(value, param, ctx))
        if not math.isfinite(found):
            self.fail(f"{value} is no finite number.", param, ctx)
        return found


class OutputFile(click.Path):
    """The file that a command writes in place of standard output, which `-` names as well as no option does."""

    name = "file"

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path that *value* is, or fail as click's type does; None for standard output."""
        return None if value == "-" else super().convert(value, param, ctx)


def engine_option(help_text: str) -> Callable[[_Command], _Command]:
    """Return the decorator that gives a command the option `--engine`, the name of one of our engines."""
    from gdl.engines import DEFAULT_ENGINE, ENGINES  # noqa: PLC0415 -- slow to load, and most commands have no choice

    return click.option(
        "--engine", type=click.Choice(list(ENGINES)), default=DEFAULT_ENGINE, show_default=True, help=help_text
    )


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


def read_toml(path: Path) -> dict[str, Any]:
    """Return what the TOML file at *path* says.

    Raises:
        ConfigurationError: it cannot be read, or is no TOML.
    """
    try:
        return toml_of(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError(path, error.strerror or "cannot be read") from error
    except ValueError as error:
        raise ConfigurationError(path, f"no TOML: {error}") from error


def table_console() -> Console:
    """Return the console for a table on standard output, in which every text stands as it is."""
    from rich.console import Console  # noqa: PLC0415 -- slow to load, and few commands show tables

    return Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else WIDTH_OF_A_PIPE)
