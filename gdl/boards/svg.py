"""SVG as elements: attributes go by their names, and no text but as text, whatever it holds."""

from typing import Final, TypeAlias
from xml.etree.ElementTree import Element, SubElement, tostring

NAMESPACE: Final = "http://www.w3.org/2000/svg"
_MAX_TEXT: Final = 4_000
Attribute: TypeAlias = str | float


def root(width: float, height: float, **attributes: Attribute) -> Element:
    """Return a picture of that size. *Units*: those of its drawing, pixels where a page does not say otherwise."""
    size = f"0 0 {_text(width)} {_text(height)}"
    return Element("svg", {"xmlns": NAMESPACE, "viewBox": size, **_named({"width": width, "height": height})} | _named(
        attributes
    ))  # fmt: skip


def add(parent: Element, tag: str, text: str = "", **attributes: Attribute) -> Element:
    """Return a new element inside *parent*; `_` in the names of attributes stands for `-`, `class_` for `class`."""
    found = SubElement(parent, tag, _named(attributes))
    if text:
        found.text = clean(text)
    return found


def clean(text: str) -> str:
    """Return *text* cut to a bounded length, without characters that XML refuses or that turn its direction."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:_MAX_TEXT])


def written(picture: Element) -> str:
    """Return *picture* as text, ready for a page or a file."""
    return tostring(picture, encoding="unicode")


def _named(attributes: dict[str, Attribute]) -> dict[str, str]:
    return {name.rstrip("_").replace("_", "-"): _text(value) for name, value in attributes.items()}


def _text(value: Attribute) -> str:
    return clean(value) if isinstance(value, str) else f"{value:g}"
