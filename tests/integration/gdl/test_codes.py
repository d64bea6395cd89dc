"""Every code does what its page says, and what the files in `tests/integration/gdl/codes/<code>/` say.

A `.kif` file there yields its code and nothing as bad besides, a `.ok.kif` file yields nothing. A line
`; at 3:5 (not (p))` tells where the code points, by line, column and the text there. A file that is no whole game
begins with `; fragment`. `messages.txt` has what is said of each case, and of the wrong example of the page, in full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gdl import simulation
from gdl.boards.findings import metadata_findings
from gdl.checks import check
from gdl.diagnostics import Code, Diagnostic, Severity, Source, Span, codes, escaped
from gdl.games.library import find_game
from gdl.language.kif import DEFAULT_LIMITS, ReadLimits
from tools.codes_page import codes_page

PAGE = Path(__file__).parents[3] / "docs" / "codes.md"
FOLDER = Path(__file__).parent / "codes"
CASES = sorted(FOLDER.glob("*/*.kif"))

AROUND = """
(role white) (role black) (init (control white)) (init (control black)) (<= (goal ?role 50) (role ?role))
(<= (legal ?role pass) (role ?role)) (<= terminal (true (control white)))
""".strip().replace("\n", " ")
"""The rest of the game that an example is cut out of, in one line, so that the lines of the example stay apart."""

WHOLE_GAMES = {
    "no-rules", "missing-role", "missing-init", "missing-legal", "missing-goal", "missing-terminal",
    "role-without-legal", "role-without-goal", "no-player",
}  # fmt: skip
"""Their examples would not be wrong any more with a game around them."""

LIMITS = {"too-large": ReadLimits(max_characters=500), "too-deep": ReadLimits(max_depth=8)}
GDL2 = {"random-in-gdl1": False}
"""Found only in files that a caller has read as GDL-I."""

RULES = [code for code in codes().values() if code.notation == "lisp"]
STATIC = [code for code in RULES if code.name.removeprefix("gdl/") not in simulation.CODES]


def _found(name: str, text: str) -> list[Diagnostic]:
    short = name.removeprefix("gdl/")
    return _checked(short, "example.kif", text if short in WHOLE_GAMES else f"{AROUND}\n{text}")


def _found_in(path: Path) -> list[Diagnostic]:
    text = path.read_text(encoding="utf-8")
    return _checked(path.parent.name, path.name, f"{text}\n{AROUND}" if text.startswith("; fragment") else text)


def _checked(short: str, file: str, text: str) -> list[Diagnostic]:
    return check(Source(file, text), LIMITS.get(short, DEFAULT_LIMITS), is_gdl2=GDL2.get(short))


def _as_bad(code: Code, found: list[Diagnostic]) -> list[Diagnostic]:
    """Leave out what is less bad than *code*: a misspelt name is not only that, but also unused."""
    order = list(Severity)
    return [one for one in found if order.index(one.severity) <= order.index(code.severity)]


@pytest.mark.parametrize("code", STATIC, ids=lambda code: code.name)
def test_the_wrong_example_has_that_defect_and_no_other(code: Code) -> None:
    assert {found.code.name for found in _as_bad(code, _found(code.name, code.wrong))} == {code.name}


@pytest.mark.parametrize("code", STATIC, ids=lambda code: code.name)
def test_the_right_example_has_no_defect(code: Code) -> None:
    assert [(found.code.name, found.message) for found in _found(code.name, code.right)] == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_case_yields_its_code_where_it_says(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    code = codes()[f"gdl/{path.parent.name}"]
    found = _found_in(path)
    if path.name.endswith(".ok.kif"):
        assert [(one.code.name, one.message) for one in found] == []
        return
    found = _as_bad(code, found)
    assert {one.code.name for one in found} == {code.name}
    said = re.findall(r"^; at (\d+):(\d+) (.*)$", text, re.MULTILINE)
    places = [(str(one.span.line), str(one.span.column), one.span.text) for one in found]
    assert not said or places == said


@pytest.mark.parametrize("code", STATIC, ids=lambda code: code.name)
def test_a_code_says_of_its_cases_what_its_messages_are(code: Code) -> None:
    folder = FOLDER / code.name.removeprefix("gdl/")
    cases = [("the page", _found(code.name, code.wrong))]
    cases += ((path.name, _found_in(path)) for path in CASES if path.parent == folder and ".ok." not in path.name)
    said = [line for name, found in cases for line in (name, *_lines(code, found))]
    file = folder / "messages.txt"
    written = file.read_text("utf-8").splitlines() if file.is_file() else []
    assert said == written, "\n".join(["what it says now is not what messages.txt has:", *said])


def _lines(code: Code, found: list[Diagnostic]) -> Iterator[str]:
    """Yield place and message of each of *found* with that code, its hint, and what is said of other places."""
    for one in found:
        if one.code == code:
            yield _line("  ", one.span, one.message)
            yield f"    hint: {one.hint}"
            yield from (_line("    ", related.span, related.message) for related in one.related)


def _line(indent: str, span: Span, message: str) -> str:
    return f"{indent}{span.line}:{span.column} {escaped(span.text.partition(chr(10))[0])}: {message}"


def test_every_case_is_of_a_code_that_there_is() -> None:
    assert sorted({path.parent.name for path in CASES} - {code.name.removeprefix("gdl/") for code in STATIC}) == []


def test_every_code_has_a_case_or_an_example() -> None:
    assert [code.name for code in STATIC if not code.wrong.strip() and code.name != "gdl/no-rules"] == []


@pytest.mark.parametrize("code", [code for code in codes().values() if code not in RULES], ids=lambda code: code.name)
def test_the_wrong_description_has_that_defect_and_the_right_one_none(code: Code, tmp_path: Path) -> None:
    path = tmp_path / "game.toml"
    path.write_text(code.wrong, "utf-8")
    rules = find_game("tictactoe").read()
    assert {found.code for found in metadata_findings(path, rules)} == {code}
    path.write_text(code.right, "utf-8")
    assert metadata_findings(path, rules) == []


def test_the_page_says_what_the_table_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == codes_page(), "run `make codes`"
