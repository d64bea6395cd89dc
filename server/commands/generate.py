"""`ggp generate`: write the rule file of a game that comes in any size."""

from pathlib import Path
from typing import Final, TextIO

import click

from gdl.boards import MAX_SIDE
from gdl.files import is_stream, writing
from gdl.games.breakthrough import MAX_BREAKTHROUGH_SIDE, breakthrough_game
from gdl.games.chess import FIRST_FEN, chess_metadata, chess_rules, read_fen
from gdl.games.connect import MAX_CONNECT_SIDE, ConnectGame, connect_game
from gdl.games.families import GeneratedGame
from gdl.games.hanoi import MAX_DISKS, MAX_HANOI_STEPS, hanoi_game
from gdl.games.hex import MAX_HEX_SIDE, hex_game
from gdl.games.nim import MAX_HEAP_SIZE, nim_game
from gdl.games.queens import MAX_QUEENS, queens_game
from gdl.games.sokoban import DEFAULT_STEPS, MAX_SOKOBAN_STEPS, sokoban_game
from gdl.games.sokoban_level import read_level
from gdl.games.sudoku import read_sudoku, sudoku_game
from gdl.games.zion import MAX_ROBOTS, MAX_TURNS, ZionArena, default_turns, zion_metadata, zion_rules
from gdl.language.rules import METADATA_SUFFIX
from server.commands.main import Commands
from server.terminal.command_line import OutputFile

MAX_LEVEL_CHARACTERS: Final = 10_000
"""Of a longer text no more is read, which is more than a level can have."""

output_option = click.option("-o", "--output", type=OutputFile(), help="Write here, and a .toml beside it.")


@click.group(cls=Commands)
def command() -> None:
    """Write the rule file of a game that comes in any size.

    The rules go to the screen, or to --output FILE.kif, with the description FILE.toml beside it, so that
    `ggp play FILE.kif` draws the board.
    """


@command.command(short_help="Zion, the arena of robots.")
@click.option("--rows", type=click.IntRange(1, MAX_SIDE), required=True, help="How many rows.")
@click.option("--columns", type=click.IntRange(1, MAX_SIDE), required=True, help="How many columns.")
@click.option("--robots", type=click.IntRange(1, MAX_ROBOTS), required=True, help="How many robots.")
@click.option("--turns", type=click.IntRange(1, MAX_TURNS), help="The limit; by default 10 and 5 for each robot.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed places the robots elsewhere.")
@output_option
def zion(rows: int, columns: int, robots: int, turns: int | None, seed: int, output: Path | None) -> None:
    """Write the rules of Zion in an arena of that size, with that many robots, to the screen or a file.

    With --output FILE.kif the description FILE.toml is written too, so that `ggp play FILE.kif` draws the arena.
    """
    arena = ZionArena(rows, columns, robots, default_turns(robots) if turns is None else turns, seed)
    _write(GeneratedGame(zion_rules(arena), zion_metadata(arena)), output)


@command.command("hex", short_help="Hex, on a rhombus of any side.")
@click.option("--side", type=click.IntRange(2, MAX_HEX_SIDE), required=True, help="How many cells a side.")
@output_option
def hex_family(side: int, output: Path | None) -> None:
    """Write the rules of Hex on a rhombus with that many cells a side."""
    _write(hex_game(side), output)


@command.command(short_help="Breakthrough, on a board of any size.")
@click.option("--columns", type=click.IntRange(2, MAX_BREAKTHROUGH_SIDE), required=True, help="How many columns.")
@click.option("--rows", type=click.IntRange(4, MAX_BREAKTHROUGH_SIDE), required=True, help="How many rows.")
@output_option
def breakthrough(columns: int, rows: int, output: Path | None) -> None:
    """Write the rules of Breakthrough on a board of that size, with two rows of pieces on each side."""
    _write(breakthrough_game(columns, rows), output)


@command.command(short_help="Chess, from any position.")
@click.option("--fen", default=FIRST_FEN, show_default=True, help="The position, in Forsyth-Edwards Notation.")
@output_option
def chess(fen: str, output: Path | None) -> None:
    """Write the rules of chess from a position, by default the usual one."""
    position = read_fen(fen)
    _write(GeneratedGame(chess_rules(position), chess_metadata(position)), output)


@command.command(short_help="So many in a line, as tic-tac-toe or connect four.")
@click.option("--columns", type=click.IntRange(1, MAX_CONNECT_SIDE), required=True, help="How many columns.")
@click.option("--rows", type=click.IntRange(1, MAX_CONNECT_SIDE), required=True, help="How many rows.")
@click.option("--line", type=click.IntRange(2, MAX_CONNECT_SIDE), required=True, help="How many in a line win.")
@click.option("--gravity/--no-gravity", default=False, help="Whether pieces fall on those below them; they do not.")
@output_option
def connect(columns: int, rows: int, line: int, gravity: bool, output: Path | None) -> None:
    """Write the rules of a game for as many in a line on a board of that size.

    3 in a line on 3 x 3 cells is tic-tac-toe, 4 on 7 x 6 with --gravity connect four, 5 on 15 x 15 gomoku.
    """
    _write(connect_game(ConnectGame(columns, rows, line, gravity)), output)


@command.command(short_help="Nim, with heaps of any sizes.")
@click.argument("sizes", type=click.IntRange(1, MAX_HEAP_SIZE), nargs=-1, required=True)
@click.option("--misere", is_flag=True, help="The player who takes the last thing loses.")
@output_option
def nim(sizes: tuple[int, ...], misere: bool, output: Path | None) -> None:
    """Write the rules of Nim with heaps of these SIZES."""
    _write(nim_game(sizes, misere=misere), output)


@command.command(short_help="The puzzle of the queens.")
@click.option("--queens", "n", type=click.IntRange(4, MAX_QUEENS), required=True, help="How many queens.")
@output_option
def queens(n: int, output: Path | None) -> None:
    """Write the rules of the puzzle of so many queens on a board with as many rows and columns."""
    _write(queens_game(n), output)


@command.command(short_help="The towers of Hanoi.")
@click.option("--disks", type=click.IntRange(2, MAX_DISKS), required=True, help="How many disks.")
@click.option("--steps", type=click.IntRange(1, MAX_HANOI_STEPS), help="The limit; by default twice what is needed.")
@output_option
def hanoi(disks: int, steps: int | None, output: Path | None) -> None:
    """Write the rules of the towers of Hanoi with so many disks on three pegs."""
    _write(hanoi_game(disks, steps), output)


@command.command(short_help="Sokoban, for a level in the usual text format.")
@click.argument("level", type=click.File("r", encoding="utf-8", errors="replace"))
@click.option(
    "--steps", type=click.IntRange(1, MAX_SOKOBAN_STEPS), default=DEFAULT_STEPS, show_default=True, help="The limit."
)
@output_option
def sokoban(level: TextIO, steps: int, output: Path | None) -> None:
    """Write the rules of Sokoban for the level in the file LEVEL, or - for standard input.

    # is a wall, @ the player, $ a box, . a goal, * a box on a goal, + the player on a goal, a blank the floor.
    """
    _write(sokoban_game(read_level(level.read(MAX_LEVEL_CHARACTERS)), steps), output)


@command.command(short_help="Sudoku, for a puzzle of 81 characters.")
@click.argument("puzzle")
@output_option
def sudoku(puzzle: str, output: Path | None) -> None:
    """Write the rules of Sudoku for PUZZLE: 81 characters row by row, 0 or a full stop for each empty cell."""
    _write(sudoku_game(read_sudoku(puzzle)), output)


def _write(game: GeneratedGame, output: Path | None) -> None:
    """Write the rules to the screen or a stream, or rules and description to the file *output* and beside it."""
    if output is None:
        click.echo(game.rules, nl=False)
        return
    beside = output.with_suffix(METADATA_SUFFIX) if output.name else output
    if beside == output:
        raise click.UsageError("--output is the rule file: name it .kif; the description .toml comes beside it")
    texts = [(output, game.rules)] if is_stream(output) else [(output, game.rules), (beside, game.metadata)]
    for path, text in texts:
        with writing(path) as file:
            file.write_text(text, encoding="utf-8")
