"""How a match talks with one player: messages in its dialect, case and names, its replies back in the game's own."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, overload

from gdl.errors import MessageError
from gdl.game import Outline, Role, played_roles
from gdl.language.terms import Constant, Term
from gdl.wire import messages
from gdl.wire.insights import Insight, read_insight, told_line
from gdl.wire.messages import Dialect
from gdl.wire.replies import term_of_text
from gdl.wire.scrambling import Scrambling
from server.errors import SeatsError
from server.match.exchange import Answer, Message
from server.match.position import spaced
from server.match.setup import MatchSetup, Seat
from server.match.verdicts import LegalChoice, Verdict, judge_acknowledgement, judge_move, judge_start


@dataclass(frozen=True, slots=True)
class LastStep:
    """What PLAY and STOP say of the step before: joint move or percepts, and the player's own move; None at first."""

    turn: int
    seen: tuple[Term, ...] | None
    own_move: Term | None


NO_STEP: Final = LastStep(0, None, None)


class _Renamed(Sequence[Term]):
    """Terms under other names, each worked out when it is asked for: most of many moves never are."""

    def __init__(self, terms: Sequence[Term], renamed: Callable[[Term], Term]) -> None:
        self._terms, self._renamed = terms, renamed

    def __len__(self) -> int:
        return len(self._terms)

    @overload
    def __getitem__(self, index: int) -> Term: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Term]: ...
    def __getitem__(self, index: int | slice) -> Term | Sequence[Term]:
        if isinstance(index, slice):
            return _Renamed(self._terms[index], self._renamed)
        return self._renamed(self._terms[index])


class Dialogue:
    """What is said to, and understood of, the player in *seat*; *scrambling* None leaves the names as they are."""

    def __init__(self, game: Outline, setup: MatchSetup, seat: Seat, scrambling: Scrambling | None) -> None:
        self._description, self._setup, self._seat, self._scrambling = game.description, setup, seat, scrambling
        self._dialect = seat.profile.dialect if game.has_imperfect_information else Dialect.GDL1

    def limit_s(self, message: Message) -> float:
        """Return how long the player may take to answer *message*. *Units*: seconds from the start of connecting."""
        clocks_s = {
            Message.PREVIEW: self._setup.preview_clock_s or 0,
            Message.START: self._setup.start_clock_s,
            Message.PLAY: self._setup.play_clock_s,
        }
        return clocks_s.get(message, self._setup.farewell_clock_s) + self._seat.profile.grace_s

    def text(self, message: Message, last_step: LastStep = NO_STEP, legal_moves: tuple[Term, ...] = ()) -> str:
        """Return *message* as the player gets it; PLAY after a line with *legal_moves*, if its profile says so."""
        text = self._in_case(messages.to_text(self._message(message, last_step), self._dialect))
        if message is not Message.PLAY or not self._seat.profile.gets_legal_moves:
            return text
        moves = " ".join(str(self._outwards(move)) for move in legal_moves)
        return f"{self._in_case(f'(LEGAL {self._setup.match_id} ({moves}))')}\n{text}"

    def in_player_names(self, moves: tuple[Term, ...]) -> Sequence[Term]:
        """Return *moves* in the names that the player knows."""
        return moves if self._scrambling is None else _Renamed(moves, self._outwards)

    def _in_case(self, text: str) -> str:
        keyword, _, rest = text.partition(" ")
        match_id = self._setup.match_id if rest.startswith(self._setup.match_id) else ""
        return f"{keyword} {match_id}{self._seat.profile.case.apply(rest[len(match_id) :])}"

    def _message(self, message: Message, last_step: LastStep) -> messages.Message:
        """Return *message* in the player's names."""
        setup = self._setup
        seen = None if last_step.seen is None else tuple(map(self._outwards, last_step.seen))
        own_move = None if last_step.own_move is None else self._outwards(last_step.own_move)
        match message:
            case Message.PREVIEW:
                return messages.Preview(self._rules(), setup.preview_clock_s or 0)
            case Message.START:
                role = self._role_outwards(self._seat.role)
                return messages.Start(setup.match_id, role, self._rules(), setup.start_clock_s, setup.play_clock_s)
            case Message.PLAY:
                return messages.Play(setup.match_id, seen, last_step.turn, own_move)
            case Message.STOP:
                return messages.Stop(setup.match_id, seen, last_step.turn, own_move)
            case Message.ABORT:
                return messages.Abort(setup.match_id)

    def judge(self, answer: Answer, message: Message, legal_moves: tuple[Term, ...]) -> Verdict:
        """Return what *answer* to *message* is worth; moves come back in the game's own names."""
        if message is Message.START:
            return judge_start(answer)
        if message is not Message.PLAY:
            return judge_acknowledgement(answer)
        return judge_move(answer, LegalChoice(legal_moves, self._inwards, self._outwards))

    def insight(self, answer: Answer, message: Message) -> Insight | None:
        """Return what the player says that it thought when it answered PLAY, its line in the game's own names.

        The line ends before the first move that is no term. None where the player does not tell, or tells what cannot
        be understood.
        """
        if not answer.insight or message is not Message.PLAY:
            return None
        try:
            found = read_insight(answer.insight)
        except MessageError:
            return None
        return replace(found, line=told_line(self._line(found.line)))

    def _line(self, told: Sequence[str]) -> Iterator[str]:
        for move in told:
            try:
                yield spaced(self._inwards(term_of_text(move)))
            except MessageError:
                return

    def _rules(self) -> str:
        return self._description.source.text if self._scrambling is None else self._scrambling.rules()

    def _role_outwards(self, role: Role) -> Role:
        outwards = self._outwards(role)
        assert isinstance(outwards, Constant)
        return outwards

    def _outwards(self, term: Term) -> Term:
        return term if self._scrambling is None else self._scrambling.scrambled(term)

    def _inwards(self, term: Term) -> Term:
        return term if self._scrambling is None else self._scrambling.original(term)


def dialogues(game: Outline, setup: MatchSetup) -> dict[Role, Dialogue]:
    """Return the dialogue with each player that is asked.

    Raises:
        SeatsError: the seats of *setup* are not one for every role that a player has.
    """
    roles = played_roles(game)
    if sorted(map(str, roles)) != sorted(str(seat.role) for seat in setup.seats):
        raise SeatsError([str(seat.role) for seat in setup.seats], [str(role) for role in roles])
    is_scrambled = any(seat.profile.is_scrambled for seat in setup.seats)
    scrambling = Scrambling(game.description, setup.scramble_seed) if is_scrambled else None
    seats = {seat.role: seat for seat in setup.seats}
    return {
        role: Dialogue(game, setup, seats[role], scrambling if seats[role].profile.is_scrambled else None)
        for role in roles
    }
