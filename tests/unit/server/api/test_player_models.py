"""What requests about players say."""

from __future__ import annotations

import pytest

from server.api.player_models import NewPlayer, PlayerChange
from server.registry.registry import PlayerWishes


@pytest.mark.parametrize(
    "body",
    ['{"name": "a", "maxMatches": 3, "joinsLadder": true}', '{"name": "a", "max_matches": 3, "joins_ladder": true}'],
)
def test_wishes_are_in_camel_case_or_as_they_may_be_since_the_start_in_snake_case(body: str) -> None:
    new = NewPlayer.model_validate_json(body, strict=True)
    assert (new.name, new.wishes) == ("a", PlayerWishes(max_matches=3, joins_ladder=True))
    assert new.model_dump(exclude_unset=True, by_alias=True) == {"name": "a", "maxMatches": 3, "joinsLadder": True}


def test_a_change_says_nothing_of_what_stays() -> None:
    assert PlayerChange.model_validate_json("{}", strict=True).wishes == PlayerWishes(None, None, None, None)
