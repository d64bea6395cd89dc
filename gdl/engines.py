"""The engines by name, and the one that is interpreted from the first moment and compiled as soon as it can be."""

import difflib
import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, TypeAlias

from gdl.compiler.compilation import DEFAULT_COMPILE_LIMITS, CompileLimits, compile_game
from gdl.display import DisplayedGame
from gdl.errors import CannotCompileError, UnknownNameError, wrong_type
from gdl.game import (
    DEFAULT_LIMITS,
    MAX_STEPS,
    EvaluationLimits,
    Game,
    JointMove,
    Playouts,
    Role,
    SharedGame,
    State,
    facts_of,
)
from gdl.interpreter import InterpretedGame, InterpretedState
from gdl.language.rules import Description
from gdl.language.terms import Term

if TYPE_CHECKING:
    from gdl.compiler.compiled import CompiledGame


PATIENCE_S: Final = 0.25
"""How long a game is interpreted before it is compiled unasked: a short match of a small game never is."""
_AT_ONCE: Final = threading.BoundedSemaphore(1)
"""Held while a game is compiled in the background: a server of many matches compiles one after the other."""
_LOG: Final = logging.getLogger(__name__)


class BestGame(DisplayedGame, SharedGame):
    """A game that changes from the interpreter to the compiled engine; questions may come from several threads.

    Attributes:
        compiled: the compiled game, None until it is there and where it cannot be.
        note: why the game cannot be compiled, None as long as nothing hinders it.
    """

    def __init__(self, interpreted: InterpretedGame, limits: CompileLimits = DEFAULT_COMPILE_LIMITS) -> None:
        self.interpreted = interpreted
        self.description = interpreted.description
        self.has_imperfect_information = interpreted.has_imperfect_information
        self.roles: tuple[Role, ...] = interpreted.roles
        self.compiled: CompiledGame | None = None
        self.note: CannotCompileError | None = None
        self._limits = limits
        self._first: State = BestState(self, interpreted.initial_state.facts)
        self._spent_s = 0.0
        self._lock = threading.Lock()
        self._is_begun = False
        self._is_decided = threading.Event()

    @property
    def engine(self) -> str:
        """The engine that runs the game now: `compiled` or `interpreter`."""
        return "interpreter" if self.compiled is None else "compiled"

    @property
    def initial_state(self) -> State:
        """The state in which every play begins."""
        return self._first if self.compiled is None else self.compiled.initial_state

    def state(self, facts: Iterable[Term]) -> State:
        """Return the state in which exactly *facts* are true; they need not be reachable."""
        return BestState(self, facts_of(facts)) if self.compiled is None else self.compiled.state(facts)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Return whether the game is compiled within *timeout_s*, or without it as soon as that is known.

        With 0 this only sees to it that the game is being compiled. It returns at once where it cannot be.
        """
        self._begin()
        self._is_decided.wait(None if timeout_s is None else min(max(0.0, timeout_s), threading.TIMEOUT_MAX))
        return self.compiled is not None

    def playouts(self, state: State, n: int, seed: int, max_steps: int = MAX_STEPS) -> Playouts:
        """Return what *n* random plays from *state* come to, on the compiled engine where there can be one.

        Raises: as `Game.playouts`.
        """
        self.wait()
        return (self.compiled or self.interpreted).playouts(state, n, seed, max_steps)

    def note_time(self, spent_s: float) -> None:
        """Add to the time spent on interpreting, and compile the game once it is worth it."""
        self._spent_s += spent_s
        if self._spent_s > PATIENCE_S and not self._is_begun:
            self._begin()

    def _begin(self) -> None:
        with self._lock:
            if not self._is_begun:
                self._is_begun = True
                threading.Thread(target=self._compile, name="compile", daemon=True).start()

    def _compile(self) -> None:
        try:
            with _AT_ONCE:
                self.compiled = compile_game(self.interpreted, self._limits)
        except CannotCompileError as error:
            self.note = error
        except Exception as error:  # whatever it is, the interpreter goes on
            self.note = CannotCompileError(f"{type(error).__name__}: {str(error)[:500]}")
            self.note.__cause__ = error
        if self.note is not None:
            _LOG.warning("%s; the interpreter goes on", self.note)
        self._is_decided.set()


class BestState(InterpretedState):
    """A state that is interpreted; the states after it are the best there are by then."""

    __slots__ = ("_best",)

    def __init__(self, game: BestGame, facts: frozenset[Term]) -> None:
        super().__init__(game.interpreted, facts)
        self._best = game

    def legal_moves(self, role: Role) -> tuple[Term, ...]:
        """Return the legal moves of *role*, ordered by text."""
        began_s = time.monotonic()
        try:
            return super().legal_moves(role)
        finally:
            self._best.note_time(time.monotonic() - began_s)

    def next_state(self, moves: JointMove) -> State:
        """Return the state after the joint move *moves*."""
        began_s = time.monotonic()
        facts = super().next_state(moves).facts
        self._best.note_time(time.monotonic() - began_s)
        return self._best.state(facts)


MakeGame: TypeAlias = Callable[[InterpretedGame, CompileLimits], Game]

ENGINES: Final[dict[str, MakeGame]] = {
    "best": BestGame,
    "compiled": compile_game,
    "interpreter": lambda interpreted, _limits: interpreted,
}
"""What each makes of an interpreted game: `best` interprets until it has compiled, where it can."""
DEFAULT_ENGINE: Final = "best"


def make_game(
    description: Description,
    engine: str = DEFAULT_ENGINE,
    limits: EvaluationLimits = DEFAULT_LIMITS,
    compile_limits: CompileLimits = DEFAULT_COMPILE_LIMITS,
) -> Game:
    """Return the game that *description* defines, run by the engine of that name.

    *limits* hold where rules are interpreted, *compile_limits* for compiling them.

    Raises:
        UnknownNameError: there is no such engine.
        WrongTypeError: *description* is something else, as the text of rules or the name of a game.
        RuleFileError: the rules have no meaning: not safe, not stratified, without roles.
        LimitExceeded: the rules are too large for *limits*.
        CannotCompileError: the engine is `compiled`, and the rules are beyond it.
    """
    if not isinstance(description, Description):
        raise wrong_type(description, "rules, which gdl.read_rules(text) and gdl.find_game(name).read() return")
    make = ENGINES.get(engine)
    if make is None:
        raise UnknownNameError("engine", str(engine), difflib.get_close_matches(str(engine), ENGINES))
    return make(InterpretedGame(description, limits), compile_limits)


def make_compiled_game(description: Description, engine: str = DEFAULT_ENGINE) -> Game:
    """Return the game that *description* defines, after waiting until it is compiled, or known not to be.

    Raises: as `make_game`.
    """
    game = make_game(description, engine)
    if isinstance(game, BestGame):
        game.wait()
    return game
