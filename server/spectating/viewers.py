"""As whom a principal asks about a match, and of which kind it is: what the table of visibility is asked with."""

from collections.abc import Mapping, Sequence

from server.principal import Principal, Role, owns
from server.records.entries import Entry, StateEntry
from server.spectating.public_journal import n_common
from server.storage.rows import MatchRow, MatchStatus, PlayerRow, SeatRow
from server.visibility import Aspect, Secrecy, Viewer, may_see


def secrecy_of(match: MatchRow, *, is_gdl2: bool | None = None) -> Secrecy:
    """Return the secrecy of *match* as it was ordered; *is_gdl2* None: every hidden match counts as imperfect."""
    text = match.order["text"]
    is_ordered = bool(text.get("scramble")) or any(seat.get("scramble") for seat in text["players"].values())
    is_imperfect = match.is_hidden if is_gdl2 is None else is_gdl2
    shows_insight = match.order.get("liveInsight") is True
    is_scrambled = match.is_hidden and is_ordered
    return Secrecy(is_imperfect, is_scrambled, match.has_ended, shows_insight, match.is_set_open)


def secrecy_at(match: MatchRow, entries: Sequence[Entry], step: int | None = None) -> Secrecy:
    """Return the secrecy of a match's first states up to that of *step*, by default of all that *entries* tell."""
    n_states = sum(isinstance(entry, StateEntry) for entry in entries) if step is None else step + 1
    secrecy = secrecy_of(match)
    return secrecy.where_known() if 0 < n_states <= n_common(entries) else secrecy


def viewer_of(who: Principal | None, match: MatchRow, *, is_person: bool = False) -> Viewer:
    """Return as whom *who* asks about *match*; *is_person*: with the secret of the seat in question."""
    if is_person:
        return Viewer.PERSON
    if who is None:
        return Viewer.STRANGER
    if not who.is_known:
        return Viewer.ANONYMOUS
    if who.may(Role.ADMIN):
        return Viewer.ADMIN
    return Viewer.ORDERER if who.may(Role.PLAYER) and owns(who, match.ordered_by) else Viewer.SPECTATOR


def people_of(match: MatchRow, who: Principal | None, *, is_person: bool = False) -> Mapping[str, str]:
    """Return the names of the people who play *match*, by role, as far as they are known and *who* may see them."""
    viewer = viewer_of(who, match, is_person=is_person)
    found: Mapping[str, str] = match.order.get("people", {})
    return found if may_see(Aspect.PEOPLE, viewer, secrecy_of(match)) else {}


def end_reason(match: MatchRow) -> str:
    """Return why *match* was aborted or failed, as far as it may be known; empty where it was not."""
    has_failed = match.status == MatchStatus.FAILED
    return secrecy_of(match).told_reason(match.abort_reason or "", has_failed=has_failed) if match.has_ended else ""


def orderer_of(match: MatchRow, who: Principal | None, *, is_person: bool = False) -> str:
    """Return who ordered *match*, who may well play in it by hand; empty where *who* may not see names of people."""
    viewer = viewer_of(who, match, is_person=is_person)
    return match.ordered_by if may_see(Aspect.PEOPLE, viewer, secrecy_of(match)) else ""


def has_in_seat(who: Principal | None, player: PlayerRow | None, seat: SeatRow, match: MatchRow) -> bool:
    """Return whether *player* is the one in *seat* and *who* had registered it before *match* was ordered."""
    # Without the slack of `was_registered`: who takes a released name in the second after the order sees nothing.
    is_it = player is not None and player.kind == seat.kind and player.created_ms <= match.created_ms
    return player is not None and is_it and owns(who, player.owner)
