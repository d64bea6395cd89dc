"""Bytes by address, for kernels that take addresses instead of arrays."""

from typing import Any

from llvmlite import ir
from numba.core import types

from gdl.compiler.kernels.words import emitted


@emitted
def byte_at(typingctx: Any, where: Any, number: Any) -> Any:
    """Return an item, numbered in uint64, of the array of bytes at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        items = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        return builder.zext(builder.load(builder.gep(items, [args[1]])), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


@emitted
def put_byte(typingctx: Any, where: Any, number: Any, value: Any) -> Any:
    """Set an item, numbered in uint64, of the array of bytes at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        items = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        builder.store(builder.trunc(args[2], ir.IntType(8)), builder.gep(items, [args[1]]))
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.uint64), codegen


@emitted
def put_eight_bytes(typingctx: Any, where: Any, value: Any) -> Any:
    """Set the eight bytes at an address, which need not be a multiple of eight."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), codegen
