"""`ggp play`: whole transcripts with fixed seeds, and a real terminal."""

from __future__ import annotations

import io
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from players.player import Player
from players.registry import find_player
from tests.kit.server.commands.fixtures import Ggp

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
PLAY = (sys.executable, "-c", "from server.commands.main import main; main()", "play")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_person_sees_what_the_transcript_says(path: Path, ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first line of a transcript is the command, those after `< ` are typed, the rest is shown."""
    command, *lines = path.read_text(encoding="utf-8").splitlines()
    typed = [line.removeprefix("< ").removeprefix("<") for line in lines if line.startswith("<")]
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
    assert ggp(*command.removeprefix("$ ggp ").split()) == (0, "\n".join([*lines[len(typed) :], ""]), "")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("tictactoe", "--as", "z"), "ggp: no role 'z'; did you mean x or o?\n"),
        (("tictactoe", "--opponent", "mcst"), "ggp: no player 'mcst'; did you mean mcts?\n"),
        (("tictactoe", "--role", "z"), "ggp: no role 'z'; did you mean x or o?\n"),
        (
            ("tictactoe", "--opponent", "http://127.0.0.1:1"),
            "ggp: no player in 'http://127.0.0.1:1': the player there runs already: `ggp match` asks it, and "
            "the page Players of a server registers it\n",
        ),
        (("tictacto",), "ggp: no game 'tictacto'; did you mean tictactoe or phantomtictactoe or biddingtictactoe?\n"),
        (("montyhall", "--as", "random"), "ggp: no role 'random'; did you mean candidate?\n"),
    ],
)
def test_misspelt_names_are_wrong_usage_and_answered_with_suggestions(
    words: tuple[str, ...], complaint: str, ggp: Ggp
) -> None:
    assert ggp("play", *words) == (2, "", complaint)


def test_a_game_of_chance_alone_has_no_role_to_play(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "chance.kif"
    path.write_text("(role random) (init a) (legal random go) (<= (next b) (true a)) (<= terminal (true b))")
    ended = ggp("play", path)
    assert (ended.exit_code, ended.errors.splitlines()[-1]) == (2, "ggp: the game has no role that a player takes")


@pytest.mark.parametrize(
    ("words", "opponent"), [((), "mcts"), (("--seed", "1"), "mcts:playouts=400"), (("--opponent", "legal"), "legal")]
)
def test_the_computer_plays_by_the_clock_unless_it_is_to_be_repeatable(
    words: tuple[str, ...], opponent: str, ggp: Ggp, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = []

    def found(spec: str) -> Callable[[], Player]:
        named.append(spec)
        return find_player("legal")

    monkeypatch.setattr("server.commands.play.find_player", found)
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    assert ggp("play", "tictactoe", *words)[0] == 0
    assert named[0] == opponent


def test_a_byte_that_is_no_utf_8_is_a_move_that_is_not_legal(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\nq\n"), encoding="utf-8"))
    code, output, _ = ggp("play", "tictactoe", "--opponent", "legal", "--seed", "1")
    assert (code, output.splitlines()[-1][-9:]) == (0, "You quit.")


def test_in_a_real_terminal_the_board_has_colours_and_enter_stands() -> None:
    """Only where output is a terminal does a symbol come in colour; an empty line is a move of its own."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    words = (*PLAY, "zionsmall", "--seed", "1")
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = read_until(ours, "player> ")
        os.write(ours, b"\n")
        seen_next = read_until(ours, "player> ")
        os.write(ours, b"q\n")
        read_until(ours, "You quit.")
        assert process.wait(timeout=30) == 0
    os.close(ours)
    assert "\x1b[32m\x1b[1m@\x1b[0m" in seen
    assert "turns made: 1 of 20" in seen_next


def read_until(terminal: int, end: str) -> str:
    """Return what *terminal* shows up to *end*."""
    seen = ""
    while not seen.endswith(end) and f"{end}\r\n" not in seen:
        assert select.select([terminal], [], [], 60)[0], f"nothing more after {seen!r}"
        seen += os.read(terminal, 4096).decode()
    return seen
