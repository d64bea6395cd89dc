"""What the player `llm` and its model say: prompts that tell of the match, and answers that name a move."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gdl.game import Game, Role, State
from gdl.language.terms import Term
from players.language_model.completions import Completion, Message

MAX_RULES: Final = 60_000
"""How much of the rules the player tells the model. *Units*: characters."""
MAX_LISTED: Final = 400
"""How many legal moves are listed."""
MAX_STEPS: Final = 40
"""How many of the last steps the player tells the model."""
_MAX_REPEATED: Final = 500
TOOL: Final[Mapping[str, Any]] = {
    "type": "function",
    "function": {
        "name": "make_move",
        "description": "Make your move in the game. It must be one of the legal moves.",
        "parameters": {
            "type": "object",
            "properties": {"move": {"type": "string", "description": "a legal move, exactly as it is listed"}},
            "required": ["move"],
        },
    },
}
"""The tool with which a model names its move."""
_AT_LINE: Final = r"""^[ \t"'*`#>{-]*(?:(?:my|the|final|next|best|chosen|selected) )*move"""
_WITHIN_LINE: Final = r"""\b(?-i:MOVE)|(?<=[.!?;:] )move|(?<=")move(?=")|\bmy (?:next |final )?move"""
_NAMED: Final = re.compile(
    rf"""(?:(?P<first>{_AT_LINE})|{_WITHIN_LINE})["'*`]*[ \t]*(?:is\b|[:=])""", re.IGNORECASE | re.MULTILINE
)
"""Where a text says which move it is, at the beginning of a line or within: `MOVE: (mark 1 1)`, `"move": "noop"`."""
_MAX_READ: Final = 10_000
"""How much of the end of an answer is read. *Units*: characters."""
_MAX_NAMES: Final = 5
"""How many of the last places that name a move are read."""
_QUOTES: Final = " \t\r\"'`*"


@dataclass(frozen=True, slots=True)
class ObservedStep:
    """What the role saw of a step: its own move if it knows it, and the percepts, in GDL-I the joint move."""

    own_move: Term | None
    percepts: tuple[Term, ...]


class Conversation:
    """The messages of one match: *draw* draws a state as text."""

    def __init__(self, game: Game, role: Role, draw: Callable[[State], str]) -> None:
        self._game, self._role, self._draw = game, role, draw
        self._steps: list[ObservedStep] = []
        self._messages: list[Message] = [{"role": "system", "content": self._opening()}]

    def add_step(self, own_move: Term | None, percepts: Sequence[Term]) -> None:
        """Keep what the role saw of a step."""
        self._steps.append(ObservedStep(own_move, tuple(percepts)))

    @property
    def n_steps(self) -> int:
        """How many steps were made."""
        return len(self._steps)

    def question(self, state: State, legal: Sequence[Term]) -> list[Message]:
        """Return the messages that ask for one of the *legal* moves in *state*."""
        return [*self._messages, {"role": "user", "content": self._question(state, legal)}]

    def _opening(self) -> str:
        roles = ", ".join(map(str, self._game.roles))
        rules = self._game.description.source.text
        shown = rules if len(rules) <= MAX_RULES else f"{rules[:MAX_RULES]}\n; ... the rest is left out"
        return (
            f"You play a game as the role {self._role}; the roles are {roles}. At the end of the game each role has a "
            "goal from 0 to 100, and you want yours to be as large as possible. These are the rules, in the Game "
            "Description Language: init says what holds at first, legal which moves are allowed, next what holds after "
            "a step in which each role does its move, terminal when the game ends, and goal what the end is worth. All "
            f"roles move in each step; a role that has no choice has one legal move.\n\n{shown}\n\n"
            "Think as briefly as you can. Then name one of the legal moves: by the tool make_move, or else by a last "
            "line `MOVE: ` and the move, exactly as it is listed."
        )

    def _question(self, state: State, legal: Sequence[Term]) -> str:
        parts = [f"Step {self.n_steps + 1}. You are {self._role}.", *self._history(), *self._position(state)]
        listed = "\n".join(map(str, legal[:MAX_LISTED]))
        more = "" if len(legal) <= MAX_LISTED else f"\n... and {len(legal) - MAX_LISTED} more"
        return "\n\n".join([*parts, f"Your legal moves:\n{listed}{more}", "Which one do you make?"])

    def _history(self) -> Iterator[str]:
        shown = self._steps[-MAX_STEPS:]
        if not shown:
            return
        first = self.n_steps - len(shown) + 1
        yield "What happened:\n" + "\n".join(
            f"{number}. {self._told(step)}" for number, step in enumerate(shown, first)
        )

    def _told(self, step: ObservedStep) -> str:
        if self._game.has_imperfect_information:
            own = "your move was lost" if step.own_move is None else f"you made {step.own_move}"
            return f"{own}; you saw {', '.join(map(str, step.percepts)) or 'nothing'}"
        return ", ".join(f"{role} made {move}" for role, move in zip(self._game.roles, step.percepts, strict=False))

    def _position(self, state: State) -> Iterator[str]:
        is_guess = self._game.has_imperfect_information
        picture = self._draw(state)
        if picture:
            yield f"The board{', as it may be' if is_guess else ''}:\n{picture}"
        holds = "What may hold, by what you saw" if is_guess else "What holds"
        yield f"{holds}:\n{' '.join(sorted(map(str, state.facts)))}"


def correction(completion: Completion, legal: Sequence[Term]) -> list[Message]:
    """Return the messages that tell a model that its answer names no legal move."""
    said = (completion.text or completion.call)[-_MAX_REPEATED:]
    listed = ", ".join(map(str, legal[:MAX_LISTED]))
    why = f"That names none of your legal moves. They are: {listed}. Answer with one of them: `MOVE: ` and the move."
    return [{"role": "assistant", "content": said}, {"role": "user", "content": why}]


def named_move(completion: Completion, legal: Sequence[Term]) -> Term | None:
    r"""Return the legal move that the answer names: by the tool, by `MOVE:`, or as the only move in its last line.

    The last `MOVE:` counts, and one at the beginning of a line before all within lines. Of an answer that was cut off,
    nothing but what it says outright counts.

    Example:
        >>> from gdl import read_term
        >>> answer = Completion(text="I take the centre.\nMOVE: (mark 2 2)", is_whole=True)
        >>> named_move(answer, [read_term("(mark 2 2)")])
        <Compound (mark 2 2)>
    """
    called = _called(completion.call)
    if called is not None and (found := _first(called, legal, is_whole=True)) is not None:
        return found
    for text, has_ended in _named(completion.text):
        found = _first(text, legal, is_whole=completion.is_whole or has_ended)
        if found is not None:
            return found
    lines = completion.text.strip().splitlines()
    if not completion.is_whole or not lines:
        return None
    found_there = [move for move in legal if _stands_in(str(move), lines[-1][-_MAX_READ:])]
    return found_there[0] if len(found_there) == 1 else None


def _named(text: str) -> list[tuple[str, bool]]:
    """Return what follows the last names of a move, the likeliest first, each to the next name or the end of its line.

    Each comes with whether it has ended, or is where the text was cut off.
    """
    places = [*_NAMED.finditer(text, max(0, len(text) - _MAX_READ))][-_MAX_NAMES:]
    at_lines, within_lines = list[tuple[str, bool]](), list[tuple[str, bool]]()
    end = len(text)
    for place in reversed(places):
        line_end = text.find("\n", place.end(), end)
        said = text[place.end() : end if line_end < 0 else line_end]
        has_ended = line_end >= 0 or end < len(text)
        (within_lines if place["first"] is None else at_lines).append((said, has_ended))
        end = place.start()
    return at_lines + within_lines


def _called(call: str) -> str | None:
    """Return the move of a call of the tool; a call that was cut off has none."""
    try:
        arguments = json.loads(call)
    except (ValueError, RecursionError):
        return None
    move = arguments.get("move") if isinstance(arguments, dict) else None
    return move if isinstance(move, str) else None


def _first(text: str, legal: Sequence[Term], *, is_whole: bool) -> Term | None:
    """Return the longest legal move with which *text* begins, with its parentheses or without."""
    said = " ".join(text.strip(_QUOTES).split()).casefold()
    found: Term | None = None
    for move in legal:
        written = str(move).casefold()
        begins = said.startswith("(") or not written.startswith("(")
        begin = written if begins else written[1:-1]
        after = said[len(begin) : len(begin) + 1]
        is_all = begin.endswith(")") or (is_whole if not after else not (after.isalnum() or after in "_+-"))
        if said.startswith(begin) and is_all and (found is None or len(written) > len(str(found))):
            found = move
    return found


def _stands_in(move: str, line: str) -> bool:
    is_there = move.casefold() in line.casefold()
    return is_there and re.search(rf"(?<![\w(]){re.escape(move)}(?![\w)])", line, re.IGNORECASE) is not None
