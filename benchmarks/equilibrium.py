"""The equilibrium benchmark: what a player's strategy loses against its best response, computed exactly.

It asks a player for its mixed move in every information set of a small game: by its own strategy where it has one, else
by what it does in many tries. Then the best response of the other role says what the strategy is worth at worst. Run as
`python -m benchmarks.equilibrium`; `docs/strength.md` keeps the figures.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import click
import numpy as np

from gdl.engines import make_game
from gdl.errors import CallerError
from gdl.game import Game, played_roles
from gdl.games.library import find_game
from gdl.language.terms import Term
from players.belief import BeliefState, InformationSet, Percepts
from players.deadline import Deadline, SearchBudget
from players.player import Player
from players.registry import find_player
from players.search.information.regret import MixedMove, RegretSearch
from players.search.information.sequences import Floats, SequenceForm, sequence_form
from players.stock import MctsPlayer

VALUES: Final = {"kuhnpoker": 0.5 - 1 / 72, "leducpoker": 0.5 - 0.03 * 0.0856064}
"""What the first role gets in equilibrium, of a goal from 0 to 1: 1/18 of a chip less than half in Kuhn poker (Kuhn
1950), where a chip is 25 goal points, and 0.0856 of a chip in Leduc poker, where it is 3 (OpenSpiel 2019)."""
MAX_LOSS: Final = 0.05


class TooLargeError(CallerError):
    """The game cannot be solved exactly."""

    template = "{game} is too large for exact best responses, or not a game of two roles"
    game: str


@dataclass(frozen=True, slots=True)
class Exploitability:
    """What a role's strategy is worth. *Units*: goals from 0 to 1, seconds of the start clock that were used.

    `worst` is what it gets against its best response, `value` what it would get there in equilibrium.
    """

    role: str
    worst: float
    value: float
    used_s: float

    @property
    def loss(self) -> float:
        """What the best response gains."""
        return self.value - self.worst

    def line(self, game: str, player: str) -> str:
        """Return a row of the table in the documentation."""
        cells = (game, self.role, f"`{player}`", f"{self.used_s:.1f} s", f"{self.value:.4f}", f"{self.worst:.4f}")
        return f"| {' | '.join(cells)} | {self.loss:.4f} |"


def exploitability(name: str, spec: str, start_s: float, seed: int, n_draws: int) -> Iterator[Exploitability]:
    """Yield for each role what the player *spec* is worth at the game *name*, after a start clock of *start_s*.

    Raises:
        TooLargeError: the game is not small, or not one of two roles.
    """
    game = make_game(find_game(name).read())
    form = sequence_form(game, SearchBudget())
    if form is None or len(played_roles(game)) != 2:
        raise TooLargeError(name)
    solved = RegretSearch(form)
    solved.run(SearchBudget())
    for i, role in enumerate(played_roles(game)):
        me = game.roles.index(role)
        player = find_player(spec)()
        player.join(game, role, seed)
        began_s = time.monotonic()
        player.start(Deadline.after(start_s))
        used_s = time.monotonic() - began_s
        value = VALUES.get(name, solved.expectations()[me]) if i == 0 else solved.expectations()[me]
        yield Exploitability(str(role), worst_case(solved, me, strategy_of(form, me, player, n_draws)), value, used_s)


def worst_case(solved: RegretSearch, me: int, strategy: Floats) -> float:
    """Return what *strategy* of the role number *me* gets against its best response, in a game of constant sum."""
    strategies = [role.average() for role in solved.roles]
    total = sum(solved.expectations())
    strategies[me] = strategy
    best = solved.best_responses(strategies)
    return total - sum(best[j] for j, role in enumerate(solved.roles) if j != me and role.levels)


def strategy_of(form: SequenceForm, me: int, player: Player, n_draws: int) -> Floats:
    """Return the probability of each sequence's move in its information set, as *player* moves."""
    role = form.roles[me]
    strategy = np.ones(role.n_sequences)
    for infoset, moves in role.moves.items():
        mixed = mixed_move_of(player, form.game, infoset, n_draws)
        first = role.first[infoset]
        strategy[first : first + len(moves)] = [mixed.get(move, 0.0) for move in moves]
    return strategy


def mixed_move_of(player: Player, game: Game, infoset: InformationSet | None, n_draws: int) -> MixedMove:
    """Return the probability of each move of *player* in *infoset*, as its strategy says or as *n_draws* moves show."""
    steps = steps_of(infoset)
    if isinstance(player, MctsPlayer) and player.hidden.strategy is not None:
        mixed = player.hidden.strategy.mixed_move(steps)
        if mixed is not None:
            return mixed
    player.worlds = BeliefState(game, player.role, seed=0)
    for move, percepts in steps:
        player.worlds.advance(move, percepts, SearchBudget())
    state = player.worlds.state
    drawn = Counter(player.move(state, player.role, Deadline.after(float("inf"))) for _ in range(n_draws))
    return {move: count / n_draws for move, count in drawn.items()}


def steps_of(infoset: InformationSet | None) -> list[tuple[Term | None, Percepts]]:
    """Return the moves and percepts of *infoset*, the first step first."""
    steps = []
    while infoset is not None:
        steps.append((infoset.move, infoset.percepts))
        infoset = infoset.before
    return steps[::-1]


@click.command()
@click.option("--game", "games", multiple=True, default=tuple(VALUES), show_default=True, help="A small game.")
@click.option("--player", default="mcts", show_default=True, metavar="SPEC", help="The player that is measured.")
@click.option("--start-clock", type=click.FloatRange(0, min_open=True), default=10.0, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--draws", type=click.IntRange(1), default=20, show_default=True,
              help="Moves in each information set of a player that has no strategy to ask.")  # fmt: skip
@click.option("--at-most", type=float, default=MAX_LOSS, show_default=True,
              help="Loss, of a goal from 0 to 1, above which the exit code is 1.")  # fmt: skip
def main(  # noqa: PLR0913, PLR0917 -- click hands every option to it
    games: tuple[str, ...], player: str, start_clock: float, seed: int, draws: int, at_most: float
) -> None:
    """Say what a player's strategy loses against its best response."""
    click.echo("| game | role | player | start clock used | equilibrium | worst case | loss |")
    click.echo("| --- | --- | --- | --: | --: | --: | --: |")
    losses = []
    try:
        for game in games:
            for found in exploitability(game, player, start_clock, seed, draws):
                click.echo(found.line(game, player))
                losses.append(found.loss)
    except CallerError as error:
        raise click.UsageError(str(error)) from error
    raise SystemExit(max(losses) > at_most)


if __name__ == "__main__":
    main()
