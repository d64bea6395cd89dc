"""The messages: what is printed is read back, and garbage is refused with one error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import CallerError, MessageError
from gdl.language.kif import read_term
from gdl.language.terms import Compound, Constant, Term
from gdl.wire.messages import Abort, Dialect, Info, Message, Ping, Play, Preview, Start, Stop, read_message, to_text

NAMES = st.from_regex(r"[A-Za-z0-9_.+-]{1,8}", fullmatch=True).filter(lambda name: name.lower() != "nil")
TERMS: st.SearchStrategy[Term] = st.recursive(
    NAMES.map(Constant), lambda inner: st.builds(Compound, NAMES, st.lists(inner, min_size=1, max_size=3).map(tuple))
)
TOLD = st.none() | st.lists(TERMS, max_size=4).map(tuple)
RULES = st.lists(TERMS, max_size=4).map(lambda forms: " ".join(map(str, forms)))
CLOCKS = st.integers(0, 999_999_999)
GDL1_MESSAGES = st.one_of(
    st.just(Info()),
    st.just(Ping()),
    st.builds(Preview, RULES, CLOCKS),
    st.builds(Start, NAMES, NAMES.map(Constant), RULES, CLOCKS, CLOCKS),
    st.builds(Play, NAMES, TOLD),
    st.builds(Stop, NAMES, TOLD),
    st.builds(Abort, NAMES),
)
GDL2_MESSAGES = st.builds(Play, NAMES, TOLD, CLOCKS, st.none() | TERMS) | st.builds(
    Stop, NAMES, TOLD, CLOCKS, st.none() | TERMS
)


@given(GDL1_MESSAGES, st.sampled_from([Dialect.GDL1, Dialect.GDL2_PERCEPTS]))
def test_a_printed_message_is_read_back(message: Message, dialect: Dialect) -> None:
    assert read_message(to_text(message, dialect)) == message


@given(GDL2_MESSAGES)
def test_a_message_of_the_current_gdl2_dialect_is_read_back(message: Message) -> None:
    assert read_message(to_text(message, Dialect.GDL2)) == message


@given(st.text(alphabet=st.sampled_from(list('()PLAYSTOPplay ;\n\0"{}?nilNIL 0123é\ud800'))))
def test_garbage_is_a_message_or_a_message_error(text: str) -> None:
    try:
        read_message(text)
    except MessageError:
        return


@given(GDL1_MESSAGES | GDL2_MESSAGES, st.data())
def test_a_message_with_a_piece_cut_out_is_a_message_or_a_message_error(message: Message, data: st.DataObject) -> None:
    text = to_text(message)
    start, end = sorted(data.draw(st.tuples(*2 * [st.integers(0, len(text))])))
    try:
        read_message(text[:start] + text[end:])
    except MessageError:
        return


PRINTED: list[tuple[Message, Dialect, str]] = [
    (Info(), Dialect.GDL1, "(INFO)"),
    (Ping(), Dialect.GDL1, "(PING)"),
    (Preview("(role x)", 9), Dialect.GDL1, "(PREVIEW ((role x)) 9)"),
    (Start("M.1", Constant("x"), "(role x) ; one\n(init (a))", 10, 5), Dialect.GDL1,
     "(START M.1 x ((role x) (init (a))) 10 5)"),
    (Play("M.1"), Dialect.GDL1, "(PLAY M.1 NIL)"),
    (Play("M.1", (read_term("(mark 1 1)"), read_term("noop"))), Dialect.GDL1, "(PLAY M.1 ((mark 1 1) noop))"),
    (Play("M.1", None, 0), Dialect.GDL2, "(PLAY M.1 0 NIL NIL)"),
    (Play("M.1", (), 2, Constant("call")), Dialect.GDL2, "(PLAY M.1 2 call ())"),
    (Play("M.1", (), 2, Constant("call")), Dialect.GDL2_PERCEPTS, "(PLAY M.1 ())"),
    (Stop("M.1", (Constant("noop"),)), Dialect.GDL1, "(STOP M.1 (noop))"),
    (Abort("M.1"), Dialect.GDL1, "(ABORT M.1)"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "dialect", "text"), PRINTED)
def test_the_wire_form(message: Message, dialect: Dialect, text: str) -> None:
    assert to_text(message, dialect) == text


READ: list[tuple[str, Message]] = [
    ("(info)", Info()),
    ("INFO", Info()),
    (" ;hello\n ( Ping )\n", Ping()),
    ("(play Match.7 nil)", Play("Match.7")),
    ("(Play Match.7 ())", Play("Match.7", ())),
    ("(PLAY m noop)", Play("m", (Constant("noop"),))),
    ("(PLAY m 3 NIL (seen))", Play("m", (Constant("seen"),), 3)),
    ("(PLAY m 0 () ())", Play("m", (), 0)),
    ("(START m WHITE ((ROLE WHITE)) 10 5 extra)", Start("m", Constant("WHITE"), "(ROLE WHITE)", 10, 5)),
    ("(START m white () 10.5 5.0)", Start("m", Constant("white"), "", 10, 5)),
    ("(STOP m)", Stop("m")),
    ("(STOP m (a))", Stop("m", (Constant("a"),))),
    ("(stop m 3 b (seen))", Stop("m", (Constant("seen"),), 3, Constant("b"))),
    ("(preview ( (role x) ) 9 extra)", Preview("(role x)", 9)),
    ("(ABORT m) and more )", Abort("m")),
]


@pytest.mark.parametrize(("text", "message"), READ)
def test_what_servers_send_is_understood(text: str, message: Message) -> None:
    assert read_message(text) == message


UNKNOWN = "no message of this protocol (it begins with none of INFO, PING, PREVIEW, START, PLAY, STOP, ABORT)"
NO_ID = "the match id is no single name"
NO_NUMBER = "no whole number from 0 to 999,999,999"
REFUSED: list[tuple[str, str, str]] = [
    ("", "nothing was said", ""),
    (" ", "nothing was said", " "),
    ("()", UNKNOWN, "()"),
    ("(", "a parenthesis is never closed", "("),
    ("x (y", UNKNOWN, "x"),
    (")(", "a closing parenthesis that nothing opened", ")("),
    ("(PLAY", "a parenthesis is never closed", "(PLAY"),
    ("(PLAY m)", "PLAY has 3 elements, or 5 in GDL-II, not 2", "(PLAY m)"),
    ("(play m (a) b)", "PLAY has 3 elements, or 5 in GDL-II, not 4", "(play m (a) b)"),
    ("(PLAY m x NIL NIL)", NO_NUMBER, "x"),
    ("(PLAY (m) NIL)", NO_ID, "PLAY (m) NIL"),
    ("(PLAY m (()))", "an empty pair of parentheses", "(())"),
    ("(PLAY m ((?f x)))", "a list begins with a variable", "((?f x))"),
    ("(PLAY m 1 (()) NIL)", "a list begins with a list", "(())"),
    ("(PLAY m (a\0))", "a NUL character: this is no text", "(a\0)"),
    ("(START m r rules 1 1)", "the rules are no list of forms", "rules"),
    ("(START m (r a) () 1 1)", "the role is no name", "(r a)"),
    ("(START m ?r () 1 1)", "the role is no name", "?r"),
    ("(START m r () x 1)", NO_NUMBER, "x"),
    ("(START m r () 1 -1)", NO_NUMBER, "-1"),
    ("(START m r () 9999999999 1)", NO_NUMBER, "9999999999"),
    ("(START m r () 1)", "START has 6 elements, not 5", "(START m r () 1)"),
    ("(PREVIEW x 1)", "the rules are no list of forms", "x"),
    ("(PREVIEW ())", "PREVIEW has 3 elements, not 2", "(PREVIEW ())"),
    ("(ABORT)", "ABORT has 2 elements, not 1", "(ABORT)"),
    ("(STOP)", "STOP has 2 elements, not 1", "(STOP)"),
    ("(STOP m a b)", "STOP has 3 elements, or 5 in GDL-II, not 4", "(STOP m a b)"),
    (f"(ABORT {'m' * 1_001})", NO_ID, f"ABORT {'m' * 194}"),
    ("(HELLO)", UNKNOWN, "(HELLO)"),
    ("hello", UNKNOWN, "hello"),
    ("((INFO))", UNKNOWN, "((INFO))"),
]


@pytest.mark.parametrize(("text", "message", "told"), REFUSED)
def test_what_is_no_message_is_refused(text: str, message: str, told: str) -> None:
    with pytest.raises(MessageError) as refused:
        read_message(text)
    assert (refused.value.message, refused.value.text) == (message, told)


def test_a_message_nested_a_hundred_thousand_deep_is_refused() -> None:
    with pytest.raises(MessageError):
        read_message(f"(PLAY m {'(f ' * 100_000}x{')' * 100_001}")


def test_a_step_of_a_hundred_thousand_moves_is_refused() -> None:
    with pytest.raises(MessageError, match="more than the limit"):
        read_message(f"(PLAY m ({'a ' * 100_000}))")


def test_a_match_id_of_two_words_cannot_be_printed() -> None:
    with pytest.raises(CallerError) as refused:
        to_text(Play("two words"))
    assert str(refused.value) == (
        "the match id 'two words' is no single name: it may hold no blank, parenthesis or semicolon"
    )


def test_the_current_gdl2_dialect_needs_a_turn() -> None:
    with pytest.raises(CallerError) as refused:
        to_text(Stop("m"), Dialect.GDL2)
    assert str(refused.value) == "the dialect gdl2 needs the turn of STOP"
