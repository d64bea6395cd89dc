"""Which names arguments can have: what is found, and that any rule file is done with in bounded work."""

from __future__ import annotations

import pytest

from gdl.boards.fluents import MAX_NAMES, Path, domains_of
from gdl.games.library import find_game, game_names
from gdl.language.rules import read_rules


def at(kind: str, *parts: tuple[str, int, int]) -> Path:
    return ((kind, 0, 0), *parts)


def names(rules: str, path: Path) -> set[str] | None:
    """Return the names at *path*, None where they are not bounded."""
    found = domains_of(read_rules(rules))
    return None if path in found.unbounded else found.names.get(path, set())


CELL = at("true", ("cell", 2, 0))


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("(init (cell 1 a)) (init (cell 2 a))", {"1", "2"}),
        ("(index 1) (index 2) (<= (init (cell ?x a)) (index ?x))", {"1", "2"}),
        ("(init (cell 1 a)) (succ 1 2) (succ 2 3) (<= (next (cell ?y a)) (true (cell ?x a)) (succ ?x ?y))", {*"123"}),
        ("(p 1) (p 2) (q 2) (q 3) (<= (init (cell ?x a)) (p ?x) (q ?x))", {"2"}),
        ("(p 1) (q 2) (<= (init (cell ?x a)) (or (p ?x) (q ?x)))", {"1", "2"}),
        ("(role w) (role b) (<= (legal ?r tick) (role ?r)) (<= (next (cell ?r a)) (does ?r tick))", {"w", "b"}),
        ("(input a (mark 7)) (role a) (legal a (mark 3)) (<= (next (cell ?x a)) (does a (mark ?x)))", {"3"}),
        ("(role a) (<= (legal a ?m) (may ?m)) (may (mark 3 4)) (<= (next (cell ?y a)) (does a (mark ?x ?y)))", {"4"}),
        ("(<= (next (cell ?x a)) (not (q ?x)))", None),
        (" ".join(f"(init (cell {n} a))" for n in range(MAX_NAMES + 1)), None),
    ],
)  # fmt: skip
def test_names_follow_the_rules(rules: str, found: set[str] | None) -> None:
    assert names(rules, CELL) == found


def test_names_inside_terms_have_places_of_their_own() -> None:
    rules = "(init (at king (square a 1))) (init (at king (square b 2)))"
    inside = at("true", ("at", 2, 1), ("square", 2, 0))
    assert (names(rules, inside), names(rules, at("true", ("at", 2, 1)))) == ({"a", "b"}, set())


def test_what_base_and_the_first_state_say_is_kept_apart() -> None:
    found = domains_of(read_rules("(init (p 1)) (base (p 1)) (base (p 2)) (<= (next (p 3)) (true (p 1)))"))
    place = ("p", 1, 0)
    kinds = {kind: found.names[at(kind, place)] for kind in ("init", "base", "true")}
    assert kinds == {"init": {"1"}, "base": {"1", "2"}, "true": {"1", "3"}}


def test_the_variables_of_a_place_are_remembered() -> None:
    found = domains_of(read_rules("(<= (next (cell ?x ?row)) (true (cell ?x ?row)))"))
    assert (set(found.variables[CELL]), set(found.variables[at("true", ("cell", 2, 1))])) == ({"?x"}, {"?row"})


@pytest.mark.parametrize(
    "rules",
    [
        "(init (p 0)) (<= (next (p (f ?x ?x))) (true (p ?x)))",
        "(init (p 0))" + "".join(f"(<= (next (p (f{i} ?x (g{i} ?x ?x)))) (true (p ?x)))" for i in range(100)),
        f"(init {'(f ' * 90}x{')' * 90})",
        f"(init (f {' '.join(str(n % 100) for n in range(5_000))}))",
        "".join(f"(q {n}) (<= (p{n} ?x) (p{n + 1} ?x)) (<= (p{n + 1} ?x) (q ?x) (p{n} ?x))" for n in range(1_000)),
        f"(<= (next (p ?x)) {'(or (q ?x) ' * 80}(r ?x){')' * 80})",
        "(<= (next ?x) (true ?x)) (init (p 1))",
    ],
)
def test_any_rules_are_followed_in_bounded_work(rules: str) -> None:
    found = domains_of(read_rules(rules))
    assert len(found.names) <= 10_000
    assert max((len(names) for names in found.names.values()), default=0) <= 2 * MAX_NAMES


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", game_names())
def test_equal_rules_have_equal_answers(name: str) -> None:
    description = find_game(name).read()
    assert domains_of(description) == domains_of(description)
