"""Many random games compared in several processes, and a summary of what was compared."""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from tests.fuzz.generator import random_game
from tests.fuzz.shrinking import shrunk
from tests.fuzz.workers import Outcome, Worker

_PROCESS: Final = "the process"
"""How the failures begin in which there was no answer."""


@dataclass(frozen=True)
class Failure:
    """A game on which an engine is wrong: what was asked of which engine, the first difference, the rules, a part."""

    seed: int
    kind: str
    detail: str
    text: str
    shrunk_text: str


@dataclass
class Summary:
    """What was compared: numbers of games by features, variants of the compiler, and reasons for not comparing."""

    n_games: int = 0
    n_compared: int = 0
    n_states: int = 0
    n_moves: int = 0
    features: Counter[str] = field(default_factory=Counter)
    variants: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def add(self, drawn: Iterable[str], outcome: Outcome) -> None:
        """Count what came of one game."""
        self.n_games += 1
        self.features.update(drawn)
        if outcome.refusal:
            self.refusals[outcome.refusal.split(":")[0]] += 1
        if outcome.comparison is not None:
            found = outcome.comparison
            self.n_compared += 1
            self.n_states += found.n_states
            self.n_moves += found.n_moves
            self.features.update(found.features)
            self.variants.update(found.variants or ["interpreter only"])

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        counts = {name: dict(value) if isinstance(value, Counter) else value for name, value in vars(self).items()}
        return counts | {"failures": [asdict(failure) for failure in self.failures]}

    def text(self) -> str:
        """Return it for a terminal."""
        lines = [
            f"{self.n_compared:,} of {self.n_games:,} games compared: {self.n_states:,} states, {self.n_moves:,} moves"
        ]
        for title, counts in (("features", self.features), ("variants", self.variants), ("refused", self.refusals)):
            lines += [title, *(f"  {n:6,}  {name}" for name, n in sorted(counts.items(), key=lambda item: -item[1]))]
        lines.append(f"{len(self.failures)} failures" + "".join(f"\n  seed {f.seed}: {f.kind}" for f in self.failures))
        return "\n".join(lines)


@dataclass(frozen=True)
class Campaign:
    """How games are compared.

    *Units*: seconds of processor time for one game; seconds by the clock for making the rules of a failure small.
    """

    n_jobs: int = 1
    timeout_s: float = 30.0
    shrink_s: float = 120.0

    def run(self, seeds: Iterable[int], tell: Callable[[str], None] = lambda _: None) -> Summary:
        """Compare the games of those *seeds*; *tell* hears of each failure, and of every hundredth game."""
        summary = Summary()
        todo: queue.SimpleQueue[int] = queue.SimpleQueue()
        for seed in seeds:
            todo.put(seed)
        lock = threading.Lock()
        with ThreadPoolExecutor(self.n_jobs) as pool:
            jobs = [pool.submit(self._work, todo, summary, lock, tell) for _ in range(self.n_jobs)]
        for job in jobs:
            job.result()
        summary.failures.sort(key=lambda failure: failure.seed)
        return summary

    def _work(
        self, todo: queue.SimpleQueue[int], summary: Summary, lock: threading.Lock, tell: Callable[[str], None]
    ) -> None:
        with Worker(self.timeout_s) as worker:
            while True:
                try:
                    seed = todo.get_nowait()
                except queue.Empty:
                    return
                game = random_game(seed)
                outcome = worker.compare(game.text, seed)
                failure = self._failure(seed, game.text, outcome) if outcome.failure else None
                with lock:
                    summary.add(game.features, outcome)
                    if failure is not None:
                        summary.failures.append(failure)
                        tell(_told(failure))
                    if summary.n_games % 100 == 0:
                        tell(f"{summary.n_games} games, {len(summary.failures)} failures")

    def _failure(self, seed: int, text: str, outcome: Outcome) -> Failure:
        """Return what is wrong, with the rules made small; a process of its own tells whether it is this game alone."""
        with Worker(self.timeout_s / 4) as alone:

            def fails(candidate: str) -> bool:
                return _is_alike(alone.compare(candidate, seed).failure, outcome.failure)

            small = text
            detail = outcome.detail
            if self.shrink_s and fails(text):
                small = shrunk(text, fails, self.shrink_s)
                detail = alone.compare(small, seed).detail or detail
            elif outcome.failure.startswith(_PROCESS):
                detail = f"perhaps through a game before it in the same process: {outcome.games_before}"
        return Failure(seed, outcome.failure, detail, text, small)


def _is_alike(found: str, wanted: str) -> bool:
    """Return whether two failures are of one engine."""
    if found.startswith(_PROCESS) or wanted.startswith(_PROCESS):
        return found.startswith(_PROCESS) and wanted.startswith(_PROCESS)
    return bool(found) and found.partition(":")[0] == wanted.partition(":")[0]


def _told(failure: Failure) -> str:
    return (
        f"seed {failure.seed}: {failure.kind}\n{failure.detail}\n"
        f"--- the rules\n{failure.text}--- what of them fails alike\n{failure.shrunk_text}---"
    )
