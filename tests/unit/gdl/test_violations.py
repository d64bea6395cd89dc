"""What is said of values that a model refuses: our words for pydantic's."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from gdl.violations import first_violation, violation_message, violation_place, violation_text, violations


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid")

    games: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)] = ("nim",)
    name: Annotated[str, Field(min_length=1, max_length=1_000)] = "x"
    rounds: Annotated[int, Field(ge=1, le=5_000)] = 1
    share: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.5
    scrambled: bool = False
    starts: AwareDatetime | None = None
    kind: Literal["swiss", "cup"] = "cup"
    code: Annotated[str, Field(pattern="^[ab]$")] = "a"
    players: dict[Annotated[str, Field(max_length=3)], str] = {}


TIME = "must be a date and time, as in 2026-05-01T18:00:00+02:00"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("games", (), "needs 1 or more, not 0"),
        ("games", ("nim",) * 3, "has more than 2"),
        ("games", "nim", "must be a list"),
        ("name", "", "must have 1 or more characters"),
        ("name", "x" * 2_000, "has more than 1,000 characters"),
        ("name", 1, "must be a text"),
        ("rounds", 0, "must be 1 or more"),
        ("rounds", 6_000, "must be 5,000 or less"),
        ("rounds", "many", "must be a whole number"),
        ("rounds", 1.5, "must be a whole number"),
        ("rounds", [], "must be a whole number"),
        ("share", 0, "must be more than 0.0"),
        ("share", 1, "must be less than 1.0"),
        ("share", "half", "must be a number"),
        ("share", float("inf"), "must be a finite number"),
        ("scrambled", "perhaps", "must be true or false"),
        ("starts", "2026-05-01T18:00", "needs a time zone, as in 2026-05-01T18:00:00+02:00"),
        ("starts", "tomorrow", TIME),
        ("starts", [], TIME),
        ("kind", "liga", "must be 'swiss' or 'cup'"),
        ("code", "c", "is not of the form ^[ab]$"),
        ("players", [], "must have keys and values"),
        ("colour", "red", "unknown key"),
    ],
)
def test_a_value_that_is_refused_says_what_it_must_be(key: str, value: object, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Order.model_validate({key: value})
    assert violation_message(caught.value.errors()[0]) == message


def test_a_key_that_is_refused_is_told_from_its_value() -> None:
    with pytest.raises(ValidationError) as caught:
        Order.model_validate({"players": {"deep": "x", "ada": 1}})
    assert [(violation_place(each), violation_message(each)) for each in violations(caught.value)] == [
        (("players", "deep"), "the key has more than 3 characters"),
        (("players", "ada"), "must be a text"),
    ]


@pytest.mark.parametrize(
    ("n", "expected"),
    [(2, ["unknown key"] * 2), (100, ["unknown key"] * 100), (101, ["more than 100 things are wrong in it"])],
)
def test_more_things_that_are_wrong_than_can_be_told_are_told_as_one(n: int, expected: list[str]) -> None:
    with pytest.raises(ValidationError) as caught:
        Order.model_validate({f"key {number}": 1 for number in range(n)})
    assert [violation_message(each) for each in violations(caught.value)] == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([], "must have keys and values"),
        ({"games": ["nim", 1]}, "games.1: must be a text"),
        ({"rounds": 0, "round": 1}, "round: unknown key"),
        ({"rounds": 0, "share": 2}, "rounds: must be 1 or more"),
        ({"players": {"": 1}}, 'players."": must be a text'),
        ({"x" * 300: 1}, f"{'x' * 200}: unknown key"),
    ],
)
def test_what_is_wrong_is_said_after_the_way_to_its_key_and_an_unknown_key_first(value: object, text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Order.model_validate(value)
    assert violation_text(first_violation(caught.value)) == text
