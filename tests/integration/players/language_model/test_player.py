"""The player `llm` against a stand-in for the server of a model that errs in all ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gdl.game import Role
from gdl.language.kif import read_term
from gdl.language.terms import Term
from players.deadline import Deadline
from players.language_model.completions import CompletionError
from players.language_model.conversation import Conversation
from players.language_model.player import MAX_REQUESTS, LanguageModelPlayer, MissingModelError
from players.registry import find_player
from tests.kit.players.games import game
from tests.kit.players.model_server import (
    Answer,
    ModelServer,
    calling,
    model_server,
    raw,
    refusing,
    saying,
    silent,
    streaming,
)

ILLEGAL = saying("MOVE: (mark 9 9)")
CENTRE = saying("MOVE: (mark 2 2)")
FREE = ("1 2", "1 3", "2 1", "2 2", "3 1", "3 2", "3 3")


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"GGP_LLM_{name}", raising=False)


def seated(url: str, log: str = "off", name: str = "tictactoe", **options: Any) -> tuple[LanguageModelPlayer, Role]:
    player = LanguageModelPlayer("small", url, log=log, **options)
    player.sleep = lambda _: None
    of = game(name)
    player.join(of, of.roles[0], 1)
    return player, of.roles[0]


def moved(player: LanguageModelPlayer, role: Role, seconds: float = 60.0) -> Term:
    state = player.game.initial_state
    player.prepare_move(state.legal_moves(role)[0], lambda _: None)
    return player.move(state, role, Deadline.after(seconds))


def asked_of(*script: Answer, **options: Any) -> tuple[str, ModelServer]:
    with model_server(*script) as server:
        return str(moved(*seated(server.url, **options))), server


@pytest.mark.parametrize(
    "answer",
    [
        CENTRE,
        saying("I take the centre.\n\n**Move:** `(mark 2 2)`"),
        saying("The best is\nmark 2 2.\nmove: mark 2 2"),
        saying("So I play (MARK 2 2)."),
        saying('{"move": "(mark 2 2)"}'),
        saying("First I thought of MOVE: (mark 1 1), but now\nMOVE: (mark 2 2)"),
        calling('{"move": "(mark 2 2)"}'),
        calling('{"move": "mark 2 2"}'),
        streaming("The cen", "tre.\nMO", "VE: (mark", " 2 2)"),
        streaming("MOVE: (mark 2 2)\n", "because", is_cut_off=True),
    ],
)
def test_a_move_is_understood_however_it_is_named(answer: Answer) -> None:
    assert asked_of(answer)[0] == "(mark 2 2)"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "wrong",
    [
        ILLEGAL,
        saying("I do not know."),
        saying(""),
        saying("(((((("),
        calling("{"),
        calling('{"move": 7}'),
        calling("[]"),
        streaming("MOVE: (mark", is_cut_off=True),
        streaming(is_cut_off=True),
        refusing(500, "overloaded"),
        refusing(429, "slow down", Retry_After="0"),
        refusing(302, Location="http://127.0.0.1:1/"),
        raw(b"not JSON"),
        raw(b"[1, 2]"),
        raw(b'{"choices": [{"message": 3}]}'),
        raw(b'{"choices": [[]], "usage": {"prompt_tokens": "many"}}'),
        raw(b"[" * 100_000),
        raw(b"\xff\xfe"),
        raw(b"x" * 1_100_000),
        raw(b"data: {\n\n", "text/event-stream"),
        raw(b"data: " + b"x" * 300_000 + b"\n\n", "text/event-stream"),
    ],
)
def test_a_wrong_answer_is_asked_for_again(wrong: Answer) -> None:
    move, server = asked_of(wrong, CENTRE)
    assert (move, len(server.asked)) == ("(mark 2 2)", 2)


def test_an_illegal_answer_is_corrected() -> None:
    _, server = asked_of(ILLEGAL, CENTRE)
    *_, said, correction = server.asked[1]["messages"]
    assert said == {"role": "assistant", "content": "MOVE: (mark 9 9)"}
    assert correction["content"].startswith("That names none of your legal moves. They are: (mark 1 1), (mark 1 2)")


async def test_a_move_can_be_asked_for_where_an_event_loop_runs() -> None:
    """As in a notebook."""
    assert asked_of(ILLEGAL, CENTRE)[0] == "(mark 2 2)"


async def test_a_refusal_is_raised_where_an_event_loop_runs() -> None:
    with model_server(refusing(401)) as server, pytest.raises(CompletionError, match="401 Unauthorized"):
        moved(*seated(server.url))


def test_the_same_is_not_asked_without_end_nor_pause(tmp_path: Path) -> None:
    """Each request has the last correction alone, and the log has each message once."""
    slept: list[float] = []
    log = tmp_path / "llm.jsonl"
    with model_server(ILLEGAL) as server:
        player, role = seated(server.url, str(log))
        player.sleep = slept.append
        assert moved(player, role, 1e6) in player.game.initial_state.legal_moves(role)
    assert [len(body["messages"]) for body in server.asked] == [2] + [4] * (MAX_REQUESTS - 1)
    assert slept == [0.2, 0.5, 1.0, 2.0, 4.0] + [8.0] * (MAX_REQUESTS - 6)
    logged = [json.loads(line)["messages"] for line in log.read_text().splitlines()]
    asked = server.asked[-1]["messages"]
    assert logged == [asked[:2], asked[2:]] + [[]] * (MAX_REQUESTS - 2)


def test_a_pause_ends_with_the_clock() -> None:
    now_s, slept = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now_s[0] += seconds

    with model_server(refusing(503, Retry_After="3"), ILLEGAL) as server:
        player, role = seated(server.url)
        player.sleep = sleep
        player.prepare_move(player.game.initial_state.legal_moves(role)[0], lambda _: None)
        player.move(player.game.initial_state, role, Deadline(3.25, lambda: now_s[0]))
    assert slept == [3.0, 0.25]


def test_the_player_warns_once_of_a_log_it_cannot_write(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with model_server(ILLEGAL, CENTRE) as server:
        assert str(moved(*seated(server.url, str(tmp_path)))) == "(mark 2 2)"
    assert caplog.messages == [f"{tmp_path} cannot be written, requests are not logged any more: Is a directory"]


@pytest.mark.parametrize("answer", [silent, ILLEGAL, refusing(429, Retry_After="3600")])
def test_without_an_answer_in_time_a_legal_move_is_made(answer: Answer) -> None:
    with model_server(answer) as server:
        player, role = seated(server.url)
        assert moved(player, role, 0.5) in player.game.initial_state.legal_moves(role)


def test_a_refusal_that_would_come_again_is_an_error_without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGP_LLM_KEY", "secret-key")
    with model_server(refusing(401, "secret-key is wrong")) as server, pytest.raises(CompletionError) as caught:
        moved(*seated(server.url))
    assert str(caught.value) == f"{server.url}: 401 Unauthorized: *** is wrong"


@pytest.mark.parametrize("n_before", [290, 297, 9_995])
def test_no_part_of_the_key_is_left_where_a_refusal_is_cut(n_before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "abcdefgh-the-key"
    monkeypatch.setenv("GGP_LLM_KEY", key)
    text = " " * (n_before - 290) + "." * 290 + key * 100
    with model_server(refusing(401, text)) as server, pytest.raises(CompletionError) as caught:
        moved(*seated(server.url))
    assert caught.value.reason.rstrip(".*") == "401 Unauthorized: "


def test_a_password_of_the_address_is_in_no_error_and_no_log(tmp_path: Path) -> None:
    log = tmp_path / "llm.jsonl"
    with model_server(refusing(401, "pass%20word and pass word")) as server, pytest.raises(CompletionError) as caught:
        moved(*seated(server.url.replace("://", "://me:pass%20word@"), str(log)))
    hidden = server.url.replace("://", "://me:***@")
    assert str(caught.value) == f"{hidden}: 401 Unauthorized: *** and ***"
    assert json.loads(log.read_text())["url"] == hidden


def test_the_log_is_json_whatever_the_secrets_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, log = 'quo"te\\', tmp_path / "llm.jsonl"
    monkeypatch.setenv("GGP_LLM_KEY", key)
    player, role = seated("http://me:step@127.0.0.1:1/v1", str(log))
    moved(player, role)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {(line["step"], line["url"]) for line in lines} == {(1, "http://me:***@127.0.0.1:1/v1")}
    with model_server(saying(f"{key} MOVE: (mark 2 2)")) as server:
        moved(*seated(server.url, str(log)))
    assert json.loads(log.read_text().splitlines()[-1])["text"] == "*** MOVE: (mark 2 2)"


def test_the_model_gets_the_rules_the_board_the_steps_and_the_moves() -> None:
    with model_server(CENTRE) as server:
        player, role = seated(server.url)
        state, o = player.game.initial_state, player.game.roles[1]
        joint = [state.legal_moves(role)[0], state.legal_moves(o)[0]]
        player.perceive(joint[0], joint)
        after = state.next_state(joint)
        joint = [after.legal_moves(role)[0], after.legal_moves(o)[4]]
        player.perceive(joint[0], joint)
        assert str(player.move(after.next_state(joint), role, Deadline.after(60.0))) == "(mark 2 2)"
    system, question = (message["content"] for message in server.asked[0]["messages"])
    assert player.game.description.source.text in system
    assert question.startswith(
        "Step 3. You are x.\n\nWhat happened:\n1. x made (mark 1 1), o made noop\n2. x made noop, o made (mark 2 3)\n\n"
        "The board:\n1 X . .\n2 . . .\n3 . O .\n  1 2 3\nx to move\n\nWhat holds:\n(cell 1 1 x) (cell 1 2 empty) "
    )
    listed = "\n".join(f"(mark {move})" for move in FREE)
    assert question.endswith(f"Your legal moves:\n{listed}\n\nWhich one do you make?")


def test_options_and_the_key_are_sent_and_the_key_is_in_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGP_LLM_KEY", "secret-key")
    log = tmp_path / "llm.jsonl"
    script = (refusing(500, "secret-key"), saying("MOVE: (mark 1 1) secret-key"))
    with model_server(*script) as server:
        moved(*seated(server.url, str(log), temperature=0.5, max_tokens=99, tools=False, stream=False))
    body = {name: value for name, value in server.asked[0].items() if name != "messages"}
    assert (body, server.authorization) == (
        {"model": "small", "temperature": 0.5, "max_tokens": 99}, "Bearer secret-key",
    )  # fmt: skip
    failed, answered = map(json.loads, log.read_text().splitlines())
    assert "secret-key" not in log.read_text()
    assert (failed["error"], failed["move"]) == ("500 Internal Server Error: ***", None)
    expected = {
        "move": "(mark 1 1)",
        "text": "MOVE: (mark 1 1) ***",
        "promptTokens": 11,
        "completionTokens": 7,
        "isWhole": True,
        "step": 1,
    }
    assert {name: answered[name] for name in expected} == expected


def test_a_forced_move_asks_nothing() -> None:
    with model_server(CENTRE) as server:
        player, _ = seated(server.url)
        o = player.game.roles[1]
        player.join(player.game, o, 1)
        assert (str(moved(player, o)), server.asked) == ("noop", [])


def test_a_spec_may_hold_an_address() -> None:
    maker = find_player("llm:url=http://127.0.0.1:8080/v1,model=small,log=off")
    assert maker.options == {"url": "http://127.0.0.1:8080/v1", "model": "small", "log": "off"}


def test_a_player_without_a_model_says_how_to_name_one() -> None:
    with pytest.raises(MissingModelError) as caught:
        seated("")
    assert str(caught.value) == "llm: set GGP_LLM_URL, or write llm:url=..."


def test_of_hidden_information_the_model_gets_what_the_role_saw() -> None:
    of = game("kuhnpoker")
    conversation = Conversation(of, of.roles[0], str)
    conversation.add_step(read_term("noop"), [read_term("(dealt jack)")])
    conversation.add_step(None, [])
    question = conversation.question(of.initial_state, of.initial_state.legal_moves(of.roles[0]))[-1]["content"]
    assert "1. you made noop; you saw (dealt jack)\n2. your move was lost; you saw nothing\n" in question
    assert "The board, as it may be:" in question
    assert "What may hold, by what you saw:" in question
