"""The page of all codes, made from `gdl/codes.toml`: `python -m tools.codes_page > docs/codes.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from gdl.diagnostics import Code, codes
from gdl.simulation import CODES

_INTRODUCTION = """\
# What `ggp validate` says

Made from `gdl/codes.toml` by `make codes`; edit that file, not this one.

An error makes a file unfit to play, a warning is likely a mistake, a note is information; `--strict` takes warnings
for errors. The examples are cut out of small games: where one shows no `role`, `init`, `legal`, `goal` or `terminal`,
the game around it has them.
"""

_AFTER_ALL_CHECKS: Final = 100
"""The section of the codes that belong to none of the checks of the language."""


def codes_page() -> str:
    """Return the page, in Markdown."""
    ordered = sorted(codes().values(), key=lambda code: code.check or _AFTER_ALL_CHECKS)
    return "\n".join([_INTRODUCTION, *_table(ordered), "", *(_section(code) for code in ordered)])


def _table(ordered: list[Code]) -> Iterator[str]:
    yield "| code | severity | what |"
    yield "|---|---|---|"
    for code in ordered:
        yield f"| [`{code.name}`](#{_anchor(code)}) | {code.severity} | {code.title} |"


def _section(code: Code) -> str:
    found = ", found with `--simulate`" if _anchor(code) in CODES else ""
    parts = [f"## {_anchor(code)}", f"**{code.title}** ({code.severity}, `{code.name}`{found})", code.explanation]
    parts += [
        _example(title, text, code.notation)
        for title, text in (("Wrong", code.wrong), ("Right", code.right))
        if text.strip()
    ]
    return "\n\n".join(parts) + "\n"


def _example(title: str, text: str, notation: str) -> str:
    return f"{title}:\n\n```{notation}\n{text.strip().replace(chr(0), '␀')}\n```"


def _anchor(code: Code) -> str:
    return code.name.removeprefix("gdl/")


if __name__ == "__main__":
    sys.stdout.write(codes_page())
