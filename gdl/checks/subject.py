"""A rule file under examination: its forms, its rules, and what was wrong in reading them."""

from __future__ import annotations

from dataclasses import dataclass

from gdl.diagnostics import Diagnostic
from gdl.kif import Form, ReadLimits
from gdl.rules import Rule
from gdl.source import Source


@dataclass(frozen=True)
class Subject:
    """What the checks look at: `rules` are those forms that are facts or rules; `diagnostics` tell of the others."""

    source: Source
    forms: tuple[Form, ...]
    rules: tuple[Rule, ...]
    is_gdl2: bool
    diagnostics: tuple[Diagnostic, ...]


def examine(source: Source, limits: ReadLimits, *, is_gdl2: bool | None = None) -> Subject:
    """Return *source* as far as it can be read; a bad form costs no other."""
    raise NotImplementedError
