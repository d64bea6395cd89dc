"""Games by the name of their engine; and no text that makes one fail in any way but its own."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gdl.engines import make_game
from gdl.errors import LimitExceeded, RuleFileError, UnknownNameError
from gdl.game import EvaluationLimits
from gdl.language.rules import read_rules
from tests.kit.exhaustive import IS_EXHAUSTIVE
from tests.kit.gdl.forms import damaged_files

LIMITS = EvaluationLimits(max_rows=20_000, max_term_depth=50, max_term_symbols=1_000)


def test_an_unknown_engine_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as raised:
        make_game(read_rules("(role r)"), "interpeter")
    assert (raised.value.kind, raised.value.name, raised.value.suggestions) == (
        "engine",
        "interpeter",
        ("interpreter",),
    )


def ask_everything(text: str) -> None:
    """Ask what a game manager asks first."""
    game = make_game(read_rules(text), limits=LIMITS)
    state = game.initial_state
    for role in game.roles:
        state.goal(role)
    legal = [state.legal_moves(role) for role in game.roles]
    if not state.is_terminal and all(legal):
        moves = [found[0] for found in legal]
        after = state.next_state(moves)
        for role in game.roles:
            after.legal_moves(role)
            state.percepts(role, moves)


@settings(max_examples=1_000 if IS_EXHAUSTIVE else 100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged_files())
def test_a_damaged_file_is_played_or_refused(text: str) -> None:
    try:
        ask_everything(text)
    except (RuleFileError, LimitExceeded) as refused:
        assert str(refused)  # noqa: PT017 -- what may be raised is the property


@given(st.text(alphabet="()<= ?xapr10\n") | st.text())
def test_garbage_is_played_or_refused(text: str) -> None:
    try:
        ask_everything(f"(role r) {text}")
    except (RuleFileError, LimitExceeded) as refused:
        assert str(refused)  # noqa: PT017 -- what may be raised is the property
