"""Bits exchanged with words: 64 words are a square of bits, in which rows become columns."""

from typing import Any

from llvmlite import ir

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.words import ONE, U, W, and_, broadcast, emitted, left, load, right, store, xor


@emitted
def _bytes_exchanged(typingctx: Any, value: Any) -> Any:
    """Return eight words with byte j of word i and byte i of word j exchanged."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.VectorType(ir.IntType(8), 8 * W)
        order = ir.Constant(ir.VectorType(ir.IntType(32), 8 * W), [8 * (i % 8) + i // 8 for i in range(8 * W)])
        found = builder.shuffle_vector(builder.bitcast(args[0], kind), ir.Constant(kind, ir.Undefined), order)
        return builder.bitcast(found, args[0].type)

    return value(value), codegen


@inlined
def _exchanged(x):
    """Return eight words in each of which bit j of byte i and bit i of byte j are exchanged."""
    t = and_(xor(x, right(x, 7)), broadcast(U(0x00AA00AA00AA00AA)))
    x = xor(xor(x, t), left(t, 7))
    t = and_(xor(x, right(x, 14)), broadcast(U(0x0000CCCC0000CCCC)))
    x = xor(xor(x, t), left(t, 14))
    t = and_(xor(x, right(x, 28)), broadcast(U(0x00000000F0F0F0F0)))
    return xor(xor(x, t), left(t, 28))


@subroutine
def transpose(a):
    """Exchange bit j of word i and bit i of word j of 64 words at an address: blocks, bytes of blocks, bits of bytes.

    Source: Warren, Hacker's Delight, 2nd edition, 7-3.
    """
    for k in range(4):
        i = U(k)
        x, y = load(a, i), load(a, i + U(4))
        t = and_(xor(right(x, 32), y), broadcast(U(0x00000000FFFFFFFF)))
        store(a, i, xor(x, left(t, 32)))
        store(a, i + U(4), xor(y, t))
    for k in range(4):
        i = U(k + (k & 2))
        x, y = load(a, i), load(a, i + U(2))
        t = and_(xor(right(x, 16), y), broadcast(U(0x0000FFFF0000FFFF)))
        store(a, i, xor(x, left(t, 16)))
        store(a, i + U(2), xor(y, t))
    for k in range(4):
        i = U(2 * k)
        x, y = load(a, i), load(a, i + ONE)
        t = and_(xor(right(x, 8), y), broadcast(U(0x00FF00FF00FF00FF)))
        store(a, i, _bytes_exchanged(_exchanged(_bytes_exchanged(xor(x, left(t, 8))))))
        store(a, i + ONE, _bytes_exchanged(_exchanged(_bytes_exchanged(xor(y, t)))))
