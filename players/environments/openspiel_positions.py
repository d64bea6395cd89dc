"""Positions of games as OpenSpiel walks them: roles that choose at once do so one after the other, chance last.

Roles that only wait are passed over. Nothing here needs OpenSpiel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from gdl.compiler.compiled import CompiledGame
from gdl.game import RANDOM, Role, State
from gdl.language.terms import Term
from players.environments.numbering import Numbering
from players.environments.vector import VectorGame

_SAMPLED_STEPS: Final = 200
"""How many steps of random plays show what the goals of a play add up to."""


class SpielRules:
    """A game of the rules, and the numbers of its actions; shared by all states, so copies of them share it."""

    def __init__(self, games: VectorGame, unit: float) -> None:
        self.game: CompiledGame = games.game
        self.numbering = Numbering(self.game, True)
        self.players: tuple[Role, ...] = games.players
        self.actions: tuple[Term, ...] = self.numbering.actions[0]
        self.number = {action: i for i, action in enumerate(self.actions)}
        self.unit = unit
        self.is_flat, self.is_hidden = games.is_flat, games.is_hidden
        self.sums = _sums_of_goals(games)

    def __deepcopy__(self, memo: object) -> SpielRules:
        return self

    @cached_property
    def chance_moves(self) -> tuple[Term, ...]:
        """The moves of chance; their places are its actions."""
        if self.numbering.chance is None:
            return ()
        return tuple(self.game.moves[i] for i in self.game.moves_of[self.numbering.chance])

    @cached_property
    def chance_number(self) -> dict[Term, int]:
        """The number of each move of chance."""
        return {move: i for i, move in enumerate(self.chance_moves)}

    def choosers(self, state: State) -> tuple[Role, ...]:
        """Return the roles that have a choice, chance last; none at an end."""
        if state.is_terminal:
            return ()
        able = [role for role in self.game.roles if not all(map(self.numbering.waits, state.legal_moves(role)))]
        return tuple(sorted(able, key=lambda role: role == RANDOM))

    def utility(self, goal: int | None) -> float:
        """Return what a goal is worth; one that is not there counts as 0."""
        return ((goal or 0) - 50) / self.unit

    def begin(self) -> SpielPosition:
        """Return the first position in which a role has a choice."""
        return self.next_decision(SpielPosition(self, self.game.initial_state, (), tuple(() for _ in self.players)))

    def next_decision(self, position: SpielPosition) -> SpielPosition:
        """Return *position*, or the first after it in which a role has a choice or the play is over."""
        while not position.state.is_terminal and not position.choosers:
            position = position.after({})
        return position


@dataclass(frozen=True)
class SpielStep:
    """What a player did and perceived at a step, and whether it had a choice."""

    move: Term
    is_choice: bool
    percepts: tuple[Term, ...]

    def __str__(self) -> str:
        return f"{self.move}: {' '.join(map(str, self.percepts))}"


@dataclass(frozen=True)
class SpielPosition:
    """A state, what roles have chosen in it already, and what each player did and perceived at each step so far."""

    rules: SpielRules
    state: State
    chosen: tuple[Term, ...]
    seen: tuple[tuple[SpielStep, ...], ...]

    def __deepcopy__(self, memo: object) -> SpielPosition:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Have pickle keep facts, choices and percepts, without the rules: that is what OpenSpiel serializes."""
        return KeptSpielPosition, (self.state.facts, self.chosen, self.seen)

    @cached_property
    def choosers(self) -> tuple[Role, ...]:
        """The roles that have a choice here, chance last; none at an end."""
        return self.rules.choosers(self.state)

    @property
    def chooser(self) -> Role | None:
        """The role that chooses next, None at an end."""
        return self.choosers[len(self.chosen)] if self.choosers else None

    def choose(self, move: Term) -> SpielPosition:
        """Return what follows when the chooser takes *move*."""
        chosen = (*self.chosen, move)
        if len(chosen) < len(self.choosers):
            return replace(self, chosen=chosen)
        return self.rules.next_decision(self.after(dict(zip(self.choosers, chosen, strict=True))))

    def after(self, moves: dict[Role, Term]) -> SpielPosition:
        """Return what follows when the choosers take *moves*, and the others wait."""
        game, players = self.rules.game, self.rules.players
        joint = tuple(moves.get(role) or self.state.legal_moves(role)[0] for role in game.roles)
        own = dict(zip(game.roles, joint, strict=True))
        seen = tuple(
            (*before, SpielStep(own[role], role in moves, self.state.percepts(role, joint)))
            for before, role in zip(self.seen, players, strict=True)
        )
        return SpielPosition(self.rules, self.state.next_state(joint), (), seen)


@dataclass(frozen=True)
class KeptSpielPosition:
    """A position as it is pickled: its facts, and what `SpielPosition` has beside the state."""

    facts: frozenset[Term]
    chosen: tuple[Term, ...]
    seen: tuple[tuple[SpielStep, ...], ...]

    def of(self, rules: SpielRules) -> SpielPosition:
        """Return the position in a game of *rules*."""
        return SpielPosition(rules, rules.game.state(self.facts), self.chosen, self.seen)


def _sums_of_goals(games: VectorGame) -> frozenset[int]:
    """Return the sums of goals with which random plays ended."""
    found: set[int] = set()
    for _ in range(_SAMPLED_STEPS):
        _, ended = games.step(games.sample_actions(), checks=False)
        found.update(games.goals[ended].clip(min=0).sum(axis=1).tolist())
    return frozenset(found)
