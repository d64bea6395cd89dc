"""Log lines: one shape for our own events and for those of libraries, and nothing secret in any."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from server.operation.logs import LogFormat, bound, configure_logs, without_secrets


class _Flushed(io.StringIO):
    """A text that is whole when it is read, whichever thread writes it."""

    def getvalue(self) -> str:
        for handler in logging.getLogger().handlers:
            handler.flush()
        return super().getvalue()


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Send the logs of a test to a text, and afterwards where they went before."""
    root, out = logging.getLogger(), _Flushed()
    handlers, level = root.handlers, root.level
    configure_logs(LogFormat.JSON, "info", out)
    yield out
    root.handlers = handlers
    root.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


def lines(out: io.StringIO) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    return [{key: value for key, value in line.items() if key != "timestamp"} for line in found]


def test_an_event_of_ours_and_one_of_a_library_look_alike(log: io.StringIO) -> None:
    structlog.get_logger("ours").info("begun", step=3)
    logging.getLogger("theirs").info("begun %d", 3)
    assert lines(log) == [
        {"event": "begun", "level": "info", "logger": "ours", "step": 3},
        {"event": "begun 3", "level": "info", "logger": "theirs"},
    ]


def test_what_is_bound_to_the_context_is_in_every_line(log: io.StringIO) -> None:
    with bound(match="match.a"):
        logging.getLogger("theirs").warning("late")
    assert lines(log) == [{"event": "late", "level": "warning", "logger": "theirs", "match": "match.a"}]


def test_lines_below_the_level_are_left_out(log: io.StringIO) -> None:
    structlog.get_logger("ours").debug("detail")
    assert lines(log) == []


@pytest.mark.parametrize("key", ["token", "Authorization", "Cookie", "password", "signing_key", "csrf_token", "seed"])
def test_a_key_that_names_a_secret_loses_its_value(log: io.StringIO, key: str) -> None:
    structlog.get_logger("ours").info("begun", **{key: "hunter2"})
    assert "hunter2" not in log.getvalue()
    assert lines(log)[0][key] == "***"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://ggp:hunter2@db/ggp", "postgresql://ggp:***@db/ggp"),
        ("postgresql+asyncpg://:hunter2@db", "postgresql+asyncpg://:***@db"),
        ("http://bob:hunter@2@host/v1", "http://bob:***@host/v1"),
        ("Authorization: Bearer abcdefgh123", "Authorization: Bearer ***"),
        ("ggp_h2x9abcd_0123456789abcdef refused", "ggp_*** refused"),
        ("http://127.0.0.1:9147/a@b", "http://127.0.0.1:9147/a@b"),
    ],
)
def test_what_looks_like_a_secret_is_covered(text: str, expected: str) -> None:
    assert without_secrets(text) == expected


def test_a_secret_in_an_exception_is_covered(log: io.StringIO) -> None:
    try:
        raise OSError("cannot reach postgresql://ggp:hunter2@db/ggp")
    except OSError:
        logging.getLogger("theirs").exception("no database")
    assert "hunter2" not in log.getvalue()
    assert "postgresql://ggp:***@db/ggp" in lines(log)[0]["exception"]


@pytest.mark.parametrize("log_format", [LogFormat.JSON, LogFormat.TEXT])
def test_nothing_from_outside_moves_the_cursor_or_makes_a_line(log: io.StringIO, log_format: LogFormat) -> None:
    configure_logs(log_format, "info", log)
    structlog.get_logger("ours").info("request", path="/a\x1b[2J\nroot logged in\r")
    assert log.getvalue().count("\n") == 1
    assert "\x1b" not in log.getvalue()


def test_a_long_value_is_cut(log: io.StringIO) -> None:
    structlog.get_logger("ours").info("request", path="x" * 100_000)
    assert len(log.getvalue()) < 3_000


def test_what_is_no_terminal_gets_json_by_itself(log: io.StringIO) -> None:
    configure_logs(LogFormat.AUTO, "info", log)
    structlog.get_logger("ours").info("begun")
    assert lines(log)[0]["event"] == "begun"
