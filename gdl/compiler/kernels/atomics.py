"""Numbers that several threads read and write at once: kernels hold no lock of the interpreter.

What a thread wrote before it releases a number is seen by the threads that acquire it.
"""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from gdl.compiler.kernels.jit import inlined, kernel
from gdl.compiler.kernels.words import U

_INT: Final = ir.IntType(32)
_LONG: Final = ir.IntType(64)
_function: Final[Any] = intrinsic
"""Its type is that of the Python function, which has another parameter."""


def _place(builder: Any, where: Any, number: Any) -> Any:
    return builder.gep(builder.inttoptr(where, _INT.as_pointer()), [number])


@_function
def add_at(typingctx: Any, where: Any, number: Any, change: Any) -> Any:
    """Add to an item, numbered in uint64, of the array of int32 at an address; return what it was."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        where, number, change = args
        found = builder.atomic_rmw("add", _place(builder, where, number), builder.trunc(change, _INT), "monotonic")
        return builder.sext(found, _LONG)

    return types.int64(types.uint64, types.uint64, types.int64), codegen


@_function
def claim(typingctx: Any, where: Any, number: Any, expected: Any, value: Any) -> Any:
    """Set an item of the array of int32 at an address if it is *expected*; return whether it was."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        where, number, expected, value = args
        place = _place(builder, where, number)
        old, new = builder.trunc(expected, _INT), builder.trunc(value, _INT)
        found = builder.cmpxchg(place, old, new, "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(types.uint64, types.uint64, types.int64, types.int64), codegen


@_function
def acquired_at(typingctx: Any, where: Any, number: Any) -> Any:
    """Return an item of the array of int32 at an address, and see what was written before it was released."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.load_atomic(_place(builder, *args), "acquire", 4)
        return builder.sext(found, _LONG)

    return types.int64(types.uint64, types.uint64), codegen


@_function
def release(typingctx: Any, where: Any, number: Any, value: Any) -> Any:
    """Set an item of the array of int32 at an address, for others to see what was written before."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        where, number, value = args
        builder.store_atomic(builder.trunc(value, _INT), _place(builder, where, number), "release", 4)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.int64), codegen


@kernel
def lock(where):
    """Wait until no other thread holds the lock at an address, an int32 that is 0, and hold it."""
    while not claim(where, U(0), 0, 1):
        while acquired_at(where, U(0)) != 0:
            pass


@inlined
def unlock(where):
    """Let others hold the lock at an address."""
    release(where, U(0), 0)
