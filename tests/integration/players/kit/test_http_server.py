"""A player over real sockets with real workers: every message, in time, whatever the author's code does."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from gdl.wire.info import InfoReply, Status, read_info
from gdl.wire.insights import INSIGHT_HEADER, insight_text
from players.player import MakePlayer
from tests.kit.players import odd_players
from tests.kit.players.peers import Peer, playing, start_text, until_no_workers
from tests.kit.polling import until

FIRST, LAST = "(mark 1 1)", "(mark 3 3)"


async def test_a_match_from_start_to_stop() -> None:
    async with playing(odd_players.First) as peer:
        said = [
            await peer.say(text)
            for text in (
                "(INFO)", "(PING)", "(PREVIEW ((role x)) 5)", start_text(), "(PLAY m NIL)", f"(PLAY m ({FIRST} noop))",
                "(PLAY m (noop (mark 2 2)))", "(STOP m ((mark 1 2) noop))", "(PLAY m NIL)",
            )
        ]  # fmt: skip
        assert said == [
            "((name tested) (status available))", "ready", "ready", "ready", FIRST, "noop", "(mark 1 2)", "done", "nil",
        ]  # fmt: skip
        assert await until_no_workers() == set()


async def test_a_repeated_message_has_the_answer_it_had() -> None:
    async with playing(odd_players.First) as peer:
        texts = (start_text(), "(PLAY m NIL)", f"(PLAY m ({FIRST} noop))", "(STOP m NIL)", "(ABORT m)")
        said = [(await peer.say(text), await peer.say(text)) for text in texts]
    assert said == [(answer, answer) for answer in ("ready", FIRST, "noop", "done", "aborted")]


async def test_the_header_of_a_step_tells_a_repetition_from_an_equal_joint_move() -> None:
    async with playing(odd_players.First) as peer:
        await peer.say(start_text())
        said = [await peer.say("(PLAY m NIL)", {"GGP-Match-Step": step}) for step in ("0", "0", "x", "99999999999")]
    assert said == [FIRST] * 4


async def test_everything_may_be_in_upper_case_but_the_match_id() -> None:
    async with playing(odd_players.First) as peer:
        said = [
            await peer.say(start_text("Match.1").upper().replace("MATCH.1", "Match.1")),
            await peer.say("(PLAY Match.1 NIL)"),
            await peer.say("(PLAY Match.1 ((MARK 1 1) NOOP))"),
            await peer.say("(PLAY Match.1 (NOOP (MARK 1 2)))"),
        ]
    assert said == ["ready", "(MARK 1 1)", "NOOP", "(MARK 1 3)"]


@pytest.mark.parametrize("plays", [("NIL", "((you_chose 1))"), ("0 NIL NIL", "1 (choose 1) ((you_chose 1))")])
async def test_both_dialects_of_gdl2(plays: tuple[str, ...]) -> None:
    async with playing(odd_players.First) as peer:
        await peer.say(start_text(role="candidate", game="montyhall"))
        said = [await peer.say(f"(PLAY m {play})") for play in plays]
    assert said == ["(choose 1)", "noop"]


async def test_the_player_sends_what_it_thinks_beside_its_moves_alone() -> None:
    async with playing(odd_players.Telling) as peer:
        texts = (start_text(), "(PLAY m NIL)", "(INFO)", f"(PLAY m ({FIRST} noop))", "(STOP m NIL)")
        heads = [(await peer.exchange(text))[2] for text in texts]
    told = insight_text(odd_players.THOUGHT)
    assert [head.get(INSIGHT_HEADER) for head in heads] == [None, told, None, told, None]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("make_player", "move"),
    [
        (odd_players.Endless, LAST),
        (odd_players.Stubborn, FIRST),
        (odd_players.Crashing, FIRST),
        (odd_players.CrashingInStart, FIRST),
        (odd_players.Failing, FIRST),
        (odd_players.Illegal, FIRST),
        (odd_players.Unprintable, FIRST),
        (odd_players.Unmakeable, FIRST),
    ],
)
async def test_a_legal_move_comes_in_time_step_after_step(make_player: MakePlayer, move: str) -> None:
    async with playing(make_player) as peer:
        assert await peer.say(start_text()) == "ready"
        said = [await peer.say(f"(PLAY m {told})") for told in ("NIL", f"({move} noop)", "(noop (mark 2 2))")]
        assert said == [move, "noop", _third(move)]
    assert await until_no_workers() == set()


def _third(first: str) -> str:
    return "(mark 3 2)" if first == LAST else "(mark 1 2)"


async def test_preparations_that_do_not_end_are_answered_within_the_start_clock() -> None:
    async with playing(odd_players.EndlessStart) as peer:
        said = await peer.say(start_text(clock_s=1)), await peer.say("(PLAY m NIL)")
    assert said == ("ready", FIRST)


async def test_info_is_answered_while_the_player_thinks(tmp_path: Path) -> None:
    log = tmp_path / "diary"
    async with playing(partial(odd_players.Diary, str(log), is_endless=True), max_matches=1) as peer:
        await peer.say(start_text(play_s=2))
        thinking = asyncio.create_task(Peer(peer.url).say("(PLAY m NIL)"))
        await until(lambda: "move" in log.read_text())
        info = read_info(await peer.say("(INFO)"))
        assert (info, thinking.done()) == (InfoReply("tested", Status.BUSY), False)
        assert await thinking == FIRST


async def test_a_question_repeated_while_it_is_thought_about_has_one_answer() -> None:
    async with playing(odd_players.Endless) as peer:
        await peer.say(start_text())
        said = await asyncio.gather(*(Peer(peer.url).say("(PLAY m NIL)") for _ in range(3)))
    assert said == [LAST] * 3


async def test_a_game_manager_that_goes_away_and_asks_again_has_the_same_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with playing(odd_players.Endless) as peer:
        await peer.say(start_text())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(peer.say("(PLAY m NIL)"), 0.2)
        first = await peer.say("(PLAY m NIL)")
        await peer.say(f"(PLAY m ({LAST} noop))")
    assert (first, caplog.messages) == (LAST, [])


async def test_several_matches_at_once() -> None:
    async with playing(odd_players.Endless, max_matches=3) as peer:
        started = [await peer.say(start_text(f"m{i}", role="xo"[i % 2])) for i in range(3)]
        refused = await peer.say(start_text("m3"))
        moves = await asyncio.gather(*(Peer(peer.url).say(f"(PLAY m{i} NIL)") for i in range(3)))
    assert (started, refused, moves) == (["ready"] * 3, "busy", [LAST, "noop", LAST])


async def test_an_abort_ends_the_search_at_once_and_calls_the_hook(tmp_path: Path) -> None:
    log = tmp_path / "diary"
    async with playing(partial(odd_players.Diary, str(log), is_endless=True)) as peer:
        await peer.say(start_text(play_s=30))
        thinking = asyncio.create_task(Peer(peer.url).say("(PLAY m NIL)"))
        await until(lambda: "move" in log.read_text())
        assert await peer.say("(ABORT m)") == "aborted"
        assert await thinking == FIRST
        assert await until_no_workers() == set()
    assert log.read_text().splitlines() == ["start x", "move", "abort"]


async def test_the_last_step_is_perceived_before_the_stop(tmp_path: Path) -> None:
    log = tmp_path / "diary"
    async with playing(partial(odd_players.Diary, str(log))) as peer:
        for text in (start_text(), "(PLAY m NIL)", f"(STOP m ({FIRST} noop))"):
            await peer.say(text)
        assert await until_no_workers() == set()
    assert log.read_text().splitlines() == ["start x", f"perceive {FIRST} {FIRST} noop", "stop"]


async def test_a_match_of_which_nothing_is_heard_is_given_up() -> None:
    async with playing(odd_players.First, abandoned_after_s=0.2) as peer:
        await peer.say(start_text(clock_s=1, play_s=0))
        assert await until_no_workers() == set()
        assert await peer.say("(PLAY m NIL)") == "nil"


async def test_another_start_of_the_same_id_is_another_match() -> None:
    async with playing(odd_players.First) as peer:
        await peer.say(start_text(role="x"))
        said = await peer.say(start_text(role="o")), await peer.say("(PLAY m NIL)")
    assert said == ("ready", "noop")


async def test_a_start_after_a_move_begins_a_match_of_the_same_id_anew() -> None:
    async with playing(odd_players.First) as peer:
        texts = (start_text(), "(PLAY m NIL)", f"(PLAY m ({FIRST} noop))")
        said = [await peer.say(text) for text in (*texts, *texts)]
    assert said == ["ready", FIRST, "noop"] * 2


async def test_a_player_in_two_seats_of_a_match_plays_both() -> None:
    async with playing(odd_players.First, max_matches=1) as peer:
        second = {"GGP-Match-Seat": "2"}
        said = [
            *(await peer.say(start_text(role="x")), await peer.say(start_text(role="o"), second)),
            *(await peer.say("(PLAY m NIL)"), await peer.say("(PLAY m NIL)", second)),
            await peer.say("(STOP m NIL)"),
            await peer.say("(PLAY m ((mark 1 1) noop))", second),
        ]
    assert said == ["ready", "ready", FIRST, "noop", "done", "(mark 1 2)"]


ANSWERED = "GGP-Match-Answered"


async def test_a_new_process_is_brought_to_the_step_of_a_match_without_thinking() -> None:
    async with playing(odd_players.Endless) as peer:
        said = [
            await peer.say(start_text(clock_s=30, play_s=30), {ANSWERED: "ready"}),
            await peer.say("(PLAY m NIL)", {ANSWERED: "(mark 2 2)", "GGP-Match-Step": "0"}),
            await peer.say("(PLAY m ((mark 2 2) noop))", {ANSWERED: "(mark 9 9) ; illegal", "GGP-Match-Step": "1"}),
        ]
        assert said == ["ready", "(mark 2 2)", "(mark 9 9) ; illegal"]


async def test_a_process_that_has_caught_up_thinks_about_the_next_step() -> None:
    async with playing(odd_players.First) as peer:
        await peer.say(start_text(play_s=10), {ANSWERED: "ready"})
        await peer.say("(PLAY m NIL)", {ANSWERED: FIRST, "GGP-Match-Step": "0"})
        await peer.say(f"(PLAY m ({FIRST} noop))", {ANSWERED: "noop", "GGP-Match-Step": "1"})
        said = await peer.say("(PLAY m (noop (mark 1 2)))", {"GGP-Match-Step": "2"})
    assert said == "(mark 1 3)"


async def test_a_process_that_was_there_all_along_takes_no_step_twice() -> None:
    async with playing(odd_players.First) as peer:
        await peer.say(start_text())
        plays = (("0", "NIL"), ("1", f"({FIRST} noop)"))
        first = [await peer.say(f"(PLAY m {told})", {"GGP-Match-Step": step}) for step, told in plays]
        again = [
            await peer.say(start_text(), {ANSWERED: "ready"}),
            await peer.say("(PLAY m NIL)", {ANSWERED: FIRST, "GGP-Match-Step": "0"}),
            await peer.say(f"(PLAY m ({FIRST} noop))", {"GGP-Match-Step": "1"}),
            await peer.say("(PLAY m (noop (mark 1 2)))", {"GGP-Match-Step": "2"}),
        ]
    assert (first, again) == ([FIRST, "noop"], ["ready", FIRST, "noop", "(mark 1 3)"])


async def test_percepts_and_the_own_moves_of_before_are_followed() -> None:
    async with playing(odd_players.First) as peer:
        await peer.say(start_text(role="candidate", game="montyhall", play_s=10), {ANSWERED: "ready"})
        await peer.say("(PLAY m NIL)", {ANSWERED: "(choose 2)", "GGP-Match-Step": "0"})
        await peer.say("(PLAY m ((you_chose 2)))", {ANSWERED: "noop", "GGP-Match-Step": "1"})
        said = await peer.say("(PLAY m ((open_door 1)))", {"GGP-Match-Step": "2"})
    assert said == "stay"


@pytest.mark.parametrize("body", ["", "hello", "((((", ")", "(PLAY m)", b"\xff\xfe\x00", "(HELLO m)", "(" * 100_000])
async def test_garbage_is_refused_and_the_player_lives(body: str | bytes) -> None:
    async with playing(odd_players.First) as peer:
        status, _, _ = await peer.exchange(body)
        assert (status, await peer.say("(PING)")) == (400, "ready")


async def test_rules_that_mean_nothing_are_answered_with_nil() -> None:
    async with playing(odd_players.First) as peer:
        said = [await peer.say(text) for text in ("(START m x ((role)) 5 1)", "(PLAY m NIL)", "(STOP m NIL)", "(PING)")]
    assert said == ["nil", "nil", "done", "ready"]


async def test_a_body_larger_than_any_message_is_refused() -> None:
    async with playing(odd_players.First) as peer:
        status, _, _ = await peer.exchange(b"(" + b" " * 21_000_000)
        assert (status, await peer.say("(PING)")) == (413, "ready")


async def test_who_looks_at_the_address_is_told_how_many_matches_it_plays() -> None:
    async with playing(odd_players.First, max_matches=1) as peer:
        await peer.say(start_text())
        told = [(await peer.exchange("", method=method))[:2] for method in ("GET", "HEAD")]
    assert told == [(200, "tested is busy; it plays 1 match\n"), (200, "")]


@pytest.mark.parametrize("method", ["POST", "GET", "OPTIONS"])
async def test_browsers_are_let_in_and_the_connection_is_closed(method: str) -> None:
    async with playing(odd_players.First) as peer:
        status, _, headers = await peer.exchange("(INFO)" if method == "POST" else "", method=method)
    told = {key: headers.get(key) for key in ("Access-Control-Allow-Origin", "Access-Control-Allow-Methods")}
    assert (status, told, headers["Connection"]) == (
        200,
        {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "POST, GET, OPTIONS"},
        "close",
    )


async def answered(peer: Peer, *pieces: bytes) -> tuple[bytes, bytes]:
    """Return status and body of the answer to the bytes of a request, which come piece by piece."""
    host, port = peer.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)
    answer = await asyncio.wait_for(reader.read(), 5)
    writer.close()
    await writer.wait_closed()
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.split()[1], body


async def test_an_old_server_reads_to_the_end_of_the_stream() -> None:
    async with playing(odd_players.First) as peer:
        answer = await answered(
            peer,
            b"POST / HTTP/1.0\r\nAccept: text/delim\r\nSender: GAMESERVER\r\nReceiver: tested\r\n"
            b"Content-Type: text/acl\r\nContent-Length: 6\r\n\r\n(PING)",
        )
    assert answer == (b"200", b"ready")


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"POST / HTTP/1.0\nAccept: text/delim\nSender: G\nContent-type: text/acl\nContent-length: 6\n\n(PING)",
        b"\r\nPOST / HTTP/1.0\r\nSender : G\r\nContent-Length\t: 6\r\n\r\n(PING)",
        b"POST / HTTP/1.0\r\nContent-Length: 6\r\nSender: G\r\ncontent-length:6\r\n\r\n(PING)",
    ],
    ids=["line feeds", "blanks", "lengths"],
)
@pytest.mark.parametrize("size", [1, 1000])
async def test_a_request_with_an_odd_head_is_answered_however_it_is_cut(request_bytes: bytes, size: int) -> None:
    pieces = [request_bytes[i : i + size] for i in range(0, len(request_bytes), size)]
    async with playing(odd_players.First) as peer:
        assert await answered(peer, *pieces) == (b"200", b"ready")


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.0\nContent-Length: 6\nContent-Length: 7\n\n(PING)",
        b"POST / HTTP/1.0\nSender: " + b"G" * 100_000,
        b"POST http://[::1]@/ HTTP/1.0\nContent-Length: 6\n\n(PING)",
    ],
    ids=["lengths that differ", "no end", "no address"],
)
async def test_a_head_that_means_nothing_is_refused(head: bytes) -> None:
    async with playing(odd_players.First) as peer:
        assert ((await answered(peer, head))[0], await peer.say("(PING)")) == (b"400", "ready")
