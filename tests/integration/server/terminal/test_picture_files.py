"""Boards as pixels: the style that renderers know, PNG, and moving GIF and WebP."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from gdl.boards import picture
from gdl.games.library import find_game
from server.terminal import picture_files
from server.terminal.picture_files import MAX_PIXELS, plain_style, png_of, write_animation
from tests.kit.players.games import game
from tests.kit.server.commands.fixtures import Ggp


def drawn(name: str) -> str:
    of = game(name)
    return picture(of.description, find_game(name).metadata(), of.initial_state.facts, standalone=True)


def pixels(svg: str, theme: str = "light") -> Image.Image:
    return Image.open(io.BytesIO(png_of(svg, theme))).convert("RGB")


@pytest.mark.parametrize(
    ("style", "plain"),
    [
        ("svg.board { --a: #111; } .x { fill: var(--a); }", "svg.board { --a: #111; } .x { fill: #111; }"),
        (".x { fill: var(--b, #222); }", ".x { fill: #222; }"),
        (".x { fill: var(--b); }", ".x { fill: none; }"),
        (".x { fill: var(--in-light, #333) var(--in-dark, #444); }", ".x { fill: #444; }"),
        (".p:is(.a, .b) { fill: #555; }", ".p.a,.p.b { fill: #555; }"),
        (
            "svg.board { --a: #111; } svg.board.odd { --a: #666; } .x { fill: var(--a); }",
            "svg.board { --a: #111; } svg.board.odd { --a: #666; } .x { fill: #111; }",
        ),
    ],
)
def test_a_style_is_written_as_all_renderers_know_it(style: str, plain: str) -> None:
    svg = f'<svg class="board"><style>{style}</style></svg>'
    assert plain_style(svg, "dark") == f'<svg class="board"><style>{plain}</style></svg>'


@pytest.mark.parametrize(("theme", "sheet"), [("light", (255, 255, 255)), ("dark", (27, 31, 36))])
def test_a_picture_has_the_colours_of_its_theme(theme: str, sheet: tuple[int, int, int]) -> None:
    image = pixels(drawn("connectfour"), theme)
    assert image.getpixel((image.width - 1, image.height - 1)) == sheet


def test_pieces_stand_out_in_pixels() -> None:
    colours = {colour for _, colour in pixels(drawn("breakthrough")).getcolors(1 << 20) or ()}
    assert {(244, 241, 234), (35, 39, 46)} <= colours


def test_no_style_is_left_that_renderers_do_not_know() -> None:
    plain = plain_style(drawn("hex"), "light")
    assert [word for word in ("var(", "@media", ":is(") if word in plain] == []


def test_the_command_writes_a_position_as_png(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "board.png"
    assert ggp("show", "tictactoe", "--png", "-o", path) == (0, "", "")
    with Image.open(path) as image:
        assert image.format == "PNG"
    assert ggp("show", "tictactoe", "--png").exit_code == 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "kind"), [("match.gif", "GIF"), ("match.webp", "WEBP")])
def test_a_match_is_written_as_a_moving_picture(ggp: Ggp, tmp_path: Path, name: str, kind: str) -> None:
    record, path = tmp_path / "match.json", tmp_path / name
    ggp("match", "tictactoe", "--player", "x=legal", "--player", "o=legal", "--record", record)
    assert ggp("replay", record, "--animate", "-o", path).exit_code == 0
    with Image.open(path) as film:
        assert (film.format, getattr(film, "n_frames", 1)) == (kind, 8)


def large(width: int, height: int) -> str:
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><rect width="{width}" height="{height}" fill="#f00"/></svg>'


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("width", "height", "size"),
    [(300, 200, (300, 200)), (8_000, 6_000, (MAX_PIXELS, 3_000)), (200, 8_000, (100, MAX_PIXELS))],
)
def test_a_picture_is_no_larger_than_it_may_be(width: int, height: int, size: tuple[int, int]) -> None:
    assert Image.open(io.BytesIO(png_of(large(width, height)))).size == size


@pytest.mark.parametrize("name", ["film.gif", "film.webp"])
def test_all_pictures_of_a_film_together_have_so_many_pixels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(picture_files, "MAX_ANIMATION_PIXELS", 20_000)
    write_animation([large(300, 200), large(30, 60)], tmp_path / name)
    with Image.open(tmp_path / name) as film:
        assert (film.size, getattr(film, "n_frames", 1)) == ((100, 67), 2)
