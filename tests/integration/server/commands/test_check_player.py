"""`ggp check-player`: a table or JSON, and the exit code."""

from __future__ import annotations

import json

from server.checks.catalogue import CHECKS
from tests.integration.server.commands.test_player import player
from tests.kit.server.commands.fixtures import Ggp

GONE = "http://127.0.0.1:1"


def test_a_player_of_ours_is_found_fine(ggp: Ggp) -> None:
    with player("legal") as (_, url):
        ended = ggp("check-player", url)
    assert (ended.exit_code, ended.output.splitlines()[-1]) == (0, f"{len(CHECKS)} ok")


def test_where_nobody_answers_that_alone_is_said(ggp: Ggp) -> None:
    ended = ggp("check-player", GONE)
    assert (ended.exit_code, ended.output.splitlines()[-2:]) == (
        1,
        ["1 wrong", f"no answer from {GONE}, so nothing else was checked: does the player run?"],
    )
    assert "skipped" not in ended.output


def test_json_is_alone_on_standard_output(ggp: Ggp) -> None:
    with player("legal") as (_, url):
        ended = ggp("check-player", url, "--only", "ping", "--json")
    told = json.loads(ended.output)
    assert (ended.exit_code, told["url"]) == (0, url)
    assert [(finding["name"], finding["verdict"]) for finding in told["findings"]] == [
        ("answers", "ok"),
        ("ping", "ok"),
    ]


def test_an_unknown_check_and_an_address_that_is_none_are_wrong_usage(ggp: Ggp) -> None:
    assert [ggp("check-player", GONE, "--only", "pong").exit_code, ggp("check-player", "nonsense").exit_code] == [2, 2]
