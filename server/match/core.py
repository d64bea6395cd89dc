"""A match as a protocol core: what happened goes in, what to do and what that means come out; no socket, no clock.

The phases and their order are the table in `server.match.phases`. The core never waits and never asks an engine
anything: it commands `Ask` and `Evaluate`, and is told by `Answer` and `Evaluated` how these ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gdl.game import Outline, Role
from gdl.terms import Term
from server.match.chance import move_by_chance
from server.match.dialogue import Dialogue, Told, dialogues
from server.match.events import (
    Aborted,
    Answered,
    Closed,
    Completed,
    Failed,
    Message,
    Origin,
    Sent,
    Started,
    StateReached,
    StepFinished,
)  # fmt: skip
from server.match.exchange import (
    AbortRequest,
    Answer,
    Ask,
    Begin,
    Drop,
    Evaluate,
    Evaluated,
    EvaluationFailed,
    Input,
    Output,
    Resume,
)  # fmt: skip
from server.match.past import NOTHING, Past
from server.match.phases import TABLE, Phase, Trigger
from server.match.position import Position
from server.match.rounds import Round
from server.match.setup import MatchSetup, Substitute
from server.match.verdicts import text_of

_NO_ROUND: Final = Round(0, Message.ABORT, ())
_ASKING: Final = {
    Message.PREVIEW: Phase.PREVIEWING,
    Message.START: Phase.STARTING,
    Message.PLAY: Phase.PLAYING,
    Message.STOP: Phase.STOPPING,
    Message.ABORT: Phase.ABORTING,
}


class Match:
    """One match of *game* on the terms of *setup*.

    Raises:
        SeatsError: the seats of *setup* are not one for every role that somebody plays.
    """

    def __init__(self, game: Outline, setup: MatchSetup) -> None:
        self._game, self._setup = game, setup
        self._dialogues = dialogues(game, setup)
        self._phase = Phase.NEW
        self._round = _NO_ROUND
        self._past = NOTHING
        self._position: Position | None = None
        self._outputs: list[Output] = []
        self._at_ms = 0

    @property
    def phase(self) -> Phase:
        """What the match is doing."""
        return self._phase

    @property
    def step(self) -> int:
        """How many joint moves were made and evaluated."""
        return 0 if self._position is None else self._position.step

    def receive(self, happened: Input) -> tuple[Output, ...]:
        """Take notice of what happened, and return what to do and what came of it, in this order.

        What comes too late, or twice, changes nothing.
        """
        self._at_ms, self._outputs = happened.at_ms, []
        match happened:
            case Begin():
                self._begin()
            case Resume(past=past):
                self._resume(past)
            case Answer():
                self._take_answer(happened)
            case Evaluated(position=position):
                self._take_position(position)
            case EvaluationFailed(error=error):
                failed = Failed(self._at_ms, self.step, type(error).__name__, str(error))
                self._give_up(failed, {Phase.OPENING, Phase.EVALUATING})
            case AbortRequest(reason=reason):
                self._give_up(Aborted(self._at_ms, self.step, reason), set(Phase))
        return tuple(self._outputs)

    def _begin(self) -> None:
        if self._phase is Phase.NEW:
            self._outputs.append(Started(self._at_ms, self._setup, self._game.description, self._game.roles))
            self._go_on(Trigger.BEGIN)

    def _resume(self, past: Past) -> None:
        """Work out the states up to the last one again, and go on from there."""
        if self._phase is not Phase.NEW:
            return
        self._past = past
        if past.message is Message.ABORT:
            self._ask_again()
        elif past.was_anybody_told:
            self._phase = Phase.EVALUATING
            self._outputs.append(Evaluate(None, ()))
        else:
            self._go_on(Trigger.BEGIN)

    def _ask_again(self) -> None:
        past, self._past = self._past, NOTHING
        assert past.message is not None
        self._phase = _ASKING[past.message]
        self._ask(past.message, past)

    def _go_on(self, trigger: Trigger) -> None:
        self._phase = TABLE[self._phase, trigger]
        entering: Mapping[Phase, Callable[[], None]] = {
            Phase.OPENING: lambda: self._outputs.append(Evaluate(None, ())),
            Phase.PREVIEWING: lambda: self._ask(Message.PREVIEW),
            Phase.STARTING: lambda: self._ask(Message.START),
            Phase.PLAYING: lambda: self._ask(Message.PLAY),
            Phase.EVALUATING: self._evaluate,
            Phase.STOPPING: self._stop,
            Phase.ABORTING: lambda: self._ask(Message.ABORT),
            Phase.CLOSED: lambda: self._outputs.append(Closed(self._at_ms)),
        }
        entering[self._phase]()

    def _take_position(self, position: Position) -> None:
        if self._phase not in (Phase.OPENING, Phase.EVALUATING):
            return
        self._position = position
        if position.step < len(self._past.moves):
            self._outputs.append(Evaluate(position, tuple(self._past.moves[position.step])))
            return
        if position.step >= self._past.n_states:
            self._outputs.append(StateReached(self._at_ms, position.step, position.facts, position.percepts))
        if self._past.message is not None:
            self._ask_again()
        else:
            self._go_on_from(position)

    def _go_on_from(self, position: Position) -> None:
        self._past = NOTHING
        if self._phase is Phase.OPENING:
            self._go_on(Trigger.GO_ON if self._setup.preview_clock_s is None else Trigger.PREVIEW)
        else:
            self._go_on(Trigger.OVER if position.is_terminal else Trigger.GO_ON)

    def _give_up(self, ending: Aborted | Failed, phases: set[Phase]) -> None:
        if self._phase not in phases or (self._phase, Trigger.ABORT) not in TABLE:
            return
        self._outputs.append(ending)
        if not self._round.is_complete:
            self._outputs.append(Drop(self._round.number))
        self._go_on(Trigger.ABORT)

    def _stop(self) -> None:
        assert self._position is not None
        assert self._position.goals is not None
        self._outputs.append(Completed(self._at_ms, self.step, self._position.goals))
        self._ask(Message.STOP)

    def _ask(self, message: Message, past: Past = NOTHING) -> None:
        self._round = Round(self._round.number + 1, message, self._dialogues)
        for answered in past.answers.values():
            self._round.take(answered)
        asks = [self._question(role, self._dialogues[role]) for role in self._round.pending]
        self._outputs += (Sent(self._at_ms, ask.step, ask.role, message, ask.text) for ask in asks)
        self._outputs += asks
        if self._round.is_complete:
            self._finish_round()

    def _question(self, role: Role, dialogue: Dialogue) -> Ask:
        message = self._round.message
        legal_moves = self._legal_moves(role) if message is Message.PLAY else ()
        text = dialogue.text(message, self._told(role), legal_moves)
        return Ask(self._round.number, role, self.step, message, text, dialogue.limit_s(message))

    def _told(self, role: Role) -> Told:
        position, i = self._position, self._game.roles.index(role)
        if position is None or position.moves is None:
            return Told(0, None, None)
        seen = position.moves if position.percepts is None else position.percepts[i]
        return Told(position.step, seen, position.moves[i])

    def _take_answer(self, answer: Answer) -> None:
        if not self._round.expects(answer.round, answer.role):
            return
        message = self._round.message
        legal_moves = self._legal_moves(answer.role) if message is Message.PLAY else ()
        verdict = self._dialogues[answer.role].judge(answer, message, legal_moves)
        move = self._substitute(answer.role) if legal_moves and verdict.move is None else verdict.move
        answered = Answered(
            self._at_ms, self.step, answer.role, message, text_of(answer), answer.elapsed_ms,
            verdict.error, verdict.detail, move,
        )  # fmt: skip
        self._outputs.append(answered)
        self._round.take(answered)
        if self._round.is_complete:
            self._finish_round()

    def _legal_moves(self, role: Role) -> tuple[Term, ...]:
        assert self._position is not None
        return self._position.legal_moves[self._game.roles.index(role)]

    def _substitute(self, role: Role) -> Term:
        legal_moves = self._legal_moves(role)
        if self._setup.substitute is Substitute.FIRST:
            return legal_moves[0]
        return move_by_chance(legal_moves, self._setup.seed, self.step, role)

    def _finish_round(self) -> None:
        if self._phase in (Phase.STARTING, Phase.PLAYING):
            self._outputs.append(self._step_finished())
        is_over = self._phase is Phase.STARTING and self._position is not None and self._position.is_terminal
        self._go_on(Trigger.OVER if is_over else Trigger.GO_ON)

    def _step_finished(self) -> StepFinished:
        answers = [self._round.answers.get(role) for role in self._game.roles]
        is_play = self._round.message is Message.PLAY
        return StepFinished(
            self._at_ms,
            self.step,
            moves=self._joint_move() if is_play else None,
            errors=tuple("" if answer is None else answer.error for answer in answers),
            details=tuple("" if answer is None else answer.detail for answer in answers),
            elapsed_ms=tuple(None if answer is None else answer.elapsed_ms for answer in answers),
            origins=tuple(map(_origin, answers)) if is_play else (),
        )

    def _joint_move(self) -> tuple[Term, ...]:
        return tuple(self._move(role) for role in self._game.roles)

    def _move(self, role: Role) -> Term:
        if role not in self._dialogues:
            return move_by_chance(self._legal_moves(role), self._setup.seed, self.step, role)
        move = self._round.answers[role].move
        assert move is not None
        return move

    def _evaluate(self) -> None:
        self._outputs.append(Evaluate(self._position, self._joint_move()))


def _origin(answer: Answered | None) -> Origin:
    if answer is None:
        return Origin.CHANCE
    return Origin.SUBSTITUTE if answer.is_substituted else Origin.PLAYER
