"""Renaming: the rules mean what they meant, and the error says why a name cannot change."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from gdl.diagnostics import Source
from gdl.editing.edits import edited
from gdl.editing.renaming import renamable, rename
from gdl.editing.symbols import Space, Symbol, index_symbols
from gdl.errors import RenamingError
from gdl.games.library import find_game
from gdl.language.rules import read_rules
from gdl.language.syntax import And, Atom, Condition, Distinct, Not, Or, Rule
from gdl.language.terms import Compound, Constant, Term, Variable


def renamed(text: str, offset: int, name: str) -> str:
    source = Source("<rules>", text)
    return edited(source, rename(index_symbols(source), offset, name))


def with_term(term: Term, symbol: Symbol, new: str) -> Term:
    if isinstance(term, Compound):
        arguments = tuple(with_term(argument, symbol, new) for argument in term.arguments)
        is_it = symbol.space is Space.TERMS and term.functor == symbol.name
        return Compound(new if is_it else term.functor, arguments)
    space = Space.VARIABLES if isinstance(term, Variable) else Space.TERMS
    return type(term)(new) if (space, term.name) == (symbol.space, symbol.name) else term


def with_atom(atom: Atom, symbol: Symbol, new: str) -> Atom:
    """Return *atom* with another name for its relation or in its terms."""
    name = atom.term.name if isinstance(atom.term, Constant) else atom.term.functor
    if symbol.space is Space.RELATIONS and name == symbol.name:
        name = new
    if isinstance(atom.term, Constant):
        return replace(atom, term=Constant(name))
    return replace(atom, term=Compound(name, tuple(with_term(one, symbol, new) for one in atom.term.arguments)))


def with_condition(condition: Condition, symbol: Symbol, new: str) -> Condition:
    match condition:
        case Atom():
            return with_atom(condition, symbol, new)
        case Distinct(left, right):
            return replace(condition, left=with_term(left, symbol, new), right=with_term(right, symbol, new))
        case Not(inner):
            return replace(condition, inner=with_condition(inner, symbol, new))
        case And(parts) | Or(parts):
            return replace(condition, parts=tuple(with_condition(part, symbol, new) for part in parts))


def with_name(rule: Rule, symbol: Symbol, new: str) -> Rule:
    """Return *rule* as it reads when *symbol* is called *new*, found out from the rule and not from the text."""
    if symbol.space is Space.VARIABLES and rule.span.start != symbol.rule:
        return rule
    body = tuple(with_condition(condition, symbol, new) for condition in rule.body)
    return replace(rule, head=with_atom(rule.head, symbol, new), body=body)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("game", ["tictactoe", "montyhall", "connectfour"])
def test_a_renamed_game_has_the_same_rules_but_for_the_name(game: str) -> None:
    source = find_game(game).read().source
    index, rules, n_renamed = index_symbols(source), read_rules(source.text).rules, 0
    for symbol in dict.fromkeys(found.symbol for found in index.occurrences):
        try:
            edits = rename(index, index.uses(symbol)[0].token.start, "another-name")
        except RenamingError:
            continue
        new = "?another-name" if symbol.space is Space.VARIABLES else "another-name"
        assert read_rules(edited(source, edits)).rules == tuple(with_name(rule, symbol, new) for rule in rules)
        n_renamed += 1
    assert n_renamed > 20


@pytest.mark.parametrize(
    ("text", "place", "name", "after"),
    [
        ("(p a)\n(<= (q p) (p ?x))", "p ?x", "r", "(r a)\n(<= (q p) (r ?x))"),
        ("(p a)\n(<= (q p) (p ?x))", "p)", "r", "(p a)\n(<= (q r) (p ?x))"),
        ("(<= (p ?x) (q ?x))\n(<= (q ?x) (r ?x))", "?x", "?y", "(<= (p ?y) (q ?y))\n(<= (q ?x) (r ?x))"),
        ("(<= (p ?x) (q ?x))", "?x", "y", "(<= (p ?y) (q ?y))"),
        ("(p (f a) f (f a b)) ; f is a comment", "f", "g", "(p (g a) g (g a b)) ; f is a comment"),
        ("(<= p (not (p)) P)", "p", "q", "(<= q (not (q)) P)"),
        ("(p a)", "p", "p", "(p a)"),
        ("(p a) (<= q (p ?a))", "p", "P", "(P a) (<= q (P ?a))"),
        ("(p a) (<= (q ?x) (r ?x)", "p", "s", "(s a) (<= (q ?x) (r ?x)"),  # what is broken does not concern it
    ],
)
def test_a_name_changes_at_all_its_places_and_nothing_else_does(text: str, place: str, name: str, after: str) -> None:
    assert renamed(text, text.index(place), name) == after


@pytest.mark.parametrize(
    ("text", "place", "name", "why"),
    [
        ("(p a)", "(", "q", "there is no name here"),
        ("(role x)", "role", "q", "`role` is a word of the language"),
        ("(ROLE random)", "random", "chance", "`random` is a word of the language"),
        ("(p 10)", "10", "ten", "10 is a number"),
        ("(p a)", "a", "10", "`10` is a number"),
        ("(p a)", "p", "True", "`True` is a word of the language"),
        ("(p a)", "p", "two words", "'two words' is no name"),
        ("(p a)", "p", "", "'' is no name"),
        ("(p a)", "p", "?q", "'?q' is no name"),
        ("(p a)", "p", "q\0", "'q\\x00' is no name"),
        ("(<= (p ?x) (q ?x))", "?x", "?", "'?' is no name"),
        ("(p a)", "p", "a", "this file has the name a already"),
        ("(<= (p ?x) (q ?x ?y))", "?x", "y", "this rule has the name ?y already"),
        ("(role white) (role black)", "black", "White", "this file has the name white already"),
        ("(p a) (q p)", "p", "P", "this file has the name p already"),
        ("(<= (p ?x) (q ?x ?y))", "?x", "Y", "this rule has the name ?y already"),
        ("(p a)\n(<= (q ?x) (p ?x)", "p", "r", "the rule in line 2 has `p` and cannot be read: mend it first"),
        ("(p a)\n(<= (q ?x) (p ?x)", "?x", "?z", "the rule in line 2 has `?x` and cannot be read: mend it first"),
    ],
)
def test_the_error_says_why_a_name_cannot_change(text: str, place: str, name: str, why: str) -> None:
    with pytest.raises(RenamingError, match=f"^{re.escape(why)}"):
        renamed(text, text.index(place), name)


def test_what_may_be_renamed_is_known_before_the_name_is() -> None:
    index = index_symbols(Source("<rules>", "(role white)"))
    assert renamable(index, 6).token.name == "white"
    with pytest.raises(RenamingError, match="`role` is a word of the language"):
        renamable(index, 1)
