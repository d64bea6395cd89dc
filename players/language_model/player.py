"""The player `llm`: asks a language model for each move, again within the clock where the answer is none."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gdl.game import Game, Role, State
from gdl.language.terms import Term
from players.deadline import Deadline
from players.human import metadata_for_rules, picture_of
from players.kit.notebook import run_anywhere
from players.language_model.completions import Completion, CompletionError, Endpoint, Message, complete
from players.language_model.conversation import TOOL, Conversation, correction, named_move
from players.language_model.request_log import LoggedRequest, RequestLog
from players.player import Player, check_not_terminal

URL: Final = "GGP_LLM_URL"
KEY: Final = "GGP_LLM_KEY"
MODEL: Final = "GGP_LLM_MODEL"
MAX_REQUESTS: Final = 20
"""How many requests a move may take; where no answer names a move, one that is drawn at random is played."""
_PAUSES_S: Final = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""How long the player waits after the first request without a move, the second, ...; after more, as after the last."""
_LEAST_S: Final = 0.05


class MissingModelError(CompletionError):
    """The player does not know where its model is, or what it is called."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came of one request: a completion, with the move that it names; or none, and for how long to wait."""

    completion: Completion | None = None
    move: Term | None = None
    retry_after_s: float | None = None


class LanguageModelPlayer(Player):
    """Asks a language model, by the chat-completions protocol, for its moves.

    Address, model and key come from the variables GGP_LLM_URL, GGP_LLM_MODEL and GGP_LLM_KEY; *url* and *model* go
    before. Prompts, answers, tokens and times go to the file *log*, a line of JSON for each request, without the key
    and a password of the address; `off` for none.

    Attributes:
        sleep: what waits for some seconds.
    """

    def __init__(  # noqa: PLR0913, PLR0917 -- the words of a player's spec
        self,
        model: str = "",
        url: str = "",
        temperature: float | int | None = None,
        max_tokens: int | None = None,
        tools: bool = True,
        stream: bool = True,
        log: str = "ggp-llm.jsonl",
    ) -> None:
        self.endpoint = Endpoint(
            url or os.environ.get(URL, ""),
            str(model) or os.environ.get(MODEL, ""),
            os.environ.get(KEY, ""),
            temperature,
            max_tokens,
            uses_tools=tools,
            streams=stream,
        )
        self.sleep: Callable[[float], object] = time.sleep
        self._log = RequestLog(None if log == "off" else Path(log), self.endpoint)
        self._conversation: Conversation

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match.

        Raises:
            MissingModelError: neither the spec nor the environment says where the model is, or what it is called.
        """
        super().join(game, role, seed)
        self._log.begin_match()
        for value, name, variable in ((self.endpoint.url, "url", URL), (self.endpoint.model, "model", MODEL)):
            if not value:
                raise MissingModelError("llm", f"set {variable}, or write llm:{name}=...")
        draw = picture_of(metadata_for_rules(game.description), in_colour=False)
        self._conversation = Conversation(game, role, lambda state: draw(game.description, state.facts))

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:
        """Take in a step; the next question tells the model of it."""
        self._conversation.add_step(own_move, percepts)

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the move that the model names; where it names none in time, or in `MAX_REQUESTS` answers, any.

        Raises:
            CompletionError: the server of the model refuses what it is asked, so that asking again is useless.
        """
        check_not_terminal(state)
        legal = state.legal_moves(role)
        if len(legal) == 1:
            return legal[0]
        self.suggest(self.random.choice(legal))
        move = self._named(state, legal, deadline)
        if move is None:
            return self.best_so_far or legal[0]
        self.suggest(move)
        return move

    def _named(self, state: State, legal: Sequence[Term], deadline: Deadline) -> Term | None:
        """Return the move that the model names, asked again and again, None where it names none; raises as `move`."""
        question = messages = self._conversation.question(state, legal)
        for number in range(1, MAX_REQUESTS + 1):
            if deadline.remaining_s <= _LEAST_S:
                break
            answer = self._answer(messages, legal, deadline)
            if answer.move is not None:
                return answer.move
            if answer.completion is not None:
                messages = [*question, *correction(answer.completion, legal)]
            if number < MAX_REQUESTS:
                self._pause(answer.retry_after_s, number, deadline)
        return None

    def _answer(self, messages: Sequence[Message], legal: Sequence[Term], deadline: Deadline) -> _Answer:
        """Return what comes of one request, which the log notes; raises as `move`."""
        began_s = time.monotonic()
        request = LoggedRequest(self.role, self._conversation.n_steps + 1, messages)
        try:
            completion = run_anywhere(lambda: complete(self.endpoint, messages, TOOL, deadline.remaining_s))
        except CompletionError as error:
            self._log.note(request, time.monotonic() - began_s, error=error.reason)
            if error.is_final:
                raise
            return _Answer(retry_after_s=error.retry_after_s)
        found = named_move(completion, legal)
        self._log.note(request, time.monotonic() - began_s, completion, found)
        return _Answer(completion, found)

    def _pause(self, wanted_s: float | None, n_requests: int, deadline: Deadline) -> None:
        """Wait as long as the server wants, else the longer the more *n_requests* were; not beyond *deadline*."""
        pause_s = _PAUSES_S[min(n_requests, len(_PAUSES_S)) - 1] if wanted_s is None else wanted_s
        self.sleep(min(pause_s, deadline.remaining_s))
