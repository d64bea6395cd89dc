"""Compiling in a child process: within its limits there is a game, beyond them a reason."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from weakref import WeakValueDictionary

import pytest

from gdl.compiler import cache, compilation, grounding, pipeline
from gdl.compiler.compilation import CompileLimits, child_limits, compile_game
from gdl.compiler.grounding import GroundProgram
from gdl.datalog.clauses import Clause
from gdl.datalog.translation import clauses_of
from gdl.engines import make_game
from gdl.errors import CannotCompileError
from gdl.games.library import find_game
from gdl.interpreter import InterpretedGame
from gdl.language.rules import read_rules

ENDLESS = """
(role r) (init (at 0)) (legal r go) (p 0)
(<= (p (s ?x)) (p ?x))
(<= (next (at ?x)) (p ?x))
"""
"""A game that grows for ever where it is grounded all at once."""


def interpreted(rules: str) -> InterpretedGame:
    return InterpretedGame(read_rules(rules))


def test_a_game_is_compiled_in_a_child_process() -> None:
    game = make_game(find_game("tictactoe").read(), "compiled")
    assert game.engine == "compiled"
    assert len(game.initial_state.legal_moves(game.roles[0])) == 9


def test_the_child_process_loads_no_reader_of_rules() -> None:
    script = "import sys, gdl.compiler.pipeline; print({'pyparsing', 'numba', 'pydantic'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (CompileLimits(max_ground_rules=10_000), "it has more than 10,000 ground rules"),
        (CompileLimits(max_seconds=0.01), "limit reached: more than 0.01 seconds"),
        (CompileLimits(max_memory_mb=300), "limit reached: more than 300 megabytes of memory"),
    ],
)
def test_past_a_limit_there_is_a_reason(limits: CompileLimits, reason: str) -> None:
    with pytest.raises(CannotCompileError) as raised:
        compile_game(interpreted(ENDLESS), limits)
    assert raised.value.reason == reason


def test_processor_time_is_what_counts_and_the_clock_only_in_the_end() -> None:
    limits = child_limits(CompileLimits(max_seconds=60.0, max_memory_mb=300))
    assert (limits.max_cpu_seconds, limits.seconds, limits.max_memory_mb) == (60.0, 60.0, 300)
    assert limits.max_seconds > 20 * 60.0


@pytest.mark.parametrize(("has_way", "n_times"), [(False, 1), (True, 2)])
def test_rules_are_grounded_again_only_where_there_is_a_way_around_many(
    has_way: bool, n_times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clauses = clauses_of(find_game("tictactoe").read().rules)
    expected = tuple(pipeline.ground_rules(clauses, 10_000)[1].rules)
    grounded: list[object] = []

    def ground(clauses: Sequence[Clause], on_rule: Callable[[int], None]) -> GroundProgram:
        grounded.append(clauses)
        return grounding.ground(clauses, on_rule)

    def no_way(*_arguments: object) -> None:
        raise CannotCompileError("it leads nowhere")

    monkeypatch.setattr(pipeline, "ground", ground)
    monkeypatch.setattr(pipeline, "_MANY_RULES", 10)
    monkeypatch.setattr(pipeline, "_has_way_around", lambda _: has_way)
    for way in ("without_dont_cares", "on_demand"):
        monkeypatch.setattr(pipeline, way, no_way)
    assert tuple(pipeline.ground_rules(clauses, 10_000)[1].rules) == expected
    assert len(grounded) == n_times


def begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what is in use in this process, as a new process has it."""
    monkeypatch.setattr(cache, "_LOADED", WeakValueDictionary())


def test_the_second_start_compiles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    begin_anew(monkeypatch)
    first = compile_game(InterpretedGame(find_game("tictactoe").read()))
    begin_anew(monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(compilation, "_compiled_in_child", None)
        second = compile_game(InterpretedGame(find_game("tictactoe").read()))
    assert second.rules is not first.rules
    played = [game.playouts(game.initial_state, 1_000, seed=7) for game in (first, second)]
    assert played[0] == played[1]


def test_a_damaged_file_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    begin_anew(monkeypatch)
    compile_game(InterpretedGame(find_game("tictactoe").read()))
    (path,) = tmp_path.iterdir()
    damaged = path.read_bytes()[:-1]
    path.write_bytes(damaged)
    begin_anew(monkeypatch)
    assert compile_game(InterpretedGame(find_game("tictactoe").read())).engine == "compiled"
    assert len(path.read_bytes()) > len(damaged)


def test_a_game_that_several_processes_want_is_compiled_once(tmp_path: Path) -> None:
    script = """
        from gdl.compiler import compilation
        from gdl.compiler.compilation import DEFAULT_COMPILE_LIMITS, compile_limited
        from gdl.datalog.translation import clauses_of
        from gdl.games.library import find_game
        from gdl.interpreter import InterpretedGame
        game = InterpretedGame(find_game("connectfour").read())
        compiled, counted = compilation._compiled_in_child, []
        compilation._compiled_in_child = lambda *arguments: counted.append(1) or compiled(*arguments)
        rules = compile_limited(clauses_of(game.description.rules), game.roles, DEFAULT_COMPILE_LIMITS)
        print(len(counted), len(rules.moves))
    """
    started = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script)],
            stdout=subprocess.PIPE, text=True, env={**os.environ, cache.VARIABLE: str(tmp_path)},
        )
        for _ in range(3)
    ]  # fmt: skip
    said = sorted(process.communicate(timeout=300)[0].split() for process in started)
    assert [n_compiled for n_compiled, _ in said] == ["0", "0", "1"]
    assert len({n_moves for _, n_moves in said}) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_what_only_checks_rules_loads_no_large_library() -> None:
    script = """
        import sys
        from gdl.engines import make_game
        from gdl.language.rules import read_rules
        make_game(read_rules("(role r) (init a) (legal r go) (next a)")).initial_state.is_terminal
        print(sorted({"clingo", "numba", "numpy"} & sys.modules.keys()))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"


def test_without_a_library_the_interpreter_goes_on() -> None:
    script = """
        import sys
        sys.modules["numba"] = None
        from gdl.engines import make_game
        from gdl.games.library import find_game
        game = make_game(find_game("tictactoe").read())
        print(game.wait(), game.engine, game.note, game.playouts(game.initial_state, 1, 1).n_plays)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.startswith("False interpreter the game cannot be compiled: a library is missing: ")
    assert done.stdout.endswith(" 1\n")
