"""One match from the order to the record: players are opened, the match is driven and written down, players closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from gdl.game import Game, Role
from server.links.own_player import OwnPlayer, WorkerPlayer
from server.links.seating import PlayerReference, check_roles, seated
from server.match.driver import MatchDriver, Observer, Outcome
from server.match.link import PlayerLink
from server.match.referee import LocalReferee
from server.match.setup import MatchSetup, Profile, Substitute, new_match_id, new_random_token, new_seed
from server.records.entries import Circumstances
from server.records.journal import Recorder
from server.records.record import MatchRecord

MAX_CLOCK_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class MatchOrder:
    """A match that is to be played. *Units*: whole seconds.

    `players` names the players by role; `profiles` says how to speak with the players of some roles, `profile` with
    the others; `game_name` is for people. A seed that is None is drawn.
    """

    game_name: str
    game: Game
    players: Mapping[str, PlayerReference]
    start_clock_s: int
    play_clock_s: int
    profile: Profile = field(default_factory=Profile)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    substitute: Substitute = Substitute.RANDOM
    seed: int | None = None
    scramble_seed: int | None = None
    tournament: str | None = None
    match_id: str = field(default_factory=new_match_id)


class HostedMatch:
    """A match that was ordered; `play` it once.

    Raises:
        UnknownNameError: as `seated` and `check_roles`.
        JournalExistsError: as `Recorder`.
        OSError: as `Recorder`.
    """

    def __init__(
        self, order: MatchOrder, record_path: Path | None = None, signing_key: RSAPrivateKey | None = None
    ) -> None:
        self.order = order
        self._players = seated(order.game, order.players)
        check_roles(order.game, order.profiles)
        self.setup = MatchSetup(
            tuple(spec.seat(role, self._profile(role)) for role, spec in self._players.items()),
            order.start_clock_s,
            order.play_clock_s,
            match_id=order.match_id,
            seed=new_seed() if order.seed is None else order.seed,
            scramble_seed=new_seed() if order.scramble_seed is None else order.scramble_seed,
            substitute=order.substitute,
        )
        circumstances = Circumstances(order.game_name, new_random_token(), tournament=order.tournament)
        self._recorder = Recorder(circumstances, record_path, signing_key)
        self._driver: MatchDriver | None = None
        self._abort_reason: str | None = None

    def _profile(self, role: Role) -> Profile:
        return self.order.profiles.get(str(role), self.order.profile)

    @property
    def is_scrambled(self) -> bool:
        """Whether a player is not to know the game's own names."""
        return any(seat.profile.is_scrambled for seat in self.setup.seats)

    @property
    def record(self) -> MatchRecord:
        """The record up to now."""
        return self._recorder.record

    def abort(self, reason: str) -> None:
        """End the match soon; the players get ABORT. For the loop's thread."""
        self._abort_reason = reason
        if self._driver is not None:
            self._driver.abort(reason)

    async def play(self, observers: Sequence[Observer] = ()) -> tuple[Outcome, dict[str, Any]]:
        """Play the match to its end; return how it ended, and its record, which is written then.

        However this ends, the players that it started have ended too.

        Raises:
            PlayerStartError: one of our players did not come up; there is no record then.
            OSError: the record cannot be written; its journal stays.
        """
        try:
            async with opened(self._players) as links:
                outcome = await self._driven(links, observers)
            return outcome, await asyncio.to_thread(self._recorder.finish)
        finally:
            self._recorder.close()

    async def _driven(self, links: Mapping[Role, PlayerLink], observers: Sequence[Observer]) -> Outcome:
        taking: list[Observer] = [self._recorder.take, *observers]
        self._driver = MatchDriver(LocalReferee(self.order.game), self.setup, links, taking)
        if self._abort_reason is not None:
            self._driver.abort(self._abort_reason)
        return await self._driver.run()


@asynccontextmanager
async def opened(players: Mapping[Role, PlayerReference]) -> AsyncIterator[dict[Role, PlayerLink]]:
    """Open the ways to *players*, all at once; in the end those that were started are stopped, whatever happened.

    Raises:
        PlayerStartError: one did not come up; the others are stopped.
    """
    opening = [asyncio.create_task(spec.open(role)) for role, spec in players.items()]
    try:
        links = await asyncio.gather(*opening)
        yield dict(zip(players, links, strict=True))
    finally:
        await _finished(asyncio.create_task(_close(opening)))


async def _finished(task: asyncio.Task[None]) -> None:
    """Wait until *task* has ended, even when this one is cancelled meanwhile."""
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


async def _close(opening: Sequence[asyncio.Task[PlayerLink]]) -> None:
    for task in opening:
        task.cancel()
    links = await asyncio.gather(*opening, return_exceptions=True)
    await asyncio.gather(*(link.stop() for link in links if isinstance(link, OwnPlayer | WorkerPlayer)))
