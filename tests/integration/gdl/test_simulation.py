"""What simulations say: by data, `simulation/*.kif`, whose first line names the codes and their places."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from gdl.checks import check
from gdl.diagnostics import Severity, Source, codes
from gdl.games.library import find_game
from gdl.language.rules import Description, read_file, read_rules
from gdl.simulation import CODES, SimulationBudget, SimulationReport, simulate
from gdl.simulation.figures import Spread
from tests.kit.rules.sample import sampled_games

FOLDER: Final = Path(__file__).parent / "simulation"
SMALL: Final = SimulationBudget(plays=20, seconds=20, states=300, steps=100)
PREFIX: Final = "; expected: "


def told(report: SimulationReport) -> list[str]:
    """Return the codes with line and column, by place."""
    return [f"{d.code.name.removeprefix('gdl/')} {d.span.line}:{d.span.column}" for d in report.diagnostics]


def cases() -> list[Path]:
    return sorted(FOLDER.glob("*.kif"))


def expected_of(path: Path) -> list[str]:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    assert first.startswith(PREFIX), f"the first line of {path.name} begins with {PREFIX!r}"
    text = first.removeprefix(PREFIX)
    return [] if text == "nothing" else text.split(", ")


def test_a_state_without_a_legal_move_is_no_end_of_a_play() -> None:
    rules = read_rules("(role white) (init a) (<= (legal white go) (true b)) (goal white 100) (<= terminal (true c))")
    exact = simulate(rules, SMALL).exact
    assert exact is not None
    assert (exact.shortest_play, list(exact.forced_wins.values())) == (None, [False])


@pytest.mark.parametrize("path", cases(), ids=lambda path: path.stem)
def test_a_file_has_exactly_the_codes_that_its_first_line_names(path: Path) -> None:
    report = simulate(read_file(path), SMALL)
    assert sorted(told(report)) == sorted(expected_of(path))


def test_every_code_of_a_simulation_has_a_file() -> None:
    shown = {one.partition(" ")[0] for path in cases() for one in expected_of(path)}
    assert shown == CODES


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sorted(CODES))
def test_the_wrong_example_of_a_code_has_that_code_alone_and_the_right_one_none(name: str) -> None:
    code = codes()[f"gdl/{name}"]
    wrong, right = (simulate(read_rules(text), SMALL) for text in (code.wrong, code.right))
    assert ({d.code.name for d in wrong.diagnostics}, right.diagnostics) == ({f"gdl/{name}"}, ())


@pytest.mark.parametrize("name", sorted(CODES))
def test_the_static_checks_have_nothing_against_the_examples(name: str) -> None:
    code = codes()[f"gdl/{name}"]
    assert [check(Source(name, text)) for text in (code.wrong, code.right)] == [[], []]


@pytest.mark.parametrize("path", cases(), ids=lambda path: path.stem)
def test_the_play_of_a_finding_can_be_played(path: Path) -> None:
    report = simulate(read_file(path), SMALL)
    for finding in report.findings:
        if report.game is not None and finding.play is not None:
            state = report.game.initial_state
            for moves in finding.play:
                state = state.next_state(moves)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", sampled_games())
def test_a_game_of_the_library_has_no_error_and_no_warning(name: str) -> None:
    report = simulate(find_game(name).read(), SimulationBudget(plays=2, seconds=600, states=200))
    assert [d for d in report.diagnostics if d.severity is not Severity.NOTE] == []
    assert report.n_plays == 2


def tictactoe() -> Description:
    return find_game("tictactoe").read()


def test_the_same_seed_makes_the_same_plays() -> None:
    first, again = (simulate(tictactoe(), SimulationBudget(5, 20, 0), seed=7, clock=stopped()) for _ in range(2))
    assert first.as_json() == again.as_json()


def stopped() -> Callable[[], float]:
    return lambda: 0.0


def ticking(step_s: float) -> Callable[[], float]:
    ticks = count()
    return lambda: next(ticks) * step_s


def test_a_whole_space_gives_exact_figures() -> None:
    report = simulate(find_game("nim").read(), SimulationBudget(1, 60, 1_000), clock=stopped())
    assert report.exact is not None
    assert report.exact.as_json() == {
        "states": 232,
        "shortestPlay": 3,
        "longestPlay": 12,
        "forcedWins": {"left": True, "right": False},
    }


def test_a_search_stops_at_its_number_of_states_and_leaves_the_figures_of_the_plays() -> None:
    without, with_search = (
        simulate(tictactoe(), SimulationBudget(3, 20, states), clock=stopped()) for states in (0, 50)
    )
    assert with_search.exact is None
    assert with_search.as_json() == without.as_json()


def test_time_ends_a_simulation_that_has_no_verdict_yet() -> None:
    report = simulate(tictactoe(), SimulationBudget(3, 10), clock=ticking(5))
    assert (report.is_conclusive, report.n_plays, report.limit) == (
        False,
        0,
        "no play came to its end within 10 seconds",
    )
    assert [d.code.name for d in report.diagnostics] == ["gdl/limit-in-play"]


def test_every_play_is_reported() -> None:
    plays: list[None] = []
    simulate(tictactoe(), SimulationBudget(4, 20, 0), on_play=lambda: plays.append(None))
    assert len(plays) == 4


def test_rules_too_large_to_make_a_game_of_have_no_verdict() -> None:
    rules = "(role robot) (thing zero) (<= (role ?x) (thing ?x)) (<= (thing (f ?x)) (thing ?x))"
    report = simulate(read_rules(rules), SMALL)
    assert (report.game, report.is_conclusive, told(report)) == (None, False, ["limit-in-play 1:1"])


def test_plays_that_time_does_not_allow_are_told() -> None:
    report = simulate(tictactoe(), SimulationBudget(1_000, 1, 0), clock=ticking(0.01))
    assert 0 < report.n_plays < 1_000
    told_of = f"random plays: {report.n_plays} of 1,000, then time or memory was over (seed 0)"
    assert next(report.lines()).startswith(told_of)


def test_the_report_lists_the_figures_in_lines() -> None:
    lines = list(simulate(find_game("montyhall").read(), SimulationBudget(1, 20), clock=stopped()).lines())
    assert lines[:6] == [
        "random plays: 1 (seed 0); 0.0 s, setup 0.00 s",
        "all 34 states searched; plays of exactly 3 steps",
        "steps per play: 3 to 3, mean 3",
        "facts per state: 1 to 4, mean 3.647; fluents met: 13 of 13 declared",
        "joint moves per state: 1 to 9, mean 2.045",
        "candidate: legal moves 1 to 3, mean 1.636; moves met 6 of 6 declared; goals 0 to 100, mean 50, may fall",
    ]


def test_a_game_of_one_state_has_no_other() -> None:
    rules = "(role robot) (init on) (legal robot wait) (<= (next on) (true on)) (<= terminal (not (true on)))"
    lines = list(simulate(read_rules(rules + "(goal robot 0)"), SMALL).lines())
    assert lines[1] == "the one state searched; no play ends"


ONE_CHOICE: Final = """
(role left) (role right)
(init on)
(legal left a) (legal left b) (legal right a) (legal right b)
(<= (next (made ?r ?m)) (does ?r ?m))
(<= terminal (not (true on)))
(<= (goal left 100) (true (made left a)))
(<= (goal left 0) (not (true (made left a))))
(<= (goal right 100) (true (made left b)) (true (made right b)))
(<= (goal right 0) (not (true (made left b))))
(<= (goal right 0) (not (true (made right b))))
"""


def test_a_role_forces_a_win_if_one_move_of_its_own_wins_whatever_the_others_do() -> None:
    report = simulate(read_rules(ONE_CHOICE), SMALL)
    assert report.exact is not None
    assert {str(role): wins for role, wins in report.exact.forced_wins.items()} == {"left": True, "right": False}
    assert report.as_json()["winnable"] == {"left": True, "right": True}


def test_a_spread_has_least_mean_and_most() -> None:
    spread, numbers = Spread(), [random.Random(1).randrange(100) for _ in range(50)]
    for number in numbers:
        spread.add(number)
    assert (spread.least, spread.most, spread.mean) == (min(numbers), max(numbers), sum(numbers) / 50)
    assert Spread().as_json() == {"min": None, "mean": None, "max": None}
