"""Random games from a seed: rule files that are valid, and mostly end, so that what random plays come to is known.

Plain noise derives next to nothing. So a game has a frame (roles, things, a count of steps, a state that changes by
moves and by itself), and what fills it is drawn: relations with random rules, and relations of known shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from tests.fuzz.evaluator import NaiveGame
from tests.fuzz.rules import PAIR, THING, Relation
from tests.fuzz.shapes import Level, ShapeWriter
from tests.kit.gdl.oracle import TooLarge

THINGS: Final = ("a", "b", "c", "(f a)", "(g a b)")
FLUENTS: Final = (
    Relation("at", THING),
    Relation("link", PAIR),
    Relation("owner", ("thing", "role")),
    *(Relation(name) for name in ("flag", "lamp", "door", "gate", "bell")),
)
MOVES: Final = (Relation("go", THING), Relation("take", THING), Relation("press"), Relation("join", PAIR))


MAX_DRAWS: Final = 5
DULL_SHARE: Final = 0.1
"""How many of the games in which it does not matter what is played are kept."""


@dataclass(frozen=True)
class Game:
    """A random game: its rules, one a line, and what it was drawn to have."""

    text: str
    features: frozenset[str]


def random_game(seed: int) -> Game:
    """Return the random game of that number; one in which it does not matter what is played is mostly drawn again."""
    random = Random(f"game {seed}")
    for _ in range(MAX_DRAWS - 1):
        game = _GameWriter(random).game()
        if random.random() < DULL_SHARE or not _is_dull(game.text):
            return game
    return _GameWriter(random).game()


def _is_dull(text: str) -> bool:
    """Return whether all plays come to the same."""
    try:
        naive = NaiveGame(text, n_steps=200)
        return len(naive.ends(naive.initial)) < 2
    except TooLarge:
        return False


class _GameWriter(ShapeWriter):
    """Writes one game; what is drawn first may be used by all that is drawn later."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self._is_small = self.chance(0.8)
        self._roles: list[str] = []
        self._moves: list[Relation] = []
        self._fluents: list[Relation] = []
        self._static = [Relation("thing", THING), Relation("role", ("role",))]
        self._state: list[Relation] = []
        self._has_turns = False

    def game(self) -> Game:
        """Return the game."""
        self._write_roles()
        self._write_static()
        self._write_steps()
        self._write_cycles()
        self._write_fluents()
        for _ in range(self.random.randint(1, 4)):
            self.write_shape(Level("d", self._known, self._state))
        self._write_legal()
        self._write_changes()
        self._write_ends()
        self._write_percepts()
        self.random.shuffle(self.rules)
        return Game("\n".join(self.rules) + "\n", frozenset(self.features))

    @property
    def _known(self) -> list[Relation]:
        """What the rules about a state may be written from."""
        return [*self._static, *self._state, *self._state]

    def _write_roles(self) -> None:
        n_roles = self.random.choice((1, 1, 2, 2, 3) if self._is_small else (2, 3))
        self._roles = ["red", "blue", "green"][:n_roles]
        if n_roles > 1:
            self.features.add("several roles")
        if self.has("random", 0.25):
            self._roles.insert(self.random.randrange(n_roles + 1), "random")
        things = self.random.sample(THINGS, self.random.randint(2, 3 if self._is_small else 4))
        if any("(" in thing for thing in things):
            self.features.add("functions")
        self.constants = {"role": self._roles, "thing": things, "number": ("1", "2", "3")}
        for kind, values in self.constants.items():
            for value in values:
                self.add(f"({kind} {value})")

    def _write_static(self) -> None:
        """Write relations that are the same in all states, some of them recursive."""
        edge = Relation("edge", PAIR)
        for _ in range(self.random.randint(2, 5)):
            self.add(edge.atom(*self.ground(PAIR)))
        self._static.append(edge)
        if self.chance(0.4):
            place: list[Relation] = []
            self.write_shape(Level("s", self._static, place))
            self._static += place
        if self.has("lists", 0.1):
            self.features |= {"functions", "recursion"}
            for rule in ("(list 0 nil)", "(more 0 1)", "(more 1 2)"):
                self.add(rule)
            self.add("(list ?n (cons ?x ?l))", "(more ?m ?n)", "(list ?m ?l)", "(edge ?x ?y)")
            self.add("(listed ?x)", f"(list ?n (cons ?x (cons {self.ground(THING)[0]} ?l)))")
            self._static.append(Relation("listed", THING))
        if self.has("base and input", 0.1):
            self.add("(base (at ?x))", "(edge ?x ?y)")
            self.add("(input ?r (go ?x))", "(role ?r)", "(edge ?y ?x)")
            self._static += [Relation("at", THING, "(base *)"), Relation("go", THING, "(input red *)")]

    def _write_steps(self) -> None:
        """Write a count of steps, at whose end most games end."""
        if not self.has("count of steps", 0.8):
            return
        last = self.random.randint(3, 5) if self._is_small else self.random.randint(4, 8)
        for step in range(1, last):
            self.add(f"(succ {step} {step + 1})")
        self.add("(init (step 1))")
        self.add("(next (step ?n))", "(true (step ?m))", "(succ ?m ?n)")
        self.add("terminal", f"(true (step {last}))")
        self._static.append(Relation("succ", ("number", "number")))
        self._state.append(Relation("step", ("number",), "(true *)"))

    def _write_cycles(self) -> None:
        """Write fluents that run by themselves in a cycle: whose turn it is, or the phase of a turn."""
        if len(self._roles) > 1 and self.has("turns", 0.45):
            self._has_turns = True
            self._write_cycle("control", self._roles)
            self._state.append(Relation("control", ("role",), "(true *)"))
        if self.has("phases", 0.45):
            self._write_cycle("phase", [f"p{i}" for i in range(self.random.choice((2, 2, 3, 4)))])
        if self.has("second cycle", 0.1):
            self._write_cycle("tide", [f"w{i}" for i in range(self.random.choice((2, 3, 5)))])

    def _write_cycle(self, name: str, values: Sequence[str]) -> None:
        self.add(f"(init ({name} {self.random.choice(values)}))")
        for now, then in zip(values, [*values[1:], values[0]], strict=True):
            self.add(f"(next ({name} {then}))", f"(true ({name} {now}))")
            self.guards.append(f"(true ({name} {now}))")

    def _write_fluents(self) -> None:
        self._fluents = self.random.sample(FLUENTS, self.random.randint(2, 4 if self._is_small else 6))
        for fluent in self._fluents:
            if fluent.kinds and self.has("first state by rules", 0.15):
                self.rule(fluent.within("(init *)"), self._static, n_literals=1)
            for _ in range(self.random.choice((0, 1, 1, 2, 3))):
                self.add(fluent.within("(init *)").atom(*self.ground(fluent.kinds)))
        self._state += [fluent.within("(true *)") for fluent in self._fluents]

    def _write_legal(self) -> None:
        self._moves = self.random.sample(MOVES[: 3 if self._is_small else 4], self.random.randint(1, 2))
        for role in self._roles:
            turn = [f"(true (control {role}))"] if self._has_turns and self.chance(0.8) else []
            possible = len(self.rules)
            for move in self.random.sample(self._moves, self.random.randint(1, len(self._moves))):
                n_literals = self.random.choice((0, 0, 0, 1, 1, 2))
                names = move.variables() if self.chance(0.8) else None
                head = move.within(f"(legal {role} *)")
                self.rule(head, self._known, *turn, n_literals=n_literals, arguments=names)
            self._write_pass(role, self.rules[possible:])
        if self.chance(0.2):
            move = self.random.choice(self._moves)
            self.rule(move.within("(legal ?r *)"), self._known, "(role ?r)", n_literals=1)

    def _write_pass(self, role: str, possible: Sequence[str]) -> None:
        """Write the move that there always is, or that there is where no other is possible, or none."""
        kind = self.random.random()
        if kind < 0.7:
            self.add(f"(legal {role} stay)")
        elif kind < 0.95:
            self.features.add("pass where nothing else is possible")
            self.rules += [rule.replace(f"(legal {role}", f"(possible {role}") for rule in possible]
            self.add(f"(can {role})", f"(possible {role} ?x)")
            self.add(f"(legal {role} pass)", f"(not (can {role}))")
        else:
            self.features.add("perhaps no legal move")

    def _write_changes(self) -> None:
        """Write relations over moves, and what is true next."""
        moved = [move.within(f"(does {role} *)") for move in self._moves for role in self._roles]
        moved += [move.within("(does ?r *)") for move in self._moves]
        for move in self._moves:
            if move.kinds and self.chance(0.5):
                acted = self.new("m", THING)
                self.add(acted.atom("?x"), f"(does ?r {move.atom('?x', '?y')})")
                moved.append(acted)
        if len(self._roles) > 1 and self.has("joint moves", 0.4):
            first, second = self.random.sample(self._roles, 2)
            move, clash = self.random.choice(self._moves), self.new("m", THING)
            both = [move.within(f"(does {role} *)").atom("?x", "?y") for role in (first, second)]
            self.add(clash.atom("?x"), *both)
            moved.append(clash)
        if self.has("recursion over moves", 0.3):
            self.write_loop(Level("m", [*self._known, *moved], moved))
        known = [*self._known, *moved, *moved]
        for fluent in self._fluents:
            head = fluent.within("(next *)")
            if self.chance(0.75):
                self._write_effect(head)
            for _ in range(self.random.choice((0, 0, 1, 1, 2))):
                self.rule(head, known, n_literals=self.random.choice((1, 1, 2, 2, 3)))
            if self.chance(0.5):
                names = fluent.variables()
                unless = [self.test(known, names)] if self.chance(0.7) else []
                self.add(head.atom(*names), fluent.within("(true *)").atom(*names), *unless)

    def _write_effect(self, head: Relation) -> None:
        """Write what a move does without further conditions."""
        role, move = self.random.choice(self._roles), self.random.choice(self._moves)
        names = move.variables()
        done = move.atom(*(names if self.chance(0.7) else self.ground(move.kinds)))
        self.add(self.literal(head, names), f"(does {role} {done})")

    def _write_ends(self) -> None:
        """Write when the play is over, and the goals: one for each case of a few conditions, or by any rules."""
        has_steps = "count of steps" in self.features
        fluents = [fluent.within("(true *)") for fluent in self._fluents]
        if not has_steps or self.chance(0.5):
            begun = ["(not (true (step 1)))"] if has_steps and self.chance(0.7) else []
            self.rule(Relation("terminal"), [*fluents, *self._state], *begun, n_literals=self.random.choice((1, 2, 2)))
        for role in self._roles:
            if self.chance(0.2):
                for _ in range(self.random.randint(1, 3)):
                    self.rule(Relation(f"(goal {role} {self._points()})"), self._state)
                continue
            cases: list[str] = []
            for _ in range(self.random.randint(1, 3)):
                case = self.new("case", ())
                self.rule(case, [*fluents, *fluents, *self._state], n_literals=self.random.choice((1, 1, 2)))
                condition = case.atom() if self.chance(0.6) else self.literal(self.random.choice(fluents), ())
                self.add(f"(goal {role} {self._points()})", *cases, condition)
                cases.append(f"(not {condition})")
            self.add(f"(goal {role} {self._points()})", *cases)
        if self.chance(0.1):
            self.rule(Relation("(goal ?r 75)"), self._state, "(role ?r)")

    def _points(self) -> int:
        return self.random.choice((0, 10, 25, 50, 75, 90, 100))

    def _write_percepts(self) -> None:
        if not self.has("sees", 0.3):
            return
        for role in self._roles:
            move, other = self.random.choice(self._moves), self.random.choice(self._roles)
            atom = move.atom(*move.variables())
            unless = [self.test(self._known, move.variables())] if self.chance(0.5) else []
            self.add(f"(sees {role} {atom})", f"(does {other} {atom})", *unless)
        fluent = self.random.choice(self._fluents)
        self.rule(fluent.within("(sees ?r *)"), self._known, "(role ?r)")
