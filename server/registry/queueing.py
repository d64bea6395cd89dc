"""The queue of matches that wait: which may begin, and what the others wait for."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from server.links.addresses import host_and_port, is_address, player_url
from server.links.errors import PlayerSpecError

PATIENCE_S: Final = 60.0
"""How long a match may be overtaken by younger ones before its players are kept for it."""


@dataclass(frozen=True, slots=True)
class QueuedMatch:
    """A match that waits for its *players*, each named as often as it has seats, and for room for those of ours.

    A registered player has its name there, also where its address was ordered. `limits` says of players that are not
    registered how many matches they play at once, as it was ordered. `n_processes` are those of our players.
    *Units*: seconds, slots of `server.hosting.cores`.
    """

    match_id: str
    players: tuple[str, ...]
    waited_s: float = 0.0
    n_core_slots: int = 0
    limits: Mapping[str, int] = field(default_factory=dict)
    n_processes: int = 0
    has_person: bool = False


@dataclass(frozen=True, slots=True)
class Capacity:
    """The capacity that is left for more matches: how many may begin, and how many slots players of ours have.

    `n_person_slots` are those that matches with people may take.
    """

    n_matches: int
    n_core_slots: int = 0
    n_person_slots: int = 0


def startable(
    queued: Sequence[QueuedMatch],
    running: Mapping[str, int],
    limits: Mapping[str, int],
    capacity: Capacity,
    patience_s: float = PATIENCE_S,
) -> list[str]:
    """Return the ids of the matches among *queued*, the oldest first, that fit into *capacity* and may begin now.

    *limits* says how many matches a player plays at once, 0 for one that plays none now; a player that is not there
    plays any number. *running* says how many each plays already.

    A match whose players are free begins even if an older one waits. But when a match has waited for *patience_s*
    and nothing but other matches keeps its players, they and the slots are kept for it as they become free, so that no
    match waits forever. Matches with people and the others do not keep each other's slots.
    """
    taken = Counter(running)
    n_core_slots, n_person_slots = capacity.n_core_slots, capacity.n_person_slots
    found: list[str] = []
    for match in queued:
        if len(found) >= capacity.n_matches:
            break
        # A player in several seats of one match plays one match.
        known = {**match.limits, **limits}
        needed = {player: known[player] for player in match.players if player in known}
        n_left = n_person_slots if match.has_person else n_core_slots
        has_room = not match.n_core_slots or match.n_core_slots <= n_left
        is_free = has_room and all(taken[player] < limit for player, limit in needed.items())
        is_kept = match.waited_s >= patience_s and all(limit > 0 for limit in needed.values())
        if not (is_free or is_kept):
            continue
        taken.update(needed.keys())
        if is_free:
            found.append(match.match_id)
        if is_free or match.has_person:
            n_person_slots -= match.n_processes
        if is_free or not match.has_person:
            n_core_slots -= match.n_core_slots
    return found


class Hindrance(StrEnum):
    """Why a player begins no match now."""

    NOT_CONNECTED = "not-connected"
    PAUSED = "paused"
    BUSY = "busy"

    @property
    def words(self) -> str:
        """The same for people."""
        return self.value.replace("-", " ")


@dataclass(frozen=True, slots=True)
class WaitReason:
    """What a match of the queue waits for: `players`, each with what keeps it from this match, and a core."""

    players: Mapping[str, Hindrance] = field(default_factory=dict)
    needs_core: bool = False

    @property
    def told(self) -> dict[str, Any]:
        """The reason as the API tells it: of several things the players, who tell more than a core."""
        return {"waitsFor": "players", "unavailable": dict(self.players)} if self.players else {"waitsFor": "core"}

    @property
    def words(self) -> str:
        """The reason for people, in the same words whatever roles the players have.

        Example:
            >>> WaitReason({"b": Hindrance.BUSY, "ada-1": Hindrance.NOT_CONNECTED}, needs_core=True).words
            'waits for ada-1 (not connected), b (busy), a core'
        """
        players = [f"{name} ({hindrance.words})" for name, hindrance in sorted(self.players.items())]
        return f"waits for {', '.join([*players, *(['a core'] if self.needs_core else [])])}"


def joint_reason(reasons: Iterable[WaitReason]) -> WaitReason | None:
    """Return what several matches wait for altogether; None where they wait for nothing.

    Example:
        >>> joint_reason([WaitReason({"ada-1": Hindrance.PAUSED}), WaitReason({"b": Hindrance.BUSY}, True)]).words
        'waits for ada-1 (paused), b (busy), a core'
    """
    found = tuple(reasons)
    players = {name: hindrance for reason in found for name, hindrance in reason.players.items()}
    needs_core = any(reason.needs_core for reason in found)
    return WaitReason(players, needs_core) if players or needs_core else None


def wait_reasons(
    queued: Sequence[QueuedMatch],
    begun: Container[str],
    running: Mapping[str, int],
    limits: Mapping[str, int | Hindrance],
    capacity: Capacity,
) -> dict[str, WaitReason]:
    """Return by its id what each of the matches *queued* waits for, once those of them that are *begun* play.

    *running* and *capacity* are those of `startable`, and so are *limits*, with a hindrance in place of 0. A match
    that waits only for its turn is left out.
    """
    beginning = [match for match in queued if match.match_id in begun]
    taken = Counter(running) + n_matches([match.players for match in beginning])
    n_left = max(0, capacity.n_core_slots - sum(match.n_core_slots for match in beginning))
    n_for_people = max(0, capacity.n_person_slots - sum(match.n_processes for match in beginning))
    found: dict[str, WaitReason] = {}
    for match in queued:
        known = {**match.limits, **limits}
        told = {player: _hindrance(known[player], taken[player]) for player in match.players if player in known}
        # Of an address lists show the host and the port alone.
        shown = {player: host_and_port(player) if is_address(player) else player for player in told}
        players = {shown[player]: hindrance for player, hindrance in told.items() if hindrance is not None}
        needs_core = match.n_core_slots > (n_for_people if match.has_person else n_left)
        if match.match_id not in begun and (players or needs_core):
            found[match.match_id] = WaitReason(players, needs_core)
    return found


def _hindrance(limit: int | Hindrance, n_playing: int) -> Hindrance | None:
    if isinstance(limit, Hindrance):
        return limit
    return Hindrance.BUSY if n_playing >= limit else None


def addresses(named: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return the addresses that a match was ordered with, and how many matches the player at each plays at once.

    *named* are the seats by role as they were ordered; an address that is damaged is left out.

    Example:
        >>> addresses({"red": {"player": "http://h:1"}, "blue": {"player": "http://h:2", "maxMatches": 3}})
        {'http://h:1/': 1, 'http://h:2/': 3}
        >>> addresses({"red": {"player": "http://H:1/"}, "blue": {"player": "http://h:1"}})
        {'http://h:1/': 1}
        >>> addresses({"red": {"player": "random"}, "blue": {"player": "http://["}})
        {}
    """
    limits = {_one_spelling(seat["player"]): seat.get("maxMatches", 1) for seat in named.values()}
    return {address: limit for address, limit in limits.items() if address}


def names_by_address(urls: Mapping[str, str]) -> dict[str, str]:
    """Return which player is registered at each address; *urls* says by name where players listen.

    Example:
        >>> names_by_address({"deep": "http://H:1"})
        {'http://h:1/': 'deep'}
    """
    return {_one_spelling(url): name for name, url in urls.items()}


@lru_cache(4_096)
def _one_spelling(text: str) -> str:
    """Return an address so that the same one is the same text, with or without a slash at the end of the host.

    Return nothing for a text that is no address.
    """
    try:
        url = player_url(text) if is_address(text) else None
    except PlayerSpecError:
        url = None
    return "" if url is None else f"{url.origin()}{url.raw_path_qs}"


def n_matches(players_of_running: Sequence[Sequence[str]]) -> Counter[str]:
    """Return in how many of the running matches each player plays."""
    return Counter(player for players in players_of_running for player in set(players))
