"""Players asked who they are, over real sockets."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from gdl.errors import MessageError
from gdl.wire.info import InfoReply, Status, read_info
from gdl.wire.replies import decode
from server.links.player_info import MAX_INFO_BYTES, MAX_LOOKS, PlayerInfo, _InfoBuffer, ask_info
from tests.kit.server.peers import Behaviour, closing, deaf, hanging, listening, replying, sending
from tests.kit.tracing import lines_of


async def asked(behaviour: Behaviour, deadline_s: float = 10) -> PlayerInfo:
    async with listening(behaviour) as url:
        return await ask_info(url, deadline_s)


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("((name Deep) (status available))", InfoReply("Deep", Status.AVAILABLE)),
        ("available", InfoReply(None, Status.AVAILABLE)),
        ("ready", InfoReply(None, Status.AVAILABLE)),
        ("busy", InfoReply(None, Status.BUSY)),
        ("nil", InfoReply()),
        ('{"name": "Deep", "status": "busy"}', InfoReply("Deep", Status.BUSY)),
    ],
)
async def test_every_shape_of_answer_is_understood(said: str, reply: InfoReply) -> None:
    info = await asked(replying(lambda _: said))
    assert (info.reply, info.answered, info.trouble) == (reply, "INFO", ())
    assert info.is_available == (reply.status is Status.AVAILABLE)


async def test_what_else_a_player_says_of_itself_is_cleaned_and_not_much_is_kept() -> None:
    fields = {"name": "De\u202eep", "status": "available", "by\u0000": " Ada \u202eL. "}
    said = json.dumps(fields | {f"f{number}": str(number) for number in range(60)})
    reply = (await asked(replying(lambda _: said))).reply
    others = (("by\ufffd", "Ada L."), *((f"f{number}", str(number)) for number in range(49)))
    assert reply == InfoReply("Deep", Status.AVAILABLE, others)


@pytest.mark.parametrize("blank", ["", " ", "\r\n\t"])
async def test_a_json_object_may_stand_between_blanks(blank: str) -> None:
    said = f'{blank}{{"status": "available"}}{blank}'
    assert (await asked(replying(lambda _: said))).reply == InfoReply(None, Status.AVAILABLE)


@pytest.mark.parametrize(
    ("pieces", "is_complete"),
    [
        ([' {"a": {}', ', "b": "}"', "} "], [False, False, True]),
        (["(a ", "b)"], [False, True]),
        (['{"a": {}}'], [True]),
    ],
)
def test_an_answer_is_complete_with_its_object_or_its_first_term(pieces: list[str], is_complete: list[bool]) -> None:
    buffer, found = _InfoBuffer(), []
    for piece in pieces:
        buffer.feed(piece.encode())
        found.append(buffer.is_complete)
    assert found == is_complete


@pytest.mark.parametrize(("n_objects", "is_complete"), [(MAX_LOOKS - 1, True), (MAX_LOOKS, False)])
def test_the_end_of_an_object_is_looked_for_so_often(n_objects: int, is_complete: bool) -> None:
    buffer = _InfoBuffer()
    for piece in ('{"a": "', *["}"] * n_objects, '"}'):
        buffer.feed(piece.encode())
    assert buffer.is_complete is is_complete


@pytest.mark.parametrize(("n_bytes", "is_cut"), [(MAX_INFO_BYTES, False), (MAX_INFO_BYTES + 1, True)])
def test_of_a_json_object_no_more_is_kept_than_the_limit(n_bytes: int, is_cut: bool) -> None:
    buffer = _InfoBuffer()
    for data in (b'{"name": ', b'"'.ljust(n_bytes - 9, b"x")):
        buffer.feed(data)
    assert (len(buffer.raw), buffer.is_cut, buffer.is_complete) == (MAX_INFO_BYTES, is_cut, False)


async def test_json_may_come_with_the_connection_left_open() -> None:
    raw = b'HTTP/1.0 200 OK\r\n\r\n{"name": "Deep (blue)",\r\n"status": "available"}'
    assert (await asked(sending(raw, hangs=True))).reply == InfoReply("Deep (blue)", Status.AVAILABLE)


async def test_who_knows_no_info_is_pinged() -> None:
    info = await asked(replying(lambda body: "ready" if body == "(PING)" else "((("))
    assert (info.reply.status, info.answered) == (Status.AVAILABLE, "PING")
    assert len(info.trouble) == 1


@pytest.mark.parametrize("behaviour", [closing, sending(b"HTTP/1.0 500 Oops\r\n\r\nready"), sending(b"\0")])
async def test_who_answers_neither_is_described(behaviour: Behaviour) -> None:
    info = await asked(behaviour)
    assert (info.reply, info.answered, info.is_available, len(info.trouble)) == (InfoReply(), None, False, 2)


@pytest.mark.parametrize(
    ("behaviour", "is_there"),
    [
        (replying(lambda _: "unknown"), True),
        (sending(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"), True),
        (sending(b"HTTP/1.0 400 Bad Request\r\n\r\n"), True),
        (sending(b"HTTP/1.0 500 Oops\r\n\r\n"), True),
        (sending(b"HTTP/1.0 502 Bad Gateway\r\n\r\n"), False),
        (sending(b"HTTP/1.0 302 Found\r\nLocation: /\r\n\r\n"), False),
        (sending(b"\0"), False),
        (closing, False),
    ],
    ids=["word", "nothing", "400", "500", "502", "302", "no HTTP", "closed"],
)
async def test_who_replies_with_anything_is_there(behaviour: Behaviour, *, is_there: bool) -> None:
    info = await asked(behaviour)
    assert (info.reply, info.answered, info.is_there) == (InfoReply(), None, is_there)


async def test_an_address_where_no_player_listens_is_no_error() -> None:
    async with deaf() as url:
        info = await ask_info(url)
    assert (info.url.rstrip("/"), info.answered, len(info.trouble), info.is_there) == (url, None, 2, False)


async def test_silence_ends_at_the_deadline() -> None:
    info = await asked(hanging, 0.2)
    assert info.trouble == ("(INFO): no answer within 0.1 s", "(PING): no answer within 0.1 s")


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "piece", ["(a b)", "a ", "()", "(", '{"a":', '{"a":1}', "}", '"', ";\n", "(a (b c))", "[", "1"]
)
@pytest.mark.parametrize("size", [1, 4_096])
async def test_the_work_for_an_endless_answer_is_bounded(piece: str, size: int) -> None:
    data = f"({piece * 20_000}".encode() if piece[0] not in '{["}' else (piece * 20_000).encode()
    buffer = _InfoBuffer()

    def take() -> None:
        for i in range(0, len(data), size):
            buffer.feed(data[i : i + size])
            if buffer.has_enough:
                break
        with suppress(MessageError):
            read_info(decode(bytes(buffer.raw)))

    assert lines_of(take) < 40 * MAX_INFO_BYTES
    assert len(buffer.raw) <= MAX_INFO_BYTES
