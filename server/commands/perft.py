"""`ggp perft`: count the ways in which a game can go, to compare rules with other implementations of the game."""

import json
import os
from math import prod
from pathlib import Path
from typing import Final

import click

from gdl.compiler.compiled import CompiledGame
from gdl.diagnostics import escaped
from gdl.engines import BestGame, make_compiled_game
from gdl.game import Game, State
from gdl.games.library import find_game
from gdl.quantities import quantity
from server.measuring.perft import BatchCounting, Counting, StateCounting, counts, divided
from server.records.errors import RecordDiffersError
from server.records.replay import replay
from server.records.stored_record import read_stored
from server.terminal.progress import progress

_SEPARATOR: Final = "@"


class _RecordStep(click.ParamType[tuple[Path, int]]):
    """A match record and a step of it, as `RECORD@STEP`."""

    name = "RECORD@STEP"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Path, int]:
        path, _, step = str(value).rpartition(_SEPARATOR)
        if not path or not step.isascii() or not step.isdecimal() or len(step) > 9:
            self.fail(f"{str(value)!r} is no record and step, such as match.json@12", param, ctx)
        return Path(path), int(step)


@click.command()
@click.argument("name", metavar="GAME")
@click.argument("depth", type=click.IntRange(1))
@click.option("--turns", "by_turns", is_flag=True, help="Count whole turns, where a turn takes several steps.")
@click.option("--from", "begin", type=_RecordStep(), help="Begin where a match of the game stood at a step.")
@click.option("--divide", is_flag=True, help="Say how many nodes of DEPTH each first joint move leads to.")
@click.option("--threads", "--processes", "n_threads", type=click.IntRange(1), default=os.cpu_count() or 1,
              show_default="one a core", help="How many threads count at once, each on a core.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(
    name: str, depth: int, by_turns: bool, begin: tuple[Path, int] | None, divide: bool, n_threads: int, as_json: bool
) -> None:
    """Count the joint moves of GAME at each depth up to DEPTH, from the first position.

    These are the numbers that programs for a game are compared by: a rule file that counts as they do, at every depth,
    has the same moves. What several ways lead to counts several times; the end of a play has no more moves.

    \b
    ggp perft connectfour 8                     the counts of depths 1 to 8
    ggp perft connectfour 4 --divide            where two programs differ
    ggp perft amazons 2 --turns                 a move and its arrow are one
    ggp perft connectfour 5 --from match.json@9 from the position after nine steps
    """  # noqa: D301 -- click keeps lines as they are after the character that this escape is
    if divide and by_turns:
        raise click.UsageError("--divide counts steps: leave out --turns")
    with progress(f"preparing {name}"):
        game = make_compiled_game(find_game(name).read())
        state = game.initial_state if begin is None else _state_of(game, *begin)
    counting = _counting(game, by_turns, n_threads)
    if divide:
        _divide(game, counting, state, depth, as_json=as_json)
        return
    found = []
    with progress("counting", depth) as advance:
        for count in counts(counting, state, depth):
            found.append(count)
            advance()
            if not as_json:
                click.echo(f"{count.depth:>3}  {count.nodes:>22,}  {count.seconds:>9.2f} s")
    if as_json:
        rows = [{"depth": each.depth, "nodes": each.nodes, "seconds": round(each.seconds, 6)} for each in found]
        click.echo(json.dumps({"game": name, "turns": by_turns, "depths": rows}, indent=2))


def _counting(game: Game, by_turns: bool, n_threads: int) -> Counting:
    best = game.compiled if isinstance(game, BestGame) else game
    if isinstance(best, CompiledGame):
        return BatchCounting(best, by_turns, n_threads)
    return StateCounting(game, by_turns)


def _state_of(game: Game, path: Path, step: int) -> State:
    """Return the state at *step* of the match of *game* that the record at *path* has.

    Raises:
        UsageError: the record cannot be read, is of another game, or ends before.
    """
    try:
        record = read_stored(path)
        for at in replay(game, record):
            if at.step == step:
                return at.state
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {error.strerror}") from error
    except RecordDiffersError as error:
        raise click.UsageError(f"{path} is no match by these rules: {error}") from error
    raise click.UsageError(f"the match of {path} has {len(record.moves)} steps: there is no step {step}")


def _divide(game: Game, counting: Counting, state: State, depth: int, *, as_json: bool) -> None:
    """Print how many nodes each first joint move leads to, and their sum."""
    n_moves = 0 if state.is_terminal else prod(len(state.legal_moves(role)) for role in game.roles)
    found: list[tuple[tuple[str, ...], int]] = []
    with progress("counting", n_moves) as advance:
        for joint, nodes in divided(game, counting, state, depth, advance):
            found.append((tuple(map(str, joint)), nodes))
    if as_json:
        moves = [{"moves": list(words), "nodes": nodes} for words, nodes in found]
        click.echo(json.dumps({"depth": depth, "nodes": sum(nodes for _, nodes in found), "moves": moves}, indent=2))
        return
    for words, nodes in found:
        click.echo(escaped(f"{nodes:>22,}  {' '.join(words)}"))
    click.echo(f"{sum(nodes for _, nodes in found):>22,}  in {quantity(len(found), 'move')}")
