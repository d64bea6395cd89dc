"""What a role could know: what is certain after what it did and perceived, and nothing else."""

from __future__ import annotations

import asyncio

import pytest

from gdl.games.library import find_game
from server.spectating.knowledge import KnownFacts, SeatHistory, facts_after, known_facts


def story(game: str, role: str, *steps: tuple[str, tuple[str, ...]]) -> SeatHistory:
    return SeatHistory(find_game(game).read().source.text, role, steps)


CHOSEN = story("montyhall", "candidate", ("( choose 1 )", ("(you_chose 1)",)), ("noop", ("(opened_door 2)",)))


def test_what_is_hidden_is_not_known_and_what_was_perceived_is() -> None:
    assert known_facts(CHOSEN) == (
        ("(step 1)",),
        ("(chosen 1)", "(step 2)"),
        ("(chosen 1)", "(opened 2)", "(step 3)"),
    )


def test_a_card_is_known_to_who_holds_it_alone() -> None:
    known = known_facts(story("kuhnpoker", "alice", ("noop", ("(your_card queen)",))))[1]
    assert known is not None
    assert [fact for fact in known if "queen" in fact or "king" in fact or "jack" in fact] == ["(holds alice queen)"]


def test_a_story_that_cannot_be_is_followed_no_further() -> None:
    odd = story("montyhall", "candidate", ("( choose 1 )", ("(you_chose 2)",)), ("noop", ()))
    assert known_facts(odd) == (("(step 1)",), None, None)


async def test_it_is_worked_out_beside_the_loop_and_remembered() -> None:
    knowledge = KnownFacts(patience_s=30)
    first, again = await asyncio.gather(knowledge.of(CHOSEN), knowledge.of(CHOSEN))
    assert first is again
    assert first == known_facts(CHOSEN)
    assert facts_after(first, 1) == ("(chosen 1)", "(step 2)")
    assert facts_after(first, 9) is None
    await knowledge.close()


async def test_pages_go_without_what_takes_longer() -> None:
    knowledge = KnownFacts(patience_s=0)
    assert await knowledge.of(CHOSEN) is None
    await knowledge.close()


async def test_of_rules_without_meaning_nothing_is_known() -> None:
    knowledge = KnownFacts(patience_s=30)
    assert await knowledge.of(SeatHistory("(role x) (<= (p ?y))", "x", (("a", ()),))) == (None, None)
    await knowledge.close()


DEALT = f"""
(role r) (role random) (init (step 1)) {" ".join(f"(d {digit})" for digit in range(6))}
(legal r noop)
(<= (legal random (deal ?a ?b ?c)) (true (step 1)) (d ?a) (d ?b) (d ?c))
(<= (legal random noop) (true (step 2)))
(<= (next (hand ?a ?b ?c)) (does random (deal ?a ?b ?c)))
(<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2)))
(<= (sees r nothing) (does r resign))
(<= terminal (true (step 3))) (goal r 0) (goal random 0)
"""
"""Chance deals one of 216 hands, more than there are worlds, of which the role sees nothing."""


def test_where_more_states_are_possible_than_are_followed_nothing_is_known() -> None:
    assert known_facts(SeatHistory(DEALT, "r", (("noop", ()),))) == (("(step 1)",), None)


def test_of_a_long_match_the_first_steps_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = known_facts(CHOSEN)
    monkeypatch.setattr("server.spectating.knowledge._MAX_STEPS", 1)
    assert known_facts(CHOSEN) == whole[:2]


@pytest.mark.parametrize(("n_steps", "facts"), [(0, ("p",)), (1, None), (2, None)])
def test_after_more_steps_than_were_followed_nothing_is_known(n_steps: int, facts: tuple[str, ...] | None) -> None:
    assert facts_after((("p",),), n_steps) == facts
