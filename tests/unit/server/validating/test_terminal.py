"""What people see of a validation, whole: plain, and in colours."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace

from rich.console import Console
from rich.text import Text

from gdl.diagnostics import Diagnostic, Related, Source, Span, codes
from server.validating.report import report
from server.validating.validation import Validation
from tests.kit.server.validating.data import expected
from tests.kit.server.validating.example import ALL, FINE, WRONG


def printed(lines: Iterable[Text], *, is_terminal: bool) -> str:
    output = io.StringIO()
    console = Console(
        file=output,
        force_terminal=is_terminal,
        color_system="standard" if is_terminal else None,
        highlight=False,
        _environ={},
    )
    for line in lines:
        console.print(line, soft_wrap=True)
    return output.getvalue()


def with_message(message: str, text: str = "(role x)\n", n_related: int = 0, n: int = 1) -> Validation:
    span = Span(Source("a.kif", text), 0, 1)
    related = (Related(span, "here"),) * n_related
    return Validation(
        span.source, diagnostics=(Diagnostic(codes()["gdl/open-fact"], span, message, None, related),) * n
    )


def test_everything_is_shown_with_its_place_and_a_picture() -> None:
    output = printed(report(ALL), is_terminal=False)
    assert output == expected("terminal.txt", output)


def test_a_terminal_gets_colours() -> None:
    output = printed(report([WRONG]), is_terminal=True)
    assert output == expected("colours.txt", output)


def test_one_file_needs_no_line_on_all_files() -> None:
    assert printed(report([replace(FINE, lines=())]), is_terminal=False) == "games/fine.kif: ok\n"


def test_files_are_reported_as_they_come() -> None:
    def validations() -> Iterable[Validation]:
        yield FINE
        raise KeyboardInterrupt

    assert next(iter(report(validations()))).plain == "games/fine.kif: ok"


def test_a_message_of_any_length_is_cut() -> None:
    first = printed(report([with_message("x" * 1_000_000)]), is_terminal=False).splitlines()[0]
    assert first == f"a.kif:1:1: error: {'x' * 1000}... [gdl/open-fact]"


def test_of_many_places_some_are_shown_and_all_are_counted() -> None:
    lines = printed(report([with_message("odd", n_related=50)]), is_terminal=False).splitlines()
    assert (lines.count("  | - here"), lines.count("... and 42 more places")) == (8, 1)


def test_of_many_problems_some_are_shown_and_all_are_counted() -> None:
    lines = printed(report([with_message("odd", n=250)]), is_terminal=False).splitlines()
    assert lines.count("a.kif:1:1: error: odd [gdl/open-fact]") == 100
    assert lines[-3:] == ["... and 150 more; --json has them all", "", "a.kif: 250 errors"]


def test_a_line_of_any_length_is_cut_around_the_place() -> None:
    text = f"{'a ' * 500_000}"
    source = Source("a.kif", text)
    found = Diagnostic(codes()["gdl/open-fact"], Span(source, 600_000, 600_001), "odd")
    lines = printed(report([Validation(source, diagnostics=(found,))]), is_terminal=False).splitlines()
    assert lines[1:3] == [f"1 | {'a ' * 60}".rstrip(), f"  | {' ' * 50}^"]
