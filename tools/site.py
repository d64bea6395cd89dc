"""The pages of the documentation, staged for MkDocs: `python -m tools.site build/pages`, which `make docs` runs.

Pages link to each other as files of the repository; here each has one folder, so that links are written anew. What is
linked and is no page, such as a program of `examples/`, is copied beside them. A link to nothing is an error.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "THREATS.md": "threats.md",
    "examples/README.md": "examples.md",
}
"""Pages outside of `docs/`, and what they are called on the site."""
PACKAGES: Final = ("gdl", "players", "players.environments", "server.notebook")
"""Packages whose `__all__` is the public interface (docs/python.md)."""
_LINK: Final = re.compile(r"(?<=\]\()([^)#\s]+)(?=[)#])")
_ELSEWHERE: Final = re.compile(r"[a-z]+:")
_CODE: Final = 4
"""So many blanks more begin a block of code."""
_MARKER: Final = re.compile(r"(?:[-*]|\d+\.) +")
"""What an item of a list begins with."""


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Yield *lines* of Markdown with four blanks before what is in an item of a list, for each list around it.

    That is as many as Python-Markdown takes for a part of the item; other readers go by where the item's text begins.
    """
    starts, is_code = list[int](), False
    for line in lines:
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        if text and not is_code:
            while starts and indent < starts[-1]:
                starts.pop()
        deeper = indent - (starts[-1] if starts else 0)
        is_kept = is_code or deeper >= _CODE or not starts
        yield " " * (4 * len(starts) + (max(0, deeper) if is_kept else 0)) + text if text else ""
        is_code ^= text.startswith("```")
        if not is_code and (marker := _MARKER.match(text)):
            starts.append(indent + marker.end())


class BrokenLinkError(Exception):
    """A page links to what is not there."""


@dataclass(slots=True)
class Site:
    """The staged pages in *folder*; `copied` are the files beside them."""

    folder: Path
    pages: dict[Path, str]
    copied: set[Path] = field(default_factory=set)

    def page(self, source: Path) -> str:
        """Return the text of the page *source* with the links of the site; those in blocks of code stay.

        What is in lists is indented as Python-Markdown wants it.

        Raises:
            BrokenLinkError: it links to what is not there.
        """
        lines, is_code = list[str](), False
        for line in indented(source.read_text("utf-8").splitlines()):
            is_code ^= line.lstrip().startswith("```")
            lines.append(line if is_code else _LINK.sub(lambda found: self._link(source, found[1]), line))
        return "\n".join(lines) + "\n"

    def _link(self, source: Path, target: str) -> str:
        if _ELSEWHERE.match(target):
            return target
        path = (source.parent / target).resolve()
        if path in self.pages:
            return self.pages[path]
        if not path.exists() or not path.is_relative_to(ROOT):
            raise BrokenLinkError(f"{source.relative_to(ROOT)} links to {target}, which is not there")
        if path.is_dir():
            return self._link(source, f"{target.rstrip('/')}/README.md")
        self.copied.add(path)
        return self._name_of(path)

    def _name_of(self, path: Path) -> str:
        relative = path.relative_to(ROOT)
        return (
            relative.relative_to("docs").as_posix() if relative.parts[0] == "docs" else f"files/{relative.as_posix()}"
        )

    def write(self) -> None:
        """Write all pages, the reference of the public names, and the files that pages link to."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for source, name in self.pages.items():
            (self.folder / name).write_text(self.page(source), encoding="utf-8")
        (self.folder / "reference.md").write_text("\n".join(_reference()), encoding="utf-8")
        for path in self.copied:
            copy = self.folder / self._name_of(path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def _reference() -> Iterator[str]:
    """Yield the lines of the page of the public names, which MkDocs fills from their docstrings."""
    yield "# API reference\n"
    yield "These names stay, as [the Python interface](python.md) promises.\n"
    for package in PACKAGES:
        yield f"## {package}\n"
        yield from (f"::: {package}.{name}" for name in import_module(package).__all__ if name != "DEFAULT_PORT")
        yield ""


def site(folder: Path) -> Site:
    """Return the site of this repository, to be written to *folder*."""
    pages = {ROOT / source: name for source, name in PAGES.items()}
    return Site(folder, pages | {path: path.name for path in sorted((ROOT / "docs").glob("*.md"))})


if __name__ == "__main__":
    site(Path(sys.argv[1])).write()
