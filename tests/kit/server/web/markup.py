"""Markup of pages: its text, and what is wrong with it: unbalanced elements, inline code, controls without labels."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
LABELLED = {"input", "select", "textarea"}
_TAGS = re.compile(r"<[^>]*>")
_BLANKS = re.compile(r"\s+")


def without_tags(text: str, instead: str = "") -> str:
    """Return *text* with *instead* for every tag, and characters for their codes."""
    return unescape(_TAGS.sub(instead, text))


def folded(text: str) -> str:
    """Return *text* without tags and blanks."""
    return _BLANKS.sub("", without_tags(text))


class Page(HTMLParser):
    """A parsed page: its `problems`, its elements by name in `counts`, its links, pictures, scripts and `text`."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.counts: dict[str, int] = {}
        self.links: list[str] = []
        self.pictures: list[str] = []
        self.scripts: list[str] = []
        self.ids: set[str] = set()
        self.text = ""
        self._open: list[str] = []
        self._labels: set[str] = set()
        self._controls: list[dict[str, str | None]] = []
        self.feed(markup)
        self.close()
        self.problems += [f"<{name}> is never closed" for name in self._open]
        self.problems += [f"no label: {control}" for control in self._controls if control.get("id") not in self._labels]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.problems += [f"<{tag} {name}>" for name in found if name == "style" or name.startswith("on")]
        if (tag == "script" and not found.get("src")) or tag == "style":
            self.problems.append(f"inline <{tag}>")
        if tag == "img" and "alt" not in found:
            self.problems.append("<img> without alt")
        if tag == "script":
            self.scripts.append(found.get("src") or "")
        if tag == "img":
            self.pictures.append(found.get("src") or "")
        if "id" in found:
            self.problems += [f"two elements are {found['id']}"] if found["id"] in self.ids else []
            self.ids.add(str(found["id"]))
        if tag == "a" and found.get("href") is not None:
            self.links.append(str(found["href"]))
        self._note_label(tag, found)
        if tag not in VOID:
            self._open.append(tag)

    def _note_label(self, tag: str, found: dict[str, str | None]) -> None:
        if tag == "label" and "for" in found:
            self._labels.add(str(found["for"]))
        is_hidden = found.get("type") == "hidden" or "hidden" in found
        if tag in LABELLED and not is_hidden and "label" not in self._open:
            self._controls.append(found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self._open[-1] if self._open else 'nothing'}")
        else:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data
