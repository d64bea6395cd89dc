"""Pictures of boards as pixels: PNG, and matches as moving GIF and WebP. Needs the extra `pictures`."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gdl.extras import extra_module

if TYPE_CHECKING:
    from PIL.Image import Image

THEMES: Final = ("light", "dark")
MAX_PIXELS: Final = 4_000
"""The most pixels that a picture is wide."""
_LAST: Final = 3
"""How many times as long the last picture stands."""
_ROOT: Final = re.compile(r"svg\.board((?:\.[\w-]+)*) \{([^}]*)\}")
_PROPERTY: Final = re.compile(r"(--[\w-]+):\s*([^;]+);")
_VARIABLE: Final = re.compile(r"var\((--[\w-]+)(?:,\s*([^()]+))?\)")
_SCHEMES: Final = re.compile(r"light-dark\(([^,()]+),\s*([^,()]+)\)")
_ANY_OF: Final = re.compile(r"([^{},>]*):is\(([^()]*)\)([^{},>\s]*)")


def plain_style(svg: str, theme: str) -> str:
    """Return *svg* with the style that renderers of SVG 1.1 know: no properties of its own, one of the two themes.

    Example:
        >>> plain_style("svg.board { --a: light-dark(#fff, #000); } a { fill: var(--a); }", "dark")
        'svg.board { --a: #000; } a { fill: #000; }'
    """
    found = re.search(r'class="([^"]*)"', svg)
    classes = set(found[1].split()) if found else set[str]()
    properties: dict[str, str] = {}
    for rule in _ROOT.finditer(svg):
        if set(rule[1].split(".")[1:]) <= classes:
            properties.update(_PROPERTY.findall(rule[2]))
    resolved = _VARIABLE.sub(lambda used: _value(properties, used[1], used[2]), svg)
    chosen = _SCHEMES.sub(lambda pair: pair[1 + THEMES.index(theme)].strip(), resolved)
    return _ANY_OF.sub(_listed, chosen)


def _value(properties: Mapping[str, str], name: str, fallback: str | None) -> str:
    return properties.get(name, fallback or "none")


def _listed(selector: re.Match[str]) -> str:
    """Return a selector with `:is(...)` as several without."""
    return ",".join(f"{selector[1]}{one.strip()}{selector[3]}" for one in selector[2].split(","))


def png_of(svg: str, theme: str = "light", width: int | None = None) -> bytes:
    """Return *svg*, a picture that stands alone, as PNG. *Units*: pixels for *width*; None is its own.

    Raises:
        MissingExtraError: the extra `pictures` is not installed.
    """
    resvg = extra_module("resvg_py", "pictures", "a picture of pixels")
    pixels: bytes = resvg.svg_to_bytes(
        svg_string=plain_style(svg, theme),
        width=None if width is None else min(width, MAX_PIXELS),
        font_family="DejaVu Sans",
        sans_serif_family="DejaVu Sans",
    )
    return bytes(pixels)


def write_animation(svgs: Sequence[str], output: Path, seconds: float = 1.0) -> None:
    """Write *svgs* as one moving picture, GIF or WebP by the name of *output*, the last one for longer.

    Raises:
        MissingExtraError: the extra `pictures` is not installed.
        OSError: the file cannot be written.
    """
    images = extra_module("PIL.Image", "pictures", "a moving picture")
    drawn = [images.open(io.BytesIO(png_of(svg))).convert("RGB") for svg in svgs]
    size = max(image.width for image in drawn), max(image.height for image in drawn)
    first, *others = (_on_sheet(images, image, size) for image in drawn)
    durations = [round(1000 * seconds)] * len(others) + [round(1000 * seconds * _LAST)]
    first.save(output, save_all=True, append_images=others, duration=durations, loop=0)


def _on_sheet(images: Any, image: Image, size: tuple[int, int]) -> Image:
    sheet: Image = images.new("RGB", size, "white")
    sheet.paste(image)
    return sheet
