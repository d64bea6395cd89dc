"""The dialogue of an engine that plays as a child process: one message a line in, one reply a line out.

The protocol is that of `docs/child-players.md` with the lines `(LEGAL ...)`, and one line more before START, which is
not answered either: `(OPENING id n)`. The first n moves of the match are then drawn by the referee, and are answered
without thinking.

Beside what the protocol asks for, both sides are compared at each step: whether the match is over, and which moves are
legal. Where they differ the reply is `(error "...")`, which no referee takes for a move. The reply to STOP says what
the engine holds of the end: `(done (goal 100) (used-ms 2130) (moves 14))`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from random import Random
from typing import Final, Protocol, TextIO, TypeAlias

Tree: TypeAlias = "str | list[Tree]"

NOOP: Final = "noop"
NIL: Final = "NIL"
_TOKEN: Final = re.compile(r"[()]|[^\s()]+")


class DisagreementError(Exception):
    """The engine and the referee differ about the rules."""


class Engine(Protocol):
    """An engine at its own rules, which speaks of moves as the referee does: `(drop 3)`."""

    name: str

    def begin(self, role: str, roles: Sequence[str], seed: int) -> None:
        """Set up the first position of a match, to be played as *role*."""

    @property
    def is_over(self) -> bool:
        """Whether no move is left to make."""

    def legal(self) -> set[str]:
        """Return the moves of the own role, `noop` alone where it is not to move."""

    def choose(self) -> str:
        """Return the move that the engine makes."""

    def follow(self, moves: Sequence[str]) -> None:
        """Make the joint move *moves*, in the order of the roles."""

    def goal(self) -> int | None:
        """Return what the role has at the end; None where the engine does not know."""

    @property
    def used_s(self) -> float:
        """The processor time of all choices since `begin`."""


class Dialogue:
    """What answers the lines of a referee, match after match; the share *random_share* of moves is drawn at random."""

    def __init__(self, engine: Engine, random_share: float = 0.0, seed: int = 0) -> None:
        self._engine, self._random_share = engine, random_share
        self._random = Random(seed)
        self._legal: list[str] = []
        self._n_steps = self._n_choices = self._n_opening = 0

    def answer(self, line: str) -> str | None:
        """Return the reply to *line*, None where it needs none."""
        message = _read(line)
        assert isinstance(message, list)
        match str(message[0]).upper():
            case "INFO":
                return f"((name {self._engine.name}) (status available))"
            case "OPENING":
                self._n_opening = int(str(message[2]))
                return None
            case "START":
                return self._start(message)
            case "LEGAL":
                self._legal = [_text(move) for move in message[2]]
                return None
            case "PLAY":
                return self._play(message[2])
            case "STOP":
                return self._stop(message[2])
        return "aborted"

    def _start(self, message: list[Tree]) -> str:
        roles = [rule[1] for rule in message[3] if isinstance(rule, list) and rule[0] == "role"]
        self._engine.begin(str(message[2]), [str(role) for role in roles], self._random.getrandbits(31))
        self._n_steps = self._n_choices = 0
        return "ready"

    def _play(self, told: Tree) -> str:
        self._follow(told)
        if self._engine.is_over:
            raise DisagreementError(f"the match is over after {self._n_steps} steps, and the referee goes on")
        check_equal(self._legal, self._engine.legal(), self._n_steps)
        if self._n_steps < self._n_opening or len(self._legal) == 1:
            return self._legal[0]
        if self._random.random() < self._random_share:
            return self._random.choice(self._legal)
        self._n_choices += 1
        return self._engine.choose()

    def _stop(self, told: Tree) -> str:
        self._follow(told)
        if not self._engine.is_over:
            raise DisagreementError(f"the match goes on after {self._n_steps} steps, and the referee ends it")
        goal = self._engine.goal()
        known = "" if goal is None else f"(goal {goal}) "
        return f"(done {known}(used-ms {round(1000 * self._engine.used_s)}) (moves {self._n_choices}))"

    def _follow(self, told: Tree) -> None:
        if isinstance(told, list):
            self._engine.follow([_text(move) for move in told])
            self._n_steps += 1


def check_equal(theirs: Iterable[str], ours: set[str], n_steps: int) -> None:
    """Compare the legal moves of the referee, *theirs*, with those of the engine.

    Raises:
        DisagreementError: they differ.
    """
    missing, unknown = sorted(set(theirs) - ours), sorted(ours - set(theirs))
    if missing or unknown:
        raise DisagreementError(
            f"after {n_steps} steps, legal for the referee alone: {', '.join(missing) or 'none'}; "
            f"for the engine alone: {', '.join(unknown) or 'none'}"
        )


def converse(dialogue: Dialogue, lines: TextIO | None = None, replies: TextIO | None = None) -> None:
    """Answer *lines* until they end; after an error there is no reply but that error."""
    replies, failure = replies or sys.stdout, ""
    for line in lines or sys.stdin:
        try:
            reply = failure or dialogue.answer(line)
        except Exception as error:  # the referee hears of whatever it is
            reply = failure = f'(error "{_plain(f"{type(error).__name__}: {error}")}")'
        if reply is not None:
            replies.write(f"{reply}\n")
            replies.flush()


def options(about: str) -> argparse.ArgumentParser:
    """Return the options that all engines have."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--random-moves", type=float, default=0.0, help="the share of moves drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def serve(engine: Engine, chosen: argparse.Namespace) -> None:
    """Play with *engine* over standard input and output, as the options *chosen* say."""
    converse(Dialogue(engine, chosen.random_moves, chosen.seed))


def _plain(text: str) -> str:
    return " ".join(text.replace('"', "'").split())


def _read(line: str) -> Tree:
    """Return the first term of *line*."""
    stack: list[list[Tree]] = [[]]
    for token in _TOKEN.findall(line):
        if token == "(":  # noqa: S105 -- no password
            stack.append([])
        elif token == ")":  # noqa: S105 -- no password
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0][0]


def _text(tree: Tree) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(_text, tree))})"
