"""What players answer to INFO: every shape is read, what is written is read back, and garbage is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import MessageError
from gdl.wire.info import InfoReply, Status, info_text, is_busy, read_info

ODD = st.text(alphabet=st.sampled_from(list('()ab ;\n\0"{}:[]?1é')))


@pytest.mark.parametrize(
    ("reply", "info"),
    [
        ("available", InfoReply(None, Status.AVAILABLE)),
        ("READY\n", InfoReply(None, Status.AVAILABLE)),
        ("(ready)", InfoReply(None, Status.AVAILABLE)),
        ("busy", InfoReply(None, Status.BUSY)),
        ("nil", InfoReply()),
        ("((name Deep) (status available))", InfoReply("Deep", Status.AVAILABLE)),
        ("( ( NAME Deep Thought ) ( STATUS BUSY ) (species alien))",
         InfoReply("Deep Thought", Status.BUSY, (("species", "alien"),))),
        ("(name Deep) (status busy)", InfoReply("Deep", Status.BUSY)),
        ("(name Deep)", InfoReply("Deep")),
        ("(name Deep Thought)", InfoReply("Deep Thought")),
        ("(info (name Deep) (status busy))", InfoReply("Deep", Status.BUSY)),
        ('{"name": "Deep", "status": "Busy", "games": 3}', InfoReply("Deep", Status.BUSY, (("games", "3"),))),
        ('{"name": null, "status": null, "games": null}', InfoReply()),
        ('{"name": 3, "status": 3, "games": [1, {"y": null}]}', InfoReply("3", None, (("games", '[1, {"y": null}]'),))),
        ('"available"', InfoReply(None, Status.AVAILABLE)),
        ('"{ \\"busy"', InfoReply(None, Status.BUSY)),
        ("((name Deep) garbage (name) (status busy))", InfoReply("Deep", Status.BUSY)),
        ("((status sleeping))", InfoReply()),
    ],
)  # fmt: skip
def test_every_shape_of_an_answer_to_info(reply: str, info: InfoReply) -> None:
    assert read_info(reply) == info


@pytest.mark.parametrize(
    ("reply", "message", "told"),
    [
        ("", "nothing was said", ""),
        ("()", "no answer to INFO", "()"),
        ("(name)", "no answer to INFO", "(name)"),
        (" hello\n", "no answer to INFO", "hello"),
        ("(a", "a parenthesis is never closed", "(a"),
        ('"x"', "no answer to INFO", "x"),
        ('{"name"', "an answer to INFO that is no JSON", '{"name"'),
        ('"busy', "an answer to INFO that is no JSON", '"busy'),
        ("x" * 100_001, "an answer to INFO longer than 100,000 characters", "x" * 200),
        ("a " * 2_001, "an answer to INFO with more than 2,000 names and parentheses", "a " * 100),
    ],
)
def test_what_is_no_answer_to_info_is_refused(reply: str, message: str, told: str) -> None:
    with pytest.raises(MessageError) as refused:
        read_info(reply)
    assert (refused.value.message, refused.value.text) == (message, told)


@pytest.mark.parametrize(
    ("reply", "says_busy"),
    [("busy", True), (" (BUSY)\n", True), ("busy" + 95 * " ", True), ("busy" + 96 * " ", False), ("(busy) x", False),
     ("", False), ("ready", False)],
)  # fmt: skip
def test_a_player_is_busy_that_says_so_and_nothing_else(reply: str, says_busy: bool) -> None:
    assert is_busy(reply) is says_busy


@given(ODD)
def test_garbage_is_an_answer_to_info_or_a_message_error(reply: str) -> None:
    try:
        read_info(reply)
    except MessageError:
        return


NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True)


@given(st.none() | NAMES, st.sampled_from([Status.AVAILABLE, Status.BUSY]))
def test_an_answer_to_info_is_read_back(name: str | None, status: Status) -> None:
    info = InfoReply(name, status)
    assert read_info(info_text(info)) == info


def test_an_answer_to_info_as_long_as_is_read() -> None:
    name = "x" * (100_000 - len('{"name": ""}'))
    assert read_info(f'{{"name": "{name}"}}') == InfoReply(name)


def test_what_a_player_says_of_itself_is_made_fit_for_the_wire() -> None:
    info = InfoReply("Two (Words)", Status.BUSY, (("made by", ""),))
    assert info_text(info) == "((name Two_Words_) (status busy) (made_by _))"
