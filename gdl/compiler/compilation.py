"""Compiling a game in a child process, under limits of time and memory."""

from __future__ import annotations

import gc
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gdl.compiler.kernel_loading import load_kernels
from gdl.datalog.clauses import Clause
from gdl.datalog.translation import clauses_of
from gdl.errors import CannotCompileError, ChildProcessDiedError, LimitExceeded
from gdl.game import RANDOM, Role
from gdl.interpreter import InterpretedGame
from gdl.worker import ChildLimits, run_limited

if TYPE_CHECKING:
    from gdl.compiler.compiled import CompiledGame
    from gdl.compiler.tables import CompiledRules


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
        from gdl.compiler.compiled import CompiledGame  # noqa: PLC0415 -- numba is large, and may be missing
    except ImportError as error:
        raise _missing(error) from error
    return CompiledGame(interpreted, rules)


def compile_limited(clauses: Sequence[Clause], roles: Sequence[Role], limits: CompileLimits) -> CompiledRules:
    """Return the tables of the game that *clauses* define, made in a child process, or kept since they were made.

    Raises: as `compile_game`.
    """
    try:
        from gdl.compiler.cache import game_cache, key_of  # noqa: PLC0415 -- clingo is large, and may be missing
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
    from gdl.compiler.pipeline import compile_rules  # noqa: PLC0415 -- for the child process alone

    gc.disable()  # the process ends with this call
    return compile_rules(clauses, roles, max_ground_rules)


def _load_quietly(of_plans: bool) -> None:
    with suppress(Exception):  # the thread that needs the kernels loads them again and gets the error
        load_kernels(of_plans=of_plans)


def _missing(error: ImportError) -> CannotCompileError:
    return CannotCompileError(f"a library is missing: {error}")
