"""Compiling in a child process: within its limits there is a game, beyond them a reason."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from gdl.compiler.compilation import CompileLimits, compile_game
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
