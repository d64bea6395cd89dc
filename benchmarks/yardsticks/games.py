"""The games that we and a yardstick both have: whose rules they are, and under what name the yardstick knows them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from gdl.engines import make_compiled_game
from gdl.errors import CallerError
from gdl.game import Game
from gdl.games.library import GameFile, find_game

_POSITIONS: Final = Path(__file__).parents[1] / "positions"
_PUBLIC: Final = "conformance/rules"


class AbsentError(CallerError):
    """Something is not at hand that a yardstick needs."""

    template: ClassVar[str] = "{what} is not at hand: {advice}"
    what: str
    advice: str


@dataclass(frozen=True, slots=True)
class YardstickGame:
    """A game, its rule file, and how many of its first steps are drawn at random in a match.

    Attributes:
        rules: a game of the library; with a folder before it, a rule file of `benchmarks/positions` or of GGP_SHARED.
        openspiel: what OpenSpiel loads, None where it has no such game.
    """

    name: str
    rules: str
    n_opening: int
    openspiel: str | None = None

    @property
    def file(self) -> GameFile:
        """The rule file.

        Raises:
            AbsentError: it is a public one, and GGP_SHARED does not lead to it.
        """
        folder, _, stem = self.rules.rpartition("/")
        if not folder:
            return find_game(stem)
        path = _POSITIONS / f"{stem}.kif"
        if folder == "public":
            path = Path(os.environ.get("GGP_SHARED", "../shared")) / _PUBLIC / f"{stem}.kif"
        if not path.is_file():
            raise AbsentError(f"the rule file {path}", "let GGP_SHARED be the folder with conformance/rules")
        return find_game(str(path))

    def compiled(self) -> Game:
        """Return the game, compiled where it can be: waiting for that is no part of any clock. Raises: as `file`."""
        return make_compiled_game(self.file.read())


GAMES: Final = {
    game.name: game
    for game in (
        YardstickGame("connectfour", "connectfour", 2, "connect_four"),
        YardstickGame("breakthrough", "breakthrough", 2, "breakthrough(rows=8,columns=8)"),
        YardstickGame("reversi", "public/reversi", 4, "othello"),
        YardstickGame("hex", "public/hex", 2, "hex(board_size=9)"),
        YardstickGame("breakthrough6x6", "positions/breakthrough6x6", 2, "breakthrough(rows=6,columns=6)"),
        YardstickGame("dotsandboxes3x3", "positions/dotsandboxes3x3", 4, "dots_and_boxes(num_rows=3,num_cols=3)"),
        YardstickGame("amazons", "amazons", 4, "amazons"),
        YardstickGame("hex11x11", "hex", 1, "hex(board_size=11,swap=True)"),
        YardstickGame("dotsandboxes", "dotsandboxes", 4, "dots_and_boxes(num_rows=5,num_cols=5)"),
        YardstickGame("tictactoe", "tictactoe", 2, "tic_tac_toe"),
        YardstickGame("ultimatetictactoe", "ultimatetictactoe", 4, "ultimate_tic_tac_toe"),
        YardstickGame("gomoku", "gomoku", 2, "gomoku"),
        YardstickGame("pentago", "pentago", 2, "pentago"),
        YardstickGame("ninemensmorris", "ninemensmorris", 4, "nine_mens_morris"),
        YardstickGame("clobber", "clobber", 4, "clobber(rows=5,columns=6)"),
        YardstickGame("kalah", "kalah", 4, "mancala"),
        YardstickGame("nim", "nim", 1, "nim(pile_sizes=3;4;5,is_misere=False)"),
        YardstickGame("go", "go", 2),
        YardstickGame("chess", "public/chess_200", 4),
    )
}
SPEED_GAMES: Final = ("connectfour", "breakthrough", "reversi", "hex")
"""Where our search is to be ahead in speed."""
_PACKAGES: Final = {"gtp-rhino": "grhino"}
"""The packages of Debian whose programs have other names."""
OPENSPIEL_GAMES: Final = tuple(game.name for game in GAMES.values() if game.openspiel)


def chosen(names: Sequence[str], default: Sequence[str]) -> list[YardstickGame]:
    """Return the games *names*, or those of *default* where there are none."""
    return [GAMES[name] for name in names or default]


def program(name: str) -> str:
    """Return the path of the program *name*; Debian's games are looked for even where PATH lacks them.

    Raises:
        AbsentError: there is none.
    """
    found = shutil.which(name) or shutil.which(name, path="/usr/games")
    if found is None:
        raise AbsentError(f"the program {name}", f"install it, such as by apt-get install {_PACKAGES.get(name, name)}")
    return found
