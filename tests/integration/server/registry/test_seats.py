"""The seats of people, over real sockets: claimed by a secret or a token, and nothing of the others told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from server.access.control import ANONYMOUS
from server.api.seats import check_seat
from server.hosting.order import DrawnMatch
from server.principal import Principal, Role
from server.refusals import UnauthorizedError
from server.spectating.overview import page
from server.spectating.public_record import known_match
from server.spectating.viewers import people_of
from server.storage.database import Database
from server.storage.match_queries import MatchFilter
from tests.kit.polling import until
from tests.kit.server.registry.host import Caller, Host, finished, hosting, order

SECRET = "GGP-Seat-Secret"


@pytest.fixture
async def host(sqlite: Database) -> AsyncIterator[Host]:
    roles = {"hugo": Role.HOST, "ada": Role.PLAYER, "alice": Role.ADMIN}
    async with hosting(sqlite, roles) as found:
        yield found


def seat(ordered: DrawnMatch, role: str) -> str:
    return f"/api/v1/matches/{ordered.row.id}/seats/{role}"


async def asked(caller: Caller, path: str, headers: dict[str, str] | None = None, step: int = 0) -> dict[str, Any]:
    """Wait until a move is asked for in *step* or later, and return what the person sees."""

    async def looked_at() -> dict[str, Any] | None:
        status, found = await caller.ask("GET", path, headers=headers)
        assert status == 200
        return found if found["isAsked"] and found["step"] >= step else None

    return await until(looked_at)


async def test_two_people_play_each_with_the_secret_of_the_seat(host: Host) -> None:
    ordered = await host.manager.order(order({"x": "human", "o": "human"}), by="hugo")
    stranger = host.caller()
    x, o = ({SECRET: ordered.seat_secrets[role]} for role in ("x", "o"))
    await stranger.ask("GET", seat(ordered, "o"), headers=o)  # who has come to the other seat
    # Waiting is done for people, so that x moves in the even steps and o in the odd ones.
    for step, move in enumerate(("(mark 1 1)", "(mark 2 1)", "(MARK 1 2)", "(mark 2 2)", "(mark 1 3)")):
        role, secret = ("xo"[step % 2], (x, o)[step % 2])
        await asked(stranger, seat(ordered, role), secret, step)
        said = await stranger.ask("POST", f"{seat(ordered, role)}/move", {"step": step, "move": move}, secret)
        assert said == (200, {"step": step, "move": move.lower()})
    record = await finished(host, ordered.row.id)
    assert (record["goalValues"], record["isPlayerHuman"]) == ([100, 0], [True, True])
    status, view = await stranger.ask("GET", seat(ordered, "x"), headers=x)
    assert (status, view["status"], view["isAsked"], view["legalMoves"]) == (200, "completed", False, [])


async def test_what_a_person_sees(host: Host) -> None:
    ordered = await host.manager.order(order({"x": "human"}), by="hugo")
    view = await asked(host.caller("hugo"), seat(ordered, "x"))
    assert view.pop("secondsLeft") <= 20
    assert view == {
        "matchId": ordered.row.id, "role": "x", "status": "running", "missing": [], "step": 0, "isAsked": True,
        "told": None,
        "legalMoves": [f"(mark {i} {j})" for i in (1, 2, 3) for j in (1, 2, 3)],
        "state": [*(f"(cell {i} {j} empty)" for i in (1, 2, 3) for j in (1, 2, 3)), "(control x)"],
        "steps": [],
    }  # fmt: skip


async def test_a_person_sees_only_what_the_role_perceives(host: Host) -> None:
    text = order({"candidate": "human"}, game="montyhall", scramble=True)
    ordered = await host.manager.order(text, by="hugo")
    hugo, path = host.caller("hugo"), seat(ordered, "candidate")
    first = await asked(hugo, path)
    await hugo.ask("POST", f"{path}/move", {"step": first["step"], "move": first["legalMoves"][0]})
    view = await asked(hugo, path, step=first["step"] + 1)
    assert view["state"] is None
    assert set(view["legalMoves"]) == {"stay", "switch"}
    opened = view["told"][0]
    assert view["steps"] == [
        {"step": 0, "move": "(choose 1)", "percepts": ["(you_chose 1)"]},
        {"step": 1, "move": "noop", "percepts": [opened]},
    ]


async def test_who_may_take_a_seat(host: Host) -> None:
    ordered = await host.manager.order(order({"x": "human", "o": "human"}), by="hugo")
    of_x, path = {SECRET: ordered.seat_secrets["x"]}, seat(ordered, "x")
    found = {
        who: (await host.caller(name).ask("GET", path, headers=headers))[0]
        for who, name, headers in (
            ("a stranger", "", None),
            ("another player", "ada", None),
            ("who ordered it", "hugo", None),
            ("an administrator", "alice", None),
            ("the secret", "", of_x),
            ("a wrong secret", "", {SECRET: "x"}),
            ("the other seat's secret", "", {SECRET: ordered.seat_secrets["o"]}),
        )
    }
    assert found == {
        "a stranger": 403, "another player": 403, "who ordered it": 200, "an administrator": 200,
        "the secret": 200, "a wrong secret": 403, "the other seat's secret": 403,
    }  # fmt: skip


async def test_a_person_who_plays_with_a_token_is_named_to_those_who_have_one(host: Host) -> None:
    ordered = await host.manager.order(order({"x": "human", "o": "human"}), by="hugo")
    of_x, ada = {SECRET: ordered.seat_secrets["x"]}, host.caller("ada")
    await ada.ask("GET", seat(ordered, "o"), headers={SECRET: ordered.seat_secrets["o"]})
    await asked(ada, seat(ordered, "x"), of_x)
    assert await ada.ask("POST", f"{seat(ordered, 'x')}/move", {"step": 0, "move": "(mark 1 1)"}, of_x) == (
        200,
        {"step": 0, "move": "(mark 1 1)"},
    )
    row = await known_match(host.manager, ordered.row.id)
    told = [dict(people_of(row, who)) for who in (Principal("bob", Role.SPECTATOR, "t"), ANONYMOUS, None)]
    assert told == [{"x": "ada"}, {}, {}]
    (listed,) = (await page(host.manager, MatchFilter(), who=Principal("bob", Role.SPECTATOR, "t")))[0]
    assert (listed["players"], listed["people"]) == ({"x": "human", "o": "human"}, {"x": "ada"})


async def test_moves_that_are_refused_lose_nothing(host: Host) -> None:
    ordered = await host.manager.order(order({"x": "human", "o": "human"}), by="hugo")
    hugo, path = host.caller("hugo"), f"{seat(ordered, 'x')}/move"
    await hugo.ask("GET", seat(ordered, "o"))
    await asked(hugo, seat(ordered, "x"))
    said = [
        await hugo.ask("POST", path, {"step": step, "move": move})
        for step, move in (
            (0, "(mark 9 9)"), (0, "((("), (1, "noop"), (0, ""), (0, "(mark 1 1)"), (0, "(mark 1 1)"),
            (0, "(mark 2 2)"),
        )
    ]  # fmt: skip
    taken = (200, {"step": 0, "move": "(mark 1 1)"})
    assert said == [
        (400, "illegal_move"), (400, "illegal_move"), (409, "not_asked"), (400, "invalid_body"),
        taken, taken, (409, "other_reply"),
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["/api/v1/matches/nothing/seats/x", "/api/v1/matches/%00/seats/x"])
async def test_no_such_match(host: Host, path: str) -> None:
    assert await host.caller("hugo").ask("GET", path) == (404, "unknown_match")


async def test_seats_of_programs_are_no_seats_for_people(host: Host) -> None:
    ordered = await host.manager.order(order({"x": "human"}), by="hugo")
    found = [await host.caller("hugo").ask("GET", seat(ordered, role)) for role in ("o", "nobody")]
    assert found == [(404, "no_seat")] * 2


async def test_passers_by_learn_no_role_of_a_scrambled_match(host: Host) -> None:
    ordered = await host.manager.order(order({"x": "human"}, scramble=True), by="hugo")
    found = [await host.caller("eve").ask("GET", seat(ordered, role)) for role in ("x", "o", "red")]
    assert found == [(403, "forbidden")] * 3


async def test_who_shows_neither_secret_nor_token_is_told_how_to_authenticate(host: Host) -> None:
    ordered = await host.manager.order(order({"x": "human"}), by="hugo")
    with pytest.raises(UnauthorizedError) as refused:
        check_seat(ordered.row, "x", None, None)
    found = refused.value.status, refused.value.hint, refused.value.headers
    assert found == (401, f"send {SECRET}", {"WWW-Authenticate": 'Bearer realm="ggp"'})


async def test_a_seat_is_still_claimed_by_its_secret_after_a_restart(sqlite: Database) -> None:
    async with hosting(sqlite) as host:
        ordered = await host.manager.order(order({"x": "human", "o": "human"}), by="hugo")
        await host.caller().ask("GET", seat(ordered, "o"))
        await asked(host.caller(), seat(ordered, "x"))
    async with hosting(sqlite, {"hugo": Role.HOST}) as host:
        secret = {SECRET: ordered.seat_secrets["x"]}
        view = await asked(host.caller(), seat(ordered, "x"), secret)
        body = {"step": view["step"], "move": "(mark 3 3)"}
        said = await host.caller().ask("POST", f"{seat(ordered, 'x')}/move", body, secret)
    assert said == (200, {"step": 0, "move": "(mark 3 3)"})
