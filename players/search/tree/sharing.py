"""What lets threads work on one tree: a lock for whatever changes its shape, and an order in which others see it.

Walks, and sums of what they came to, are counted without the lock, by instructions of the processor that let no other
one come between: where all threads add to the same few numbers, as in games of a single step, a quarter were lost else.
Source: Enzenberger and Mueller 2010, a lock-free multithreaded Monte-Carlo tree search algorithm.
"""

import sys
from typing import Any, Final

from llvmlite import ir
from numba.core import types

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.words import ONE, ZERO, U, emitted, word_at

_yield_processor: Final = types.ExternalFunction(
    "SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32()
)
_N_SPINS: Final = 100
"""How often a thread looks at the lock before it lets others have the processor."""


@emitted
def replaced(typingctx: Any, where: Any, number: Any, expected: Any, value: Any) -> Any:
    """Set an item, numbered in uint64, of the array of int32 at an address if it is as expected; return whether."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        item, (old, new) = ir.IntType(32), args[2:]
        place = builder.gep(builder.inttoptr(args[0], item.as_pointer()), [args[1]])
        found = builder.cmpxchg(place, builder.trunc(old, item), builder.trunc(new, item), "acq_rel", "monotonic")
        return builder.extract_value(found, 1)

    return types.boolean(types.uint64, types.uint64, types.int64, types.int64), codegen


@emitted
def add_to(typingctx: Any, where: Any, number: Any, value: Any) -> Any:
    """Add to an item, numbered in uint64, of the array of int32 at an address, in one step for all processors."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        item = ir.IntType(32)
        place = builder.gep(builder.inttoptr(args[0], item.as_pointer()), [args[1]])
        builder.atomic_rmw("add", place, builder.trunc(args[2], item), "monotonic")
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.int64), codegen


@emitted
def publish(typingctx: Any) -> Any:
    """Let other threads see what was written before wherever they see what is written after."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.fence("release")
        return context.get_dummy_value()

    return types.void(), codegen


@emitted
def observe(typingctx: Any) -> Any:
    """Read after this what was published before that which was read last."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.fence("acquire")
        return context.get_dummy_value()

    return types.void(), codegen


@emitted
def _taken(typingctx: Any, where: Any) -> Any:
    """Take the lock at an address if it is free; return whether it was."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        found = builder.cmpxchg(builder.inttoptr(args[0], word.as_pointer()), word(0), word(1), "acquire", "monotonic")
        return builder.extract_value(found, 1)

    return types.boolean(types.uint64), codegen


@emitted
def unlock(typingctx: Any, where: Any) -> Any:
    """Give back the lock at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        builder.store_atomic(word(0), builder.inttoptr(args[0], word.as_pointer()), "release", 8)
        return context.get_dummy_value()

    return types.void(types.uint64), codegen


@inlined
def _is_taken(where):
    observe()  # or the compiler would look once
    return word_at(where, ZERO) != ZERO


@subroutine
def lock(where):
    """Take the lock at an address, as soon as it is free."""
    n_spins = U(0)
    while not _taken(where):
        while _is_taken(where):
            n_spins += ONE
            if n_spins % U(_N_SPINS) == ZERO:
                _yield_processor()
