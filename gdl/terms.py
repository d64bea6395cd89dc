"""Terms: immutable, interned, and printed as the KIF that they were read from.

Equal terms are one object, so equality is identity and hashing takes constant time however deep a term nests.
Nothing here recurses: a term may nest as deep as the reader lets it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import ClassVar, Final, NoReturn, Self, TypeAlias
from weakref import WeakValueDictionary

_INTERN_LOCK: Final = threading.Lock()
_set: Final = object.__setattr__


class _Frozen:
    """A term, which everybody who has it shares: nobody may change it."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"terms are immutable: {name} of {self} stays as it is")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse, as `__setattr__` does."""
        raise AttributeError(f"terms are immutable: {name} of {self} stays as it is")


class _Symbol(_Frozen):
    """A term without parts: one object for each name."""

    __slots__ = ("__weakref__", "name")
    _interned: ClassVar[WeakValueDictionary[str, Self]]
    depth: ClassVar[int] = 0
    n_symbols: ClassVar[int] = 1
    name: str

    def __new__(cls, name: str) -> Self:
        """Return the one symbol of that name."""
        found = cls._interned.get(name)
        return cls._intern(name) if found is None else found

    @classmethod
    def _intern(cls, name: str) -> Self:
        with _INTERN_LOCK:
            found = cls._interned.get(name)
            if found is None:
                found = object.__new__(cls)
                _set(found, "name", name)
                cls._interned[name] = found
        return found

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return (type(self), (self.name,))


class Constant(_Symbol):
    """A name or a number: `white`, `10`; also a proposition such as `terminal`."""

    __slots__ = ()
    _interned: ClassVar[WeakValueDictionary[str, Constant]] = WeakValueDictionary()
    is_ground: ClassVar[bool] = True


class Variable(_Symbol):
    """A variable of a rule: `?x`; the name keeps its question mark."""

    __slots__ = ()
    _interned: ClassVar[WeakValueDictionary[str, Variable]] = WeakValueDictionary()
    is_ground: ClassVar[bool] = False


class Compound(_Frozen):
    """A function or a relation applied to one argument or more: `(cell 1 1 b)`.

    `depth` counts the levels of nesting (1 for `(cell 1 1 b)`), `n_symbols` the names that it prints (4);
    `is_ground` says that no variable occurs.
    """

    __slots__ = ("__weakref__", "_text", "arguments", "depth", "functor", "is_ground", "n_symbols")
    _interned: ClassVar[WeakValueDictionary[tuple[str, tuple[Term, ...]], Compound]] = WeakValueDictionary()
    functor: str
    arguments: tuple[Term, ...]
    depth: int
    is_ground: bool
    n_symbols: int
    _text: str | None

    def __new__(cls, functor: str, arguments: tuple[Term, ...]) -> Self:
        """Return the one compound of that functor and those arguments.

        Raises:
            ValueError: without arguments; `(p)` is the constant `p`.
        """
        key = (functor, arguments)
        found = cls._interned.get(key)
        if found is None:
            found = cls._intern(key)
        return found  # type: ignore[return-value]  # the table holds what __new__ of this class made

    @classmethod
    def _intern(cls, key: tuple[str, tuple[Term, ...]]) -> Compound:
        functor, arguments = key
        if not arguments:
            raise ValueError(f"({functor}) is the constant {functor}")
        with _INTERN_LOCK:
            found = cls._interned.get(key)
            if found is None:
                found = object.__new__(cls)
                _set(found, "functor", functor)
                _set(found, "arguments", arguments)
                _set(found, "_text", None)
                _set(found, "depth", 1 + max(argument.depth for argument in arguments))
                _set(found, "n_symbols", 1 + sum(argument.n_symbols for argument in arguments))
                _set(found, "is_ground", all(argument.is_ground for argument in arguments))
                cls._interned[key] = found
        return found

    def __str__(self) -> str:
        text = self._text
        if text is None:
            text = "".join(_pieces(self))
            _set(self, "_text", text)
        return text

    def __repr__(self) -> str:
        return f"<Compound {str(self)[:200]}>"

    def __reduce__(self) -> tuple[object, tuple[str | int, ...]]:
        return (_rebuilt, tuple(_flat(self)))


Term: TypeAlias = Constant | Variable | Compound


def _pieces(term: Compound) -> Iterator[str]:
    todo: list[Term | str] = [term]
    while todo:
        top = todo.pop()
        if isinstance(top, str):
            yield top
        elif isinstance(top, Compound) and top._text is None:
            yield f"({top.functor}"
            todo.append(")")
            for argument in reversed(top.arguments):
                todo += (argument, " ")
        else:
            yield str(top)


_NO_COMPOUND: Final = {Constant: 0, Variable: -1}


def _flat(term: Term) -> Iterator[str | int]:
    """Yield a name and its number of arguments for *term* and all within it, the last argument first."""
    todo = [term]
    while todo:
        top = todo.pop()
        if isinstance(top, Compound):
            yield from (top.functor, len(top.arguments))
            todo += top.arguments
        else:
            yield from (top.name, _NO_COMPOUND[type(top)])


def _rebuilt(*flat: str | int) -> Term:
    """Return the term of which *flat* is what `_flat` yields."""
    done: list[Term] = []
    for i in range(len(flat) - 2, -1, -2):
        name, n_arguments = str(flat[i]), int(flat[i + 1])
        if n_arguments > 0:
            arguments = tuple(done[-n_arguments:])
            del done[-n_arguments:]
            done.append(Compound(name, arguments))
        else:
            done.append(Variable(name) if n_arguments else Constant(name))
    return done[0]


def variables(term: Term) -> tuple[Variable, ...]:
    """Return the variables of *term*, each once, in the order in which they first occur."""
    found: dict[Variable, None] = {}
    opened: set[Compound] = set()
    todo = [term]
    while todo:
        top = todo.pop()
        if isinstance(top, Variable):
            found[top] = None
        elif isinstance(top, Compound) and not top.is_ground and top not in opened:
            opened.add(top)
            todo += reversed(top.arguments)
    return tuple(found)


def signature(term: Term) -> tuple[str, int]:
    """Return the name of an atom or a function term with its number of arguments: `("cell", 3)`."""
    if isinstance(term, Compound):
        return term.functor, len(term.arguments)
    return term.name, 0
