"""`ggp show`: what a game is, and how its first position looks."""

import json
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from gdl.boards import GameMetadata, Paint, board_of, in_unicode, layout_of, picture, text_of
from gdl.diagnostics import escaped
from gdl.editing.grammar import GdlLexer
from gdl.engines import make_game
from gdl.files import writing
from gdl.game import Game
from gdl.games.library import GameFile, find_game
from server.terminal.command_line import OutputFile, check_one_output
from server.terminal.commentary import has_unicode, plain
from server.terminal.picture_files import frames_of, png_of, sheet_of, summary
from server.terminal.progress import progress

_WIDTH = 100
_THEME = "ansi_dark"  # in the colours that the terminal has been given


@click.command()
@click.argument("name", metavar="GAME", required=False)
@click.option("--rules", "with_rules", is_flag=True, help="Print the rules too, last.")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
@click.option("--svg", "as_svg", is_flag=True, help="Print only the first position, as an SVG picture.")
@click.option("--png", "as_png", is_flag=True, help="Write it as PNG into the file of -o; needs the extra `pictures`.")
@click.option(
    "--unicode/--plain",
    "is_unicode",
    default=None,
    help="Draw with signs of Unicode: the default on a terminal that has it.",
)
@click.option(
    "--sheet",
    "folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Draw all rule files of FOLDER on one page of HTML, and count the kinds of their boards.",
)
@click.option("-o", "--output", type=OutputFile(), help="Where to write the picture.")
@click.pass_context
def command(
    context: click.Context,
    name: str | None,
    with_rules: bool,
    as_json: bool,
    as_svg: bool,
    as_png: bool,
    is_unicode: bool | None,
    folder: Path | None,
    output: Path | None,
) -> None:
    """Say what GAME is: title, summary, roles, how unclear sentences were decided, the first position.

    GAME is a game of the library or the path of a rule file. Without a layout of its own its board is guessed.
    Exits with 1 where --sheet finds a file that cannot be drawn; the others are drawn all the same.
    """
    check_one_output(json=as_json, svg=as_svg, png=as_png, sheet=folder)
    if folder is not None and name is None:
        context.exit(0 if _write_sheet(folder, output) else 1)
    if output is not None and not (as_svg or as_png):
        raise click.UsageError("-o is where the picture goes: add --svg or --png")
    if as_png and output is None:
        raise click.UsageError("--png writes a file: name it with -o FILE.png")
    if name is None or folder is not None:
        raise click.UsageError("name a GAME, or a folder with --sheet FOLDER, and not both")
    shown = _shown(find_game(name))
    if as_png and output is not None:
        _write(output, png_of(shown.picture()))
    elif as_svg:
        _write_picture(shown.picture(), output)
    elif as_json:
        rules = {"rules": shown.game.description.source.text} if with_rules else {}
        click.echo(json.dumps(shown.as_json() | rules, indent=2))
    else:
        _print(shown, with_rules=with_rules, is_unicode=has_unicode() if is_unicode is None else is_unicode)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A game, the rule file that it is of, its description, and how many legal moves roles have at first."""

    file: GameFile
    metadata: GameMetadata | None
    game: Game
    legal: dict[str, int]

    def picture(self) -> str:
        """Return the first position as SVG."""
        return picture(self.game.description, self.metadata, self.game.initial_state.facts, standalone=True)

    def position(self, paint: Paint, *, is_unicode: bool) -> str:
        """Return the first position as text."""
        layout = layout_of(self.game.description, self.metadata)
        board = board_of(layout, self.game.description, self.game.initial_state.facts)
        return text_of(in_unicode(board) if is_unicode else board, paint)

    def words(self) -> Iterator[str]:
        """Yield the lines on the game: title, authors, roles, kind, and how unclear sentences were decided."""
        metadata = self.metadata
        yield f"{metadata.title} ({self.file.name})" if metadata else self.file.name
        if metadata:
            yield from ("", textwrap.fill(metadata.summary, _WIDTH), "", f"authors: {', '.join(metadata.authors)}")
            if metadata.source:
                yield f"source: {metadata.source}"
        yield f"roles: {', '.join(role.name for role in self.game.roles)}"
        yield f"information: {self._information()}"
        if metadata and metadata.decisions:
            yield from ("", "What the source leaves open, and what the rules do:")
            for decision in metadata.decisions:
                yield textwrap.fill(decision.unclear, _WIDTH, initial_indent="- ", subsequent_indent="  ")
                yield textwrap.fill(decision.decided, _WIDTH, initial_indent="  ", subsequent_indent="  ")

    def _information(self) -> str:
        if not self.game.has_imperfect_information:
            return "perfect"
        return f"{(self.metadata and self.metadata.information) or 'imperfect'} (GDL-II)"

    def as_json(self) -> dict[str, object]:
        """Return the game as JSON: name, roles, description, first state, numbers of legal moves, board."""
        return {
            "name": self.file.name,
            "path": str(self.file.path),
            "sha256": self.game.description.sha256,
            "roles": [role.name for role in self.game.roles],
            "has_imperfect_information": self._information().startswith("imperfect"),
            "about": self.metadata.model_dump(mode="json", exclude_unset=True) if self.metadata else None,
            "facts": sorted(map(str, self.game.initial_state.facts)),
            "legal": self.legal,
            "board": self.position(plain, is_unicode=False),
        }


def _shown(file: GameFile) -> _Shown:
    metadata = file.metadata()
    with progress(f"deriving the first position of {file.name}"):
        game = make_game(file.read())
        legal = {role.name: len(game.initial_state.legal_moves(role)) for role in game.roles}
    return _Shown(file, metadata, game, legal)


def _print(shown: _Shown, *, with_rules: bool, is_unicode: bool) -> None:
    position = shown.position(_painted, is_unicode=is_unicode)
    moves = ", ".join(f"{role} {n}" for role, n in shown.legal.items())
    lines = "\n".join((*shown.words(), "", "First position:", position, "", f"Legal moves: {moves}"))
    console = Console(highlight=False)
    console.print(Text.from_ansi(lines), soft_wrap=True)
    if with_rules:
        print_rules(shown.game.description.source.text, console)


def _write_sheet(folder: Path, output: Path | None) -> bool:
    """Write the contact sheet of *folder*, print how many games have which board, and return whether all are drawn."""
    if output is None:
        raise click.UsageError("--sheet writes a page: name its file with -o FILE")
    frames = frames_of(folder)
    if not frames:
        raise click.UsageError(f"no rule file (.kif) is in {folder}")
    _write_picture(sheet_of(frames).rstrip("\n"), output)
    click.echo(summary(frames))
    failed = [frame for frame in frames if frame.picture is None]
    for frame in failed:
        lines = "\n".join(map(escaped, frame.reason.splitlines()))
        click.echo(f"{escaped(frame.name)}: {lines}", err=True)
    return not failed


def _write_picture(svg: str, output: Path | None) -> None:
    """Write the picture to the file, to standard output without one."""
    if output is None:
        click.echo(svg)
    else:
        _write(output, f"{svg}\n".encode())


def _write(output: Path, content: bytes) -> None:
    try:
        with writing(output) as file:
            file.write_bytes(content)
    except OSError as error:
        raise click.UsageError(f"{output} cannot be written: {error.strerror}") from error


def print_rules(text: str, console: Console) -> None:
    """Print rules after an empty line: in colour on a terminal, where they cannot control it, else as they are."""
    if not console.is_terminal:
        click.echo(f"\n{text}", nl=False)
        return
    harmless = "".join(character if character.isprintable() or character == "\n" else " " for character in text)
    lexer = GdlLexer(stripnl=False, ensurenl=False)
    console.print()
    console.print(Syntax("", lexer, theme=_THEME).highlight(harmless), soft_wrap=True, end="")


def _painted(symbol: str, colour: str | None) -> str:
    return click.style(symbol, fg=colour, bold=True) if colour else symbol
