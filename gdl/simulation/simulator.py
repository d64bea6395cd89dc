"""The course of a simulation: random plays, a search of all states, and what both show together."""

import random
import time
from collections.abc import Callable, Iterator

from gdl.diagnostics import Severity, codes
from gdl.errors import LimitExceeded
from gdl.game import Game, JointMove, Role, State
from gdl.interpreter import InterpretedGame
from gdl.language.rules import Description
from gdl.language.terms import Term
from gdl.simulation.diagnosis import diagnose
from gdl.simulation.figures import Defect, Figures, Finding, SimulationReport
from gdl.simulation.observer import (
    DEFAULT_BUDGET,
    Clock,
    Derivations,
    LimitInPlay,
    Observer,
    OutOfTime,
    SimulationBudget,
    TimeLimit,
    ask,
)
from gdl.simulation.state_space import StateSpace, endless_play, exact_of, explore, order_of


def make_play(observer: Observer, generator: random.Random, max_steps: int) -> bool:
    """Make one random play, and return whether it came to an end before the observer's deadline.

    A play also ends where a role has no legal move, or after *max_steps* joint moves; both are noted as defects.

    Raises:
        LimitInPlay: the engine reached a limit.
    """
    made: list[JointMove] = []
    try:
        _make(observer, generator, max_steps, made)
    except OutOfTime:
        return False
    except LimitInPlay as limit:
        raise limit.after(tuple(made)) from limit
    return True


def _make(observer: Observer, generator: random.Random, max_steps: int, made: list[JointMove]) -> None:
    state = observer.game.initial_state
    first_met: dict[State, int] = {}
    has_circled = False
    while (legal := observer.look(state, lambda: tuple(made))) is not None:
        if not has_circled and state in first_met:
            has_circled = True
            observer.defects.note(Defect("endless-play", tuple(made), since=first_met[state]))
        if len(made) >= max_steps:
            if not has_circled:
                observer.defects.note(Defect("overlong-play", tuple(made)))
            return
        first_met[state] = len(made)
        moves: tuple[Term, ...] = tuple(generator.choice(own) for own in legal)
        state = observer.move(state, moves, lambda: (*made, moves))  # noqa: B023 -- asked for at once, or never
        made.append(moves)
    observer.figures.steps.add(len(made))


def simulate(
    rules: Description | Game,
    budget: SimulationBudget = DEFAULT_BUDGET,
    *,
    seed: int = 0,
    clock: Clock = time.monotonic,
    on_play: Callable[[], object] = lambda: None,
) -> SimulationReport:
    """Return what random plays and an exhaustive search say of *rules*, interpreted, or of a game by its engine.

    *on_play* is called after each play that came to its end.

    Raises:
        RuleFileError: the rules have no meaning; the static checks say more.
    """
    began_s = clock()
    limits = budget.limits_in_time
    description = rules if isinstance(rules, Description) else rules.description
    witness = Derivations(description, limits)
    try:
        game = InterpretedGame(rules, limits) if isinstance(rules, Description) else rules
    except LimitExceeded as error:
        return _without_game(witness, error, seed, clock() - began_s)
    setup_s = clock() - began_s
    simulation = _Simulation(game, witness, budget, seed, clock)
    simulation.run(on_play)
    return simulation.report(seed, setup_s, lambda: clock() - began_s)


def _without_game(witness: Derivations, error: LimitExceeded, seed: int, elapsed_s: float) -> SimulationReport:
    found = diagnose(Defect("limit-in-play", (), detail=str(error)), None, witness)
    return SimulationReport(None, 0, seed, elapsed_s, elapsed_s, (Finding(found),), Figures(()), limit=str(error))


class _Simulation:
    """A simulation on its way.

    Attributes:
        space: all states, once a search has come to its end.
        limit: which limit ended it early, in words.
    """

    def __init__(self, game: Game, witness: Derivations, budget: SimulationBudget, seed: int, clock: Clock) -> None:
        self.clock, deadline = clock, TimeLimit(clock, budget.seconds)
        self.game, self.witness, self.budget, self.deadline = game, witness, budget, deadline
        self.observer = Observer(game, witness, deadline)
        self.defects = self.observer.defects
        self.space: StateSpace | None = None
        self.limit: str | None = None
        self.n_plays, self.plays_s = 0, 0.0
        self._generator = random.Random(seed)

    def run(self, on_play: Callable[[], object]) -> None:
        """Check the beginning, make random plays, search all states, and make the plays that are still missing."""
        try:
            self._check_beginning()
            self._play(self.deadline.half() if self.budget.states else self.deadline, on_play)
            if self.budget.states:
                self._search()
            if self.space is None:
                self._play(self.deadline, on_play)
        except OutOfTime:
            pass  # before the first play began
        except LimitInPlay as error:
            self.limit = f"{error} in deriving `{error.relation}`"
            self.defects.note(Defect("limit-in-play", error.play, relation=error.relation, detail=str(error)))
        self._check_verdict()

    def _check_beginning(self) -> None:
        initial = self.game.initial_state
        if self.witness.rules("init") and not initial.facts:
            self.defects.note(Defect("nothing-initial", ()))
        if ask(self.deadline, "terminal", lambda: initial.is_terminal):
            self.defects.note(Defect("starts-at-its-end", ()))

    def _play(self, deadline: TimeLimit, on_play: Callable[[], object]) -> None:
        while self.n_plays < self.budget.plays and not deadline.is_over:
            # Without any play to its end there is no verdict, so the first may take all the time.
            self.observer.deadline = deadline if self.n_plays else self.deadline
            began_s = self.clock()
            if make_play(self.observer, self._generator, self.budget.steps):
                self.n_plays += 1
                self.plays_s += self.clock() - began_s
                on_play()

    def _search(self) -> None:
        """Search all states; the figures are theirs if the search comes to its end, else still those of the plays."""
        of_plays = self.observer.figures
        self.observer.deadline = self.deadline
        of_states = self.observer.figures = Figures(of_plays.roles)
        try:
            space = explore(self.observer, self.budget.states)
            if space.is_complete:
                self.space, of_states.steps = space, of_plays.steps
        finally:
            if self.space is None:
                self.observer.figures = of_plays
        circle = endless_play(space, order_of(space))
        if circle is not None:
            self.defects.note(circle)

    def _check_verdict(self) -> None:
        """Conclude what only all plays together show."""
        figures = self.observer.figures
        if self.space is None and not self.n_plays and self.limit is None and self.budget.plays:
            self.limit = f"no play came to its end within {self.budget.seconds:g} seconds"
            self.defects.note(Defect("limit-in-play", (), detail=self.limit))
        is_sound = not any(codes()[f"gdl/{defect.code}"].severity is Severity.ERROR for defect in self.defects)
        for role in self.observer.players:
            if is_sound and self.space is not None and not figures.has_won(role):
                most = figures.goals[role].most
                self.defects.note(Defect("never-wins", (), role, detail="" if most is None else f", {most} at most"))
            if self._never_perceives(role):
                self.defects.note(Defect("never-perceives", (), role))

    def _never_perceives(self, role: Role) -> bool:
        if not self.game.has_imperfect_information or role in self.observer.figures.perceiving:
            return False
        # Where no rule of `sees` is for the role at all, that is plain without any play.
        has_played = self.n_plays > 0 or self.space is not None
        has_moved = bool(self.observer.figures.joint_moves.most)
        return has_played and has_moved and bool(self.witness.rules("sees", role))

    def report(self, seed: int, setup_s: float, elapsed_s: Callable[[], float]) -> SimulationReport:
        """Return what was found out."""
        exact = None if self.space is None else exact_of(self.game, self.space)
        findings = tuple(self._findings())
        return SimulationReport(
            game=self.game,
            n_plays=self.n_plays,
            seed=seed,
            setup_s=setup_s,
            elapsed_s=elapsed_s(),
            findings=findings,
            figures=self.observer.figures,
            exact=exact,
            n_declared_fluents=self.observer.n_declared_fluents,
            n_declared_moves={role: self.observer.n_declared_moves(role) for role in self.game.roles},
            limit=self.limit,
            plays_s=self.plays_s,
            n_asked=self.budget.plays,
        )

    def _findings(self) -> Iterator[Finding]:
        found = [Finding(diagnose(defect, self.game, self.witness), defect.evidence) for defect in self.defects]
        yield from sorted(found, key=lambda finding: finding.diagnostic.span.start)
