"""The registered players of a game manager: whose they are, and how many matches each plays now."""

import asyncio
import difflib
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from gdl.errors import CallerError, UnknownNameError
from gdl.game import Outline, Role
from gdl.wire.info import Status
from players.kit.game_manager_client import NAME_RULE, is_name
from players.kit.worker import WorkerLimits
from players.registry import PLAYERS
from server import errors
from server.clock import SYSTEM_CLOCK, Clock
from server.links import addresses, request_queue
from server.links.player_spec import HUMAN, PlayerSpec, public_player_spec
from server.links.seating import PlayerReference, seated
from server.registry.player_references import Person, RegisteredPlayer, UnresolvedPlayer
from server.registry.queueing import Hindrance
from server.storage.accounts import PlayerStore
from server.storage.errors import DamagedRowError
from server.storage.rows import PlayerRow, PlayerStatus, SeatKind

RESERVED: Final = frozenset(("nobody", "new", *PLAYERS))
"""Names that mean something else wherever a player is named; `human` is one of them."""


def check_player_name(name: str) -> str:
    """Return *name* if a registered player may be called so.

    Raises:
        InvalidNameError: it may not.
    """
    if not is_name(name):
        raise errors.InvalidNameError("player", name, NAME_RULE)
    if name.lower() in RESERVED:
        raise errors.InvalidNameError("player", name, "that name means something else already")
    return name


_MOST_NAMES: Final = 1_000
"""Among how many registered players the nearest names are looked for."""


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    """What players are allowed.

    Attributes:
        max_matches: how many matches a player plays at once unless its owner says otherwise.
        max_players: how many players one owner may register.
        max_failed_matches: after so many matches in a row in which a player never answered, it is paused.
        targets: where players may be; None: anywhere.
        worker_limits: what players of ours may use in a worker; None: each plays in a service of its own.
    """

    max_matches: int = 1
    max_players: int = 1_000
    max_failed_matches: int = 3
    targets: addresses.AllowedAddresses | None = None
    worker_limits: WorkerLimits | None = None


DEFAULT_SETTINGS: Final = RegistrySettings()


@dataclass(frozen=True, slots=True)
class PlayerWishes:
    """What the owner of a player says of it besides where it is; None: nothing.

    Attributes:
        max_matches: how many matches it plays at once.
        version: what it is called until it changes again.
        allows_challenges: whether others may order practice matches with it.
        joins_ladder: whether it plays matches of the ladder.
    """

    max_matches: int | None = None
    version: str | None = None
    allows_challenges: bool | None = None
    joins_ladder: bool | None = None

    def values(self) -> dict[str, Any]:
        """Return what is said, by column."""
        return {name: value for name, value in asdict(self).items() if value is not None}


NO_WISHES: Final = PlayerWishes()


class Registry:
    """Knows the registered players, and holds their request queues.

    *on_change* is called when a player may be free that was not.
    """

    def __init__(
        self,
        store: PlayerStore,
        settings: RegistrySettings = DEFAULT_SETTINGS,
        clock: Clock = SYSTEM_CLOCK,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.store, self.settings, self.clock, self.on_change = store, settings, clock, on_change
        self.request_queues = request_queue.RequestQueues(clock, lambda _: on_change())

    async def register(
        self,
        name: str,
        owner: str,
        url: str | None = None,
        wishes: PlayerWishes = NO_WISHES,
    ) -> PlayerRow:
        """Register the player that listens at *url*, or that will dial in.

        Raises:
            InvalidNameError: it may not be called so.
            PlayerSpecError: *url* is none that a player could have, or none that may be called.
            NameTakenError: there is one of that name, perhaps in another case.
            TooManyPlayersError: *owner* has as many as one owner may have.
        """
        check_player_name(name)
        if url is not None:
            await addresses.check_target(url, self.settings.targets)
        row = PlayerRow(
            name,
            SeatKind.DIAL_IN if url is None else SeatKind.HTTP,
            owner,
            self.clock.wall_ms(),
            url=None if url is None else str(addresses.player_url(url)),
            max_matches=self.settings.max_matches,
        )
        row = replace(row, **wishes.values())
        if not await self.store.add(row, self.settings.max_players):
            raise errors.NameTakenError("player", name)
        self.on_change()
        return row

    async def get(self, name: str) -> PlayerRow:
        """Return the player called *name*.

        Raises:
            UnknownPlayerError: there is none.
        """
        row = await self.store.get(name)
        if row is None:
            raise errors.UnknownPlayerError(name)
        return row

    async def change(
        self,
        name: str,
        url: str | None = None,
        wishes: PlayerWishes = NO_WISHES,
        still: PlayerRow | None = None,
    ) -> PlayerRow:
        """Change where a player is, and what its owner says of it; what is None stays as it is.

        Raises:
            UnknownPlayerError: there is none, or not *still* that one: to look an address up takes a while.
            PlayerSpecError: as `register`.
        """
        values = wishes.values()
        if url is not None:
            await addresses.check_target(url, self.settings.targets)
            values |= {"kind": SeatKind.HTTP, "url": str(addresses.player_url(url)), "info": None, "seen_ms": None}
        if values and not await self.store.change(name, still, **values):
            raise errors.UnknownPlayerError(name)
        self.on_change()
        return await self.get(name)

    async def note_seen(self, row: PlayerRow) -> None:
        """Keep that the player of *row* is there now."""
        await self.store.set_info(row, row.info, self.clock.wall_ms())

    async def remove(self, name: str, still: PlayerRow | None = None) -> None:
        """Forget a player; its matches keep its name.

        Raises:
            UnknownPlayerError: there is none, or not *still* that one.
        """
        # As a whole, also where the caller goes away: the next player of that name must not get this one's queue.
        if not await asyncio.shield(self._remove(name, still)):
            raise errors.UnknownPlayerError(name)

    async def _remove(self, name: str, still: PlayerRow | None) -> bool:
        was_registered = await self.store.delete(name, still)
        if was_registered:
            self.request_queues.forget(name)
        return was_registered

    async def pause(self, name: str, reason: str, still: PlayerRow | None = None) -> None:
        """Give a player no more matches for now; *reason* is for people.

        Nothing happens where its address, status and reason are not *still* those of that row.

        Raises:
            UnknownPlayerError: there is none, and *still* is not given.
        """
        if not await self.store.set_status(name, PlayerStatus.PAUSED, reason, still) and still is None:
            raise errors.UnknownPlayerError(name)

    async def resume(self, name: str, still: PlayerRow | None = None) -> None:
        """Give a player matches again, its failures forgotten; *still* is as that of `pause`.

        Raises:
            UnknownPlayerError: there is none, and *still* is not given.
        """
        if not await self.store.set_status(name, PlayerStatus.OK, still=still) and still is None:
            raise errors.UnknownPlayerError(name)
        self.on_change()

    async def resolve(self, text: str) -> PlayerReference:
        """Return who is meant by *text*: a registered player, a person, an address, or one of our players.

        Raises:
            PlayerSpecError: anything else; programs, files and modules are never started for a caller on the network.
            UnknownNameError: no player of ours, or none that is registered; it suggests the nearest names.
        """
        if text == HUMAN:
            return Person(self.request_queues)
        # No registered player is called like an address.
        row = None if "://" in text else await self.store.get(text)
        if row is None:
            spec = await self._public_spec(text)
            return replace(spec, worker_limits=self.settings.worker_limits) if spec.is_own else spec
        return RegisteredPlayer(row, self.request_queues, self.settings.targets)

    async def _public_spec(self, text: str) -> PlayerSpec:
        """Return the player that *text* names; where it is like names of registered players, suggest these."""
        try:
            return public_player_spec(text, self.settings.targets)
        except CallerError as error:
            registered = [row.name for row in await self.store.listed()] if is_name(text) else []
            near = difflib.get_close_matches(text, registered[:_MOST_NAMES])
            if not near:
                raise
            own = error.suggestions if isinstance(error, UnknownNameError) else ()
            raise UnknownNameError("player", text, [*own, *near]) from error

    async def seated(self, game: Outline, named: Mapping[str, str]) -> dict[Role, PlayerReference]:
        """Return who plays each role of *game* but chance, as *named* says by role, and `random` where it does not.

        Raises:
            PlayerSpecError, UnknownNameError: as `resolve`; no such role.
        """
        return seated(game, {role: await self.resolve(text) for role, text in named.items()})

    async def seated_again(
        self, game: Outline, named: Mapping[str, str], ordered_ms: int
    ) -> dict[Role, PlayerReference]:
        """Return the same for a match that was ordered at *ordered_ms*: where the players are now.

        One that is not known any more is an `UnresolvedPlayer`, also where another one has its name since.

        Raises:
            UnknownNameError: no such role.
        """
        return seated(game, {role: await self._resolved_again(text, ordered_ms) for role, text in named.items()})

    async def _resolved_again(self, text: str, ordered_ms: int) -> PlayerReference:
        try:
            found = await self.resolve(text)
        except (CallerError, DamagedRowError):
            return UnresolvedPlayer(text)
        is_another = isinstance(found, RegisteredPlayer) and not found.row.was_registered(ordered_ms)
        return UnresolvedPlayer(text) if is_another else found

    def limit(self, row: PlayerRow) -> int:
        """Return how many matches a player may play at once as things are: 0 for none now."""
        return row.max_matches if self.hindrance(row) is None else 0

    def hindrance(self, row: PlayerRow) -> Hindrance | None:
        """Return why a player begins no match now, whatever it plays; None where nothing keeps it."""
        if row.status != PlayerStatus.OK:
            return Hindrance.PAUSED
        if row.kind != SeatKind.HTTP and not self.request_queues.is_connected(row.name):
            return Hindrance.NOT_CONNECTED
        is_busy = isinstance(row.info, Mapping) and row.info.get("status") == Status.BUSY.value
        return Hindrance.BUSY if is_busy else None

    async def is_free(self, name: str, n_playing: int) -> bool:
        """Return whether the player, which plays *n_playing* matches, may begin another one."""
        row = await self.store.get(name)
        return row is None or n_playing < self.limit(row)

    async def note_match(
        self, ordered_ms: int, has_only_failed: Mapping[str, bool], was_busy: Collection[str] = ()
    ) -> None:
        """Take note of a match that is over: by player, whether it was only late, not there, or busy.

        Players that got their names after *ordered_ms*, when the match was ordered, had no seat in it.

        A player that fails match after match is paused; the reason tells of those that *was_busy* names that they were.

        Raises:
            StorageError: the database failed; nothing is noted then, and it can be tried again.
        """

        def reason_to_pause(name: str, n_failed: int) -> str:
            what = "was busy at START, or answered nothing," if name in was_busy else "answered nothing"
            return f"it {what} in {n_failed} matches in a row" if n_failed >= self.settings.max_failed_matches else ""

        # Most that is no name of a registered player is an address.
        counted = {name: it_has for name, it_has in has_only_failed.items() if is_name(name)}
        if counted:
            await self.store.count_match(ordered_ms, counted, reason_to_pause)
        self.on_change()
