"""Players that an author may write by mistake, for workers to run."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gdl.game import Role, State
from gdl.language.terms import Constant, Term
from players import Deadline, Player
from players.player import Insight


class First(Player):
    """Plays the first legal move."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        return state.legal_moves(role)[0]


THOUGHT = Insight(120, 80, 2.5, 62.5, ("(mark 1 1)", "(mark 2 2)"))


class Answering(Player):
    """Returns whatever it was made with, in place of a move."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        return self.answer  # type: ignore[return-value]  # the mistake that this player is about


class Exiting(Player):
    """Ends the program in place of a move."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        sys.exit("no way")


class Renaming(Player):
    """Gives the attributes of every player meanings of its own."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        self.worlds = self.game = self.role = self.random = None  # type: ignore[assignment]  # the mistake
        self.best_so_far = "none yet"  # type: ignore[assignment]  # likewise
        return None  # type: ignore[return-value]  # likewise


class Telling(First):
    """Tells what it thinks."""

    def insight(self) -> Insight | None:
        return THOUGHT


class Musing(First):
    """Tells what it thinks with a move of the engine, and a number as text."""

    def insight(self) -> Insight | None:
        line: Any = self.worlds.state.legal_moves(self.role)[:1]
        depth: Any = "2.5"
        return Insight(120, 80, depth, None, line)


class Brooding(Player):
    """Plays the last legal move, and never finds out what it thinks."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        return state.legal_moves(role)[-1]

    def insight(self) -> Insight | None:
        while True:
            pass


class Boasting(First):
    """Expects more than any goal."""

    def insight(self) -> Insight | None:
        return Insight(1, 1, 1.0, 1000.0)


class Endless(Player):
    """Never returns; suggests the last legal move."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        self.suggest(state.legal_moves(role)[-1])
        while True:
            pass


class Silent(Player):
    """Never returns, and suggests nothing."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        while True:
            pass


class EndlessStart(First):
    """Never ends its preparations."""

    def start(self, deadline: Deadline) -> None:
        while True:
            pass


class Stubborn(Player):
    """Catches whatever would interrupt it."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        while True:
            try:
                time.sleep(1)
            except BaseException:  # the mistake that this player is about
                continue


class Unprintable(Player):
    """Fails with what no header and no UTF-8 can carry."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        raise OSError("\x1b[31mno file caf\udce9")


class Crashing(Player):
    """Takes its process down."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        os._exit(3)


class CrashingInStart(First):
    """Takes its process down before the first move."""

    def start(self, deadline: Deadline) -> None:
        os._exit(3)


class Failing(Player):
    """Raises an exception wherever it can."""

    def start(self, deadline: Deadline) -> None:
        raise KeyError("start")

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:
        raise KeyError("perceive")

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        raise KeyError("move")


class Unmakeable(First):
    """Cannot even be made."""

    def __init__(self) -> None:
        raise ValueError("no such book of openings")


class Illegal(Player):
    """Plays moves that do not exist, and suggests them."""

    def start(self, deadline: Deadline) -> None:
        self.suggest(Constant("nonsense"))

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        return Constant("nonsense")


class Diary(First):
    """Writes down in a file which hooks are called; never returns a move if it is endless."""

    def __init__(self, path: str, is_endless: bool = False) -> None:
        self.path, self.is_endless = Path(path), is_endless

    def _note(self, *words: object) -> None:
        with self.path.open("a") as log:
            log.write(f"{' '.join(map(str, words))}\n")

    def start(self, deadline: Deadline) -> None:
        self._note("start", self.role)

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:
        self._note("perceive", own_move, *percepts)

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        if self.is_endless:
            self._note("move")
            while True:
                pass
        return super().move(state, role, deadline)

    def stop(self) -> None:
        self._note("stop")

    def abort(self) -> None:
        self._note("abort")
