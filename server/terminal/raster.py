"""Pictures of boards as pixels: PNG, and matches as moving GIF and WebP. Needs the extra `pictures`."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gdl.extras import extra_module

if TYPE_CHECKING:
    from PIL.Image import Image

THEMES: Final = ("light", "dark")
MAX_PIXELS: Final = 4_000
"""The most pixels that a picture is wide or high."""
MAX_FILM_PIXELS: Final = 100_000_000
"""The most pixels of all pictures of a moving one together."""
_LAST: Final = 3
"""How many times as long the last picture stands."""
_SIZE: Final = re.compile(r'<svg\b[^>]*?\swidth="([\d.]+)"[^>]*?\sheight="([\d.]+)"')
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


def png_of(svg: str, theme: str = "light", max_pixels: int = MAX_PIXELS) -> bytes:
    """Return *svg*, a picture that stands alone, as PNG; one that is larger is made as small as *max_pixels* say.

    *Units*: pixels, of the longer side.

    Raises:
        MissingExtraError: the extra `pictures` is not installed.
    """
    resvg = extra_module("resvg_py", "pictures", "a picture of pixels")
    most = min(max_pixels, MAX_PIXELS)
    box = {"width": most, "height": most} if max(_size(svg)) > most else {}
    pixels: bytes = resvg.svg_to_bytes(
        svg_string=plain_style(svg, theme), font_family="DejaVu Sans", sans_serif_family="DejaVu Sans", **box
    )
    return bytes(pixels)


def _size(svg: str) -> tuple[float, float]:
    """Return how many pixels *svg* is wide and high, as it says itself."""
    found = _SIZE.match(svg)
    return (float(found[1]), float(found[2])) if found else (math.inf, math.inf)


def write_animation(svgs: Sequence[str], output: Path, seconds: float = 1.0) -> None:
    """Write *svgs* as one moving picture, GIF or WebP by the name of *output*, the last one for longer.

    All of them together have a bounded number of pixels, since encoders keep them in memory: many are made smaller.

    Raises:
        MissingExtraError: the extra `pictures` is not installed.
        OSError: the file cannot be written.
    """
    images = extra_module("PIL.Image", "pictures", "a moving picture")
    side = math.isqrt(MAX_FILM_PIXELS // max(1, len(svgs)))
    sizes = [_fitted(_size(svg), side) for svg in svgs]
    size = max(width for width, _ in sizes), max(height for _, height in sizes)
    drawn = (_on_sheet(images, images.open(io.BytesIO(png_of(svg, max_pixels=side))), size) for svg in svgs)
    durations = [round(1000 * seconds)] * (len(svgs) - 1) + [round(1000 * seconds * _LAST)]
    next(drawn).save(output, save_all=True, append_images=drawn, duration=durations, loop=0)


def _fitted(size: tuple[float, float], most: int) -> tuple[int, int]:
    """Return *size* in whole pixels, made so small that the longer side has *most*."""
    scale = min(1.0, most / max(size))
    width, height = (min(most, math.ceil(scale * side)) for side in size)
    return width, height


def _on_sheet(images: Any, image: Image, size: tuple[int, int]) -> Image:
    sheet: Image = images.new("RGB", size, "white")
    sheet.paste(image.convert("RGB"))
    return sheet
