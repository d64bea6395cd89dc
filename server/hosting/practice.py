"""Practice: the matches that players order themselves, so many a day."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from server.clock import now_ms
from server.hosting.game_finder import GameFinder
from server.hosting.order import DrawnMatch, MatchRequest, MatchRules, SeatText, order_of
from server.hosting.settings import GameManagerSettings, PracticeLimits
from server.hosting.supervisor import MatchSupervisor
from server.principal import Principal, Role, may_command, owns
from server.refusals import RequestError
from server.registry.player_references import RegisteredPlayer
from server.registry.registry import Registry
from server.spectating.viewers import secrecy_of
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue
from server.storage.rows import MatchPurpose, MatchRow, PlayerRow, SeatKind

_DAY_MS: Final = 86_400_000


class MatchOrders(Protocol):
    """What takes the orders of matches: a game manager."""

    settings: GameManagerSettings
    registry: Registry
    matches: MatchStore
    finder: GameFinder
    queue: MatchQueue
    supervisor: MatchSupervisor

    async def order(
        self,
        request: MatchRequest,
        by: str = "",
        rules: MatchRules | None = None,
        purpose: MatchPurpose | None = None,
    ) -> DrawnMatch:
        """Keep the match that *request* orders."""

    async def order_all(
        self, requests: Sequence[MatchRequest], by: str, rules: MatchRules, purpose: MatchPurpose
    ) -> None:
        """Keep the matches that *requests* order: all of them, or none."""


class Practice:
    """Orders matches of *manager* for those who may: hosts all, players within *limits* those with a part of theirs."""

    def __init__(self, manager: MatchOrders, limits: PracticeLimits) -> None:
        self._manager, self._limits = manager, limits
        self._counting = asyncio.Lock()

    async def order(self, request: MatchRequest, viewer: Principal, rules: MatchRules | None = None) -> DrawnMatch:
        """Keep the match that *request* orders, of *rules* if they are given; one of a player is a practice match.

        Raises:
            RequestError: the match is none that a player may order, or has ordered too many.
            GdlError: as `GameManager.order`.
        """
        if viewer.may(Role.HOST):
            return await self._manager.order(request, viewer.name, rules)
        _check_terms(request)
        await self._check_seats(request, viewer)
        await self._check_seed(request, viewer, rules)
        async with self._counting, self._manager.queue.counting(viewer.name):
            await self._check_number(viewer.name)
            return await self._manager.order(request, viewer.name, rules, MatchPurpose.PRACTICE)

    async def rematch(self, row: MatchRow, viewer: Principal) -> DrawnMatch:
        """Keep a match like one that is over, of the same rules, in which each player has the next one's seat.

        Raises:
            RequestError: as `order`; or the match is not over, or its game not public yet.
            GdlError: as `GameManager.order`.
        """
        secrecy = secrecy_of(row)
        if not row.has_ended or secrecy.hides_game:  # the order of a rematch tells its game
            raise RequestError("match_not_over", f"a rematch is ordered {secrecy.opening}", status=409)
        before = order_of(row.order).request
        rules = await self._manager.finder.pinned(row.sha256)
        players = rotated(before.players, rules.version.played_roles)
        changes = {"players": players, "game": row.game, "seed": None, "tournament": None, "begin": None}
        own_rules = replace(rules, version=rules.version.called(row.game))
        return await self.order(before.model_copy(update=changes), viewer, own_rules)

    async def _check_seats(self, request: MatchRequest, viewer: Principal) -> None:
        """Check that *viewer* has a part in the match, and that the others may be asked to play.

        Raises:
            RequestError: one of them may not, or nothing of it is the viewer's own.
        """
        has_own = False
        for seat in request.players.values():
            player = await self._manager.registry.resolve(seat.player)
            if isinstance(player, RegisteredPlayer):
                if not may_name(viewer, player.row):
                    told = f"the owner of {player.name} does not allow others to challenge it"
                    raise RequestError("not_challengeable", told, status=403)
                has_own |= may_command(viewer, player.row.owner)
            elif player.kind == SeatKind.HUMAN:
                has_own = True
            elif player.kind != SeatKind.OWN:
                told = "players at an address are for hosts; register yours, and name it"
                raise RequestError("forbidden", told, status=403)
        if not has_own:
            raise RequestError("no_own_seat", "name a player of your own in it, or a seat for yourself: human")

    async def _check_seed(self, request: MatchRequest, viewer: Principal, rules: MatchRules | None) -> None:
        """Check that *viewer* cannot work out what chance deals to the players of other owners: a seed tells that.

        Raises:
            RequestError: it could.
            UnknownNameError: there is no such game.
        """
        if request.seed is None:
            return
        players = [await self._manager.registry.resolve(seat.player) for seat in request.players.values()]
        registered = (player for player in players if isinstance(player, RegisteredPlayer))
        if all(may_command(viewer, player.row.owner) for player in registered):
            return
        found = rules or await self._manager.finder.current(request.game or "")
        if found.version.is_gdl2:
            told = "with players of others, the seed of a game with hidden information is drawn"
            raise RequestError("forbidden", told, "leave `seed` out", 403)

    async def _check_number(self, name: str) -> None:
        """Check that *name* may order one more.

        Raises:
            RequestError: not today, or not now.
        """
        n_ordered, n_live = await self._manager.matches.n_practised(name, now_ms() - _DAY_MS)
        if n_ordered >= self._limits.per_day:
            told = f"you have ordered {n_ordered} practice matches in 24 hours, and may order {self._limits.per_day}"
            raise RequestError("too_much_practice", told, "a host may order more", 429)
        if n_live >= self._limits.at_once:
            told = f"{n_live} practice matches of yours wait or are played: no more at once"
            raise RequestError("too_much_practice", told, "wait until one is over, or abort one", 429)


def may_name(viewer: Principal, player: PlayerRow) -> bool:
    """Return whether *viewer* may order matches with the registered *player*: a host may with all."""
    return viewer.may(Role.HOST) or may_command(viewer, player.owner) or player.allows_challenges


def may_abort(viewer: Principal | None, match: MatchRow) -> bool:
    """Return whether *viewer* may abort *match*: a host may with all, others with the practice matches they ordered."""
    if viewer is None:
        return False
    return viewer.may(Role.HOST) or (match.purpose is MatchPurpose.PRACTICE and owns(viewer, match.ordered_by))


def check_may_abort(viewer: Principal | None, match: MatchRow) -> None:
    """Check that *viewer* may abort *match*.

    Raises:
        RequestError: not this match.
    """
    if not may_abort(viewer, match):
        told = "only hosts abort matches that are not practice matches of their own"
        raise RequestError("forbidden", told, status=403)


def _check_terms(request: MatchRequest) -> None:
    """Check that *request* orders no more than a match of a game.

    Raises:
        RequestError: it does.
    """
    for what, is_there in (("rules", request.rules), ("from", request.begin), ("tournament", request.tournament)):
        if is_there is not None:
            raise RequestError("forbidden", f"only hosts order matches with `{what}`", "name a game", 403)


def rotated(seats: Mapping[str, SeatText], roles: tuple[str, ...]) -> dict[str, SeatText]:
    """Return who sits where when each role has the player that the role before it had.

    >>> seats = {"x": SeatText(player="mcts"), "o": SeatText(player="human")}
    >>> {role: seat.player for role, seat in rotated(seats, ("x", "o")).items()}
    {'x': 'human', 'o': 'mcts'}
    """
    before = zip(roles, (*roles[-1:], *roles[:-1]), strict=True)
    return {role: seats[last] for role, last in before if last in seats}
