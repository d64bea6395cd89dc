"""Matches in a notebook: watched while they are played, stepped through with a slider, played by clicking.

Games, states, matches and records show themselves as boards, without anything of this module (`gdl.display`). What has
a slider or buttons needs the extra `notebook`, which brings ipywidgets.
"""

import html
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from gdl.boards import GameMetadata, board_of, layout_of, svg_of
from gdl.boards.moves import arrows, emphasis
from gdl.display import metadata_beside
from gdl.engines import make_game
from gdl.errors import GdlError, UnknownNameError
from gdl.extras import extra_module
from gdl.game import Game, Role, State, played_roles
from gdl.games.library import find_game, same_game
from gdl.language.terms import Constant, Term
from players.deadline import Deadline
from players.kit.local_match import LocalMatch
from players.player import Player
from players.registry import find_player
from server.errors import NoRoleError
from server.records.errors import MatchRecordError
from server.records.replay import replay
from server.records.stored_record import StoredRecord, read_stored
from server.terminal.progress import progress

__all__ = ["counted", "play", "read_record", "step_through", "watch"]

OPPONENT: Final = "mcts:playouts=400"
MAX_BUTTONS: Final = 40
"""Where there are more legal moves, they are a list to choose from."""
_STEP_MS: Final = 700
"""How long a step stands while a match is shown like a film."""

_T = TypeVar("_T")


def read_record(path: str | Path) -> StoredRecord:
    """Return the match record at *path*, which a notebook shows by its last position.

    Raises: as `server.records.stored_record.read_stored`.
    """
    return read_stored(Path(path))


def counted(items: Collection[_T], what: str) -> Iterator[_T]:
    """Yield *items*, with a bar called *what* that says how many of them are done, if it takes long."""
    with progress(what, len(items)) as advance:
        for item in items:
            yield item
            advance()


def watch(match: LocalMatch) -> LocalMatch:
    """Play *match* to its end in a notebook, its board drawn again after each step; return it.

    Raises:
        MissingExtraError: IPython is not installed.
        IllegalMoveError, NoLegalMoveError: as `LocalMatch.play`.
    """
    shown = extra_module("IPython.display", "notebook", "a match that is watched").display(match, display_id=True)
    for _ in match.play():
        if shown is not None:  # outside of a notebook there is nothing to draw again
            shown.update(match)
    return match


def step_through(match: LocalMatch | StoredRecord | str | Path) -> Any:
    """Return a widget that shows *match*, or the record at that path, step by step: a slider, and a button to play.

    A record is played again by its rules, and compared with them.

    Raises:
        MissingExtraError: ipywidgets is not installed.
        MatchRecordError: it is no record, or carries no rules.
        RecordDiffersError: the record differs from its rules.
        OSError: it cannot be read.
    """
    widgets = extra_module("ipywidgets", "notebook", "a widget")
    frames = _frames_of_match(match) if isinstance(match, LocalMatch) else _frames_of_record(match)
    last = len(frames.states) - 1
    slider = widgets.IntSlider(value=0, min=0, max=last, description="step")
    film = widgets.Play(value=0, min=0, max=last, interval=_STEP_MS)
    widgets.jslink((film, "value"), (slider, "value"))
    board, words = widgets.HTML(), widgets.HTML()

    def show(step: int) -> None:
        board.value, words.value = frames.svg(step), html.escape(frames.words(step))

    slider.observe(lambda change: show(change["new"]), names="value")
    show(0)
    return widgets.VBox([widgets.HBox([film, slider]), board, words])


def play(
    game: str | Path | Game,
    role: str | Role | None = None,
    *,
    opponent: str = OPPONENT,
    seed: int = 0,
    clock_s: float = 5.0,
) -> Any:
    """Return a widget in which a person plays *role* of *game*, the first one by default, by choosing legal moves.

    *game* is one of the library by name, the path of a rule file, or a game object.
    *opponent* plays the other roles, as `ggp player` takes it. The person is shown only what the role may know.
    *Units*: seconds for *clock_s*, in which the opponent moves.

    Raises:
        MissingExtraError: ipywidgets is not installed.
        UnknownNameError: no game, role or player has that name.
        NoRoleError: no role of the game is a player's.
        PlayerFileError: a file holds no player.
    """
    widgets = extra_module("ipywidgets", "notebook", "a widget")
    metadata = None
    if isinstance(game, (str, Path)):
        file = find_game(game)
        game, metadata = make_game(file.read()), file.metadata()
    mine, make_opponent = _role(game, role), find_player(opponent)
    person = _Clicker()
    players = {other: person if other is mine else make_opponent() for other in played_roles(game)}
    return _Table(widgets, LocalMatch(game, players, seed, clock_s), person, mine, metadata).box


def _role(game: Game, wanted: str | Role | None) -> Role:
    names = [str(role) for role in played_roles(game)]
    if not names:
        raise NoRoleError
    name = names[0] if wanted is None else str(wanted)
    if name not in names:
        raise UnknownNameError("role", name, names)
    return Constant(name)


class _Frames:
    """The states of a match, each with the joint move that led to it, as pictures and words."""

    def __init__(
        self, game: Game, metadata: GameMetadata | None, steps: Iterable[tuple[State, tuple[Term, ...]]]
    ) -> None:
        metadata = metadata or metadata_beside(game.description)
        self._game, self._title = game, metadata.title if metadata else "Board"
        self._layout = layout_of(game.description, metadata)
        self.states, self._moves = map(list, zip(*steps, strict=True))

    def svg(self, step: int) -> str:
        """Return the picture of a step, with the last move marked."""
        description, states, moves = self._game.description, self.states, self._moves[step]
        board = board_of(self._layout, description, states[step].facts)
        before = board_of(self._layout, description, states[step - 1].facts) if step else None
        marks, ways = emphasis(moves, board, before), arrows(moves, board)
        return svg_of(board, standalone=True, title=f"{self._title}, step {step}", highlighted=marks, arrows=ways)

    def words(self, step: int) -> str:
        """Return in words what led to a step, and the goals at the end."""
        told = [f"step {step}"]
        told += [f"{role}: {move}" for role, move in zip(self._game.roles, self._moves[step], strict=False)]
        result = _result(self._game, self.states[step])
        return "; ".join([*told, result] if result else told)


def _result(game: Game, state: State) -> str:
    if not state.is_terminal:
        return ""
    return "result: " + " ".join(f"{role}={state.goal(role)}" for role in played_roles(game))


def _frames_of_match(match: LocalMatch) -> _Frames:
    first = (match.game.initial_state, ())
    return _Frames(match.game, None, [first, *((step.state, step.moves) for step in match.steps)])


def _frames_of_record(record: StoredRecord | str | Path) -> _Frames:
    if not isinstance(record, StoredRecord):
        record = read_record(record)
    description = record.description()
    if description is None:
        raise MatchRecordError("the record carries no rules, so that it cannot be played again")
    game, file = make_game(description), same_game(record.game or "", description)
    steps: list[tuple[State, tuple[Term, ...]]] = []
    led: tuple[Term, ...] = ()
    with progress("playing the record again", len(record.moves)) as advance:
        for at in replay(game, record):
            steps.append((at.state, led))
            led = at.moves or ()
            advance()
    return _Frames(game, file.metadata() if file else None, steps)


class _Clicker(Player):
    """Makes the move that was chosen by a click, and keeps what its role perceived since."""

    chosen: Term

    def __init__(self) -> None:
        self.perceived: list[tuple[Term, ...]] = []

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return the move that was chosen."""
        return self.chosen

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:  # noqa: ARG002 -- as above
        """Keep *percepts*."""
        self.perceived.append(tuple(percepts))

    def known(self) -> frozenset[Term] | None:
        """Return what holds in every state that is possible; None where these are not all known."""
        states = [state.facts for state in self.worlds.states]
        return frozenset.intersection(*states) if self.worlds.is_exact else None


class _Table:
    """The widget at which a person plays: a board, what happened, and the legal moves."""

    def __init__(
        self, widgets: Any, match: LocalMatch, person: _Clicker, role: Role, metadata: GameMetadata | None
    ) -> None:
        self._widgets, self._match, self._person, self._role = widgets, match, person, role
        self._layout = layout_of(match.game.description, metadata or metadata_beside(match.game.description))
        self._steps = match.play()
        self._n_clicks = 0
        self._board, self._words = widgets.HTML(), widgets.HTML()
        self._choices = widgets.Box(layout={"flex_flow": "row wrap"})
        self.box = widgets.VBox([self._board, self._words, self._choices])
        self._go_on()

    def _choose(self, move: Term) -> None:
        """Make *move*, and go on to the next choice of the person, or to the end."""
        self._person.perceived.clear()
        self._choices.children = ()
        self._words.value = "thinking ..."
        try:
            self._step(move)
            self._go_on()
        except Exception as error:  # a player may fail in any way, and a notebook shows no errors of clicks
            reason = str(error) if isinstance(error, GdlError) else f"{type(error).__name__}: {error}"
            self._words.value = f"the match cannot go on: {html.escape(reason)}"

    def _step(self, move: Term) -> None:
        self._person.chosen = move
        next(self._steps)

    def _go_on(self) -> None:
        """Make the moves that are the only ones, then show the board and the choice."""
        while len(legal := self._legal()) == 1:
            self._step(legal[0])
        if self._match.state.is_terminal:
            next(self._steps, None)  # the players learn of the end
        self._show()
        self._offer(legal)

    def _legal(self) -> tuple[Term, ...]:
        state = self._match.state
        return () if state.is_terminal else state.legal_moves(self._role)

    def _show(self) -> None:
        game, state = self._match.game, self._match.state
        known = self._person.known() if self._match.steps and not state.is_terminal else state.facts
        if known is not None:
            self._board.value = svg_of(board_of(self._layout, game.description, known), standalone=True)
        told = [f"You are {self._role}."]
        told += [_told(game, percepts) for percepts in self._person.perceived]
        self._words.value = "<br>".join(html.escape(line) for line in [*told, _result(game, state)] if line)

    def _offer(self, legal: Sequence[Term]) -> None:
        if len(legal) <= MAX_BUTTONS:
            self._choices.children = tuple(self._button(str(move), partial(self._choose, move)) for move in legal)
            return
        chooser = self._widgets.Dropdown(options=[(str(move), move) for move in legal])
        self._choices.children = (chooser, self._button("move", lambda: self._choose(chooser.value)))

    def _button(self, text: str, act: Callable[[], None]) -> Any:
        """Return a button that calls *act* when it is clicked, if it is the first one of its choice."""
        button = self._widgets.Button(description=text, tooltip=text, layout={"width": "auto"})
        n_clicks = self._n_clicks

        def on_click(_: Any) -> None:
            if n_clicks == self._n_clicks:  # a double click comes from a button that has been replaced
                self._n_clicks += 1
                act()

        button.on_click(on_click)
        return button


def _told(game: Game, percepts: Sequence[Term]) -> str:
    """Return in words what a step told: the joint move, or in a hidden game the percepts."""
    if game.has_imperfect_information:
        return f"you perceive: {' '.join(map(str, percepts))}" if percepts else ""
    return "; ".join(f"{role}: {move}" for role, move in zip(game.roles, percepts, strict=True))
