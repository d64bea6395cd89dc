"""Bounds of four edges at once, which lie in a cache line, in vector registers.

Left to itself the compiler makes a division and a root for each edge: most nodes have fewer edges than it would take at
once.
"""

from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils, types

from gdl.compiler.kernels.words import emitted
from players.search.tree import nodes
from players.search.tree.implicit import HALF_SHARE_WALKS

N: Final = nodes.EDGES_A_LINE
_NOT_WALKED: Final = 1e6
_CLOSED: Final = -1e9
ABSENT: Final = -2e9
"""The bounds of edges that no walk has taken, of those that have nothing more to tell, and of what is no edge."""
_INTS: Final = ir.VectorType(ir.IntType(32), N)
_FLOATS: Final = ir.VectorType(ir.FloatType(), N)


def _same(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """Return a vector of four times the same."""
    kind, number = ir.VectorType(value.type, N), ir.IntType(32)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, number(0))
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), ir.Constant(_INTS, [0] * N))


def _columns(builder: ir.IRBuilder, edge: ir.Value, first: ir.Value) -> tuple[ir.Value, ...]:
    """Return the sums of goals, the walks and the limits of four edges."""
    rows, row = ir.VectorType(ir.IntType(32), 4 * N), ir.ArrayType(ir.IntType(32), 4)
    place = builder.gep(builder.inttoptr(edge, row.as_pointer()), [first])
    found = builder.load(builder.bitcast(place, rows.as_pointer()), align=4)
    columns = (nodes.TOTAL, nodes.VISITS, nodes.LIMITS)
    picked = ([4 * i + column for i in range(N)] for column in columns)
    return tuple(builder.shuffle_vector(found, found, ir.Constant(_INTS, each)) for each in picked)


def _is_absent(builder: ir.IRBuilder, n: ir.Value) -> ir.Value:
    """Return which of four edges are not among *n*."""
    numbers = ir.Constant(_INTS, list(range(N)))
    return builder.icmp_signed(">=", numbers, _same(builder, builder.trunc(n, ir.IntType(32))))


def _called(builder: ir.IRBuilder, name: str, value: ir.Value, returned: ir.Type) -> ir.Value:
    """Return what a function of the compiler's returns for a vector."""
    kind = ir.FunctionType(returned, [value.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [value])


@emitted
def walks_of_four(typingctx: Any, edge: Any, first: Any, n: Any) -> Any:
    """Return how many walks went along the first *n* of four edges of an array at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, walks, _ = _columns(builder, *args[:2])
        walks = builder.select(_is_absent(builder, args[2]), ir.Constant(_INTS, [0] * N), walks)
        return builder.sext(_called(builder, "llvm.vector.reduce.add.v4i32", walks, ir.IntType(32)), ir.IntType(64))

    return types.int64(types.uint64, types.uint64, types.int64), codegen


def _mixed(builder: ir.IRBuilder, mean: ir.Value, walks: ir.Value, at: ir.Value, share: ir.Value) -> ir.Value:
    """Return the means of four edges, mixed with a *share* of what minimax says of them.

    The share is the smaller the more walks there are, since a mean of many sees further.
    """
    said = builder.load(builder.bitcast(at, _FLOATS.as_pointer()), align=4)
    half = ir.Constant(_FLOATS, [float(HALF_SHARE_WALKS)] * N)
    share = builder.fdiv(builder.fmul(_same(builder, share), half), builder.fadd(half, walks))
    return builder.fadd(mean, builder.fmul(share, builder.fsub(said, mean)))


def _judged(builder: ir.IRBuilder, at: ir.Value, c: ir.Value, is_judged: ir.Value) -> ir.Value:
    """Return the bounds of four edges that were not taken: by what minimax says of them, where they are judged."""
    said = builder.load(builder.bitcast(at, _FLOATS.as_pointer()), align=4)
    bound = builder.fadd(builder.fmul(said, ir.Constant(_FLOATS, [0.01] * N)), _same(builder, c))
    is_so = builder.icmp_signed("!=", is_judged, ir.Constant(ir.IntType(64), 0))
    return builder.select(is_so, bound, ir.Constant(_FLOATS, [_NOT_WALKED] * N))


@emitted
def put_four(
    typingctx: Any,
    edge: Any,
    first: Any,
    n: Any,
    c: Any,
    floor: Any,
    minimax: Any,
    share: Any,
    is_judged: Any,
    bounds: Any,
    place: Any,
) -> Any:
    """Write the bounds of the first *n* of four edges, and what stands for none of the others, from a *place* on.

    Arrays are at addresses; *c* is the width of the bound of an edge that was taken once. One that was not has the same
    where edges are judged before, and what minimax says of it for a mean; else it comes first.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        edge, first, n, c, floor, minimax, share, is_judged, bounds, place = args
        total, visits, limits = _columns(builder, edge, first)
        walks = builder.sitofp(visits, _FLOATS)
        mean = builder.fdiv(builder.sitofp(total, _FLOATS), walks)
        unmixed, first_of_all = builder.block, ir.Constant(_FLOATS, [_NOT_WALKED] * N)
        with builder.if_then(builder.fcmp_ordered(">", share, ir.Constant(ir.FloatType(), 0.0))):
            said = builder.gep(builder.inttoptr(minimax, ir.FloatType().as_pointer()), [first])
            mixed = _mixed(builder, mean, walks, said, share)
            judged = _judged(builder, said, c, is_judged)
            is_mixed = builder.block
        both = builder.phi(_FLOATS)
        both.add_incoming(mean, unmixed)
        both.add_incoming(mixed, is_mixed)
        new = builder.phi(_FLOATS)
        new.add_incoming(first_of_all, unmixed)
        new.add_incoming(judged, is_mixed)
        low = builder.and_(limits, ir.Constant(_INTS, [nodes.LOW] * N))
        high = builder.and_(builder.lshr(limits, ir.Constant(_INTS, [8] * N)), ir.Constant(_INTS, [nodes.LOW] * N))
        least, most = builder.sitofp(low, _FLOATS), builder.sitofp(high, _FLOATS)
        mean = builder.select(builder.fcmp_ordered("<", both, least), least, both)
        mean = builder.select(builder.fcmp_ordered(">", mean, most), most, mean)
        spread = builder.fdiv(_same(builder, c), _called(builder, "llvm.sqrt.v4f32", walks, _FLOATS))
        bound = builder.fadd(builder.fmul(mean, ir.Constant(_FLOATS, [0.01] * N)), spread)
        floor = _same(builder, builder.trunc(floor, ir.IntType(32)))
        is_closed = builder.or_(builder.icmp_signed("==", low, high), builder.icmp_signed("<=", high, floor))
        is_new = builder.icmp_signed("<=", visits, ir.Constant(_INTS, [0] * N))
        bound = builder.select(is_new, new, bound)
        for is_so, value in ((is_closed, _CLOSED), (_is_absent(builder, n), ABSENT)):
            bound = builder.select(is_so, ir.Constant(_FLOATS, [value] * N), bound)
        to = builder.gep(builder.inttoptr(bounds, ir.FloatType().as_pointer()), [place])
        builder.store(bound, builder.bitcast(to, _FLOATS.as_pointer()), align=4)
        return context.get_dummy_value()

    integers = (types.uint64, types.uint64, types.int64)
    rest = (types.float32, types.int64, types.uint64, types.float32, types.int64, types.uint64, types.uint64)
    return types.void(*integers, *rest), codegen


def _four(builder: ir.IRBuilder, bounds: ir.Value, place: ir.Value) -> ir.Value:
    at = builder.gep(builder.inttoptr(bounds, ir.FloatType().as_pointer()), [place])
    return builder.load(builder.bitcast(at, _FLOATS.as_pointer()), align=4)


@emitted
def highest_of_four(typingctx: Any, bounds: Any, place: Any) -> Any:
    """Return the highest of four bounds."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _called(builder, "llvm.vector.reduce.fmax.v4f32", _four(builder, *args), ir.FloatType())

    return types.float32(types.uint64, types.uint64), codegen


@emitted
def equal_of_four(typingctx: Any, bounds: Any, place: Any, value: Any) -> Any:
    """Return which of four bounds are equal to a value, a bit each."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        are = builder.fcmp_ordered("==", _four(builder, *args[:2]), _same(builder, args[2]))
        return builder.zext(builder.bitcast(are, ir.IntType(N)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64, types.float32), codegen
