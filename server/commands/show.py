"""`ggp show`: what a game is, and how its first position looks."""

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from gdl.boards import About, Paint, board_of, in_unicode, layout_of, picture, text_of
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
    file = find_game(name)
    about = file.about()
    with progress(f"deriving the first position of {file.name}"):
        game = make_game(file.read())
        legal = {role.name: len(game.initial_state.legal_moves(role)) for role in game.roles}
    if as_png and output is not None:
        svg = picture(game.description, about, game.initial_state.facts, standalone=True)
        write_pixels(svg, output)
        return
    if as_svg:
        write_picture(picture(game.description, about, game.initial_state.facts, standalone=True), output)
        return
    if as_json:
        told = _as_json(file, about, game, legal)
        click.echo(json.dumps(told | {"rules": game.description.source.text} if with_rules else told, indent=2))
        return
    is_unicode = has_unicode() if is_unicode is None else is_unicode
    lines = "\n".join(
        (*_words(file, about, game), _position(about, game, _painted, is_unicode=is_unicode), "", *_moves(legal))
    )
    console = Console(highlight=False)
    console.print(Text.from_ansi(lines), soft_wrap=True)
    if with_rules:
        print_rules(game.description.source.text, console)


def _write_sheet(folder: Path, output: Path | None) -> bool:
    """Write the contact sheet of *folder*, print how many games have which board, and return whether all are drawn."""
    if output is None:
        raise click.UsageError("--sheet writes a page: name its file with -o FILE")
    frames = frames_of(folder)
    if not frames:
        raise click.UsageError(f"no rule file (.kif) is in {folder}")
    write_picture(sheet_of(frames).rstrip("\n"), output)
    click.echo(summary(frames))
    failed = [frame for frame in frames if frame.picture is None]
    for frame in failed:
        lines = "\n".join(map(escaped, frame.reason.splitlines()))
        click.echo(f"{escaped(frame.name)}: {lines}", err=True)
    return not failed


def write_picture(svg: str, output: Path | None) -> None:
    """Write the picture to the file, to standard output without one.

    Raises:
        UsageError: the file cannot be written.
    """
    if output is None:
        click.echo(svg)
        return
    try:
        with writing(output) as file:
            file.write_text(f"{svg}\n", encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"{output} cannot be written: {error.strerror}") from error


def write_pixels(svg: str, output: Path) -> None:
    """Write the picture to the file as PNG.

    Raises:
        UsageError: the file cannot be written.
        MissingExtraError: the extra `pictures` is not installed.
    """
    pixels = png_of(svg)
    try:
        with writing(output) as file:
            file.write_bytes(pixels)
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


def _position(about: About | None, game: Game, paint: Paint, *, is_unicode: bool) -> str:
    board = board_of(layout_of(game.description, about), game.description, game.initial_state.facts)
    return text_of(in_unicode(board) if is_unicode else board, paint)


def _words(file: GameFile, about: About | None, game: Game) -> Iterator[str]:
    """Yield the lines on a game: title, authors, roles, kind, and how unclear sentences were decided."""
    yield f"{about.title} ({file.name})" if about else file.name
    if about:
        yield from ("", textwrap.fill(about.summary, _WIDTH), "", f"authors: {', '.join(about.authors)}")
        if about.source:
            yield f"source: {about.source}"
    yield f"roles: {', '.join(role.name for role in game.roles)}"
    yield f"information: {_information(about, game)}"
    if about and about.decisions:
        yield from ("", "What the source leaves open, and what the rules do:")
        for decision in about.decisions:
            yield textwrap.fill(decision.unclear, _WIDTH, initial_indent="- ", subsequent_indent="  ")
            yield textwrap.fill(decision.decided, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    yield from ("", "First position:")


def _information(about: About | None, game: Game) -> str:
    if not game.has_imperfect_information:
        return "perfect"
    return f"{(about and about.information) or 'imperfect'} (GDL-II)"


def _moves(legal: dict[str, int]) -> Iterator[str]:
    yield "Legal moves: " + ", ".join(f"{role} {n}" for role, n in legal.items())


def _as_json(file: GameFile, about: About | None, game: Game, legal: dict[str, int]) -> dict[str, object]:
    """Return the game as JSON: name, roles, description, first state, numbers of legal moves, board."""
    return {
        "name": file.name,
        "path": str(file.path),
        "sha256": game.description.sha256,
        "roles": [role.name for role in game.roles],
        "has_imperfect_information": _information(about, game).startswith("imperfect"),
        "about": about.model_dump(mode="json", exclude_unset=True) if about else None,
        "facts": sorted(map(str, game.initial_state.facts)),
        "legal": legal,
        "board": _position(about, game, plain, is_unicode=False),
    }
