"""Compiling a game in a child process, under limits of time and memory, and the kernels that it needs.

Kernels are loaded from numba's cache on disk, or compiled the first time on a machine.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from gdl.datalog.clauses import Clause
from gdl.datalog.translation import clauses_of
from gdl.errors import CannotCompileError, ChildProcessDiedError, LimitExceeded
from gdl.game import RANDOM, Role
from gdl.interpreter import InterpretedGame
from gdl.worker import ChildLimits, run_limited

if TYPE_CHECKING:
    from gdl.compiler.compiled import CompiledGame
    from gdl.compiler.tables import CompiledRules


NOTICE: Final = "compiling kernels that are not kept here yet: a minute, or two, for all of them"
_TELLING_S: Final = 10.0
"""How often the notice says how many kernels have been compiled."""


@contextmanager
def told_of_compilation(tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Call *tell* with NOTICE when the first kernel is compiled in here, and now and then with how many have been.

    What is kept on disk is not compiled again.
    """
    told_s: list[float] = []

    def on_start() -> None:
        if not told_s:
            told_s.append(clock())
            tell(NOTICE)

    def on_kernel(n_compiled: int, n_kernels: int) -> None:
        if clock() - told_s[-1] >= _TELLING_S:
            told_s.append(clock())
            tell(f"compiling the kernels: {n_compiled} of at most {n_kernels}")

    with watching_kernels(on_kernel, on_start):
        yield


@contextmanager
def watching_kernels(
    on_kernel: Callable[[int, int], None], on_start: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Call *on_kernel* for every kernel that is compiled in here: how many that are, and how many kernels there are.

    *on_start* is called before anything is compiled.
    """
    from numba.core import event  # noqa: PLC0415 -- it takes a second to import, and few commands need it

    compiled: dict[int, None] = {}

    class _Listener(event.Listener):
        def on_start(self, _event: Any) -> None:
            on_start()

        def on_end(self, found: Any) -> None:
            from gdl.compiler.kernels import jit  # noqa: PLC0415 -- as above

            done = id((found.data or {}).get("dispatcher"))
            if done not in compiled and done in map(id, jit.KERNELS):
                compiled[done] = None
                on_kernel(len(compiled), len(jit.KERNELS))

    with event.install_listener("numba:compile", _Listener()):
        yield


_LOG: Final = logging.getLogger(__name__)
_LOCK: Final = threading.Lock()
_LOADED: Final[set[Callable[[], None]]] = set()
"""What has run each of its kernels."""


def load_kernels(*, of_plans: bool = True) -> None:
    """Return as soon as plays, looks and steps take no longer the first time than any other time.

    The first time on a machine this takes a minute or two, which is logged, and from then on less than a second. The
    kernels *of_plans* are a quarter of it, which games of several roles do without.
    """
    with _LOCK, told_of_compilation(_LOG.warning):
        # Large libraries, which a game that is interpreted does without.
        from gdl.compiler.warm_up import run_plan_kernels, run_play_kernels  # noqa: PLC0415 -- as said

        for run in (run_play_kernels, run_plan_kernels) if of_plans else (run_play_kernels,):
            if run not in _LOADED:
                run()
                _LOADED.add(run)


_MAX_ANSWER_MB: Final = 1024
_PATIENCE: Final = 20
"""How many times its processor time a child may take by the clock."""
_WAITING_S: Final = 60.0
"""How long it may take beside that, however little it may work."""


@dataclass(frozen=True, slots=True)
class CompileLimits:
    """What compiling a game may cost. *Units*: seconds of processor time, megabytes of address space, ground rules.

    A busy machine so compiles what an idle one does; how long that may take by the clock is bounded, too.
    """

    max_seconds: float = 60.0
    max_memory_mb: int = 4096
    max_ground_rules: int = 5_000_000


DEFAULT_COMPILE_LIMITS: Final = CompileLimits()


def compile_game(interpreted: InterpretedGame, limits: CompileLimits = DEFAULT_COMPILE_LIMITS) -> CompiledGame:
    """Return the game that *interpreted* plays, compiled in a child process, with the kernels that it needs loaded.

    Raises:
        CannotCompileError: the limits do not suffice, the rules are beyond the compiler, or a library is missing.
    """
    of_plans = sum(role != RANDOM for role in interpreted.roles) == 1
    threading.Thread(target=_load_quietly, args=(of_plans,), name="load kernels", daemon=True).start()
    clauses = clauses_of(interpreted.description.rules)
    rules = compile_limited(clauses, interpreted.roles, limits)
    try:
        load_kernels(of_plans=of_plans)
        from gdl.compiler.compiled import CompiledGame  # noqa: PLC0415 -- as in load_kernels
    except ImportError as error:
        raise _missing(error) from error
    return CompiledGame(interpreted, rules)


def compile_limited(clauses: Sequence[Clause], roles: Sequence[Role], limits: CompileLimits) -> CompiledRules:
    """Return the tables of the game that *clauses* define, made in a child process, or kept since they were made.

    Raises: as `compile_game`.
    """
    try:
        from gdl.compiler.cache import game_cache, key_of  # noqa: PLC0415 -- as in load_kernels
    except ImportError as error:
        raise _missing(error) from error
    cache = game_cache()
    if cache is None:
        return _compiled_in_child(clauses, roles, limits)
    key = key_of(clauses, roles, limits.max_ground_rules)
    found = cache.load(key)
    if found is None:
        with cache.compiling(key, limits.max_seconds):
            found = cache.load(key)  # another process may have made it meanwhile
            if found is None:
                found = _compiled_in_child(clauses, roles, limits)
                cache.store(key, found)
    return found


def _compiled_in_child(clauses: Sequence[Clause], roles: Sequence[Role], limits: CompileLimits) -> CompiledRules:
    child = child_limits(limits)
    try:
        return run_limited(_compile, (clauses, roles, limits.max_ground_rules), child)
    except (LimitExceeded, ChildProcessDiedError) as error:
        raise CannotCompileError(str(error)) from error
    except ImportError as error:
        raise _missing(error) from error


def child_limits(limits: CompileLimits) -> ChildLimits:
    """Return the limits of a child process that compiles within *limits*."""
    by_clock_s = _PATIENCE * limits.max_seconds + _WAITING_S
    return ChildLimits(by_clock_s, limits.max_memory_mb, _MAX_ANSWER_MB, max_cpu_seconds=limits.max_seconds)


def _compile(clauses: Sequence[Clause], roles: Sequence[Role], max_ground_rules: int) -> CompiledRules:
    from gdl.compiler.pipeline import compile_rules  # noqa: PLC0415 -- as in load_kernels

    gc.disable()  # the process ends with this call
    return compile_rules(clauses, roles, max_ground_rules)


def _load_quietly(of_plans: bool) -> None:
    with suppress(Exception):  # the thread that needs the kernels loads them again and gets the error
        load_kernels(of_plans=of_plans)


def _missing(error: ImportError) -> CannotCompileError:
    return CannotCompileError(f"a library is missing: {error}")
