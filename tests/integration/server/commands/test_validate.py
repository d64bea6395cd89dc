"""`ggp validate`: verdicts, exit codes, forms of output; hostile files are refused or end at a limit."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from gdl.games.library import game_names
from tests.kit.gdl.public_rules import sampled
from tests.kit.polling import wait_until
from tests.kit.server.commands.fixtures import Ggp
from tests.kit.server.processes import GGP, ROOT, children_of, is_running

CORPUS: Final = ROOT / os.environ.get("GGP_SHARED", "../shared") / "conformance"

GOOD: Final = """
(role robot) (init (at 1)) (succ 1 2)
(<= (legal robot stay) (true (at ?x)))
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y) (does robot stay))
(<= terminal (true (at 2)))
(<= (goal robot 100) (true (at ?x)))
"""
ABOUT: Final = """
title = "Walking"
authors = ["me"]
roles = ["robot"]
players = 1
summary = "One step."
"""
UNUSED: Final = "(<= (lost ?x) (true (at ?x)))\n"
STUCK: Final = GOOD.replace("(<= (legal robot stay) (true (at ?x)))", "(<= (legal robot stay) (true (at 2)))")
COSTLY: Final = GOOD + "".join(f"(digit {i})\n" for i in range(10)) + (
    f"(<= (legal robot (code {' '.join(f'?x{i}' for i in range(9))}))\n"
    + "".join(f"    (digit ?x{i})\n" for i in range(9))
    + ")\n"
)  # fmt: skip
ENDLESS: Final = GOOD + "(<= (next (grown (f ?x))) (true (grown ?x)))\n(init (grown a))\n" + (
    "(<= (grows ?x) (true (grown ?x)))\n(<= (grows (f ?x)) (grows ?x))\n(<= (goal robot 0) (grows b))\n"
)  # fmt: skip


@pytest.fixture
def rules(tmp_path: Path) -> Callable[..., Path]:
    def write(text: str | bytes, name: str = "game.kif") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return path

    return write


Rules = Callable[..., Path]


def codes_of(output: str) -> list[str]:
    return [found["code"] for file in json.loads(output)["files"] for found in file["diagnostics"]]


def test_a_file_that_can_be_played_is_ok(ggp: Ggp, rules: Rules) -> None:
    path = rules(GOOD)
    assert ggp("validate", path) == (0, f"{path}: ok\n", "")


def test_what_is_wrong_is_shown_in_its_line_with_a_caret(ggp: Ggp, rules: Rules) -> None:
    path = rules(GOOD + "(<= (next (at ?y)) (true (at ?x)))\n")
    ended = ggp("validate", path)
    lines = ended.output.splitlines()
    assert (ended.exit_code, lines[1]) == (1, "7 | (<= (next (at ?y)) (true (at ?x)))")
    assert lines[0].startswith(f"{path}:7:")
    assert lines[0].endswith("[gdl/unsafe-variable]")
    assert lines[-1] == f"{path}: 1 error"


def test_all_problems_of_all_files_are_reported_at_once(ggp: Ggp, rules: Rules) -> None:
    wrong = rules(GOOD + "(<= (next (at ?y)) (true (at ?x)))\n(goal robot ?z)\n(p", "wrong.kif")
    ended = ggp("validate", "--json", wrong, rules(GOOD), "tictactoe")
    assert (ended.exit_code, [file["verdict"] for file in json.loads(ended.output)["files"]]) == (
        1,
        ["wrong", "ok", "ok"],
    )
    assert {"gdl/unsafe-variable", "gdl/open-fact", "gdl/unclosed-parenthesis"} <= set(codes_of(ended.output))


def test_a_warning_is_allowed_and_an_error_when_taken_strictly(ggp: Ggp, rules: Rules) -> None:
    path = rules(GOOD + UNUSED)
    lenient, strict = ggp("validate", path), ggp("validate", "--strict", path)
    assert (lenient.exit_code, lenient.output.splitlines()[-1]) == (0, f"{path}: ok, 1 warning")
    assert (strict.exit_code, strict.output.splitlines()[-1]) == (1, f"{path}: 1 error")


def test_a_comment_allows_a_warning_also_when_taken_strictly(ggp: Ggp, rules: Rules) -> None:
    path = rules(GOOD + f"; ggp: allow gdl/unused-relation -- kept for the variants\n{UNUSED}")
    assert ggp("validate", "--strict", path) == (0, f"{path}: ok, 1 allowed\n", "")


def test_json_is_alone_on_standard_output(ggp: Ggp, rules: Rules) -> None:
    path = rules(GOOD)
    ended = ggp("validate", "--json", path)
    file: dict[str, Any] = {"file": str(path), "verdict": "ok", "limit": None, "errors": 0, "warnings": 0, "notes": 0}
    file |= {"diagnostics": [], "allowed": [], "simulation": None}
    assert (ended.exit_code, json.loads(ended.output)) == (0, {"ok": True, "files": [file]})


def test_sarif_has_a_result_for_what_is_wrong(ggp: Ggp, rules: Rules) -> None:
    ended = ggp("validate", "--sarif", rules(GOOD + UNUSED))
    (run,) = json.loads(ended.output)["runs"]
    assert (ended.exit_code, [result["ruleId"] for result in run["results"]]) == (0, ["gdl/unused-relation"])


def test_github_gets_annotations(ggp: Ggp, rules: Rules) -> None:
    path = rules(GOOD + UNUSED)
    ended = ggp("validate", "--github", path)
    annotation, total = ended.output.splitlines()
    assert annotation.startswith(f"::warning file={path},line=7,endLine=7,col=")
    assert ",title=gdl/unused-relation::" in annotation
    assert total == "1 file: 1 ok; 1 warning"


def test_a_code_is_explained_without_any_file(ggp: Ggp) -> None:
    ended = ggp("validate", "--explain", "gdl/unsafe-variable")
    assert (ended.exit_code, ended.errors) == (0, "")
    assert {"Wrong:", "Right:"} <= set(ended.output.splitlines())


def test_a_code_that_is_misspelt_is_wrong_usage(ggp: Ggp) -> None:
    ended = ggp("validate", "--explain", "unsafe-variables")
    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.errors.startswith("ggp: no code 'unsafe-variables'; did you mean gdl/unsafe-variable")


def test_a_file_that_is_not_there_is_wrong_usage_before_any_work(ggp: Ggp, rules: Rules, tmp_path: Path) -> None:
    ended = ggp("validate", rules(GOOD), tmp_path / "absent.kif")
    assert (ended.exit_code, ended.output) == (2, "")
    assert "absent.kif" in ended.errors


def test_a_misspelt_game_gets_a_suggestion(ggp: Ggp) -> None:
    told = "ggp: no game 'tictacto'; did you mean tictactoe or phantomtictactoe or biddingtictactoe?\n"
    assert ggp("validate", "tictacto") == (2, "", told)


@pytest.mark.parametrize("words", [[], ["--simulate", "0", "tictactoe"], ["--seconds", "0", "tictactoe"]])
def test_wrong_usage_ends_with_2(ggp: Ggp, words: list[str]) -> None:
    assert ggp("validate", *words).exit_code == 2


def test_a_description_without_a_mistake_is_not_mentioned(ggp: Ggp, rules: Rules) -> None:
    path = rules(GOOD)
    rules(ABOUT, "game.toml")
    assert ggp("validate", path) == (0, f"{path}: ok\n", "")


def test_what_is_wrong_with_the_description_beside_the_rules_is_reported_with_file_key_and_hint(
    ggp: Ggp, rules: Rules
) -> None:
    path, about = rules(GOOD), rules(ABOUT + 'sorce = "folklore"\n', "game.toml")
    ended = ggp("validate", path)
    assert (ended.exit_code, ended.output.splitlines()) == (
        1,
        [
            f"{path}: ok",
            f"{about}:7:1: error: sorce: unknown key [gdl/wrong-description]",
            '7 | sorce = "folklore"',
            "  | ^^^^^^^^^^^^^^^^^^",
            "hint: did you mean source?",
            "",
            f"{about}: 1 error",
            "2 files: 1 ok, 1 wrong; 1 error",
        ],
    )


def test_a_board_that_does_not_fit_the_rules_is_a_warning_and_strictly_an_error(ggp: Ggp, rules: Rules) -> None:
    path, _ = rules(GOOD), rules(ABOUT + '[board]\nturn = "(whose ?role)"\n', "game.toml")
    for words, ends, severity in (((), 0, "warning"), (("--strict",), 1, "error")):
        ended = ggp("validate", "--json", *words, path)
        (found,) = json.loads(ended.output)["files"][1]["diagnostics"]
        assert (ended.exit_code, found["code"], found["line"], found["severity"]) == (
            ends, "gdl/description-mismatch", 8, severity,
        )  # fmt: skip


def test_json_has_a_wrong_description_as_a_file_of_its_own(ggp: Ggp, rules: Rules) -> None:
    path, about = rules(GOOD), rules(ABOUT.replace('"me"', ""), "game.toml")
    ended = ggp("validate", "--json", "--simulate", 1, path)
    told, described = json.loads(ended.output)["files"]
    assert (ended.exit_code, told["file"], told["verdict"], told["simulation"]["plays"]) == (1, str(path), "ok", 1)
    (found,) = described.pop("diagnostics")
    assert described == {
        "file": str(about), "verdict": "wrong", "limit": None, "errors": 1, "warnings": 0, "notes": 0, "allowed": [],
        "simulation": None,
    }  # fmt: skip
    assert (found["code"], found["line"], found["message"].partition(":")[0]) == ("gdl/wrong-description", 3, "authors")


@pytest.mark.parametrize(
    "text", [b"\xff\xfe", b"#" * 300_000, b"title = "], ids=["no UTF-8", "too large", "half a line"]
)
def test_a_description_that_is_none_is_an_error(ggp: Ggp, rules: Rules, text: bytes) -> None:
    path = rules(GOOD)
    rules(text, "game.toml")
    ended = ggp("validate", "--json", path)
    assert (ended.exit_code, codes_of(ended.output)) == (1, ["gdl/wrong-description"])


def test_standard_input_is_a_file_too(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert ggp("validate", "-") == (0, "<stdin>: ok\n", "")


def test_a_directory_and_a_pipe_are_no_rule_files(ggp: Ggp, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.kif")
    assert [ggp("validate", path).exit_code for path in (tmp_path, tmp_path / "pipe.kif", "/dev/zero")] == [2, 2, 2]


# In play


def test_plays_add_figures_to_the_verdict(ggp: Ggp, rules: Rules) -> None:
    ended = ggp("validate", "--simulate", 3, "--json", rules(GOOD))
    (file,) = json.loads(ended.output)["files"]
    assert (ended.exit_code, file["verdict"], file["simulation"]["plays"]) == (0, "ok", 3)


def test_what_shows_in_play_is_an_error_with_the_play_that_shows_it(ggp: Ggp, rules: Rules, tmp_path: Path) -> None:
    path, folder = rules(STUCK), tmp_path / "plays"
    assert ggp("validate", path).exit_code == 0
    ended = ggp("validate", "--simulate", 3, "--evidence", folder, "--json", path)
    (found,) = (one for one in json.loads(ended.output)["files"][0]["diagnostics"] if one["severity"] == "error")
    assert (ended.exit_code, found["code"]) == (1, "gdl/no-legal-move")
    assert Path(found["evidence"]).parent == folder
    assert ggp("replay", found["evidence"]).exit_code == 0


@pytest.mark.exhaustive
def test_files_of_one_name_have_plays_of_their_own(ggp: Ggp, tmp_path: Path) -> None:
    paths = [tmp_path / folder / "stuck.kif" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(STUCK)
    ended = ggp("validate", "--simulate", 3, "--evidence", tmp_path, "--json", *paths)
    found = [one["evidence"] for file in json.loads(ended.output)["files"] for one in file["diagnostics"]]
    assert found == [str(tmp_path / f"{name}-no-legal-move.json") for name in ("stuck-1", "stuck-2-1")]


def test_a_file_with_an_error_is_not_played(ggp: Ggp, rules: Rules) -> None:
    ended = ggp("validate", "--simulate", 3, "--json", rules(GOOD + "(goal robot ?z)"))
    assert (ended.exit_code, json.loads(ended.output)["files"][0]["simulation"]) == (1, None)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("text", [COSTLY, ENDLESS], ids=["billions of moves", "terms without end"])
@pytest.mark.parametrize("words", [[], ["--strict"]])
def test_a_limit_in_play_is_no_verdict(ggp: Ggp, rules: Rules, text: str, words: list[str]) -> None:
    began_s = time.monotonic()
    ended = ggp("validate", "--simulate", 1, "--seconds", 0.5, "--max-memory-mb", 512, "--json", *words, rules(text))
    (file,) = json.loads(ended.output)["files"]
    assert (ended.exit_code, file["verdict"]) in ((3, "unknown"), (1, "wrong"))
    assert time.monotonic() - began_s < 30


@pytest.mark.exhaustive
def test_a_limit_of_memory_is_no_verdict(ggp: Ggp, rules: Rules) -> None:
    ended = ggp("validate", "--simulate", 1, "--seconds", 60, "--max-memory-mb", 128, rules(COSTLY))
    assert ended.exit_code == 3
    assert ended.output.splitlines()[-1].endswith("no verdict: limit reached: more than 128 megabytes of memory")


# Hostile files


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("(" * 100_000, "gdl/too-deep"),
        ("(p " * 30_000 + ")" * 30_000, "gdl/too-deep"),
        (b"\x7fELF\0\0\0", "gdl/no-text"),
        (b"(role \xff\xfe robot)\0", "gdl/no-text"),
        ("", "gdl/no-rules"),
        (")" * 10_000, "gdl/unopened-parenthesis"),
    ],
    ids=["deep", "deep and balanced", "binary", "no encoding", "empty", "closing"],
)
def test_a_file_that_is_none_is_refused_with_a_code(ggp: Ggp, rules: Rules, text: str | bytes, code: str) -> None:
    ended = ggp("validate", "--json", rules(text))
    assert ended.exit_code == 1
    assert code in codes_of(ended.output)


def test_a_file_that_is_too_large_is_refused_unread(ggp: Ggp, rules: Rules) -> None:
    path = rules("")
    with path.open("r+b") as file:
        file.truncate(50_000_000)
    ended = ggp("validate", "--json", path)
    assert (ended.exit_code, codes_of(ended.output)) == (1, ["gdl/too-large"])


def test_how_large_a_file_may_be_is_an_option(ggp: Ggp, rules: Rules) -> None:
    ended = ggp("validate", "--json", "--max-characters", 50, rules(GOOD))
    assert (ended.exit_code, codes_of(ended.output)) == (1, ["gdl/too-large"])


@pytest.mark.exhaustive
def test_a_large_file_is_checked_within_the_limits_of_time(ggp: Ggp, rules: Rules) -> None:
    path = rules("".join(f"(<= (p{i} ?x) (q{i} ?x))\n" for i in range(100_000)))
    began_s = time.monotonic()
    ended = ggp("validate", "--seconds", 0.5, path)
    assert (ended.exit_code, ended.output) == (3, f"{path}: no verdict: limit reached: more than 0.5 seconds\n")
    assert time.monotonic() - began_s < 30


@pytest.mark.exhaustive
def test_a_limit_in_one_file_keeps_no_other_from_its_verdict(ggp: Ggp, rules: Rules) -> None:
    large = rules("".join(f"(<= (p{i} ?x) (q{i} ?x))\n" for i in range(100_000)), "large.kif")
    ended = ggp("validate", "--seconds", 0.5, large, rules(GOOD))
    assert (ended.exit_code, ended.output.splitlines()[-1]) == (3, "2 files: 1 ok, 1 without a verdict")


def test_no_name_in_a_file_gives_orders_to_the_terminal(ggp: Ggp, rules: Rules) -> None:
    ended = ggp("validate", rules(GOOD + "(\x1b]0;title\x07 a)\n"))
    assert "\x1b" not in ended.output
    assert "\x07" not in ended.output


def test_an_interrupted_call_leaves_no_child(rules: Rules, tmp_path: Path) -> None:
    path = rules(COSTLY)
    with subprocess.Popen(
        [*GGP, "validate", "--simulate", "1", "--seconds", "60", str(path)],
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as call:  # fmt: skip
        wait_until(lambda: bool(children_of(call.pid)))
        children = children_of(call.pid)
        call.kill()
    wait_until(lambda: not any(map(is_running, children)))


def test_starting_loads_no_compiler_and_no_solver() -> None:
    program = (
        "import sys, server.commands.validate; print([name for name in ('numba', 'clingo') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(("has_description", "loaded"), [(False, []), (True, ["pydantic"])])
def test_checking_a_file_loads_no_large_library_but_that_of_descriptions(
    rules: Rules, has_description: bool, loaded: list[str]
) -> None:
    file = rules(GOOD)
    if has_description:
        rules(ABOUT, "game.toml")
    libraries = ("aiohttp", "asyncio", "clingo", "cryptography", "numba", "numpy", "pydantic", "sqlalchemy")
    program = (
        "import atexit, sys; from server.commands.main import main; "
        f"atexit.register(lambda: print([name for name in {libraries} if name in sys.modules])); main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "validate", str(file)], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [f"{file}: ok", str(loaded)]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", game_names())
def test_every_game_of_the_library_is_clean(ggp: Ggp, name: str) -> None:
    ended = ggp("validate", "--strict", name)
    assert (ended.exit_code, ended.output.count("\n")) == (0, 1), ended.output


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no conformance material at {CORPUS}; GGP_SHARED names its parent")
def test_no_public_file_is_refused_that_the_field_accepts(ggp: Ggp) -> None:
    rows = [line.split("\t") for line in (CORPUS / "verdicts.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    accepted = [str(CORPUS / name) for name, verdict, *_ in rows if verdict in ("pass", "warn")]
    assert len(accepted) > 200
    asked = sampled(accepted)
    files = json.loads(ggp("validate", "--json", *asked).output)["files"]
    assert [file["file"] for file in files if file["verdict"] != "ok"] == []
    assert len(files) == len(asked)
