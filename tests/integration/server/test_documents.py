"""The documents of the record, of the API, of tournaments and of the figures for Prometheus say what the code says."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from gdl.wire.insights import Insight
from server.api.problem import CODES
from server.hosting.order import MatchRequest, SeatText
from server.match.exchange import Event, StepFinished
from server.match.profiles import Profile
from server.operation.metrics import Metrics
from server.records.entries import entry_of
from server.records.record import record_of
from server.tournament.plan import TournamentFormat
from tests.kit.server.scripted import CIRCUMSTANCES, TURNS_MOVES, events, library, turns
from tools.api_page import all_operations, written

DOCS = Path(__file__).resolve().parent.parent.parent.parent / "docs"
MONTY = (("(choose 1)", "(hide_car 2)"), ("noop", "(open 3)"))


def codes(page: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", (DOCS / page).read_text(encoding="utf-8")))


def failed(event: Event) -> Event:
    """Return *event* as it is where every player tells of a failure of its own, and what it thinks."""
    if isinstance(event, StepFinished):
        n = len(event.errors)
        return replace(event, failures=("KeyError: 3",) * n, insights=(Insight(1, 1, 1.0, None),) * n)
    return event


OF_THE_PUBLIC_VIEW: Final = {"x-status", "x-delay", "x-missing"}
"""The keys that only records of matches have that are not over."""


def test_every_key_of_a_record_is_explained() -> None:
    keys: set[str] = set()
    for description, moves, n in (
        (turns(), TURNS_MOVES, None),
        (turns(), TURNS_MOVES, 9),
        (library("montyhall"), MONTY, None),
    ):
        happened = list(map(failed, events(description, moves, Profile(is_scrambled=True))))[:n]
        keys |= record_of(entry_of(event, CIRCUMSTANCES) for event in happened).as_json().keys()
    explained = codes("record.md")
    assert keys - explained == set()
    assert {key for key in explained if re.fullmatch("x-[a-z-]+", key)} - keys == OF_THE_PUBLIC_VIEW


def test_every_figure_for_prometheus_has_its_row() -> None:
    families = [family for family in Metrics().registry.collect() if family.name.startswith("ggp_")]
    named = {family.name + ("_total" if family.type == "counter" else "") for family in families}
    assert {code.partition("{")[0] for code in codes("hosting.md") if code.startswith("ggp_")} == named


def test_every_format_of_tournaments_has_its_row() -> None:
    table = (DOCS / "tournaments.md").read_text(encoding="utf-8").partition("\n| format | who meets |")[2]
    rows = re.findall(r"^\| (\w[\w ]+) \|", table.partition("\n\n")[0], re.MULTILINE)
    assert [row.capitalize() for row in rows] == [form.words for form in TournamentFormat]


def test_every_key_of_an_order_is_explained() -> None:
    names = {field.alias or name for model in (MatchRequest, SeatText) for name, field in model.model_fields.items()}
    assert names - codes("api.md") == set()


def test_the_tables_of_the_api_are_those_of_the_code() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert page == written(page), "run `make api`"


def test_what_is_deprecated_is_in_its_table() -> None:
    table = (DOCS / "api.md").read_text(encoding="utf-8").partition("\n## Deprecated\n")[2]
    paths = {
        re.sub(r"\{(\w+)\}", lambda place: place[1].upper(), one.path) for one in all_operations() if one.is_deprecated
    }
    old_codes = {name for name, code in CODES.items() if code.meaning.startswith("deprecated")}
    assert paths
    assert old_codes
    assert {word for word in paths | old_codes if word not in table} == set()


def test_every_code_of_a_refusal_is_one_of_the_table() -> None:
    used: set[str] = set()
    for source in (DOCS.parent / "server").rglob("*.py"):
        text = source.read_text(encoding="utf-8")
        used |= set(re.findall(r'(?:RequestError|_body|derived)\(\s*"([a-z]+_[a-z_]+)"', text))
    assert len(used) > 20
    assert used - CODES.keys() == set()
