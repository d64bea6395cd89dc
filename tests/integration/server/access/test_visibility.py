"""The server shows callers only what is theirs of a match: every route, caller, kind of match and moment, by one table.

The table is `visibility.toml`. A route that is not in it fails the test. Every match has words of its own, so that an
answer that has one of them tells what it belongs to.
"""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from gdl.engines import make_game
from gdl.language.kif import read_term
from gdl.language.rules import Description, read_rules
from gdl.wire.insights import Insight
from server.access.authentication import new_secret, secret_hash
from server.app_keys import MANAGER
from server.clock import now_ms
from server.hosting.game_manager import GameManager
from server.hosting.order import MatchRequest, new_order
from server.match.position import first_position, next_position
from server.match.profiles import Profile
from server.principal import Role
from server.records.entries import AnsweredEntry, Entry, SentEntry, StateEntry, StepEntry, entry_of
from server.storage.games import UNNAMED
from server.storage.match_changes import summary_of
from server.storage.rows import GameVersion, MatchRow, MatchStatus, PlayerRow, SeatKind, SeatRow
from server.storage.writer import EventWriter
from tests.kit.exhaustive import sampled
from tests.kit.server.access.guarded_app import bearer
from tests.kit.server.access.sites import Site, whole_site
from tests.kit.server.hosting.tournaments import entrants, tournament
from tests.kit.server.scripted import CIRCUMSTANCES, events, start_of
from tests.kit.server.storage.samples import keep
from tests.kit.server.web.markup import folded

TABLE: dict[str, Any] = tomllib.loads(Path(__file__).with_name("visibility.toml").read_text("utf-8"))
KINDS: Final = sampled(
    tuple(TABLE["kinds"]),
    "plain", "played late", "imperfect", "scrambled", "scrambled between people",
)  # fmt: skip
"""The kinds of matches that are asked for: without those that have what others of these have one by one."""

RULES = """
(role krell{i}) (role vorn{i})
(init (at 0)) (init (flax none none)) (succ 0 1) (succ 1 2) (succ 2 3)
(word amber{i}) (word basalt{i}) (word cobalt{i}) (word dusk{i})
(<= (legal ?r (hop ?w)) (role ?r) (word ?w))
(<= (next (flax ?x ?y)) (does krell{i} (hop ?x)) (does vorn{i} (hop ?y)))
(<= (next (at ?j)) (true (at ?i)) (succ ?i ?j))
(<= terminal (true (at 3)))
(<= (goal ?r 50) (role ?r))
"""
MOVES = (("amber", "basalt"), ("cobalt", "dusk"), ("amber", "dusk"))
GROUPS = ("people", "game", "play", "view", "wire", "insight", "seat", "rest")
STREAMS = ("/events", "/requests", "/letters")
ANONYMOUS = "anonymous"
AFTER_THE_END = sampled(
    ("stranger", "person", ANONYMOUS, "spectator", "orderer"), "stranger", "person", ANONYMOUS, "spectator"
)
"""Whom to ask as about matches that are over: the others see no less."""
A_MOMENT_S = 0.1


@dataclass(frozen=True)
class Played:
    """A match of one kind, running or over, with what only some may see of it: words, each with its groups."""

    kind: str
    is_over: bool
    row: MatchRow
    role: str
    player: str
    secret: str
    words: Mapping[str, set[str]]

    @property
    def hides_game(self) -> bool:
        return not self.is_over and "game" not in TABLE["running"][self.kind]["spectator"]


@dataclass(frozen=True)
class Caller:
    """Who asks: as the table calls it, with a role of the server or none, and what it sends."""

    name: str
    role: Role | None
    headers: Mapping[str, str]


def journal(description: Description, i: int, how: Mapping[str, Any]) -> list[Entry]:
    """Return the whole journal of match number *i*."""
    is_scrambled = how.get("scramble", False) and not how.get("people", False)
    moves = [[f"(hop {word}{i})" for word in step] for step in MOVES]
    profile = Profile(is_scrambled=is_scrambled)
    found = [entry_of(event, CIRCUMSTANCES) for event in events(description, moves, profile)]
    first, is_human = start_of(found), bool(how.get("people"))
    seats = tuple(
        replace(seat, player="human" if is_human else f"player{i}-{number}", is_human=is_human)
        for number, seat in enumerate(first.seats)
    )
    first = replace(first, game=f"jade{i}", match_id=f"m.{i}", seed=9182730000 + i, scramble_seed=5647380000 + i)
    found[0] = replace(first, seats=seats)
    for n, entry in enumerate(found):
        if isinstance(entry, SentEntry | AnsweredEntry):
            found[n] = replace(entry, text=f"(wire{first.roles.index(entry.role)} w{i}e)")
        elif isinstance(entry, StepEntry) and entry.moves is not None:
            found[n] = replace(entry, insights=(Insight(9, 9, 2.0, 50.0, (f"( muse{i} )",)), None))
    _mark_common(found, description, moves)
    return found


def _mark_common(found: list[Entry], description: Description, moves: list[list[str]]) -> None:
    """Say of each state whether every role knows it, as a referee does."""
    game = make_game(description)
    position = first_position(game)
    for n, entry in enumerate(found):
        if isinstance(entry, StateEntry):
            if entry.step:
                position = next_position(game, position, tuple(map(read_term, moves[entry.step - 1])))
            found[n] = replace(entry, is_common=position.is_common)


def words_of(entries: list[Entry], i: int) -> dict[str, set[str]]:
    """Return what may be secret in match number *i*, each with the groups that it belongs to."""
    first = start_of(entries)
    found = {word: {"game"} for word in (f"jade{i}", f"krell{i}", f"vorn{i}", first.rules_sha256)}
    found |= {f"(flaxamber{i}basalt{i})": {"play"}}
    found |= {f"(hop{word}{i})": {"play", "view"} for word in ("amber", "cobalt")}
    found |= {f"(hop{word}{i})": {"play", "rest"} for word in ("basalt", "dusk")}
    found |= {f"(feltamber{i})": {"view"}, f"(feltbasalt{i})": {"rest"}}
    found |= {f"(didkrell{i}amber{i})": {"play", "view"}, f"(didvorn{i}basalt{i})": {"play", "view"}}
    found |= {f"(wire0w{i}e)": {"wire"}, f"(wire1w{i}e)": {"rest"}, f"(muse{i})": {"insight"}}
    found |= {str(seed): {"rest"} for seed in (first.seed, first.scramble_seed)}
    if first.seats[0].is_human:
        found |= {f"zoe{i}": {"people"}}
    return found | {name: {"rest"} for name in first.scrambling.values() if not name.startswith("?")}


async def played(manager: GameManager, i: int, kind: str, *, is_over: bool) -> Played:
    """Play match number *i*, to its end or up to its second step, as a manager elsewhere does."""
    how = TABLE["kinds"][kind]
    description = read_rules(RULES.replace("{i}", str(i)) + how.get("sees", ""), "rules")
    entries, secret = journal(description, i, how), new_secret()
    first, at_ms = start_of(entries), now_ms()
    roles = first.roles
    order = {"game": f"jade{i}", "scramble": how.get("scramble", False), "broadcastDelay": how.get("delay")}
    text = MatchRequest.model_validate(order)
    stored = new_order(text, f"jade{i}", {roles[0]: secret_hash(secret)} if how.get("people") else {})
    is_live = how.get("live_insight", False)
    people = {"people": {roles[0]: f"zoe{i}"}} if how.get("people") else {}
    row = MatchRow(
        f"m.{i}", f"jade{i}", description.sha256,
        replace(stored, seed=first.seed, scramble_seed=first.scramble_seed, shows_insight=is_live).as_json()
        | people,
        at_ms,
        status=MatchStatus.RUNNING, ordered_by="host", is_hidden=description.is_gdl2 or how.get("scramble", False),
        started_ms=at_ms, holder="elsewhere", lease_until_ms=at_ms + 10**9, epoch=1,
    )  # fmt: skip
    rules = description.source.text
    await manager.games.put(GameVersion(UNNAMED, description.sha256, rules, roles, description.is_gdl2, 1))
    kind_of_seat = SeatKind.HUMAN if how.get("people") else SeatKind.DIAL_IN
    names = [seat.player for seat in first.seats]
    await keep(manager.matches, row, [SeatRow(row.id, roles[n], n, names[n], kind_of_seat) for n in range(2)])
    if not how.get("people"):
        await manager.players.put(PlayerRow(names[0], SeatKind.DIAL_IN, "player", at_ms - 1))
    await _write(manager, row.id, entries, is_over=is_over)
    return Played(kind, is_over, row, roles[0], names[0], secret, words_of(entries, i))


async def _write(manager: GameManager, match_id: str, entries: list[Entry], *, is_over: bool) -> None:
    writer = EventWriter(manager.database, "elsewhere")
    second = [n for n, entry in enumerate(entries) if isinstance(entry, StateEntry)][2]
    for number, entry in enumerate(entries if is_over else entries[: second + 1]):
        writer.put(match_id, number, entry)
    await (writer.finish(match_id, summary_of(entries)) if is_over else writer.flush(match_id))
    await writer.close()


@asynccontextmanager
async def site_with_matches(folder: Path, *, is_public: bool) -> AsyncIterator[tuple[Site, list[Played]]]:
    async with whole_site(folder, is_public=is_public) as site:
        app = site.client.app
        assert app is not None
        cases = [(kind, is_over) for kind in KINDS for is_over in (False, True)]
        found = [await played(app[MANAGER], i, kind, is_over=over) for i, (kind, over) in enumerate(cases, 100)]
        # What the table asks for as `{name}`.
        assert await app[MANAGER].tournaments.store.add(tournament("tictactoe"), entrants())
        yield site, found


async def callers(site: Site) -> list[Caller]:
    other = await site.access.issuing.issue("mallory", Role.PLAYER)
    tokens = [
        ("spectator", Role.SPECTATOR, site.tokens[Role.SPECTATOR]), ("another player", Role.PLAYER, str(other.text)),
        ("owner", Role.PLAYER, site.tokens[Role.PLAYER]), ("orderer", Role.HOST, site.tokens[Role.HOST]),
        ("admin", Role.ADMIN, site.tokens[Role.ADMIN]),
    ]  # fmt: skip
    return [
        Caller("stranger", None, {}), Caller("person", None, {}),
        *(Caller(name, role, bearer(token)) for name, role, token in tokens),
    ]  # fmt: skip


def told_to(caller: Caller, match: Played) -> set[str]:
    """Return what *caller* may see of *match*."""
    running = TABLE["running"][match.kind]
    is_people = "person" in running
    if caller.role is None:
        return set(running.get("person", ()) if caller.name == "person" else ())
    own = set(running.get(caller.name, ()))
    if caller.name == ANONYMOUS:
        return {*(GROUPS if match.is_over else running["spectator"])} - {"people", "seat"}
    if match.is_over:
        return {*GROUPS} - {"seat"} | ({"seat"} if is_people and caller.name in TABLE["seats"]["callers"] else set())
    return {*running["spectator"], *own}


def statuses(caller: Caller, match: Played, least: str, aspect: str = "") -> set[int]:
    """Return how a route may be answered that *least* may ask for, and that shows *aspect* of *match*."""
    if least == "anybody":
        return {200}
    if least == "seat":
        if not TABLE["running"][match.kind].get("person"):
            # Whether people play a role tells something of the game.
            knows = caller.name in ("orderer", "admin") or not match.hides_game
            return {404} if knows else {401, 403}
        return {200} if "seat" in told_to(caller, match) else {401, 403}
    if caller.role is None:
        return {401}
    if caller.role < Role[least.upper()]:
        return {401} if caller.name == ANONYMOUS else {403}
    if aspect == "none":  # it needs what no match has there: an import, two versions
        return {404}
    running = TABLE["running"][match.kind]
    # A seat of one's own is asked for by its role; orderers and admins see more at the seats of people alone.
    own = running.get("owner", ()) if caller.name == "owner" and aspect != "play" else ()
    if not aspect or match.is_over or aspect in (*running["spectator"], *own):
        return {200}
    is_late = aspect != "wire" and TABLE["kinds"][match.kind].get("delay")
    return {404} if is_late else {403}  # what is withheld by a delay is not there yet


def addresses(path: str, match: Played) -> Iterator[str]:
    """Yield the addresses of *match* at the route *path*."""
    fillings = {
        "match_id": match.row.id, "id": match.row.id, "role": match.role, "player": match.player,
        "game": match.row.game, "name": "tictactoe", "number": "0", "feed": "updatedFeed.json",
        "entrant": "p0", "other": "legal", "import_id": "none",
    }  # fmt: skip
    if path.startswith(("/api/v1/players/", "/players/")):
        fillings["name"] = match.player
    elif path.endswith("/transcript") and match.hides_game:
        fillings["role"] = "0"  # the number of the seat
    elif path.startswith("/static/"):
        fillings["name"] = "style.css"
    for step in "012" if "{step}" in path else "0":
        yield path.format(**fillings, step=step)


async def asked(site: Site, path: str, caller: Caller, match: Played) -> tuple[int, str]:
    """Return the status and all that the server tells at *path*; of a stream what comes within a moment."""
    headers = dict(caller.headers)
    if caller.name == "person":
        headers |= {"GGP-Seat-Secret": match.secret, "Cookie": f"ggp_seat={match.secret}"}
    is_stream = path.partition("?")[0].endswith(STREAMS)
    async with site.client.get(path, headers=headers, allow_redirects=False) as answer:
        text = str(answer.headers)
        try:
            async with asyncio.timeout(A_MOMENT_S if is_stream else 60):
                async for piece in answer.content.iter_any():
                    text += piece.decode(errors="replace")
        except TimeoutError:
            assert is_stream
        return answer.status, text


def leaks(
    path: str, text: str, caller: Caller, match: Played, matches: list[Played], known: set[str]
) -> Iterator[tuple[str, ...]]:
    """Yield each word in *text* that *caller* may not see and does not know; what the caller said itself is none."""
    flat, said = folded(text), (match.row.game, match.role) if "?" in path else (match.role,)
    for other in matches:
        for word in other.words:
            if word in known or (other is match and word in said and word in path):
                continue
            if word in flat:
                yield path, caller.name, other.kind, "over" if other.is_over else "running", word
    if f"game={match.row.game}" in path and "game" not in told_to(caller, match) and match.row.id in flat:
        yield path, caller.name, match.kind, "its game can be asked for"


async def test_every_route_is_in_the_table(tmp_path: Path) -> None:
    async with whole_site(tmp_path) as site:
        there = {f"{method} {path}" for method, path in site.routes}
    assert there == {route for route in TABLE["routes"] if "?" not in route}, "say in visibility.toml who may ask"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_public", [False, True])
async def test_callers_see_only_what_is_theirs(tmp_path: Path, is_public: bool) -> None:
    wrong: list[object] = []
    async with site_with_matches(tmp_path, is_public=is_public) as (site, matches):
        for caller in [Caller(ANONYMOUS, Role.SPECTATOR, {})] if is_public else await callers(site):
            wrong += await wrong_with(site, caller, matches)
    assert wrong == []


async def wrong_with(site: Site, caller: Caller, matches: list[Played]) -> list[object]:
    """Return what is wrong with what *caller* sees at all routes."""
    wrong: list[object] = []
    told = {match.row.id: "" for match in matches}
    known = {word for match in matches for word, groups in match.words.items() if groups & told_to(caller, match)}
    for route, needed in reading():
        of_match = re.search(r"\{(match_id|id|role|player|game)\}", route) or "/players/{name}" in route
        asked_of = [match for match in matches if not match.is_over or caller.name in AFTER_THE_END]
        paths = [(match, path) for match in (asked_of if of_match else matches[:1]) for path in addresses(route, match)]
        # At once, since a stream is heard for a moment each.
        answers = await asyncio.gather(*(asked(site, path, caller, match) for match, path in paths))
        for (match, path), (status, text) in zip(paths, answers, strict=True):
            is_told = expected_status(route, match) and "/states/0" not in path  # everybody knows the first state
            if is_told and status not in statuses(caller, match, *needed):
                wrong.append((path, caller.name, match.kind, match.is_over, status))
            wrong += leaks(path, text, caller, match, matches, known)
            told[match.row.id] += folded(text)
    return wrong + [each for match in matches for each in untold(caller, match, told[match.row.id])]


def reading() -> list[tuple[str, list[str]]]:
    """Return the routes that are read, without those that begin calls of their own."""
    found = [(route.removeprefix("GET "), needed) for route, needed in TABLE["routes"].items()]
    return [(path, needed) for path, needed in found if path.startswith("/") and path != "/api/v1/info"]


def expected_status(route: str, match: Played) -> bool:
    """Return whether the table says how *route* is answered: where the player is there, and a record to be sent.

    Two players have to be named to be compared, and a match may be ended by the owner of its order.
    """
    is_players = "/players/{name}" in route
    others = "/about", "/requests", "/letters", "/encounters", "/abort"
    return not is_players and not route.endswith(others) and bool(match)


def untold(caller: Caller, match: Played, text: str) -> Iterator[tuple[str, ...]]:
    """Yield what *caller* may see and sees nowhere: then the words would be the wrong ones to look for."""
    allowed = told_to(caller, match) if caller.name == "spectator" else set()
    for word, groups in match.words.items():
        is_of_kind = ("felt" not in word and "did" not in word) or word.strip("(")[:3] in str(
            TABLE["kinds"][match.kind]
        )
        if groups & allowed & {"people", "game", "play", "wire", "insight"} and is_of_kind and word not in text:
            yield "nowhere told", caller.name, match.kind, "over" if match.is_over else "running", word


async def test_who_may_not_change_something_is_refused(tmp_path: Path) -> None:
    wrong = []
    async with whole_site(tmp_path) as site:
        for caller in await callers(site):
            for route, (least, *_) in TABLE["routes"].items():
                method, _, path = route.partition(" ")
                if method == "GET" or least in ("anybody", "seat"):
                    continue
                status = await site.status((method, path), {"Content-Type": "application/json", **caller.headers})
                needed = 401 if caller.role is None else 403 if caller.role < Role[least.upper()] else None
                if needed is not None and status != needed:
                    wrong.append((route, caller.name, status))
                if (needed is None and status in (401, 403)) or status >= 500:
                    wrong.append((route, caller.name, status))
    assert wrong == []
