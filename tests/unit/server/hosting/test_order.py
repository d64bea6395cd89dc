"""Orders: what the body of a request for a match may hold."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gdl.violations import violation_message, violations
from server.hosting.order import MatchRequest


def test_too_many_players_are_refused_before_they_are_read() -> None:
    with pytest.raises(ValidationError) as caught:
        MatchRequest.model_validate({"game": "nim", "players": {str(number): 1 for number in range(101)}})
    found = [(each["loc"], violation_message(each)) for each in violations(caught.value)]
    assert found == [(("players",), "has more than 100")]
