"""Eight machine words as one value, for kernels: a node's value in 512 plays, in one vector register.

Left to itself, the compiler turns loops over the inputs of a gate into gathers, which take ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model
from numpy.typing import NDArray

W: Final = 8
"""Words in a row."""
U: Final = np.uint64
ZERO: Final = U(0)
ONE: Final = U(1)
ONES: Final = ~ZERO
"""Numbers as words are, so that kernels do not turn them into signed ones on the way."""

_VECTOR: Final = ir.VectorType(ir.IntType(64), W)


def rows(n_rows: int) -> NDArray[np.uint64]:
    """Return rows of zeros, none of them across two cache lines."""
    room = np.zeros((n_rows + 1) * W, np.uint64)
    skipped = -room.ctypes.data % 64 // 8
    return room[skipped : skipped + n_rows * W].reshape(n_rows, W)


class _WordsType(types.Type):
    """The type of eight words, to numba."""

    def __init__(self) -> None:
        super().__init__(name="Words")


_words: Final = _WordsType()


@register_model(_WordsType)
class _WordsModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _VECTOR)


def emitted(emit: Callable[..., Any]) -> Any:
    """Return what kernels call as a function, whose code *emit* writes."""
    return intrinsic(emit)


def _address(context: Any, builder: Any, signature: Any, array: Any, row: Any) -> Any:
    if isinstance(signature.args[0], types.Integer):
        return builder.gep(builder.inttoptr(array, _VECTOR.as_pointer()), [row])
    rows = context.make_array(signature.args[0])(context, builder, array)
    return builder.bitcast(builder.gep(rows.data, [builder.mul(row, row.type(W))]), _VECTOR.as_pointer())


@emitted
def addresses(typingctx: Any, arrays: Any) -> Any:
    """Return a named tuple of C-contiguous arrays (or integers) with the arrays' addresses in their stead.

    Kernels pass numbers on at no cost; arrays would be counted as referred to, one by one, at each call. An array that
    a kernel itself makes is given back after its last use, whatever its address is used for: `hold` is to be that use.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = []
        for number, kind in enumerate(arrays.types):
            value = builder.extract_value(args[0], number)
            if isinstance(kind, types.Array):
                data = context.make_array(kind)(context, builder, value).data
                found.append(builder.ptrtoint(data, ir.IntType(64)))
            else:
                found.append(context.cast(builder, value, kind, types.uint64))
        return context.make_tuple(builder, signature.return_type, found)

    return types.NamedUniTuple(types.uint64, len(arrays.types), arrays.instance_class)(arrays), codegen


@emitted
def hold(typingctx: Any, array: Any) -> Any:
    """Keep an array until here."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_dummy_value()

    return types.void(array), codegen


def _items(kind: Any, value: Any) -> tuple[Any, Any]:
    """Return two functions for kernels: they get and set an item of an array of *kind*, which is a *value* to them."""

    def place(context: Any, builder: Any, where: Any, number: Any) -> Any:
        return builder.gep(builder.inttoptr(where, context.get_value_type(kind).as_pointer()), [number])

    def get(typingctx: Any, where: Any, number: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.cast(builder, builder.load(place(context, builder, *args)), kind, value)

        return value(types.uint64, types.uint64), codegen

    def put(typingctx: Any, where: Any, number: Any, new: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            *where, new = args
            builder.store(context.cast(builder, new, value, kind), place(context, builder, *where))
            return context.get_dummy_value()

        return types.void(types.uint64, types.uint64, value), codegen

    return intrinsic(get), intrinsic(put)


at, put = _items(types.int32, types.int64)
byte_at, put_byte = _items(types.uint8, types.uint64)
word_at, put_word = _items(types.uint64, types.uint64)
float_at, put_float = _items(types.float32, types.float32)
"""They take the address of the array and the number of the item in uint64; what sets an item takes its value, too."""


@emitted
def load(typingctx: Any, rows: Any, row: Any) -> Any:
    """Return a row, numbered in uint64, of a C-contiguous (n, W) array of words or of that at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_address(context, builder, signature, *args), align=8)

    return _words(rows, types.uint64), codegen


@emitted
def prefetch(typingctx: Any, rows: Any, row: Any) -> Any:
    """Have the processor fetch a row, numbered in uint64, of a C-contiguous (n, W) array into its cache."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(_address(context, builder, signature, *args), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [place, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(rows, types.uint64), codegen


@emitted
def store(typingctx: Any, rows: Any, row: Any, value: Any) -> Any:
    """Put *value* into a row, numbered in uint64, of a C-contiguous (n, W) array of words or of that at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, number, vector = args
        builder.store(vector, _address(context, builder, signature, array, number), align=8)
        return context.get_dummy_value()

    return types.void(rows, types.uint64, value), codegen


def _operation(emit: Callable[..., Any]) -> Any:
    """Return a function of two values of words."""

    def operation(typingctx: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return emit(builder, *args)

        return _words(a, b), codegen

    return intrinsic(operation)


and_: Final[Any] = _operation(lambda builder, a, b: builder.and_(a, b))
or_: Final[Any] = _operation(lambda builder, a, b: builder.or_(a, b))
xor: Final[Any] = _operation(lambda builder, a, b: builder.xor(a, b))
and_not: Final[Any] = _operation(lambda builder, a, b: builder.and_(a, builder.not_(b)))
plus: Final[Any] = _operation(lambda builder, a, b: builder.add(a, b))
times: Final[Any] = _operation(lambda builder, a, b: builder.mul(a, b))


def _shift(emit: Callable[..., Any]) -> Any:
    """Return a function that shifts each word by a number of bits that is known when the kernel is compiled."""

    def operation(typingctx: Any, a: Any, n_bits: Any) -> Any:
        count = ir.Constant(_VECTOR, [n_bits.literal_value] * W)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return emit(builder, args[0], count)

        return _words(a, n_bits), codegen

    return intrinsic(prefer_literal=True)(operation)


left: Final[Any] = _shift(lambda builder, a, n: builder.shl(a, n))
right: Final[Any] = _shift(lambda builder, a, n: builder.lshr(a, n))


@emitted
def broadcast(typingctx: Any, word: Any) -> Any:
    """Return eight times the same uint64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), args[0], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), W), [0] * W)
        return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), zeros)

    return _words(types.uint64), codegen


@emitted
def lowest_bit(typingctx: Any, word: Any) -> Any:
    """Return the number of the lowest bit that is set in a uint64 that is not zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.uint64), codegen


@emitted
def n_bits(typingctx: Any, word: Any) -> Any:
    """Return how many bits of a uint64 are set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@emitted
def any_bit(typingctx: Any, value: Any) -> Any:
    """Return whether a bit of *value* is set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = builder.icmp_unsigned("!=", args[0], ir.Constant(_VECTOR, [0] * W))
        return builder.icmp_unsigned("!=", builder.bitcast(lanes, ir.IntType(W)), ir.IntType(W)(0))

    return types.boolean(value), codegen


@emitted
def put_eight_bytes(typingctx: Any, where: Any, value: Any) -> Any:
    """Set the eight bytes at an address, which need not be a multiple of eight."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), codegen
