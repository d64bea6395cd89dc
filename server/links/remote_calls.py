"""Calls between game managers: a question to the one that plays a match, and its answer or the error that it raised."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Final

from gdl.language.kif import read_term
from server.links import errors
from server.links.queued_player import Turn
from server.links.queued_request import request_id
from server.storage.errors import StorageError
from server.storage.notifications import Message

ANSWER_S: Final = 5.0
"""How long the answer of another manager is waited for; the caller may ask again then."""
_OF_REQUEST: Final = (errors.LateReplyError, errors.OtherReplyError, errors.UnknownRequestError)


class RemoteCalls:
    """Asks other managers, and answers them by *answering*, which is given what is asked and its words.

    *send* takes a message and the manager that it is for; *database* is what both work on, for errors.
    """

    def __init__(
        self, database: str, send: Callable[[Message, str], None], answering: Callable[[str, Message], Message]
    ) -> None:
        self._database, self._send, self._answering = database, send, answering
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[Message]] = {}

    async def ask(self, manager: str, what: str, words: Message) -> Message:
        """Return what *manager* answers.

        Raises:
            LateReplyError, OtherReplyError, UnknownRequestError, IllegalChoiceError, NotAskedError: it raised that.
            StorageError: it does not answer.
        """
        number = next(self._numbers)
        answered = self._open[number] = asyncio.get_running_loop().create_future()
        self._send({"kind": "call", "call": number, "what": what, "words": words}, manager)
        try:
            async with asyncio.timeout(ANSWER_S):
                answer: Message = await answered
        except TimeoutError:
            reason = "the game manager that plays the match does not answer"
            raise StorageError(self._database, reason) from None
        finally:
            del self._open[number]
        _raise_told(answer, words)
        return answer

    def answer(self, sender: str, message: Message) -> None:
        """Answer the call *message* of the manager *sender*."""
        try:
            answer = self._answering(message["what"], message["words"])
        except (errors.IllegalChoiceError, errors.NotAskedError, *_OF_REQUEST) as error:
            legal_moves = list(error.legal_moves) if isinstance(error, errors.IllegalChoiceError) else []
            answer = {"error": type(error).__name__, "legalMoves": legal_moves}
        self._send({"kind": "answer", "call": message["call"]} | answer, sender)

    def take_answer(self, message: Message) -> None:
        """Take the answer of another manager, if it is still waited for."""
        asked = self._open.get(message["call"])
        if asked is not None and not asked.done():
            asked.set_result(message)


def _raise_told(answer: Message, words: Message) -> None:
    """Raise the error that another manager tells in *answer* to a question with *words*, if it tells one."""
    name = answer.get("error")
    if name is None:
        return
    if name == errors.IllegalChoiceError.__name__:
        raise errors.IllegalChoiceError(words["move"], answer["legalMoves"])
    if name == errors.NotAskedError.__name__:
        raise errors.NotAskedError(words["step"])
    asked = words.get("request") or request_id(words["match"], words["step"], "PLAY")
    raise {error.__name__: error for error in _OF_REQUEST}[name](asked)


def turn_json(turn: Turn) -> Message:
    """Return *turn* as another manager reads it."""
    return {
        "step": turn.step,
        "legalMoves": list(map(str, turn.legal_moves)),
        "told": None if turn.told is None else list(map(str, turn.told)),
        "secondsLeft": turn.left_s,
    }


def read_turn(told: Message) -> Turn:
    """Return the turn that another manager *told*."""
    perceived = told["told"]
    return Turn(
        told["step"],
        tuple(map(read_term, told["legalMoves"])),
        None if perceived is None else tuple(map(read_term, perceived)),
        told["secondsLeft"],
    )
