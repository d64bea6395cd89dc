"""The benchmark of proofs: how many solved positions the proof search solves within a time, and how fast.

Run as `python -m benchmarks.proofs`; `docs/strength.md` keeps the figures. What it finds is held against the values of
the file.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from gdl.compiler.compiled import CompiledGame
from gdl.engines import make_game
from gdl.language.terms import Constant
from players.deadline import SearchBudget, by_processor_time
from players.search.proof.solver import ProofSearch, load_proof_kernel
from players.search.tree.search import CompiledSearch, load_search_kernel
from server.errors import PositionFileError
from server.measuring.accuracy import Halves
from server.measuring.solved_positions import PositionFile, SolvedPosition, read_positions
from server.terminal.progress import progress

FILES: Final = (Path(__file__).parent / "positions" / "connectfour.jsonl",)
GLANCE_S: Final = 0.05
"""The tree searches so long, to say what a proof can expect; it does not count."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What the search came to in a position after *n_steps* steps. *Units*: seconds of processor time."""

    line: int
    n_steps: int
    is_solved: bool
    n_states: int
    seconds: float


class WrongValueError(Exception):
    """A position was solved, and the value is not that of its file."""


def proof_of(game: CompiledGame, file: PositionFile, line: int, position: SolvedPosition, seconds: float) -> Proof:
    """Return what the proof search comes to within *seconds*.

    Raises:
        WrongValueError: what it finds is not what the file says.
    """
    state, role = file.state(game, line, position), Constant(position.role)
    tree, search = CompiledSearch(game, line), ProofSearch(game)
    tree.think(state, role, SearchBudget(deadline=by_processor_time(GLANCE_S)))
    expected = tree.insight(state, role).value
    begun_s = time.process_time()
    found = search.solve(state, role, SearchBudget(deadline=by_processor_time(seconds)), expected)
    took_s = time.process_time() - begun_s
    if found is not None and found.value != position.best:
        raise WrongValueError(f"{file.path}, line {line}: {found.value} instead of {position.best}")
    return Proof(line, len(position.moves), found is not None, search.n_nodes, round(took_s, 3))


def proofs_of(file: PositionFile, seconds: float) -> Iterator[Proof]:
    """Yield what the proof search comes to in each position of *file*.

    Raises: as `proof_of`.
    """
    game = make_game(file.game.read(), "compiled")
    if not isinstance(game, CompiledGame):
        raise click.UsageError(f"{file.game.name} cannot be compiled")
    for line, position in file.numbered:
        yield proof_of(game, file, line, position, seconds)


def table_of(file: PositionFile, found: list[Proof]) -> Table:
    """Return a row for each number of steps before the position."""
    by_steps = attrgetter("n_steps")
    table = Table("file", "steps before", "positions", "solved", "mean s", "mean states")
    for n_steps, group in groupby(sorted(found, key=by_steps), key=by_steps):
        proofs = list(group)
        n_solved = sum(each.is_solved for each in proofs)
        mean_s, mean_states = fmean(each.seconds for each in proofs), fmean(each.n_states for each in proofs)
        numbers = (n_steps, len(proofs), n_solved, f"{mean_s:.2f}", f"{mean_states:,.0f}")
        table.add_row(file.path.stem, *map(str, numbers))
    return table


@click.command()
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), default=5.0, show_default=True)
@click.option(
    "--steps", type=click.IntRange(0), default=12, show_default=True, help="Only positions after so many steps."
)
@click.option("--half", type=click.Choice(["tuning", "test", "all"]), default="all", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print each position as JSON.")
def main(files: tuple[Path, ...], seconds: float, steps: int, half: Halves, as_json: bool) -> None:
    """Solve the positions of FILEs, by default those of connect four, within a time of the processor."""
    load_search_kernel()
    load_proof_kernel()
    for path in files or FILES:
        try:
            file = read_positions(path).of_half(half)
        except PositionFileError as error:
            raise click.UsageError(str(error)) from error
        late = PositionFile(path, file.game, (pair for pair in file.numbered if len(pair[1].moves) >= steps))
        found: list[Proof] = []
        with progress("solving", len(late.numbered)) as advance:
            for proof in proofs_of(late, seconds):
                found.append(proof)
                advance()
        if as_json:
            click.echo(json.dumps([asdict(each) for each in found], indent=2))
        else:
            Console().print(table_of(late, found))


if __name__ == "__main__":
    main()
