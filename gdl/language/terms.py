"""Terms: immutable, interned, printed as the KIF that they were read from; and what makes two of them equal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import ClassVar, Final, NoReturn, Self, TypeAlias
from weakref import WeakValueDictionary

from gdl.errors import LimitExceeded, wrong_type

_INTERN_LOCK: Final = threading.Lock()
_set: Final = object.__setattr__


class _Frozen:
    """A term: immutable, since all that hold it share one object."""

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
        """Return the one symbol of that name.

        Raises:
            WrongTypeError: *name* is no text.
        """
        found = cls._interned.get(name)
        return cls._intern(name) if found is None else found

    @classmethod
    def _intern(cls, name: str) -> Self:
        if not isinstance(name, str):
            raise wrong_type(name, "a name as text")
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
            WrongTypeError: the functor is no text, or the arguments are no tuple of terms.
        """
        key = (functor, arguments)
        try:
            found = cls._interned.get(key)
        except TypeError:  # a list has no hash
            raise wrong_type(arguments, "a tuple of terms as arguments") from None
        if found is None:
            found = cls._intern(key)
        return found  # type: ignore[return-value]  # the table holds what __new__ of this class made

    @classmethod
    def _intern(cls, key: tuple[str, tuple[Term, ...]]) -> Compound:
        functor, arguments = key
        if not isinstance(functor, str):
            raise wrong_type(functor, "a functor as text")
        if not isinstance(arguments, tuple):
            raise wrong_type(arguments, "a tuple of terms as arguments")
        for argument in arguments:
            check_term(argument, "arguments that are terms")
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
        return (_rebuilt, tuple(flattened(self)))


Term: TypeAlias = Constant | Variable | Compound


def check_term(value: object, expected: str) -> None:
    """Raise WrongTypeError unless *value* is a term; *expected* says in words what is."""
    if not isinstance(value, (Constant, Compound, Variable)):
        raise wrong_type(value, f"{expected} (gdl.read_term makes one of a text)")


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


def flattened(term: Term) -> Iterator[str | int]:
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
    """Return the term of which *flat* is what `flattened` yields."""
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


Signature: TypeAlias = tuple[str, int]
"""A name with its number of arguments: what tells relations, and functions, apart."""


def signature(term: Term) -> Signature:
    """Return the name of an atom or a function term with its number of arguments: `("cell", 3)`."""
    if isinstance(term, Compound):
        return term.functor, len(term.arguments)
    return term.name, 0


def arguments_of(term: Term) -> tuple[Term, ...]:
    """Return the arguments of a term, none of a constant or a variable."""
    return term.arguments if isinstance(term, Compound) else ()


Substitution: TypeAlias = dict[Variable, Term]

MAX_PATTERN_DEPTH: Final = 100
"""How deep a term with variables may nest in a rule."""

_APART: Final = " apart"
"""Ends the names of variables of another rule: no token holds a blank, so no rule has such a name."""


def walk(term: Term, bound: Substitution) -> Term:
    """Return what *term* stands for under *bound*, at its outermost level."""
    while isinstance(term, Variable) and term in bound:
        term = bound[term]
    return term


def unify(left: Term, right: Term, bound: Substitution | None = None) -> Substitution | None:
    """Return the most general substitution over *bound* that makes the terms equal, or None.

    Source: Robinson 1965, with the occurs check.
    """
    found = dict(bound or {})
    todo = [(left, right)]
    seen: set[tuple[Term, Term]] = set()  # terms share parts: what was met once need not be opened again
    while todo:
        a, b = todo.pop()
        a, b = walk(a, found), walk(b, found)
        if a is b or (a, b) in seen:
            continue
        seen.add((a, b))
        if isinstance(b, Variable):
            a, b = b, a
        if isinstance(a, Variable):
            if _occurs(a, b, found):
                return None
            found[a] = b
        elif isinstance(a, Compound) and isinstance(b, Compound) and _is_same_functor(a, b):
            todo += zip(a.arguments, b.arguments, strict=True)
        else:
            return None
    return found


def _is_same_functor(a: Compound, b: Compound) -> bool:
    return a.functor == b.functor and len(a.arguments) == len(b.arguments)


def _occurs(variable: Variable, term: Term, bound: Substitution) -> bool:
    todo, seen = [term], set()
    while todo:
        top = walk(todo.pop(), bound)
        if top is variable:
            return True
        if isinstance(top, Compound) and not top.is_ground and top not in seen:
            seen.add(top)
            todo += top.arguments
    return False


def substitute(term: Term, bound: Substitution) -> Term:
    """Return *term* with its variables replaced as *bound* says, all the way down.

    Raises:
        LimitExceeded: the result nests deeper than MAX_PATTERN_DEPTH.
    """
    return _substituted(term, bound, {}, 0) if bound else term


def _substituted(term: Term, bound: Substitution, done: dict[Term, Term], depth: int) -> Term:
    top = walk(term, bound)
    if not isinstance(top, Compound) or top.is_ground:
        return top
    if depth >= MAX_PATTERN_DEPTH:
        raise LimitExceeded("levels of nesting in a term with variables", MAX_PATTERN_DEPTH)
    if top not in done:
        arguments = [_substituted(argument, bound, done, depth + 1) for argument in top.arguments]
        done[top] = Compound(top.functor, tuple(arguments))
    return done[top]


def apart(term: Term) -> Term:
    """Return *term* with other variables, so that it can meet terms of another rule."""
    if term.is_ground:
        return term
    if isinstance(term, Variable):
        return Variable(f"{term.name}{_APART}")
    assert isinstance(term, Compound)
    return Compound(term.functor, tuple(apart(argument) for argument in term.arguments))


def can_meet(left: Term, right: Term) -> bool:
    """Return whether the terms, taken from different rules, have a common instance."""
    return unify(left, apart(right)) is not None
