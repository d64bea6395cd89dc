"""`ggp check-player`: a table or JSON, and the exit code."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import AsyncIterator

import pytest

from server.player_checks.catalogue import CHECKS
from server.player_checks.examination import CheckResult, CheckVerdict
from tests.kit.server.commands.fixtures import Ggp
from tests.kit.server.processes import player

GONE = "http://127.0.0.1:1"
ANSWERING = """
import sys
for line in sys.stdin:
    print("((name mine) (status available))" if line == "(INFO)\\n" else "ready", flush=True)
"""


@pytest.mark.exhaustive
def test_a_player_of_ours_is_found_fine(ggp: Ggp) -> None:
    with player("legal") as (_, url):
        ended = ggp("check-player", url)
    assert (ended.exit_code, ended.output.splitlines()[-1]) == (0, f"{len(CHECKS)} ok")


def test_without_an_answer_the_command_says_only_that(ggp: Ggp) -> None:
    ended = ggp("check-player", GONE)
    assert (ended.exit_code, ended.output.splitlines()[-2:]) == (
        1,
        ["1 wrong", f"no HTTP reply from {GONE}, so nothing else was checked: does the player run, and listen there?"],
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


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_interrupt_leaves_what_was_found(
    ggp: Ggp, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    async def interrupted(*_: object) -> AsyncIterator[CheckResult]:
        yield CheckResult("answers", "Answer.", CheckVerdict.OK, "", 0.1)
        raise KeyboardInterrupt

    monkeypatch.setattr("server.commands.check_player.examine", interrupted)
    ended = ggp("check-player", GONE, *options)
    assert (ended.exit_code, ended.errors) == (130, f"interrupted after 1 of {len(CHECKS)} checks\n")
    if options:
        finding = {"name": "answers", "what": "Answer.", "verdict": "ok", "detail": "", "took_s": 0.1}
        assert json.loads(ended.output) == {"url": GONE, "findings": [finding], "interrupted": True}
    else:
        assert [line.split() for line in ended.output.splitlines()[1:]] == [
            ["ok", "answers", "Answer.", "0.1"],
            ["1", "ok"],
        ]


def test_each_finding_is_printed_when_it_is_made(
    ggp: Ggp, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []

    async def examined(*_: object) -> AsyncIterator[CheckResult]:
        for name in ("answers", "ping"):
            yield CheckResult(name, "Answer.", CheckVerdict.OK, "", 0.1)
            printed.append(capsys.readouterr().out.splitlines()[-1].split())

    monkeypatch.setattr("server.commands.check_player.examine", examined)
    assert ggp("check-player", GONE).exit_code == 0
    assert printed == [["ok", "answers", "Answer.", "0.1"], ["ok", "ping", "Answer.", "0.1"]]


@pytest.mark.parametrize(
    ("verdict", "code", "last"),
    [
        (CheckVerdict.WARNING, 0, "1 ok, 1 warning"),
        (CheckVerdict.WRONG, 1, "1 ok, 1 wrong"),
        (CheckVerdict.SKIPPED, 1, "what was skipped is not known to be right: see above why, and check it again"),
    ],
)
def test_a_player_passes_only_what_was_checked(
    ggp: Ggp, monkeypatch: pytest.MonkeyPatch, verdict: CheckVerdict, code: int, last: str
) -> None:
    async def examined(*_: object) -> AsyncIterator[CheckResult]:
        yield CheckResult("answers", "Answer.", CheckVerdict.OK, "", 0.1)
        yield CheckResult("whole-match", "Play.", verdict, "it plays another match", 0.1)

    monkeypatch.setattr("server.commands.check_player.examine", examined)
    ended = ggp("check-player", GONE)
    assert (ended.exit_code, ended.output.splitlines()[-1]) == (code, last)


def test_an_unknown_check_and_an_address_that_is_none_are_wrong_usage(ggp: Ggp) -> None:
    assert [ggp("check-player", GONE, "--only", "pong").exit_code, ggp("check-player", "nonsense").exit_code] == [2, 2]


def test_a_program_has_checks_of_its_own(ggp: Ggp) -> None:
    program = shlex.join((sys.executable, "-E", "-c", ANSWERING))
    ended = ggp("check-player", f"cmd:{program}", "--only", "info", "--start-clock", "60", "--json")
    told = json.loads(ended.output)
    assert [(finding["name"], finding["verdict"]) for finding in told["findings"]] == [
        ("answers-start", "ok"),
        ("info", "ok"),
    ]


def test_a_program_that_ends_is_told_from_an_address_where_nothing_listens(ggp: Ggp) -> None:
    ended = ggp("check-player", "cmd:false")
    assert (ended.exit_code, ended.output.splitlines()[-2:]) == (
        1,
        [
            "1 wrong",
            "the program answers nothing, so nothing else was checked: "
            "does it run by itself, and flush what it writes?",
        ],
    )


def test_a_program_has_no_checks_of_http(ggp: Ggp) -> None:
    ended = ggp("check-player", "cmd:false", "--only", "lets-browsers-in")
    assert (
        ended.exit_code,
        "no check 'lets-browsers-in' of this player; there are answers-start, " in ended.errors,
    ) == (
        2,
        True,
    )


def test_a_player_of_the_kit_is_started_and_ended(ggp: Ggp) -> None:
    ended = ggp("check-player", "legal", "--only", "ping")
    assert (ended.exit_code, ended.output.splitlines()[-1]) == (0, "2 ok")
