"""The terms of a match as the database keeps them from the order to the end, so that any manager can play it.

They hold the seeds: nobody is shown them before the match is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gdl.game import Role
from server.hosting.order import OrderText
from server.hosting.seating import Entrant
from server.match.profiles import Profile
from server.match.setup import MatchSetup, new_random_token, new_seed


@dataclass(frozen=True, slots=True)
class Terms:
    """What was ordered, with everything drawn that the order left open.

    Attributes:
        text: the order, its rules replaced by the game's name.
        seat_claims: by role, the hash of what a person says to take that seat.
    """

    text: OrderText
    seed: int
    scramble_seed: int
    random_token: str
    seat_claims: Mapping[str, str] = field(default_factory=dict)

    @property
    def profile(self) -> Profile:
        """How to speak with players for whom nothing else was said."""
        return Profile(self.text.dialect, self.text.case, self.text.grace, self.text.scramble)

    def profile_of(self, role: str) -> Profile:
        """Return how to speak with the player of *role*."""
        seat = self.text.players.get(role)
        return self.profile if seat is None else seat.profile(self.profile)

    def setup(self, match_id: str, entrants: Mapping[Role, Entrant]) -> MatchSetup:
        """Return what is agreed with *entrants* before the match begins."""
        return MatchSetup(
            tuple(entrant.seat(role, self.profile_of(str(role))) for role, entrant in entrants.items()),
            self.text.start_clock,
            self.text.play_clock,
            match_id=match_id,
            seed=self.seed,
            scramble_seed=self.scramble_seed,
            substitute=self.text.substitute,
        )

    def as_json(self) -> dict[str, Any]:
        """Return what `terms_of` reads."""
        return {
            "text": self.text.model_dump(mode="json", by_alias=True, exclude_none=True),
            "seed": self.seed,
            "scrambleSeed": self.scramble_seed,
            "randomToken": self.random_token,
            "seatClaims": dict(self.seat_claims),
        }


def new_terms(text: OrderText, game_name: str, seat_claims: Mapping[str, str]) -> Terms:
    """Return the terms of a match that is ordered now."""
    begin = None if text.begin is None or text.begin.record is not None else text.begin  # a record may be large
    named = text.model_copy(update={"game": game_name, "rules": None, "begin": begin})
    seed = new_seed() if text.seed is None else text.seed
    return Terms(named, seed, new_seed(), new_random_token(), seat_claims)


def terms_of(order: Mapping[str, Any]) -> Terms:
    """Return the terms that the JSON object *order* keeps."""
    text = OrderText.model_validate(order["text"])
    return Terms(text, order["seed"], order["scrambleSeed"], order["randomToken"], order["seatClaims"])
