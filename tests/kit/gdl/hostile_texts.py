"""Rule files that grow in one way each: what makes reading and checking slow, if anything does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

BEGINNING: Final = """
(role white) (init (step 0)) (<= (legal white go) (role white)) (<= (next (step 1)) (does white go))
(<= (goal white 100) (true (step 1))) (<= terminal (true (step 1)))
"""


def _many(line: str) -> Callable[[int], str]:
    """Return a text of lines of which each has its number for `{i}` and the next for `{j}`."""
    return lambda n: "\n".join(line.format(i=i, j=i + 1) for i in range(n))


def _backwards(line: str) -> Callable[[int], str]:
    return lambda n: "\n".join(line.format(i=i, j=i + 1) for i in reversed(range(n)))


def _one_rule(condition: str, head: str = "terminal") -> Callable[[int], str]:
    return lambda n: f"(<= {head} {' '.join(condition.format(i=i, j=i + 1) for i in range(n))})"


TEXTS: Final[Mapping[str, Callable[[int], str]]] = {
    "facts": _many("(f a{i} b{i})"),
    "facts of one argument more each": lambda n: "\n".join(f"(f {'a ' * i})" for i in range(1, int(n**0.5))),
    "one long fact": lambda n: f"(f {' '.join(f'a{i}' for i in range(n))})",
    "one deep fact": lambda n: f"(f {'(s ' * n}0{')' * n})",
    "deep facts": lambda n: "\n".join(f"(f {'(s ' * 100}{i}{')' * 100})" for i in range(n // 100)),
    "relations": _many("(f{i} a)"),
    "functions": _many("(f (g{i} a))"),
    "chain upwards": _backwards("(<= (p{j} ?x) (p{i} ?x))"),
    "chain downwards": _many("(<= (p{j} ?x) (p{i} ?x))"),
    "chain to the end": lambda n: _backwards("(<= (p{j} ?x) (p{i} ?x))")(n) + f"(<= terminal (p{n} ?x)) (p0 a)",
    "chain of one relation": _backwards("(<= (p {j}) (p {i}))"),
    "chain of fluents": _backwards("(<= (next (p {j})) (true (p {i})))"),
    "chain of negations": _backwards("(<= (p{j} ?x) (q ?x) (not (p{i} ?x)))"),
    "ring": lambda n: _many("(<= (p{j} ?x) (p{i} ?x))")(n) + f"(<= (p0 ?x) (p{n} ?x))",
    "ring of negations": lambda n: _many("(<= (p{j} ?x) (q ?x) (not (p{i} ?x)))")(n) + f"(<= (p0 ?x) (p{n} ?x))",
    "ring of one relation through a negation": lambda n: (
        _many("(<= (p {j}) (q {i}) (not (p {i})))")(n) + f"(<= (p 0) (p {n}))"
    ),
    "rules for goals": _many("(<= (goal white ?v) (prize{i} ?v)) (prize{i} {i})"),
    "goals from one relation": _many("(<= (goal white ?v) (prize ?v) (true (step {i}))) (prize {i})"),
    "goals through a chain": lambda n: (
        _backwards("(<= (p{j} ?x) (p{i} ?x))")(n) + f"(<= (goal white ?x) (p{n} ?x)) (p0 200)"
    ),
    "literals": _one_rule("(true (step {i}))"),
    "joined literals": _one_rule("(f ?x{i} ?x{j})"),
    "variables in the head": lambda n: (
        f"(<= (f {' '.join(f'?x{i}' for i in range(n))}) {' '.join(f'(g ?x{i})' for i in range(n))})"
    ),
    "unbound variables in the head": lambda n: f"(<= (f {' '.join(f'?x{i}' for i in range(n))}) (g ?y))",
    "unbound variables": _one_rule("(not (g ?x{i}))"),
    "variables in a fact": lambda n: f"(f {' '.join(f'?x{i}' for i in range(n))})",
    "distincts": _one_rule("(g ?x{i}) (distinct ?x{i} ?x{j})"),
    "distincts of one": _one_rule("(distinct a b{i})"),
    "equations": _one_rule("(g ?x{i}) (not (distinct ?x{i} ?x{j}))"),
    "ors": _one_rule("(or (true (step {i})) (true (step {j})))"),
    "branches": lambda n: f"(<= terminal (or {' '.join(f'(true (step {i}))' for i in range(n))}))",
    "unsafe branches": lambda n: f"(<= (f ?x) (or {' '.join(f'(g ?x{i})' for i in range(n))}))",
    "branches that bind one variable each": lambda n: (
        f"(<= (f {' '.join(f'?x{i}' for i in range(n))}) (or {' '.join(f'(g ?x{i})' for i in range(n))}))"
    ),
    "branches and negations of one variable each": lambda n: (
        f"{_one_rule('(not (g ?x{i}))')(n)[:-1]} (or {' '.join(f'(g ?x{i})' for i in range(n))}))"
    ),
    "ors over variables": _one_rule("(or (f ?x{i} ?x{j}) (h ?x{i} ?x{j}))"),
    "ors in rules": _many("(<= (p{i} ?x) (or (f ?x) (g ?x)) (or (f ?x) (g ?x)) (or (f ?x) (g ?x)))"),
    "ors whose values hang on the branch": lambda n: "\n".join(
        f"(<= (p{k}) {_one_rule('(or (a ?x{i}) b)', '')(6)[4:-1]} (or b (and {_one_rule('(a ?x{i})', '')(6)[4:-1]})))"
        for k in range(n // 60)
    ),
    "nested connectives": lambda n: "\n".join(
        f"(<= (p{i}) {'(or (f 1) (and (f 2) ' * 45}(f 3){'))' * 45})" for i in range(n // 100)
    ),
    "moves": _many("(<= (legal white (m{i} ?x)) (f ?x)) (<= (next (n{i})) (does white (m{i} 1)))"),
    "roles": _many("(role r{i})"),
    "undeclared roles": _many("(<= (legal r{i} go) (role white))"),
    "undefined relations": _many("(<= terminal (undefined{i}))"),
    "misspelt relations": _many("(relation{i} a) (<= terminal (relatoin{i} a))"),
    "misspelt fluents": _many("(init (fluent{i} a)) (<= terminal (true (fluetn{i} a)))"),
    "misspelt names": _many("(f name{i}) (<= terminal (f naem{i}))"),
    "spellings": _many("(f a{i}) (<= terminal (f A{i}))"),
    "arities": lambda n: "\n".join(f"(f{' a' * (i % 50 + 1)})" for i in range(n)),
    "open parentheses": lambda n: "(" * n,
    "closing parentheses": lambda n: ")" * n,
    "words": lambda n: "a b " * n,
    "arrows": lambda n: "(<= " * n,
    "broken rules": _many("(<= (p{i} (not)) (or"),
    "keywords as objects": _many("(f role true does {i})"),
    "comments": _many("; ggp: allow gdl/unused-relation -- reason {i}\n(f{i} a)"),
    "comments for nothing": _many("; ggp: allow gdl/nothing{i} -- reason"),
    "init through a chain": lambda n: (
        _many("(<= (p{j} ?x) (p{i} ?x))")(n) + f"(<= (init ?x) (p{n} ?x)) (<= (p0 ?x) (true ?x))"
    ),
    "many premature questions": _many("(<= (init (a {i})) (q{i})) (<= (q{i}) (true (a {i})))"),
    "recursive arguments": _many("(<= (p ?x) (p (s{i} ?x)) (q ?y))"),
    "recursive arguments of one condition": lambda n: f"(<= (p {'a ' * n}) (p {' '.join(f'?x{i}' for i in range(n))}))",
    "dense dependencies": lambda n: "\n".join(
        f"(<= (p{i} ?x) {' '.join(f'(p{k} ?x)' for k in range(int(n**0.5)))})" for i in range(int(n**0.5))
    ),
    "rules of one relation": _many("(<= (p ?x) (p ?y) (q{i} ?x ?y))"),
    "long names": lambda n: "\n".join(f"(f {'a' * 1000}{i})" for i in range(n // 100)),
    "one long name": lambda n: f"(f {'a' * n})",
    "duplicate rules": _many("(<= terminal (true (step 1)))"),
    "tabs and blanks": lambda n: f"(f{' ' * n}a)",
    "lines": lambda n: "\n" * n + "(f",
    "carriage returns": lambda n: "\r\n" * n + "(f",
}
