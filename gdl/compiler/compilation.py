"""Compiling a game in a child process, under limits of time and memory.

Everything large is imported where it is needed: the child starts at once, with what grounding takes, while the
parent loads the kernels.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gdl.child_process import ChildLimits, run_limited
from gdl.datalog.clauses import Clause, clauses_of
from gdl.errors import CannotCompileError, ChildProcessDiedError, LimitExceeded
from gdl.game import Role
from gdl.interpreter import InterpretedGame

if TYPE_CHECKING:
    from gdl.compiler.building import CompiledRules
    from gdl.compiler.compiled import CompiledGame

_MAX_ANSWER_MB: Final = 1024


@dataclass(frozen=True, slots=True)
class CompileLimits:
    """What compiling a game may cost. *Units*: seconds by the clock, megabytes of address space, ground rules."""

    max_seconds: float = 60.0
    max_memory_mb: int = 4096
    max_ground_rules: int = 5_000_000


DEFAULT_COMPILE_LIMITS: Final = CompileLimits()


def compile_game(interpreted: InterpretedGame, limits: CompileLimits = DEFAULT_COMPILE_LIMITS) -> CompiledGame:
    """Return the game that *interpreted* plays, compiled in a child process, with the kernels that it needs loaded.

    Raises:
        CannotCompileError: the limits do not suffice, the rules are beyond the compiler, or a library is missing.
    """
    threading.Thread(target=_load_quietly, name="load kernels", daemon=True).start()
    clauses = clauses_of(interpreted.description.rules)
    rules = compile_limited(clauses, interpreted.roles, limits)
    try:
        _load_kernels()
        from gdl.compiler.compiled import CompiledGame  # noqa: PLC0415 -- see above
    except ImportError as error:
        raise _missing(error) from error
    return CompiledGame(interpreted, rules)


def compile_limited(clauses: Sequence[Clause], roles: Sequence[Role], limits: CompileLimits) -> CompiledRules:
    """Return the tables of the game that *clauses* define, made in a child process.

    Raises: as `compile_game`.
    """
    child = ChildLimits(limits.max_seconds, limits.max_memory_mb, _MAX_ANSWER_MB)
    try:
        return run_limited(_compile, (clauses, roles, limits.max_ground_rules), child)
    except (LimitExceeded, ChildProcessDiedError) as error:
        raise CannotCompileError(str(error)) from error
    except ImportError as error:
        raise _missing(error) from error


def _compile(clauses: Sequence[Clause], roles: Sequence[Role], max_ground_rules: int) -> CompiledRules:
    from gdl.compiler.building import compile_rules  # noqa: PLC0415 -- see above

    gc.disable()  # the process ends with this call
    return compile_rules(clauses, roles, max_ground_rules)


def _load_kernels() -> None:
    from gdl.compiler.kernels import load_kernels  # noqa: PLC0415 -- see above

    load_kernels()


def _load_quietly() -> None:
    with suppress(Exception):  # who needs the kernels loads them again and hears what is wrong
        _load_kernels()


def _missing(error: ImportError) -> CannotCompileError:
    return CannotCompileError(f"a library is missing: {error}")
