"""Players of another revision of this repository as yardsticks: in a child process that has its code."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Final
from zipfile import ZipFile

from benchmarks.yardsticks.child import ROOT, Child, YardstickError
from gdl.errors import CallerError
from gdl.game import Game, Role, State
from gdl.language.terms import Term
from gdl.wire.replies import find_move, term_of_text
from players.deadline import Deadline
from players.player import Player

CHECKOUTS: Final = ROOT / ".revisions"
"""Where the code of revisions is kept, with its kernels."""
_SCRIPT: Final = Path(__file__).parent / "engines" / "revision.py"
_PACKAGES: Final = ("gdl", "players", "rules")


class RevisionError(CallerError):
    """There is no such revision."""

    template: ClassVar[str] = "there is no revision {revision!r} of this repository: {reason}"
    revision: str
    reason: str


def commit_of(revision: str) -> str:
    """Return the full name of the commit that *revision* (a commit, a branch or a tag) names.

    Raises:
        RevisionError: there is none.
    """
    return (
        _git(revision, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        .decode()
        .strip()
    )


def check_out(commit: str) -> Path:
    """Return the folder that has the packages of *commit*, after it has been made where it is missing.

    Raises:
        RevisionError: there is no such commit.
    """
    folder = CHECKOUTS / commit
    if not folder.is_dir():
        archive = _git(commit, "archive", "--format=zip", commit, *_PACKAGES)
        CHECKOUTS.mkdir(exist_ok=True)
        with TemporaryDirectory(dir=CHECKOUTS) as scratch, ZipFile(io.BytesIO(archive)) as files:
            files.extractall(code := Path(scratch) / "code")
            _rename_where_missing(code, folder)
    return folder


def _rename_where_missing(code: Path, folder: Path) -> None:
    """Give the folder *code* its name, unless another process that checks the same commit out has been first."""
    try:
        code.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _git(revision: str, *words: str) -> bytes:
    ended = subprocess.run((shutil.which("git") or "git", *words), cwd=ROOT, capture_output=True, check=False)
    if ended.returncode:
        raise RevisionError(revision, ended.stderr.decode(errors="replace").strip() or "git knows of none")
    return ended.stdout


class RevisionPlayer(Player):
    """A player of another revision, which *child* runs beside others at the same game, by processor time of its own."""

    def __init__(self, child: Child) -> None:
        self.child = child

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Keep the seed for the start."""
        super().join(game, role, seed)
        self._seed = seed

    def start(self, deadline: Deadline) -> None:
        """Begin a match in the child."""
        self._ask("start", self._seed, deadline.remaining_s)

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the child's move.

        Raises:
            YardstickError: it has none, or an illegal one.
        """
        reply = self._ask("move", deadline.remaining_s)
        found = find_move(term_of_text(reply), state.legal_moves(role))
        if found is None:
            raise YardstickError(self.child.command, f"moves {reply}, which is not legal")
        return found

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:
        """Let the child take in a step."""
        self._ask("perceive", str(own_move), [str(percept) for percept in percepts])

    def stop(self) -> None:
        """End the match in the child."""
        self._ask("stop")

    def _ask(self, method: str, *arguments: Any) -> Any:
        return json.loads(self.child.ask(json.dumps([method, [str(self.role), *arguments]])))


@cache
def revision_child(commit: str, spec: str, rules: str, role: str) -> Child:
    """Return the process that runs players of *spec*, as *commit* has them, at the game of *rules*.

    It has loaded what a player of *role* loads once, and ends with this process.

    Raises:
        RevisionError: there is no such commit.
        YardstickError: it has no such player.
    """
    with ExitStack() as ended:
        child = ended.enter_context(Child([sys.executable, "-P", str(_SCRIPT)], root=check_out(commit)))
        child.tell(json.dumps({"rules": rules, "spec": spec}))
        child.ask(json.dumps(["warm_up", [role]]))
        ended.pop_all()
    return child
