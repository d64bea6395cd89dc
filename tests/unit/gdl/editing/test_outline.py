"""The outline: what stands in it, in which order, and that parts lie inside what they are parts of."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hypothesis import given

from gdl.diagnostics import Source
from gdl.editing.outline import Entry, outline
from gdl.editing.symbols import index_symbols
from tests.kit.gdl.forms import damaged_files


def outlined(text: str) -> list[Entry]:
    return outline(index_symbols(Source("<rules>", text)))


def lines(entries: list[Entry], indent: str = "") -> Iterator[str]:
    for entry in entries:
        yield f"{indent}{entry.name}: {entry.detail}"
        yield from lines(list(entry.inner), indent + "  ")


def test_facts_and_rules_of_one_relation_that_follow_each_other_are_one_entry() -> None:
    text = """
        (role x) (role o)
        (init (at 1))
        (<= (legal ?r (go ?n))
            (role ?r) (true (at ?n)))
        (legal x noop)
        (<= terminal (true (at 9)))
        (role spectator)
    """
    assert list(lines(outlined(text))) == [
        "role: 2 facts",
        "(init (at 1)): fact",
        "legal: 1 fact, 1 rule",
        "  (legal ?r (go ?n)): 2 conditions",
        "  (legal x noop): fact",
        "terminal: 1 condition",
        "(role spectator): fact",
    ]


def test_what_is_half_typed_is_in_the_outline_as_far_as_it_goes() -> None:
    text = "(role x)\n(<= (next (at ?x)\n    (true (at\n(<= terminal)\n(<=)\n((p))\n"
    assert list(lines(outlined(text)))[:3] == [
        "(role x): fact",
        "(next (at ?x) (true (at: 0 conditions",
        "terminal: 0 conditions",
    ]


def test_a_long_head_is_cut() -> None:
    assert outlined(f"(p {'a ' * 200})")[0].name == f"(p {'a ' * 38}a..."


def inside(entry: Entry) -> bool:
    parts = [entry.name_span, *(inner.span for inner in entry.inner)]
    return all(entry.span.start <= part.start <= part.end <= entry.span.end for part in parts)


@given(text=damaged_files())
def test_names_and_inner_entries_lie_inside_their_entry(text: str) -> None:
    entries = outlined(text)
    assert [entry for entry in entries if not all(map(inside, (entry, *entry.inner)))] == []
    spans = [(entry.span.start, entry.span.end) for entry in entries]
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
