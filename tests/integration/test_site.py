"""The site of the documentation: every page is there and in the menu, and every link leads to something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tools.site import ROOT, BrokenLinkError, Site, indented, site


def test_all_pages_are_staged_with_links_between_them(tmp_path: Path) -> None:
    made = site(tmp_path / "pages")
    made.write()
    written = {path.relative_to(made.folder).as_posix() for path in made.folder.rglob("*") if path.is_file()}
    assert written == {*made.pages.values(), "reference.md", *(made._name_of(path) for path in made.copied)}
    assert "[docs/players.md](players.md)" in (made.folder / "index.md").read_text("utf-8")


def test_every_page_is_in_the_menu(tmp_path: Path) -> None:
    menu = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    listed = sorted(line.rpartition(": ")[2] for line in menu.splitlines() if line.endswith(".md"))
    assert listed == sorted([*site(tmp_path).pages.values(), "reference.md"])


LISTED: Final = """\
- a
  - b
    goes on
  c

      code of c
1. d

   ```sh
   - e
     f
   ```

   g
h
    code
"""


def test_what_is_in_lists_is_indented_as_python_markdown_wants_it() -> None:
    wanted = """\
- a
    - b
        goes on
    c

        code of c
1. d

    ```sh
    - e
      f
    ```

    g
h
    code
"""
    assert list(indented(LISTED.splitlines())) == wanted.splitlines()


HEADING: Final = re.compile(r"^#+ (.*)$", re.MULTILINE)
TO_HEADING: Final = re.compile(r"\]\(([^)#\s:]*)#([^)\s]+)\)")


def headings(page: Path) -> set[str]:
    """Return how links name the headings of *page*, as GitHub does it."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in HEADING.findall(text)}


def links_astray(page: Path) -> Iterator[str]:
    for target, heading in TO_HEADING.findall(page.read_text("utf-8")):
        other = page.parent / target if target else page
        if other.suffix == ".md" and heading not in headings(other):
            yield f"{target}#{heading}"


def test_every_link_to_a_heading_leads_to_one(tmp_path: Path) -> None:
    astray = {page.name: list(links_astray(page)) for page in site(tmp_path).pages}
    assert {name: links for name, links in astray.items() if links} == {}


def test_a_link_to_nothing_is_an_error(tmp_path: Path) -> None:
    page = ROOT / "docs" / "players.md"
    with pytest.raises(BrokenLinkError):
        Site(tmp_path, {page: "players.md"})._link(page, "nosuch.md")
