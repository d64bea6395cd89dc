"""Yardsticks as real child processes: matches, disagreements, and the engines that are installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from click.testing import CliRunner

from benchmarks.yardsticks.__main__ import main
from benchmarks.yardsticks.child import Child, YardstickError
from benchmarks.yardsticks.engines.dialogue import DisagreementError
from benchmarks.yardsticks.engines.go import GoEngine
from benchmarks.yardsticks.engines.reversi import ReversiEngine
from benchmarks.yardsticks.engines.translations import MAX_STEPS
from benchmarks.yardsticks.engines.uci import UciEngine
from benchmarks.yardsticks.games import GAMES, OPENSPIEL_GAMES
from benchmarks.yardsticks.matches import OURS, THEIRS, Encounter, GoalError
from benchmarks.yardsticks.speed import OPENSPIEL
from gdl.engines import make_game
from gdl.game import Role, State
from gdl.games.library import find_game
from gdl.language.terms import Term
from players.deadline import Deadline
from players.player import Player
from players.registry import find_player
from tests.kit.exhaustive import sampled

STAND_IN = (sys.executable, "-m", "tests.kit.benchmarks.stand_in")
GO_STAND_IN = f"{sys.executable} -m tests.kit.benchmarks.go_stand_in"
REVERSI_STAND_IN = f"{sys.executable} -m tests.kit.benchmarks.reversi_stand_in"
UCI_STAND_IN = f"{sys.executable} -m tests.kit.benchmarks.uci_stand_in"
PYTHON = os.environ.get("GGP_OPENSPIEL_PYTHON", sys.executable)
BY_STATE = ("amazons", "ultimatetictactoe", "ninemensmorris")
"""Games in which a move is several actions of OpenSpiel, or the state says what an action means."""
PUBLIC = Path(os.environ.get("GGP_SHARED", "../shared")) / "conformance" / "rules"
STOCKFISH = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
GRHINO = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games")
GNU_GO = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


def meet(child: Child, spec: str = "legal", seconds: float = 0.1) -> Encounter:
    return Encounter(make_game(find_game("tictactoe").read(), "interpreter"), find_player(spec), child, seconds)


@pytest.fixture
def stand_in(request: pytest.FixtureRequest) -> Iterator[Child]:
    with Child((*STAND_IN, *getattr(request, "param", ()))) as child:
        yield child


def test_each_opening_is_played_with_the_roles_exchanged(stand_in: Child) -> None:
    found = meet(stand_in, "minimax").play_pairs(4, 2, seed=1)
    assert [match.result.players for match in found] == 2 * [(OURS, THEIRS), (THEIRS, OURS)]
    assert all(match.points >= 0.5 for match in found)
    assert {match.yardstick_used_s for match in found} == {0.125}
    assert all(match.n_steps >= 5 and match.n_moves >= 1 for match in found)


def test_equal_seeds_play_equal_matches(stand_in: Child) -> None:
    def results() -> list[tuple[tuple[int, ...], int]]:
        return [(match.result.goals, match.n_steps) for match in meet(stand_in).play_pairs(4, 2, seed=5)]

    assert results() == results()


class Recorder(Player):
    """Takes the first legal move, and notes how much time it had."""

    remaining_s: ClassVar[list[float]] = []

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        legal = state.legal_moves(role)
        if len(legal) > 1:
            self.remaining_s.append(deadline.remaining_s)
        return legal[0]


def test_what_moves_leave_of_their_time_the_next_ones_have(stand_in: Child) -> None:
    """A clock of 1,000 s a move: nothing that happens here takes as long as it would need to change the hundreds."""
    encounter = meet(stand_in, f"{__name__}:Recorder", seconds=1_000.0)
    encounter.play(encounter.game.roles[0], (), seed=0)
    assert [round(seconds, -2) for seconds in Recorder.remaining_s[:3]] == [1_000, 2_000, 3_000]


@pytest.mark.parametrize(
    ("stand_in", "complaint"),
    [
        (["blind"], r"stops: .*legal for the referee alone: \(mark 2 2\)"),
        (["endless"], "stops: .*the referee ends it"),
        (["hasty"], "stops: .*the match is over after 2 steps, and the referee goes on"),
        (["wrong"], r"moves \(mark 4 4\), which is not legal"),
        (["mortal"], "has ended, or does not answer"),
    ],
    indirect=["stand_in"],
)
def test_a_yardstick_that_fails_stops_the_match(stand_in: Child, complaint: str) -> None:
    with pytest.raises(YardstickError, match=complaint):
        meet(stand_in).play_pairs(2, 0, seed=0)


def test_a_yardstick_that_never_answers_is_ended() -> None:
    with Child((*STAND_IN, "silent"), patience_s=3.0) as child, pytest.raises(YardstickError, match="does not answer"):
        meet(child).play_pairs(2, 0, seed=0)


@pytest.mark.parametrize("stand_in", [["greedy"]], indirect=True)
def test_the_goals_of_the_end_are_compared(stand_in: Child) -> None:
    with pytest.raises(GoalError, match="the end is worth 0 to o, and 100 by the yardstick"):
        meet(stand_in).play_pairs(2, 0, seed=0)


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(YardstickError, match="`no-such-program` cannot be started"):
        Child(("no-such-program",))


def test_a_uci_engine_lists_and_chooses_in_our_words() -> None:
    with UciEngine(UCI_STAND_IN, "depth 1") as engine:
        engine.begin("white", ["white", "black"], 0)
        assert engine.legal() == {"(move pawn e 2 e 4)", "(move knight g 1 f 3)"}
        assert engine.choose() == "(move knight g 1 f 3)"
        engine.follow(["(move knight g 1 f 3)", "noop"])
        assert (engine.legal(), engine.is_over) == ({"noop"}, False)
        engine.follow(["noop", "(move queen d 8 h 4)"])
        assert engine.is_over


def test_a_program_of_go_lists_and_chooses_in_our_words() -> None:
    with GoEngine(GO_STAND_IN) as engine:
        engine.begin("black", ["black", "white"], 0)
        assert engine.legal() == {"(place 3 3)", "(place 5 1)", "pass"}
        assert engine.choose() == "(place 3 3)"
        engine.follow(["(place 3 3)", "noop"])
        assert (engine.legal(), engine.is_over) == ({"noop"}, False)
        engine.follow(["noop", "pass"])
        engine.follow(["pass", "noop"])
        assert engine.is_over


def test_a_program_of_go_that_refuses_a_move_disagrees() -> None:
    with GoEngine(GO_STAND_IN) as engine:
        engine.begin("white", ["black", "white"], 0)
        with pytest.raises(DisagreementError, match=r"\(place 1 1\) is not legal for python\S* after 0 steps"):
            engine.follow(["(place 1 1)", "noop"])


def test_a_program_of_reversi_allows_moves_and_passes_in_steps_of_ours() -> None:
    with ReversiEngine(REVERSI_STAND_IN) as engine:
        engine.begin("white", ["black", "white"], 0)
        assert engine.legal() == {"noop"}
        engine.follow(["(move 4 6)", "noop"])
        assert engine.legal() == {"(move 3 5)", "(move 8 1)"}
        assert engine.choose() == "(move 3 5)"
        engine.follow(["noop", "(move 3 5)"])
        assert engine.legal() == {"noop"}
        engine.follow(["noop", "noop"])
        assert (engine.legal(), engine.is_over, engine.goal()) == ({"(move 8 1)"}, False, None)
        engine.follow(["noop", "(move 8 1)"])
        assert (engine.is_over, engine.goal()) == (True, 100)


def test_a_program_of_reversi_that_refuses_a_move_disagrees() -> None:
    with ReversiEngine(REVERSI_STAND_IN) as engine:
        engine.begin("white", ["black", "white"], 0)
        with pytest.raises(DisagreementError, match=r"\(move 1 1\) is not legal for python"):
            engine.follow(["(move 1 1)", "noop"])


def test_a_python_without_openspiel_is_an_error(tmp_path: Path) -> None:
    ended = CliRunner().invoke(main, ["speed", "--openspiel-python", str(tmp_path / "python")])
    assert ended.exit_code == 1
    assert ended.output.startswith("Error: OpenSpiel is not at hand")


@pytest.mark.exhaustive
def test_a_random_player_loses_won_positions_to_the_solver() -> None:
    ended = CliRunner().invoke(
        main, ["perfect", "--player", "random", "--matches", "4", "--json"], catch_exceptions=False
    )
    (found,) = json.loads(ended.stdout)
    assert (found["matches"], found["player"]) == (4, "random")
    assert found["kept"] < 4


def has_openspiel() -> bool:
    return subprocess.run([PYTHON, "-c", "import pyspiel"], check=False, capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def openspiel() -> str:
    if not has_openspiel():
        pytest.skip("no OpenSpiel: install the extra `yardsticks`, or set GGP_OPENSPIEL_PYTHON")
    return PYTHON


@pytest.mark.parametrize("game", sampled(OPENSPIEL_GAMES, "connectfour", "hex", "dotsandboxes3x3", *BY_STATE))
def test_openspiel_agrees_about_legal_moves_ends_and_goals(openspiel: str, game: str) -> None:
    if game in {"reversi", "hex"} and not (PUBLIC / f"{game}.kif").is_file():
        pytest.skip("no public rule files: GGP_SHARED does not lead to them")
    words = ["openspiel", game, "--player", "random", "--seconds", "0.001", "--matches", "2", "--json"]
    ended = CliRunner().invoke(main, [*words, "--openspiel-python", openspiel], catch_exceptions=False)
    (found,) = json.loads(ended.stdout)
    assert (found["game"], found["matches"]) == (game, 2)


def test_openspiel_ends_a_match_when_the_rule_file_does(openspiel: str) -> None:
    """Nine men's morris ends after 199 steps, and in OpenSpiel after 200 turns, a mill and the man taken being one."""
    game = make_game(GAMES["ninemensmorris"].file.read(), "interpreter")
    with Child((openspiel, "-m", OPENSPIEL, "nine_mens_morris", "--random-moves", "1")) as child:
        found = Encounter(game, find_player("random"), child, 0.01).play_pairs(2, 0, seed=5)
    assert (found[0].n_steps, found[0].points) == (MAX_STEPS["nine_mens_morris"], 0.5)


@pytest.mark.skipif(STOCKFISH is None, reason="no Stockfish: apt-get install stockfish")
@pytest.mark.skipif(not (PUBLIC / "chess_200.kif").is_file(), reason="no public rule files: GGP_SHARED")
def test_stockfish_agrees_about_legal_moves_and_ends() -> None:
    words = ["chess", "--player", "random", "--matches", "2", "--random-moves", "0.9", "--json"]
    (found,) = json.loads(CliRunner().invoke(main, words, catch_exceptions=False).stdout)
    assert (found["level"], found["matches"]) == ("depth 1, 90% at random", 2)


@pytest.mark.skipif(GNU_GO is None, reason="no GNU Go: apt-get install gnugo")
def test_gnu_go_agrees_about_legal_moves_and_ends() -> None:
    words = ["go", "--player", "random", "--matches", "2", "--levels", "1", "--json"]
    (found,) = json.loads(CliRunner().invoke(main, words, catch_exceptions=False).stdout)
    assert (found["level"], found["matches"]) == ("level 1", 2)


@pytest.mark.skipif(GRHINO is None, reason="no GRhino: apt-get install grhino")
@pytest.mark.skipif(not (PUBLIC / "reversi.kif").is_file(), reason="no public rule files: GGP_SHARED")
def test_grhino_agrees_about_legal_moves_passes_and_ends() -> None:
    words = ["reversi", "--player", "random", "--matches", "6", "--levels", "1", "--json"]
    (found,) = json.loads(CliRunner().invoke(main, words, catch_exceptions=False).stdout)
    assert (found["level"], found["matches"]) == ("level 1", 6)
