"""The log of the player `llm`: a line of JSON for each request to its model, without the secrets of the endpoint."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from gdl.game import Role
from gdl.language.terms import Term
from players.language_model.completions import Completion, Endpoint, Message

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A request for a move: whose it is, in which step, the first being 1, and the messages that it goes on after."""

    role: Role
    step: int
    messages: Sequence[Message]


class RequestLog:
    """Writes the requests to *endpoint* to the file at *path*, or nowhere; where that fails, it says so once."""

    def __init__(self, path: Path | None, endpoint: Endpoint) -> None:
        self._path, self._endpoint = path, endpoint
        self._logged: Sequence[Message] = ()

    def begin_match(self) -> None:
        """Write all messages of the next request."""
        self._logged = ()

    def note(
        self,
        request: LoggedRequest,
        elapsed_s: float,
        completion: Completion | None = None,
        move: Term | None = None,
        error: str | None = None,
    ) -> None:
        """Write a line: the messages of *request* that no line has, what came of it, and how long it took."""
        if self._path is None:
            return
        line: dict[str, Any] = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "url": self._endpoint.shown_url,
            "model": self._endpoint.model,
            "role": str(request.role),
            "step": request.step,
            "messages": self._new(request.messages),
            "seconds": round(elapsed_s, 3),
            **({} if completion is None else _answered(completion)),
            "move": None if move is None else str(move),
            "error": error,
        }
        self._write(self._path, json.dumps(self._redacted(line)))

    def _write(self, path: Path, line: str) -> None:
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
        except OSError as failure:
            reason = failure.strerror or str(failure)
            _LOG.warning("%s cannot be written, requests are not logged any more: %s", path, reason)
            self._path = None

    def _redacted(self, value: Any) -> Any:
        """Return *value* with all its texts redacted; its names stay as they are, whatever the secrets are."""
        if isinstance(value, str):
            return self._endpoint.redacted(value)
        if isinstance(value, list):
            return [self._redacted(each) for each in value]
        if isinstance(value, dict):
            return {name: self._redacted(each) for name, each in value.items()}
        return value

    def _new(self, messages: Sequence[Message]) -> list[Message]:
        """Return those of *messages* that no line of the log has: all but those with which the last request began."""
        pairs = zip(messages, self._logged, strict=False)
        n_same = len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])
        self._logged = messages
        return list(messages[n_same:])


def _answered(completion: Completion) -> dict[str, Any]:
    return {
        "text": completion.text,
        "call": completion.call,
        "isWhole": completion.is_whole,
        "promptTokens": completion.n_prompt_tokens,
        "completionTokens": completion.n_completion_tokens,
    }
