"""What players think, as text: written and read alike; whatever a player sends is read, or refused by our own error."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import MessageError
from gdl.wire.insights import (
    MAX_INSIGHT,
    MAX_LINE,
    MAX_MOVE,
    Insight,
    commented_insight,
    insight_comment,
    insight_text,
    insight_words,
    read_insight,
)

COUNTS = st.integers(0, 2**53 - 1)
HUNDREDTHS = st.integers(0, 10_000).map(lambda number: number / 100)
MOVES = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=30)
INSIGHTS = st.builds(
    Insight,
    COUNTS,
    COUNTS,
    HUNDREDTHS,
    st.none() | HUNDREDTHS,
    st.lists(MOVES, max_size=MAX_LINE).map(tuple),
    st.booleans(),
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda values: st.lists(values, max_size=20) | st.dictionaries(st.text(max_size=9), values, max_size=5),
    max_leaves=5,
)
KEYS = ("leaves", "plays", "depth", "value", "line", "proven")


@given(INSIGHTS)
def test_an_insight_is_read_as_it_was_written_on_one_line_of_ascii(insight: Insight) -> None:
    text = insight_text(insight)
    assert (read_insight(text), text.isascii(), "\n" in text) == (insight, True, False)


@given(st.dictionaries(st.sampled_from(KEYS), ANY_JSON).map(json.dumps) | ANY_JSON.map(json.dumps) | st.text())
def test_whatever_is_sent_is_read_within_bounds_or_refused(text: str) -> None:
    try:
        found = read_insight(text)
    except MessageError:
        return
    assert read_insight(insight_text(found)).line == found.line
    assert all(math.isfinite(number) for number in (found.depth, found.value or 0.0))
    assert len(found.line) <= MAX_LINE
    assert all(len(move) <= MAX_MOVE and move.isprintable() for move in found.line)


NO_JSON = "an insight that is no JSON"
NO_OBJECT = "an insight that is no JSON object"
NO_COUNT = "no number from 0 to 9,007,199,254,740,991"
NO_LINE = "an insight whose line is no list of at most 12 moves"
REFUSED = [
    (NO_JSON, ["", "nil", "[" * MAX_INSIGHT, "{" * MAX_INSIGHT]),
    (NO_OBJECT, ["[]", "7", '"x"']),
    ("an insight longer than 4,000 characters", ["{}" + " " * (MAX_INSIGHT - 1)]),
    (
        "an insight whose value is not from 0 to 100",
        ['{"value": NaN}', '{"value": Infinity}', '{"value": 1e999}', '{"value": 101}', '{"value": -1}',
         '{"value": ' + "9" * 3_000 + "}"],
    ),
    ("an insight whose value is no number", ['{"value": true}']),
    ("an insight whose depth is no number", ['{"depth": null}']),
    ("an insight whose depth is not from 0 to 1,000,000", ['{"depth": 1e7}']),
    (f"an insight whose leaves are {NO_COUNT}", ['{"leaves": 1.5}', '{"leaves": -1}', '{"leaves": true}']),
    (f"an insight whose plays are {NO_COUNT}", ['{"plays": 9007199254740992}']),
    (
        NO_LINE,
        ['{"line": "noop"}', '{"line": [7]}', '{"line": [""]}', '{"line": ["a\\nb"]}', '{"line": ["\\ud800"]}',
         '{"line": ["\\u202e"]}', json.dumps({"line": ["noop"] * (MAX_LINE + 1)}),
         json.dumps({"line": ["x" * (MAX_MOVE + 1)]})],
    ),
    ("an insight that does not say whether it is proven", ['{"proven": 1}']),
]  # fmt: skip


@pytest.mark.parametrize(("message", "text"), [(message, text) for message, texts in REFUSED for text in texts])
def test_what_is_no_insight_is_refused(message: str, text: str) -> None:
    with pytest.raises(MessageError) as refused:
        read_insight(text)
    assert refused.value.message == message


@pytest.mark.parametrize(
    ("text", "told"), [("nil", "nil"), ('["a"]', "['a']"), ("{}" + " " * MAX_INSIGHT, "{}" + " " * 198)]
)
def test_what_is_refused_as_a_whole_is_told(text: str, told: str) -> None:
    with pytest.raises(MessageError) as refused:
        read_insight(text)
    assert refused.value.text == told


def test_what_a_player_leaves_out_is_not_known_and_what_is_not_known_is_passed_over() -> None:
    assert read_insight('{"mood": "good"}') == Insight(0, 0, 0.0, None)


def test_an_insight_has_as_much_of_a_long_line_as_fits() -> None:
    assert read_insight(insight_text(Insight(1, 1, 1.0, None, ("noop",) * 40))).line == ("noop",) * MAX_LINE
    wide = Insight(1, 1, 1.0, None, ("\N{GREEK SMALL LETTER ALPHA}" * MAX_MOVE,) * MAX_LINE)
    text = insight_text(wide)
    assert (len(text) <= MAX_INSIGHT, len(read_insight(text).line)) == (True, 3)
    assert read_insight(insight_text(Insight(1, 1, 1.0, None, ("a", "b\n", "c")))).line == ("a",)


def test_an_insight_may_be_as_long_as_the_longest_that_is_read() -> None:
    moves = ("a" * MAX_MOVE, *("\N{GREEK SMALL LETTER ALPHA}" * MAX_MOVE,) * 3)
    n_free = MAX_INSIGHT - len(insight_text(Insight(1, 1, 1.0, None, (*moves, "b")))) + 1
    longest = Insight(1, 1, 1.0, None, (*moves, "b" * n_free))
    assert (len(insight_text(longest)), read_insight(insight_text(longest))) == (MAX_INSIGHT, longest)


def test_the_largest_numbers_of_an_insight() -> None:
    text = '{"leaves": 9007199254740991, "plays": 9007199254740991, "depth": 1000000, "value": 100}'
    assert read_insight(text) == Insight(2**53 - 1, 2**53 - 1, 1e6, 100.0)


@pytest.mark.parametrize(
    ("insight", "words"),
    [
        (Insight(12, 8, 9.5, None, ("a", "b")), "value unknown, 12 leaves, 8 plays, depth 9.5, line a b"),
        (Insight(0, 0, 0.0, 63.25), "value 63.25, 0 leaves, 0 plays, depth 0, line "),
        (Insight(1, 1, 1.0, 50.0, ("a",), is_proven=True), "value 50 (proven), 1 leaves, 1 plays, depth 1, line a"),
    ],
)
def test_an_insight_in_words(insight: Insight, words: str) -> None:
    assert insight_words(insight) == words


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 100.5])
def test_an_insight_refuses_a_value_that_is_no_goal(value: float) -> None:
    with pytest.raises(MessageError):
        insight_text(Insight(1, 1, 1.0, value))


@given(INSIGHTS)
def test_an_insight_comes_back_from_the_comment_that_tells_it(insight: Insight) -> None:
    text = insight_text(insight)
    assert commented_insight(insight_comment(text)) == text


@pytest.mark.parametrize(
    ("line", "text"),
    [(";GGP-Player-Insight :{}\n", "{}"), ("; GGP-Player-Insight: ", ""), ("; GGP-Player-Insight {}", ""),
     ("; Other: {}", ""), ("; {}", ""), ("noop", "")],
)  # fmt: skip
def test_a_comment_tells_an_insight_that_names_it(line: str, text: str) -> None:
    assert commented_insight(line) == text
