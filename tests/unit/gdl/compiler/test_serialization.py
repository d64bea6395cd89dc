"""Compiled games as bytes: what comes back is what was written, and damage of any kind is refused."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any, Final

import numpy as np
import pytest

from gdl.compiler.pipeline import compile_rules
from gdl.compiler.serialization import _HEAD, _LENGTH, deserialized, serialized
from gdl.compiler.tables import CompiledRules, Tables
from gdl.compiler.verification import verify, verify_rules
from gdl.datalog.translation import clauses_of
from gdl.errors import FaultyTablesError
from gdl.games.library import find_game
from gdl.interpreter import InterpretedGame
from gdl.language.rules import read_rules
from gdl.language.terms import Compound, Constant, Term
from tests.kit.gdl.compiler.rules import GAME

KEY: Final = bytes(range(32))
N_DAMAGES: Final = 3_000 if os.environ.get("GGP_DAMAGE") == "all" else 300

TURNS: Final = """
(role white) (role black) (init (control white)) (init (heap (s (s (s 0)))))
(<= (next (control white)) (true (control black))) (<= (next (control black)) (true (control white)))
(<= (legal ?r take) (true (control ?r))) (<= (legal ?r (noop (or ?r))) (role ?r) (not (true (control ?r))))
(<= (next (heap ?x)) (true (heap (s ?x)))) (<= terminal (true (heap 0)))
(<= (goal ?r 100) (true (control ?r))) (<= (goal ?r nothing) (role ?r) (not (true (control ?r))))
"""


@cache
def compiled(text: str = GAME) -> CompiledRules:
    rules = read_rules(text)
    return compile_rules(clauses_of(rules.rules), InterpretedGame(rules).roles, 100_000)


def plain(rules: CompiledRules) -> dict[str, Any]:
    """Return all that *rules* hold, as what can be compared."""
    found = {name: getattr(rules, name) for name in CompiledRules.__dataclass_fields__}
    return {name: comparable(value) if isinstance(value, Tables) else value for name, value in found.items()}


def comparable(tables: Tables) -> list[object]:
    arrays = [value for value in tables if not isinstance(value, int)]
    return [*tables[:3], *((array.dtype, array.shape, array.tolist()) for array in arrays)]


@pytest.mark.parametrize("text", [GAME, TURNS, find_game("tictactoe").read().source.text])
def test_what_is_read_is_what_was_written(text: str) -> None:
    found = deserialized(serialized(compiled(text), KEY), KEY)
    assert plain(found) == plain(compiled(text))


def test_kernels_get_the_kind_of_arrays_for_which_they_are_compiled() -> None:
    arrays = [array for array in deserialized(serialized(compiled(), KEY), KEY).phased if not isinstance(array, int)]
    assert {(array.flags.aligned, array.flags.writeable, array.flags.c_contiguous) for array in arrays} == {
        (True, True, True)
    }


def test_bytes_of_another_game_or_format_are_refused() -> None:
    data = serialized(compiled(), KEY)
    others = [
        b"",
        b"PK\x03\x04",
        b"\x80\x04\x95",
        bytes(len(data)),
        data[1:],
        data.replace(b"game\x01", b"game\x02", 1),
    ]
    for other in others:
        with pytest.raises(ValueError, match="not those of the game"):
            deserialized(other, KEY)
    with pytest.raises(ValueError, match="not those of the game"):
        deserialized(data, KEY[::-1])


def test_bytes_that_are_cut_or_longer_are_refused() -> None:
    data = serialized(compiled(), KEY)
    random = Random(1)
    for length in {*range(120), *random.sample(range(len(data)), N_DAMAGES)}:
        with pytest.raises(ValueError, match="these bytes"):
            deserialized(data[:length], KEY)
    with pytest.raises(ValueError, match="damaged"):
        deserialized(data + b"\0", KEY)


def test_a_bit_that_flips_is_noticed() -> None:
    data = bytearray(serialized(compiled(), KEY))
    random = Random(2)
    for place in {*range(120), *random.sample(range(len(data)), N_DAMAGES)}:
        data[place] ^= 1 << random.randrange(8)
        with pytest.raises(ValueError, match="these bytes"):
            deserialized(bytes(data), KEY)
        data = bytearray(serialized(compiled(), KEY))


def forged(text: bytes, entries: bytes, length: int | None = None) -> bytes:
    """Return bytes whose checksum is right, as who wants to do harm makes them."""
    length = len(text) if length is None else length
    rest = length.to_bytes(_LENGTH, "little") + text + entries
    return serialized(compiled(), KEY)[: _HEAD - 32] + hashlib.sha256(rest).digest() + rest


def parts() -> tuple[dict[str, Any], bytes]:
    data = serialized(compiled(), KEY)
    end = _HEAD + _LENGTH + int.from_bytes(data[_HEAD : _HEAD + _LENGTH], "little")
    return json.loads(data[_HEAD + _LENGTH : end]), data[end:]


HUGE: Final = 2**62
GARBAGE: Final[tuple[object, ...]] = (
    None,
    -1,
    HUGE,
    10**30,
    0.5,
    True,
    "x",
    [],
    {},
    [HUGE],
    [-1, -1],
    [[]],
    ["x", 0],
    [HUGE, HUGE],
    float("nan"),
)


def places(value: Any) -> Iterator[Callable[[Any], None]]:
    """Yield what writes something else at each place within *value*."""
    pairs = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for at, inner in list(pairs):
        yield lambda new, at=at: value.__setitem__(at, new)  # type: ignore[misc]  # its argument has a default
        yield from places(inner)


def is_refused(data: bytes) -> bool:
    """Return whether *data* are refused; where they are not, what they stand for must be without harm."""
    try:
        found = deserialized(data, KEY)
    except ValueError:
        return True
    for tables in (found.single, found.phased, *([found.decisive] if found.decisive else [])):
        verify(tables)
    verify_rules(found)
    terms: list[Term] = [*found.fluents, *found.moves, *(percept for percepts in found.sees for percept in percepts)]
    assert all(isinstance(term, Constant | Compound) and term.is_ground for term in terms)
    return False


def test_hostile_descriptions_are_refused() -> None:
    n_places = sum(1 for _ in places(parts()[0]))
    random = Random(3)
    outcomes = []
    for number in random.sample(range(n_places), min(n_places, N_DAMAGES)):
        described, entries = parts()
        list(places(described))[number](random.choice(GARBAGE))
        outcomes.append(is_refused(forged(json.dumps(described).encode(), entries)))
    assert sum(outcomes) > 0.9 * len(outcomes)


@pytest.mark.parametrize("name", ["n_rows", "n_inputs", "n_fluents"])
@pytest.mark.parametrize("value", [0, 2**30, 2**31 - 1, 2**31, HUGE, -1, [1]])
def test_tables_of_enormous_size_are_refused(name: str, value: object) -> None:
    described, entries = parts()
    described["phased"][name] = value
    assert is_refused(forged(json.dumps(described).encode(), entries))


@pytest.mark.parametrize(
    "text", [b"", b"null", b"[]", b"{}", b"5", b"[" * 200_000, b"9" * 10_000, b"\xff\xfe", b'{"fluents": {}}']
)
def test_what_is_no_description_is_refused(text: bytes) -> None:
    assert is_refused(forged(text, parts()[1]))
    assert is_refused(forged(text, parts()[1], length=HUGE))


def test_entries_that_could_lead_a_kernel_astray_are_refused() -> None:
    described, entries = parts()
    text, random = json.dumps(described).encode(), Random(4)
    outcomes = []
    for _ in range(N_DAMAGES):
        numbers = np.frombuffer(entries, "<i4").copy()
        numbers[random.randrange(len(numbers))] = random.choice([-1, 2**31 - 1, -(2**31), random.randrange(200)])
        outcomes.append(is_refused(forged(text, numbers.tobytes())))
    assert any(outcomes)


def test_a_game_that_is_faulty_is_refused() -> None:
    described, entries = parts()
    described["goals"][0][0] = 2_000_000
    assert is_refused(forged(json.dumps(described).encode(), entries))
    with pytest.raises(FaultyTablesError):
        verify(compiled().phased._replace(n_rows=3))
