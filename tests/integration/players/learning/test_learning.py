"""Learning: a network that beats random moves, a file that outlives `kill -9`, and files that are refused."""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the extra `learn`)")

from gdl.game import played_roles  # noqa: E402 -- after importorskip
from players.deadline import Deadline  # noqa: E402 -- after importorskip
from players.kit.local_match import LocalMatch  # noqa: E402 -- after importorskip
from players.learning import checkpoints  # noqa: E402 -- after importorskip
from players.learning.checkpoints import (  # noqa: E402 -- after importorskip
    NetworkFileError,
    NetworkTooLargeError,
    check_fits,
    read_checkpoint,
    write_checkpoint,
)
from players.learning.learner import Learner, TrainingReport, TrainingSettings  # noqa: E402 -- after importorskip
from players.learning.networks import (  # noqa: E402 -- after importorskip
    MAX_LOGIT,
    NotLearnableError,
    evaluator,
    parts_of,
    shape_from,
)
from players.registry import find_player  # noqa: E402 -- after importorskip
from tests.kit.players.games import compiled  # noqa: E402 -- after importorskip

N_STEPS = 200
"""How many moves of each play, as seconds of a clock that is read once for each."""


class Ticks:
    """A clock that is a second later each time that it is read."""

    def __init__(self) -> None:
        self._counter = itertools.count()

    def __call__(self) -> float:
        return float(next(self._counter))


def learner(path: Path, game: str = "tictactoe", seconds: float = N_STEPS, **words: Any) -> Learner:
    settings = TrainingSettings(seconds, plays=128, save_s=10, contest_s=1e9, **{"width": 16} | words)
    return Learner(game, game, path, settings, Ticks())


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a network that has learned tic-tac-toe for a while."""
    torch.set_num_threads(1)
    path = tmp_path_factory.mktemp("learned") / "net.pt"
    for _ in learner(path).learn():
        pass
    return path


def points(spec: str, n_matches: int) -> float:
    """Return the mean goal of a player against random moves at tic-tac-toe, in both roles."""
    game = compiled("tictactoe")
    ours, theirs = find_player(spec), find_player("random")
    total = 0
    for number in range(n_matches):
        roles = played_roles(game)
        seats = {role: (ours if (place + number) % 2 == 0 else theirs)() for place, role in enumerate(roles)}
        match = LocalMatch(game, seats, number)
        for _ in match.play():
            pass
        total += match.state.goal(roles[number % 2]) or 0
    return total / n_matches


def test_a_learned_network_beats_random_moves(learned: Path) -> None:
    assert points(f"net:{learned}:simulations=32", 20) >= 85


def test_what_was_learned_is_better_than_the_beginning(learned: Path) -> None:
    report = TrainingReport(**read_checkpoint(learned).report)
    assert (report.rung >= 1, report.steps > 50, report.plays > 500) == (True, True, True)


def test_a_move_of_so_many_simulations_is_repeatable(learned: Path) -> None:
    game = compiled("tictactoe")
    moves = []
    for _ in range(2):
        player = find_player(f"net:{learned}:simulations=64")()
        player.join(game, game.roles[0], 1)
        player.start(Deadline.after(1e9))
        player.prepare_move(game.initial_state.legal_moves(game.roles[0])[0], lambda _: None)
        moves.append((player.move(game.initial_state, game.roles[0], Deadline.after(1e9)), player.insight()))
    assert moves[0] == moves[1]


def test_a_move_is_there_before_its_deadline(learned: Path) -> None:
    """By a clock that goes on by a second each time that it is read, so that no machine is too slow."""
    game, clock = compiled("connectfour"), Ticks()
    path = learned.with_name("four.pt")
    learner(path, "connectfour").save()
    player = find_player(f"net:{path}")()
    player.join(game, game.roles[0], 1)
    player.start(Deadline.after(1e6))
    player.prepare_move(game.initial_state.legal_moves(game.roles[0])[0], lambda _: None)
    deadline = Deadline.after(200, clock)
    move = player.move(game.initial_state, game.roles[0], deadline)
    assert (move in game.initial_state.legal_moves(game.roles[0]), deadline.has_passed) == (True, False)


def test_learning_goes_on_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    reports = list(learner(path, seconds=40).learn())
    first = reports[-1]
    again = learner(path, seconds=60)
    assert (again.is_resumed, again.report) == (True, first)
    last = list(again.learn())[-1]
    assert (last.seconds >= 60, last.plays > first.plays, last.steps >= first.steps) == (True, True, True)


def test_a_file_outlives_kill_9(tmp_path: Path) -> None:
    """A process is killed as soon as it has written its file more than once; another one goes on from there."""
    path = tmp_path / "net.pt"
    program = (
        "import sys, pathlib; from players.learning.learner import Learner, TrainingSettings; import torch\n"
        "torch.set_num_threads(1)\n"
        "learner = Learner('tictactoe', 'tictactoe', pathlib.Path(sys.argv[1]), "
        "TrainingSettings(1e6, plays=64, save_s=0, width=8))\n"
        "for report in learner.learn(): print(report.moves, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    reports = list(itertools.islice(process.stdout, 30))
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    again = learner(path, seconds=1e6, width=8)
    assert (again.is_resumed, again.report.moves >= int(reports[-2])) == (True, True)
    later = next(again.learn())
    assert later.moves > again.report.moves - 128 * 2
    assert [file.name for file in tmp_path.iterdir() if not file.name.startswith(".")] == ["net.pt"]


def bad_files(learned: Path) -> Iterator[tuple[bytes, str]]:
    yield b"", "no file of a network"
    yield b"not a network", "no file of a network"
    yield pickle.dumps(os.getcwd), "no file of a network"
    yield learned.read_bytes()[:-2000], "no file of a network"
    yield with_first_entry(learned, 6, b"\xff"), "no file of a network"
    yield with_first_entry(learned, 46, b"\xff"), "no file of a network"


def with_first_entry(learned: Path, at: int, byte: bytes) -> bytes:
    """Return the file with a byte changed in the first entry of its list: 6 is the version needed, 46 the name."""
    raw = bytearray(learned.read_bytes())
    start = raw.find(b"PK\x01\x02")
    raw[start + 8 : start + 10] = (0x800).to_bytes(2, "little")  # names are in UTF-8
    raw[start + at : start + at + 1] = byte
    return bytes(raw)


def test_files_of_other_kinds_are_refused(learned: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.pt"
    for content, reason in bad_files(learned):
        path.write_bytes(content)
        with pytest.raises(NetworkFileError, match=reason):
            read_checkpoint(path)


class Runs:
    """Something that would run a function when it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("ran",)


def test_nothing_in_a_file_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save({"mark": "ggp network", "version": 1, "game": Runs()}, "bad.pt")
    with pytest.raises(NetworkFileError, match="no file of a network"):
        read_checkpoint(Path("bad.pt"))
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": 99}, "version 99, and this is for 1"),
        ({"weights": {}}, "damaged: its weights are not those of its shape"),
        ({"weights": []}, "damaged: a part of it is no dictionary"),
        ({"shape": {}}, "damaged: 'fluents'"),
        ({"mark": "other"}, "no file of a"),
    ],
)
def test_a_file_of_another_version_is_refused(
    learned: Path, tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    path = tmp_path / "other.pt"
    torch.save(torch.load(learned, weights_only=True) | change, path)
    with pytest.raises(NetworkFileError, match=reason):
        read_checkpoint(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"width": 10**9}, "its width is not 1 to 1024"),
        ({"width": 1024}, "its weights are not those of its shape"),
        ({"width": 0}, "its width is not 1 to 1024"),
        ({"width": "16"}, "its width is not 1 to 1024"),
        ({"width": float("inf")}, "its width is not 1 to 1024"),
        ({"blocks": 10**9}, "its blocks are not 0 to 64"),
        ({"blocks": 64}, "its weights are not those of its shape"),
        ({"board": (10**6, 10**6, 10**6)}, "its board is not planes, rows and columns"),
        ({"board": (4, 4, 4)}, "its sources are not those of its board"),
        ({"board": ()}, "its sources are not those of its board"),
        ({"sources": ()}, "its sources are not those of its board"),
        ({"players": ("x", "x")}, "its players are not names that differ"),
        ({"actions": (1, 2)}, "its actions are not names that differ"),
    ],
)
def test_a_shape_beyond_its_limits_is_refused_before_anything_is_built(
    learned: Path, tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    path = tmp_path / "other.pt"
    fields = torch.load(learned, weights_only=True)
    torch.save(fields | {"shape": fields["shape"] | change}, path)
    with pytest.raises(NetworkFileError, match=f"damaged: .*{reason}"):
        read_checkpoint(path)


@pytest.mark.parametrize("number", [-1, 10**6, 1.5])
def test_planes_of_fluents_that_are_not_there_are_refused(learned: Path, tmp_path: Path, number: float) -> None:
    path = tmp_path / "other.pt"
    fields = torch.load(learned, weights_only=True)
    first, *rest = fields["shape"]["sources"]
    torch.save(fields | {"shape": fields["shape"] | {"sources": [(number, *first[1:]), *rest]}}, path)
    with pytest.raises(NetworkFileError, match="its sources are not among its fluents"):
        read_checkpoint(path)


def test_weights_that_are_larger_than_what_the_file_holds_are_refused(learned: Path, tmp_path: Path) -> None:
    """Each is one number, seen as many."""
    path = tmp_path / "other.pt"
    fields = torch.load(learned, weights_only=True)
    shape = fields["shape"] | {"width": 1024, "blocks": 64}
    parts = parts_of(shape_from(shape))
    weights = {name: torch.zeros((), dtype=dtype).expand(size) for name, (size, dtype) in parts.items()}
    torch.save(fields | {"shape": shape, "weights": weights}, path)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(NetworkFileError, match="its weights are larger than the file"):
        read_checkpoint(path)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_that_are_no_finite_numbers_are_refused(learned: Path, tmp_path: Path, number: float) -> None:
    path = tmp_path / "other.pt"
    fields = torch.load(learned, weights_only=True)
    weights = {name: torch.full_like(part, number) for name, part in fields["weights"].items()}
    torch.save(fields | {"weights": weights}, path)
    with pytest.raises(NetworkFileError, match="damaged: a weight is no finite number"):
        read_checkpoint(path)


def test_a_network_that_says_what_is_no_number_says_nothing(learned: Path) -> None:
    """Weights so large that sums of them are beyond all numbers."""
    network = read_checkpoint(learned).network()
    for part in network.parameters():
        part.data.fill_(1e38)
    ask = evaluator(network, torch.device("cpu"))
    values, logits = ask(np.ones((1, len(network.shape.fluents)), np.bool_))
    assert (np.abs(values) <= 1).all()
    assert (np.abs(logits) <= MAX_LOGIT).all()


def test_a_structure_that_is_too_large_is_not_read(learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "MAX_STRUCTURE_BYTES", 1000)
    with pytest.raises(NetworkFileError, match="beside numbers is larger than"):
        read_checkpoint(learned)


@pytest.mark.parametrize(
    "change",
    [
        {"training": {}},
        {"training": {"network": {}, "rung": {}, "optimizer": {}}},
        {"report": {}},
        {"report": {"seconds": "1"}},
        {"report": {"seconds": 1.0, "nonsense": 1}},
        {"report": {"seconds": None}},
        {"report": {"seconds": float("nan")}},
        {"report": {"seconds": 1.0, "steps": None}},
        {"report": {"seconds": 1.0, "steps": 1.5}},
        {"report": {"seconds": 1.0, "steps": -5000}},
    ],
)
def test_learning_does_not_go_on_from_what_has_no_state_of_it(
    learned: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    path = tmp_path / "other.pt"
    torch.save(torch.load(learned, weights_only=True) | change, path)
    with pytest.raises(NetworkFileError, match="learning cannot go on from it"):
        learner(path)


def test_a_file_of_another_width_than_is_asked_for_is_refused(learned: Path) -> None:
    with pytest.raises(NetworkFileError, match="its network has the width 16, not 32: leave the width out"):
        learner(learned, width=32)
    assert learner(learned, width=None).network.shape.width == 16


def test_a_network_that_would_not_fit_into_its_file_is_refused_before_learning(tmp_path: Path) -> None:
    with pytest.raises(NetworkTooLargeError, match="of width 640 takes a file of 298 MB"):
        learner(tmp_path / "net.pt", width=640)


def test_a_width_that_no_file_may_have_is_refused_before_learning(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="its width is not 1 to 1024"):
        learner(tmp_path / "net.pt", "nim", width=1025)


def test_the_size_of_a_file_is_foreseen(learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As little as it is too large, so it is foreseen that it is not."""
    shape, n_bytes = read_checkpoint(learned).shape, learned.stat().st_size
    monkeypatch.setattr(checkpoints, "_AROUND_BYTES", 0)
    foreseen = 20 * learner(learned).network.n_parameters
    monkeypatch.setattr(checkpoints, "MAX_BYTES", foreseen)
    check_fits(shape)
    assert 0 < n_bytes - foreseen < 100_000
    monkeypatch.setattr(checkpoints, "MAX_BYTES", foreseen - 1)
    with pytest.raises(NetworkTooLargeError):
        check_fits(shape)


def test_a_file_that_could_not_be_read_again_is_not_written(
    learned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, kept = tmp_path / "net.pt", read_checkpoint(learned)
    path.write_bytes(b"before")
    monkeypatch.setattr(checkpoints, "MAX_BYTES", 1000)
    with pytest.raises(NetworkTooLargeError):
        write_checkpoint(kept, path)
    assert path.read_bytes() == b"before"


def test_a_file_that_is_too_large_is_not_read(learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "MAX_BYTES", 1000)
    with pytest.raises(NetworkFileError, match="larger than"):
        read_checkpoint(learned)


def test_a_network_of_another_game_is_refused(learned: Path) -> None:
    with pytest.raises(NetworkFileError, match="of another game, tictactoe"):
        learner(learned, "connectfour")
    game = compiled("connectfour")
    player = find_player(f"net:{learned}")()
    player.join(game, game.roles[0], 1)
    with pytest.raises(NetworkFileError, match="of another game, tictactoe"):
        player.start(Deadline.after(1e6))


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        ("phantomtictactoe", "do not see everything"),
        ("rockpaperscissors", "choose at once"),
        ("pig", "there is chance"),
    ],
)
def test_games_without_a_search_are_refused(game: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(NotLearnableError, match=reason):
        learner(tmp_path / "net.pt", game)


def test_a_game_without_a_board_is_learned_from_its_bits(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    for _ in learner(path, "nim", seconds=10).learn():
        pass
    shape = read_checkpoint(path).shape
    assert (shape.board, shape.players) == ((), ("left", "right"))


def test_another_order_of_fluents_and_actions_changes_nothing(learned: Path, tmp_path: Path) -> None:
    """A file of a version that numbers them otherwise is played all the same."""
    kept = read_checkpoint(learned)
    game = compiled("tictactoe")
    found = []
    shape = kept.shape
    turned = tuple(reversed(shape.actions))
    weights = dict(kept.weights)
    for name in ("policy.weight", "policy.bias"):
        weights[name] = weights[name].flip(0)
    fields = shape.as_json() | {"actions": turned}
    other = tmp_path / "turned.pt"
    write_checkpoint(checkpoints.Checkpoint("tictactoe", shape_from(fields), weights), other)
    for path in (learned, other):
        player = find_player(f"net:{path}:simulations=64")()
        player.join(game, game.roles[0], 1)
        player.start(Deadline.after(1e9))
        found.append((player.move(game.initial_state, game.roles[0], Deadline.after(1e9)), player.insight()))
    assert found[0] == found[1]
