"""Learning: self-play fills a memory, from which the network learns, for a number of minutes; resumed where it was."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from gdl.game import Game
from players.environments.vector import VectorGame
from players.learning import checkpoints
from players.learning.networks import Network, NetworkShape, best_device, evaluator, shape_of
from players.learning.selfplay import DEFAULT_PLAN, ReplayBuffer, Samples, SearchPlan, SelfPlay, score_against

_MEMORY_BYTES: Final = 400_000_000
_MOST_POSITIONS: Final = 200_000
_LEAST_POSITIONS: Final = 2_000
"""How many positions there are before the network learns."""
_WARM_STEPS: Final = 30
"""How many steps the learning rate rises."""
_AVERAGED: Final = 0.998
"""How much of the weights that play stays at each step; the rest comes from those that learn."""
_STEP_AHEAD: Final = 0.75
"""The score against the last rung of the ladder with which a network becomes the next one."""


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How a game is learned. *Units*: seconds.

    Attributes:
        seconds: for how long, those before a resumption included.
        plays: how many plays at once.
        batch: how many positions a step of learning has.
        uses: how often a position is learned from, in the mean.
        rate: the learning rate at first; it falls to a twentieth.
        save_s: how often the file is written.
        contest_s: how often the network is measured.
    """

    seconds: float
    plays: int = 256
    batch: int = 128
    uses: float = 6.0
    rate: float = 2e-3
    save_s: float = 20.0
    contest_s: float = 60.0
    seed: int = 1
    width: int | None = None
    plan: SearchPlan = DEFAULT_PLAN


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """How learning stands. *Units*: seconds; losses are means of the last steps, None before the first.

    `rung` counts how often the network beat an earlier one, random moves at first, by three points of four;
    `score` is that against the last of them, from 0 to 1.
    """

    seconds: float
    plays: int = 0
    moves: int = 0
    positions: int = 0
    steps: int = 0
    policy_loss: float | None = None
    value_loss: float | None = None
    rung: int = 0
    score: float | None = None


def _report_from(figures: dict[str, Any]) -> TrainingReport:
    """Return the report that a file has. Raises TypeError or ValueError where it is none."""
    report = TrainingReport(**figures)
    if not all(isinstance(figure, int | float | None) for figure in figures.values()):
        raise TypeError("a figure of its report is no number")
    counts = (report.plays, report.moves, report.positions, report.steps, report.rung)
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise ValueError("a count of its report is none")
    if report.seconds is None or not 0 <= report.seconds < math.inf:
        raise ValueError("its report does not say for how long it has learned")
    return report


def _kept(path: Path, games: VectorGame, width: int | None) -> checkpoints.Checkpoint | None:
    """Return the network of the file at *path*, None where there is no file; raises NetworkFileError as `Learner`."""
    if not path.exists():
        return None
    kept = checkpoints.read_checkpoint(path)
    fluents, actions = checkpoints.numbers_in(kept, games, path)
    if fluents != [*range(len(games.fluents))] or actions != [*range(len(games.actions[0]))]:
        reason = "it was made by another version: players read it, learning begins anew"
        raise checkpoints.NetworkFileError(str(path), reason)
    if width not in {None, kept.shape.width}:
        reason = f"its network has the width {kept.shape.width}, not {width}: leave the width out"
        raise checkpoints.NetworkFileError(str(path), f"{reason}, or choose another file")
    return kept


def _memory_for(shape: NetworkShape, batch: int) -> ReplayBuffer:
    n_fluents, n_actions, n_players = len(shape.fluents), len(shape.actions), len(shape.players)
    most = _MEMORY_BYTES // (n_fluents // 8 + 1 + 2 * n_actions + 4 * n_players)
    return ReplayBuffer(n_fluents, n_actions, n_players, max(min(_MOST_POSITIONS, most), batch))


class Learner:
    """Learns a game for as long as *settings* say, and keeps what it learns in the file at *path*.

    Raises:
        NotLearnableError: self-play has no search for the game.
        NetworkFileError: there is a file at *path* that is no network of this game, has another width than *settings*
            ask for, or nothing that learning could go on from.
        NetworkTooLargeError: the network would not fit into its file.
    """

    def __init__(
        self,
        name: str,
        game: Game | str | Path,
        path: Path,
        settings: TrainingSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name, self.path, self.settings, self._clock = name, path, settings, clock
        self.device = best_device()
        games = VectorGame(game, 1)
        shape = shape_of(games, settings.width)
        kept = _kept(path, games, settings.width)
        if kept is not None:
            shape = kept.shape
        checkpoints.check_fits(shape)
        torch.manual_seed(settings.seed)
        self.network, self.playing, self.rung = (self._made(shape) for _ in range(3))
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=settings.rate, weight_decay=1e-4)
        self.report, self.is_resumed = TrainingReport(0.0), kept is not None
        if kept is None:
            self.playing.load_state_dict(self.network.state_dict())
        else:
            self._resume(kept)
        seed = settings.seed + 7919 * self.report.steps
        self.random = np.random.default_rng(seed)
        self.selfplay = SelfPlay(games.game, settings.plays, evaluator(self.playing, self.device), seed, settings.plan)
        self.memory = _memory_for(shape, settings.batch)
        self._owed = 0.0  # steps of learning that samples ask for, and that are not made yet
        self._before = self.report
        self._losses: list[tuple[float, float]] = []

    def _made(self, shape: NetworkShape) -> Network:
        made: Network = Network(shape).to(self.device).to(memory_format=torch.channels_last)
        return made

    def _resume(self, kept: checkpoints.Checkpoint) -> None:
        try:
            self._take(kept)
        except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
            reason = f"players can use it, but learning cannot go on from it ({error!r}): choose another file"
            raise checkpoints.NetworkFileError(str(self.path), reason) from error

    def _take(self, kept: checkpoints.Checkpoint) -> None:
        """Take over weights, state of the optimiser and report. Raises an error of many kinds where they do not fit."""
        self.network.load_state_dict(kept.training["network"])
        self.playing.load_state_dict(kept.weights)
        self.rung.load_state_dict(kept.training["rung"])
        self.optimizer.load_state_dict(kept.training["optimizer"])
        self.report = _report_from(kept.report)
        for weights, state in self.optimizer.state.items():
            if any(state[name].shape != weights.shape for name in ("exp_avg", "exp_avg_sq")):
                raise ValueError("the state of the optimiser is not that of the weights")

    def learn(self) -> Iterator[TrainingReport]:
        """Learn until the time is over, yielding a report after each move of self-play; the last one is saved."""
        self.selfplay.warm_up()
        began_s = self._clock()
        saved_s = measured_s = began_s
        first_s = self.report.seconds
        while self.report.seconds < self.settings.seconds:
            self._learn_from(self.selfplay.step())
            now_s = self._clock()
            self.report = self._now(first_s + now_s - began_s)
            if now_s - measured_s >= self.settings.contest_s:
                self._measure()
                measured_s = self._clock()
            if now_s - saved_s >= self.settings.save_s:
                self.save()
                saved_s = self._clock()
            yield self.report
        self._measure()
        self.save()
        yield self.report

    def _learn_from(self, samples: Samples | None) -> None:
        """Keep *samples*, and make the steps of learning that they ask for, none as long as there are few positions."""
        if samples is not None:
            self.memory.add(samples)
            self._owed += len(samples.bits) * self.settings.uses / self.settings.batch
        if len(self.memory) < min(_LEAST_POSITIONS, self.memory.capacity):
            self._owed = 0.0
        for _ in range(int(self._owed)):
            self._train()
        self._owed -= int(self._owed)

    def _now(self, seconds: float) -> TrainingReport:
        before, play = self._before, self.selfplay
        means = np.mean(self._losses[-100:], axis=0).tolist() if self._losses else [None, None]
        return replace(
            self.report,
            seconds=seconds,
            plays=before.plays + play.n_plays,
            moves=before.moves + play.n_steps,
            positions=before.positions + self.memory.n_added,
            policy_loss=means[0],
            value_loss=means[1],
        )

    def _train(self) -> None:
        """Make a step of learning."""
        share = min(1.0, self.report.seconds / self.settings.seconds)
        warm = min(1.0, (self.report.steps + 1) / _WARM_STEPS)
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.rate * warm * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * share)))
        policy_loss, value_loss = self._loss(self.memory.draw(self.settings.batch, self.random))
        self.optimizer.zero_grad()
        (policy_loss + value_loss).backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self.optimizer.step()
        averaged = min(_AVERAGED, (self.report.steps + 1) / (self.report.steps + 10))
        with torch.no_grad():
            for ours, theirs in zip(self.playing.parameters(), self.network.parameters(), strict=True):
                ours.lerp_(theirs, 1 - averaged)
        self._losses = [*self._losses[-99:], (policy_loss.item(), value_loss.item())]
        self.report = replace(self.report, steps=self.report.steps + 1)

    def _loss(self, samples: Samples) -> tuple[torch.Tensor, torch.Tensor]:
        bits = np.unpackbits(samples.bits, axis=1, count=self.memory.n_fluents).astype(np.float32)
        policy = torch.from_numpy(samples.policy.astype(np.float32)).to(self.device)
        values, logits = self.network(torch.from_numpy(bits).to(self.device))
        chances = nn.functional.log_softmax(logits.masked_fill(policy < 0, -1e9), dim=1)
        policy = policy.clamp(min=0)
        entropy = -(policy * policy.clamp(min=1e-9).log()).sum(1).mean()
        loss = -(policy * chances).sum(1).mean() - entropy  # how far from the target, 0 where they are equal
        return loss, nn.functional.mse_loss(values, torch.from_numpy(samples.values).to(self.device))

    def _measure(self) -> None:
        """Let the network play against the last rung of its ladder; where it is far ahead it is the next one."""
        other = evaluator(self.rung, self.device) if self.report.rung else None
        ours = evaluator(self.playing, self.device)
        score = score_against(self.selfplay.live.game, ours, other, self.settings.seed + self.report.steps)
        self.report = replace(self.report, score=score)
        if score >= _STEP_AHEAD:
            self.rung.load_state_dict(self.playing.state_dict())
            self.report = replace(self.report, rung=self.report.rung + 1, score=None)

    def save(self) -> None:
        """Write the file, from which players play and learning goes on.

        Raises:
            OSError: it cannot be written.
        """
        training = {
            "network": self.network.state_dict(),
            "rung": self.rung.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        fields = {name: getattr(self.report, name) for name in TrainingReport.__slots__}
        checkpoints.write_checkpoint(
            checkpoints.Checkpoint(self.name, self.network.shape, dict(self.playing.state_dict()), training, fields),
            self.path,
        )
