"""One match as its player sees it, without I/O or clock: the open question, its deadline, and its answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gdl.diagnostics import escaped
from gdl.errors import MessageError
from gdl.language.terms import Term
from gdl.wire.messages import Play, Start, Stop
from gdl.wire.replies import first_term
from players.kit import worker_protocol

NO_ANSWER: Final = "nil"
_NOT_READY: Final = "its process had found no legal move when the clock ended"
MAX_FAILURE: Final = 1_000
"""How many characters are told of a failure; game managers keep no more."""
MAX_FOLLOW_S: Final = 2.0
"""The limit of the search for the states that agree with a step, if a quarter of the play clock is not less."""
MAX_LOSSES: Final = 3
"""After so many lost workers the author's code is not run again: legal moves are played."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How a clock is divided: `margin_s` before its end the player should stop; it is interrupted, then answered for.

    At most half of a clock is margin. *Units*: seconds.
    """

    margin_s: float = 0.6

    def __post_init__(self) -> None:
        """Raise ValueError where the margin is no time, or less than none."""
        if not self.margin_s >= 0:
            raise ValueError(f"a margin is 0 or more seconds, not {self.margin_s}")

    def ends(self, received_s: float, clock_s: float) -> tuple[float, float, float]:
        """Return the moments when the player should stop, is interrupted, and is answered for."""
        margin_s = min(self.margin_s, clock_s / 2)
        end_s = received_s + clock_s
        return end_s - margin_s, end_s - 0.75 * margin_s, end_s - 0.5 * margin_s


@dataclass(slots=True)
class OpenRequest:
    """A request that waits for its answer: a move, or `ready` (step -1).

    `answer` is fixed once given; `best` is the answer if the clock ends before. `failure` is the first error in the
    author's code meanwhile, `insight` what the player thinks, where it tells.
    """

    step: int
    answer_by_s: float
    play: Play | None = None
    best: str | None = None
    answer: str | None = None
    is_delivered: bool = False
    failure: str = ""
    insight: str = ""

    def close(self) -> str:
        """Return the answer, which from now on does not change."""
        if self.answer is None:
            self.answer = self.best or NO_ANSWER
        return self.answer

    def end_clock(self) -> str:
        """Return the answer at the end of the clock; where no move is known by then, that is a failure."""
        if self.answer is None and self.best is None:
            self.note_failure(_NOT_READY)
        return self.close()

    def note_failure(self, what: str) -> None:
        """Keep *what* went wrong, unless something did before, as a reply can carry it: printable, and not too long."""
        self.failure = self.failure or escaped(what)[:MAX_FAILURE]


class Session:
    """One match: its questions in order, and the steps that were made.

    Attributes:
        is_caught_up: whether the worker has carried out what it was to confirm.
    """

    def __init__(self, start: Start, seed: int, received_s: float, timing: Timing, answered: str | None = None) -> None:
        self.start, self.seed, self.timing = start, seed, timing
        self.roles: tuple[str, ...] = ()
        self.steps: list[worker_protocol.Follow] = []
        self.n_losses = 0
        self.is_refused = False
        self.is_caught_up = True
        clock_s = start.start_clock_s if answered is None else self._follow_s
        *self._start_ends, answer_by_s = timing.ends(received_s, clock_s)
        self.question = OpenRequest(-1, answer_by_s, best="ready", answer=answered)
        self._before = self.question

    @property
    def _follow_s(self) -> float:
        return min(MAX_FOLLOW_S, self.start.play_clock_s / 4)

    def join(self) -> worker_protocol.Join:
        """Return the instruction that begins the match."""
        deadline_s, interrupt_s = self._start_ends
        return self._join(deadline_s, interrupt_s, thinks=True)

    def _join(self, deadline_s: float, interrupt_s: float, *, thinks: bool) -> worker_protocol.Join:
        rules, role = self.start.rules, str(self.start.role)
        return worker_protocol.Join(rules, role, self.seed, deadline_s, interrupt_s, self._follow_s, thinks)

    def is_repeated(self, play: Play, step: int | None = None) -> bool:
        """Return whether *play* asks the current question again; *step* comes from a header, if there is one.

        Two equal joint moves in a row are no repetition, unless the own move in it is not the last answer.
        """
        current = self.question
        step = play.turn if play.turn is not None else step
        if current.play is None:
            return False
        if step is not None:
            return step <= current.step
        if play.told is None:
            return True
        if _folded(play) != _folded(current.play):
            return False
        return not current.is_delivered or self._contradicts_answer(play)

    def _contradicts_answer(self, play: Play) -> bool:
        """Return whether *play* has the own move before the last one, and not the last one."""
        moves, role = play.told or (), str(self.start.role).casefold()
        roles = [name.casefold() for name in self.roles]
        if len(moves) != len(roles) or role not in roles:
            return False
        own_move = str(moves[roles.index(role)]).casefold()
        last, before = (question.answer or "" for question in (self.question, self._before))
        return last.casefold() != own_move == before.casefold()

    def ask(self, play: Play, received_s: float) -> list[worker_protocol.Instruction]:
        """Take in a new question; return the instructions for the worker. `question` is the one to be answered."""
        instructions = self._take_in(play)
        deadline_s, interrupt_s, answer_by_s = self.timing.ends(received_s, self.start.play_clock_s)
        question = self._put(play, answer_by_s)
        return [*instructions, worker_protocol.Ask(question.step, deadline_s, interrupt_s)]

    def catch_up(self, play: Play, received_s: float, answered: str) -> list[worker_protocol.Instruction]:
        """Take in a question that was answered before this process played the match; return the instructions.

        The player does not think: `question` keeps the answer that it had.
        """
        instructions = self._take_in(play)
        self._put(play, received_s).answer = answered
        return instructions

    def confirm(self) -> worker_protocol.Confirm:
        """Return the instruction to confirm that all instructions so far are carried out."""
        self.is_caught_up = False
        return worker_protocol.Confirm()

    def _put(self, play: Play, answer_by_s: float) -> OpenRequest:
        step = self.question.step + 1 if play.turn is None else play.turn
        self._before, self.question = self.question, OpenRequest(step, answer_by_s, play)
        return self.question

    def stop(self, stop: Stop) -> list[worker_protocol.Instruction]:
        """Take in the end of the match; return the instructions for the worker."""
        return self._take_in(stop)

    def _take_in(self, message: Play | Stop) -> list[worker_protocol.Instruction]:
        if message.told is None or message.turn == 0 or (self.question.play is None and _is_blank(message.told)):
            return []
        own_move = None if message.own_move is None else str(message.own_move)
        if own_move is None and self.question.play is not None:
            own_move = _move_in(self.question.answer)
        self.steps.append(worker_protocol.Follow(own_move, tuple(map(str, message.told))))
        return [self.steps[-1]]

    def take_report(self, report: worker_protocol.Report) -> None:
        """Take in a report of the worker."""
        current = self.question
        match report:
            case worker_protocol.Joined(roles):
                self.roles = roles
            case worker_protocol.Confirmed():
                self.is_caught_up = True
            case worker_protocol.Refused():
                self.is_refused, current.best = True, None
                current.close()
            case worker_protocol.Ready() if current.step == -1:
                current.close()
            case worker_protocol.PlayerFailed(what):
                current.note_failure(what)
            case worker_protocol.Best(step, move) if step == current.step:
                current.best = move
            case worker_protocol.Thought(step, text) if step == current.step:
                current.insight = text
            case worker_protocol.Done(step, move) if step == current.step:
                current.best = move or current.best
                current.close()

    def replace(self, now_s: float) -> Iterator[worker_protocol.Instruction]:
        """Yield the instructions for the worker that replaces a lost one; a question with a best move is answered."""
        self.n_losses += 1
        self.question.note_failure("its process ended")
        deadline_s, interrupt_s, _ = self.timing.ends(now_s, min(2, self.start.play_clock_s))
        yield self._join(deadline_s, interrupt_s, thinks=self.n_losses < MAX_LOSSES)
        yield from self.steps
        if not self.is_caught_up:
            yield worker_protocol.Confirm()
        if self.question.best is not None:
            self.question.close()
        elif self.question.answer is None:
            yield worker_protocol.Ask(self.question.step, now_s, now_s, thinks=False)


def _is_blank(told: tuple[Term, ...]) -> bool:
    """Return whether *told* is what some game managers send before the first move in place of NIL: `()` or `(NIL)`."""
    return all(str(term).casefold() == "nil" for term in told)


def _move_in(answer: str | None) -> str | None:
    """Return the move that *answer* begins with, None where it holds none, as an answer from a header may."""
    try:
        return None if answer is None else str(first_term(answer))
    except MessageError:
        return None


def _folded(play: Play) -> str:
    return " ".join(str(term).casefold() for term in play.told or ())
