"""Compiled games as bytes, and back: nothing in them can run, and what could lead a kernel astray is refused.

A mark of the format, the key of the game, a checksum of the rest; then the length of a JSON text with all that is no
array, that text, and the entries of all tables, one after the other, as 32-bit numbers.
"""

import hashlib
import json
import math
from collections.abc import Iterable
from typing import Any, Final, get_type_hints

import numpy as np

from gdl.compiler.phases import MAX_PHASES
from gdl.compiler.pipeline import MAX_GOAL, check_loops
from gdl.compiler.tables import CompiledRules, PhaseInputs, Tables
from gdl.compiler.verification import verify, verify_rules
from gdl.errors import GdlError
from gdl.language.terms import Compound, Constant, Term, flattened

KEY_BYTES: Final = 32
_MARK: Final = b"ggp game\x01\r\n\x00\xff\x00\x00\x00"
_DIGEST: Final = hashlib.sha256
_HEAD: Final = len(_MARK) + KEY_BYTES + 32
_LENGTH: Final = 8
_ENTRY: Final = np.dtype("<i4")
_KINDS: Final = get_type_hints(Tables)


def serialized(rules: CompiledRules, key: bytes) -> bytes:
    """Return the bytes that stand for *rules*, marked as those of the game with that *key*, 32 bytes."""
    entries: list[bytes] = []
    described = {
        "fluents": _described_terms(rules.fluents),
        "moves": _described_terms(rules.moves),
        "n_moves": [len(numbers) for numbers in rules.moves_of],
        "initial": rules.initial,
        "goals": rules.goals,
        "sees": [_described_terms(percepts) for percepts in rules.sees],
        "single": _described_tables(rules.single, entries),
        "phased": _described_tables(rules.phased, entries),
        "phases": [_described_phase(phase) for phase in rules.phases],
        "decisive": None if rules.decisive is None else _described_tables(rules.decisive, entries),
    }
    text = json.dumps(described, ensure_ascii=True, separators=(",", ":")).encode()
    rest = b"".join([len(text).to_bytes(_LENGTH, "little"), text, *entries])
    return b"".join([_MARK, key, _DIGEST(rest).digest(), rest])


def _described_terms(terms: Iterable[Term]) -> list[list[str | int]]:
    return [list(flattened(term)) for term in terms]


def _described_phase(phase: PhaseInputs) -> dict[str, Any]:
    controls = [sorted(values.items()) for values in phase.controls]
    return {"known": sorted(phase.known.items()), "forced": phase.forced, "controls": controls}


def _described_tables(tables: Tables, entries: list[bytes]) -> dict[str, Any]:
    """Return numbers as they are, of arrays their shapes; what is in the arrays is added to *entries*."""
    described: dict[str, Any] = {}
    for name, value in tables._asdict().items():
        if isinstance(value, int):
            described[name] = value
        else:
            described[name] = value.shape
            entries.append(value.astype(_ENTRY, casting="equiv").tobytes())
    return described


def deserialized(data: bytes, key: bytes) -> CompiledRules:
    """Return the compiled game that *data* stands for, verified as the compiler verifies what it has made.

    Raises:
        ValueError: they are damaged, of another format, of another game, or what they stand for is faulty.
    """
    if data[: len(_MARK)] != _MARK or data[len(_MARK) : len(_MARK) + KEY_BYTES] != key:
        raise ValueError("these bytes are not those of the game")
    if _DIGEST(memoryview(data)[_HEAD:]).digest() != data[_HEAD - 32 : _HEAD]:
        raise ValueError("these bytes are damaged")
    try:
        found = _Reader(data).rules()
        _verify(found)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError, GdlError) as error:
        raise ValueError(f"these bytes stand for no compiled game: {error}") from error
    return found


def _verify(rules: CompiledRules) -> None:
    for tables in (rules.single, rules.phased, rules.decisive):
        if tables is not None:
            verify(tables)
    verify_rules(rules)
    check_loops(rules.single)


class _Reader:
    """Reads what `serialized` has written; each error that Python has for wrong types and sizes may come of it."""

    def __init__(self, data: bytes) -> None:
        begin = _HEAD + _LENGTH
        end = begin + int.from_bytes(data[_HEAD:begin], "little")
        self._data, self._place = data, end
        self._described: dict[str, Any] = json.loads(data[begin:end])

    def rules(self) -> CompiledRules:
        described = self._described
        fluents, moves = _terms(described["fluents"]), _terms(described["moves"])
        found = CompiledRules(
            fluents=fluents,
            moves=moves,
            moves_of=_ranges(described["n_moves"], len(moves)),
            initial=_numbers(described["initial"], len(fluents)),
            goals=tuple(tuple(map(_goal, _list(values))) for values in _list(described["goals"])),
            sees=tuple(_terms(percepts) for percepts in _list(described["sees"])),
            single=self._tables(described["single"]),
            phased=self._tables(described["phased"]),
            phases=tuple(_phase(phase, len(fluents), len(moves)) for phase in _list(described["phases"])),
            decisive=None if described["decisive"] is None else self._tables(described["decisive"]),
        )
        _require(self._place == len(self._data), "there are more bytes")
        _require(len(found.moves_of) == len(found.goals) == len(found.sees), "roles differ in number")
        return found

    def _tables(self, described: dict[str, Any]) -> Tables:
        """Return tables, of a size that what verifies them can take for granted: it needs room for every row."""
        found = Tables(**{name: self._table(kind, described[name]) for name, kind in _KINDS.items()})
        n_names = len(self._described["fluents"]) + len(self._described["moves"])
        _require(found.n_inputs == 1 + n_names, "there are more rows than names")
        n_written = len(found.gate_row) + len(found.loop_row)
        _require(found.n_rows <= found.n_inputs + n_written + 1, "there are more rows than gates")
        _require(len(found.parts) <= MAX_PHASES, "there are too many phases")
        return found

    def _table(self, kind: object, described: object) -> Any:
        if kind is int:
            return _number(described, 2**31)
        shape = _numbers(described, len(self._data))
        begin, n = self._place, math.prod(shape)
        self._place += n * _ENTRY.itemsize
        _require(self._place <= len(self._data), "a table goes beyond the end")
        # A copy: kernels are compiled for arrays that are aligned and could be written to.
        return np.frombuffer(self._data, _ENTRY, n, begin).astype(np.int32).reshape(shape)


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def _list(value: object) -> list[Any]:
    _require(isinstance(value, list), "it is no list")
    assert isinstance(value, list)
    return value


def _number(value: object, stop: int) -> int:
    _require(type(value) is int and 0 <= value < stop, "a number is out of range")
    assert isinstance(value, int)
    return value


def _numbers(values: object, stop: int) -> tuple[int, ...]:
    return tuple(_number(value, stop) for value in _list(values))


def _ranges(sizes: object, n: int) -> tuple[range, ...]:
    """Return ranges of these *sizes*, one after the other, *n* numbers in all."""
    ends = [0, *_numbers(sizes, n + 1)]
    for i in range(1, len(ends)):
        ends[i] += ends[i - 1]
    _require(ends[-1] == n, "the moves of roles are not all moves")
    return tuple(map(range, ends[:-1], ends[1:]))


def _goal(value: object) -> int | None:
    return None if value is None else _number(value, MAX_GOAL + 1)


def _phase(described: dict[str, Any], n_fluents: int, n_moves: int) -> PhaseInputs:
    known, *controls = (
        {_number(fluent, n_fluents): bool(value) for fluent, value in _list(values)}
        for values in [described["known"], *_list(described["controls"])]
    )
    return PhaseInputs(known, _numbers(described["forced"], n_moves), tuple(controls))


def _terms(described: object) -> tuple[Term, ...]:
    return tuple(map(_term, _list(described)))


def _term(flat: object) -> Term:
    """Return the term that *flat* is, as `flattened` writes it: each term after all that it has arguments before."""
    parts, done = _list(flat), list[Term]()
    for name, n in zip(parts[-2::-2], parts[::-2], strict=True):
        if type(name) is not str or type(n) is not int or not 0 <= n <= len(done):
            raise ValueError("it is no term")
        if n:
            arguments = tuple(done[-n:])
            del done[-n:]
            done.append(Compound(name, arguments))
        else:
            done.append(Constant(name))
    (only,) = done
    return only
