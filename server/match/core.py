"""A match as a protocol core: inputs come in, commands and events go out; no socket, no clock."""

from collections.abc import Iterable
from typing import Final

from gdl.game import Outline, Role
from gdl.language.terms import Term
from server.match import exchange
from server.match.chance import move_by_chance
from server.match.dialogue import Dialogue, LastStep, dialogues
from server.match.exchange import NOT_STARTED
from server.match.phases import TABLE, MatchPhase, Trigger
from server.match.position import Position
from server.match.setup import MatchSetup, Substitute
from server.match.verdicts import BUSY, text_of


class Question:
    """One message to the players of *roles*, and their answers; *number* is its place among those of the match."""

    def __init__(self, number: int, message: exchange.Message, roles: Iterable[Role]) -> None:
        self.number, self.message = number, message
        self.answers: dict[Role, exchange.Answered] = {}
        self._pending = dict.fromkeys(roles)

    @property
    def pending(self) -> tuple[Role, ...]:
        """Whose answers are waited for."""
        return tuple(self._pending)

    def expects(self, number: int, role: Role) -> bool:
        """Return whether the answer of *role* to question *number* is one that this one still waits for."""
        return number == self.number and role in self._pending

    def take(self, answered: exchange.Answered) -> None:
        """Take the answer of a player."""
        del self._pending[answered.role]
        self.answers[answered.role] = answered

    @property
    def is_complete(self) -> bool:
        """Whether every answer is in."""
        return not self._pending


_NO_QUESTION: Final = Question(0, exchange.Message.ABORT, ())
_ASKING: Final = {
    exchange.Message.PREVIEW: MatchPhase.PREVIEWING,
    exchange.Message.START: MatchPhase.STARTING,
    exchange.Message.PLAY: MatchPhase.PLAYING,
    exchange.Message.STOP: MatchPhase.STOPPING,
    exchange.Message.ABORT: MatchPhase.ABORTING,
}


class Match:
    """One match of *game* as *setup* agrees on.

    Raises:
        SeatsError: the seats of *setup* are not one for every role that a player has.
    """

    def __init__(self, game: Outline, setup: MatchSetup) -> None:
        self._game, self._setup = game, setup
        self._dialogues = dialogues(game, setup)
        self._phase = MatchPhase.NEW
        self._question = _NO_QUESTION
        self._resume_state = NOT_STARTED
        self._resumed_step = 0
        self._position: Position | None = None
        self._outputs: list[exchange.Output] = []
        self._at_ms = 0

    @property
    def phase(self) -> MatchPhase:
        """What the match is doing."""
        return self._phase

    @property
    def step(self) -> int:
        """How many joint moves were made and evaluated."""
        # Until the states before are worked out again, the match is where it broke off.
        return self._resumed_step if self._position is None else max(self._resumed_step, self._position.step)

    def receive(self, happened: exchange.Input) -> tuple[exchange.Output, ...]:
        """Take notice of what happened, and return what to do and what came of it, in this order.

        What comes too late, or twice, changes nothing.
        """
        self._at_ms, self._outputs = happened.at_ms, []
        match happened:
            case exchange.Begin():
                self._begin()
            case exchange.Resume(resume_state=resume_state):
                self._resume(resume_state)
            case exchange.Answer():
                self._take_answer(happened)
            case exchange.Evaluated(position=position):
                self._take_position(position)
            case exchange.EvaluationFailed(error=error):
                failed = exchange.Failed(self._at_ms, self.step, type(error).__name__, str(error))
                self._give_up(failed, {MatchPhase.OPENING, MatchPhase.EVALUATING})
            case exchange.AbortRequest(reason=reason):
                self._give_up(exchange.Aborted(self._at_ms, self.step, reason), set(MatchPhase))
        return tuple(self._outputs)

    def _begin(self) -> None:
        if self._phase is MatchPhase.NEW:
            self._outputs.append(exchange.Started(self._at_ms, self._setup, self._game.description, self._game.roles))
            self._go_on(Trigger.BEGIN)

    def _resume(self, resume_state: exchange.ResumeState) -> None:
        """Work out the states up to the last one again, and go on from there."""
        if self._phase is not MatchPhase.NEW:
            return
        self._resume_state, self._resumed_step = resume_state, max(0, resume_state.n_states - 1)
        if resume_state.message is exchange.Message.ABORT:
            self._leave_out(role for role in self._game.roles if str(role) in resume_state.busy)
            self._ask_again()
        elif resume_state.was_anything_sent:
            self._phase = MatchPhase.EVALUATING
            self._outputs.append(exchange.Evaluate(None, ()))
        else:
            self._go_on(Trigger.BEGIN)

    def _ask_again(self) -> None:
        resume_state, self._resume_state = self._resume_state, NOT_STARTED
        assert resume_state.message is not None
        self._phase = _ASKING[resume_state.message]
        self._ask(resume_state.message, resume_state)

    def _go_on(self, trigger: Trigger) -> None:
        """Enter the phase that `TABLE` gives for *trigger*."""
        self._phase = TABLE[self._phase, trigger]
        match self._phase:
            case MatchPhase.PLAYING:
                self._ask(exchange.Message.PLAY)
            case MatchPhase.EVALUATING:
                self._outputs.append(exchange.Evaluate(self._position, self._joint_move()))
            case MatchPhase.OPENING:
                self._outputs.append(exchange.Evaluate(None, ()))
            case MatchPhase.PREVIEWING:
                self._ask(exchange.Message.PREVIEW)
            case MatchPhase.STARTING:
                self._ask(exchange.Message.START)
            case MatchPhase.STOPPING:
                self._stop()
            case MatchPhase.ABORTING:
                self._ask(exchange.Message.ABORT)
            case MatchPhase.CLOSED:
                self._outputs.append(exchange.Closed(self._at_ms))

    def _take_position(self, position: Position) -> None:
        """Take a state that was worked out: replay the joint moves of the resume state, then ask or go on."""
        if self._phase not in (MatchPhase.OPENING, MatchPhase.EVALUATING):
            return
        self._position = position
        if position.step < len(self._resume_state.moves):
            self._outputs.append(exchange.Evaluate(position, tuple(self._resume_state.moves[position.step])))
            return
        if position.step >= self._resume_state.n_states:
            self._outputs.append(
                exchange.StateReached(self._at_ms, position.step, position.text, position.percepts, position.is_common)
            )
        if self._resume_state.message is not None:
            self._ask_again()
        else:
            self._go_on_from(position)

    def _go_on_from(self, position: Position) -> None:
        self._resume_state = NOT_STARTED
        if self._phase is MatchPhase.OPENING:
            self._go_on(Trigger.GO_ON if self._setup.preview_clock_s is None else Trigger.PREVIEW)
        else:
            self._go_on(Trigger.OVER if position.is_terminal else Trigger.GO_ON)

    def _give_up(self, ending: exchange.Aborted | exchange.Failed, phases: set[MatchPhase]) -> None:
        """End the match by *ending* if it is in one of *phases*; players in the match get ABORT."""
        if self._phase not in phases or (self._phase, Trigger.ABORT) not in TABLE:
            return
        if self._resume_state.outcome is not None:
            self._stay_decided(ending)
            return
        self._outputs.append(ending)
        if not self._question.is_complete:
            self._outputs.append(exchange.Drop(self._question.number))
        self._leave_out(self._busy_roles())
        self._go_on(Trigger.ABORT)

    def _stay_decided(self, ending: exchange.Aborted | exchange.Failed) -> None:
        """Keep how the match ended before it broke off; without its last state there are no farewells to send."""
        if isinstance(ending, exchange.Failed):
            self._phase = MatchPhase.CLOSED
            self._outputs.append(exchange.Closed(self._at_ms))

    def _leave_out(self, busy: Iterable[Role]) -> None:
        """Say nothing more to the players of *busy*: they are in another match, if in any."""
        for role in busy:
            del self._dialogues[role]

    def _stop(self) -> None:
        assert self._position is not None
        assert self._position.goals is not None
        self._outputs.append(exchange.Completed(self._at_ms, self.step, self._position.goals))
        self._ask(exchange.Message.STOP)

    def _ask(self, message: exchange.Message, resume_state: exchange.ResumeState = NOT_STARTED) -> None:
        self._question = Question(self._question.number + 1, message, self._dialogues)
        for answered in resume_state.answers.values():
            self._question.take(answered)
        asks = [self._ask_player(role, self._dialogues[role]) for role in self._question.pending]
        self._outputs += (exchange.Sent(self._at_ms, ask.step, ask.role, message, ask.text) for ask in asks)
        self._outputs += asks
        if self._question.is_complete:
            self._close_question()

    def _ask_player(self, role: Role, dialogue: Dialogue) -> exchange.AskPlayer:
        message = self._question.message
        legal_moves = self._legal_moves(role) if message is exchange.Message.PLAY else ()
        text = dialogue.text(message, self._last_step(role), legal_moves)
        limit_s = dialogue.limit_s(message)
        return exchange.AskPlayer(
            self._question.number, role, self.step, message, text, limit_s, dialogue.in_player_names(legal_moves)
        )

    def _last_step(self, role: Role) -> LastStep:
        position, i = self._position, self._game.roles.index(role)
        if position is None or position.moves is None:
            return LastStep(0, None, None)
        seen = position.moves if position.percepts is None else position.percepts[i]
        return LastStep(position.step, seen, position.moves[i])

    def _take_answer(self, answer: exchange.Answer) -> None:
        """Judge *answer*, substitute a move that is not legal, and close the question with the last answer."""
        if not self._question.expects(answer.question, answer.role):
            return
        message = self._question.message
        legal_moves = self._legal_moves(answer.role) if message is exchange.Message.PLAY else ()
        verdict = self._dialogues[answer.role].judge(answer, message, legal_moves)
        move = self._substitute(answer.role) if legal_moves and verdict.move is None else verdict.move
        answered = exchange.Answered(
            at_ms=self._at_ms,
            step=self.step,
            role=answer.role,
            message=message,
            text=text_of(answer),
            elapsed_ms=answer.elapsed_ms,
            error=verdict.error,
            detail=verdict.detail,
            move=move,
            failure=answer.failure,
            insight=self._dialogues[answer.role].insight(answer, message),
        )
        self._outputs.append(answered)
        self._question.take(answered)
        if self._question.is_complete:
            self._close_question()

    def _legal_moves(self, role: Role) -> tuple[Term, ...]:
        assert self._position is not None
        return self._position.legal_moves[self._game.roles.index(role)]

    def _substitute(self, role: Role) -> Term:
        legal_moves = self._legal_moves(role)
        if self._setup.substitute is Substitute.FIRST:
            return legal_moves[0]
        return move_by_chance(legal_moves, self._setup.seed, self.step, role)

    def _close_question(self) -> None:
        """Close the question, and go on; a match in which a player was busy at START is aborted."""
        if self._phase in (MatchPhase.STARTING, MatchPhase.PLAYING):
            self._outputs.append(self._step_finished())
        busy = self._busy_roles()
        if busy:
            # Where names are scrambled roles would tell the game.
            names = list(dict.fromkeys(seat.player_name for seat in self._setup.seats if seat.role in busy))
            reason = f"did not come about: {', '.join(names)} {'was' if len(names) == 1 else 'were'} busy"
            self._give_up(exchange.Aborted(self._at_ms, self.step, reason), {MatchPhase.STARTING})
            return
        is_over = self._phase is MatchPhase.STARTING and self._position is not None and self._position.is_terminal
        self._go_on(Trigger.OVER if is_over else Trigger.GO_ON)

    def _busy_roles(self) -> tuple[Role, ...]:
        """Return whose players said to START that they are busy, and nothing else until the start clock was over."""
        answers = self._question.answers if self._phase is MatchPhase.STARTING else {}
        return tuple(role for role in self._game.roles if role in answers and answers[role].error == BUSY)

    def _step_finished(self) -> exchange.StepFinished:
        """Return the event of a step whose answers are in, its values in the order of the roles."""
        answers = [self._question.answers.get(role) for role in self._game.roles]
        is_play = self._question.message is exchange.Message.PLAY
        failures = tuple("" if answer is None else answer.failure for answer in answers)
        insights = tuple(None if answer is None else answer.insight for answer in answers)
        return exchange.StepFinished(
            self._at_ms,
            self.step,
            moves=self._joint_move() if is_play else None,
            errors=tuple("" if answer is None else answer.error for answer in answers),
            details=tuple("" if answer is None else answer.detail for answer in answers),
            elapsed_ms=tuple(None if answer is None else answer.elapsed_ms for answer in answers),
            origins=tuple(map(_origin, answers)) if is_play else (),
            failures=failures if any(failures) else (),
            insights=insights if any(insights) else (),
        )

    def _joint_move(self) -> tuple[Term, ...]:
        return tuple(self._move(role) for role in self._game.roles)

    def _move(self, role: Role) -> Term:
        if role not in self._dialogues:
            return move_by_chance(self._legal_moves(role), self._setup.seed, self.step, role)
        move = self._question.answers[role].move
        assert move is not None
        return move


def _origin(answer: exchange.Answered | None) -> exchange.MoveOrigin:
    if answer is None:
        return exchange.MoveOrigin.CHANCE
    return exchange.MoveOrigin.SUBSTITUTE if answer.is_substituted else exchange.MoveOrigin.PLAYER
