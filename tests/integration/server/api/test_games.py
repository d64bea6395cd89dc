"""Games over HTTP: what there is, what is kept, and what is wrong with rules."""

from __future__ import annotations

from typing import Any

import pytest

from gdl.games.library import find_game, game_names
from tests.kit.server.api.whole_server import Client, ordered, record, refused, told

GAMES = "/api/v1/games"
RULES = "(role a) (init (p)) (legal a go) (<= (next (q)) (does a go)) (<= terminal (true (q))) (goal a 100)\n"
WRONG = "(role a)\n(init (p))\n(legal a go)\n(<= terminal\n    (not (q ?x)))\n(goal a 100)\n"
ABOUT = 'title = "Going"\nauthors = ["we"]\nroles = ["a"]\nplayers = 1\nsummary = "Go once."\n'


async def test_the_games_of_the_library(client: Client) -> None:
    found = await told(await client.get(GAMES))
    assert found["games"] == list(game_names())
    nim = found["about"][found["games"].index("nim")]
    assert nim == {
        "name": "nim",
        "title": "Nim",
        "roles": ["left", "right"],
        "isGdl2": False,
        "isLibrary": True,
        "sha256": find_game("nim").read().sha256,
    }


async def test_a_game_its_rules_and_its_description(client: Client) -> None:
    found = await told(await client.get(f"{GAMES}/nim"))
    assert (found["title"], [version["isCurrent"] for version in found["versions"]]) == ("Nim", [True])
    texts = [await (await client.get(f"{GAMES}/nim/{what}")).text() for what in ("rules", "about")]
    assert texts == [path.read_text() for path in (find_game("nim").path, find_game("nim").metadata_path)]


async def test_rules_that_came_with_an_order_belong_to_it_alone(client: Client, noop: str) -> None:
    url = await ordered(client, rules=RULES, players={"a": noop}, scramble=True)
    await record(client, url)
    listed = (await told(await client.get(GAMES)))["games"]
    found = [await refused(await client.get(f"{GAMES}/unnamed{part}")) for part in ("", "/rules", "/versions")]
    again = await refused(await client.post("/api/v1/matches", json={"game": "unnamed"}))
    assert (listed, [status for status, _ in found], again[1]["code"]) == (
        list(game_names()), [404] * 3, "unknown_game"
    )  # fmt: skip
    assert (await client.get("/base/games/unnamed/")).status == 404


@pytest.mark.exhaustive
async def test_rules_are_kept_and_replaced_and_earlier_ones_stay(client: Client) -> None:
    first = await told(await client.put(f"{GAMES}/going", json={"rules": RULES, "about": ABOUT}), 201)
    second = await told(await client.put(f"{GAMES}/going", json={"rules": RULES + "(p)\n"}), 201)
    found = await told(await client.get(f"{GAMES}/going"))
    assert [(version["sha256"], version["isCurrent"]) for version in found["versions"]] == [
        (second["sha256"], True),
        (first["sha256"], False),
    ]
    assert found["versions"] == (await told(await client.get(f"{GAMES}/going/versions")))["versions"]
    earlier = {"version": first["sha256"]}
    assert await (await client.get(f"{GAMES}/going/rules", params=earlier)).text() == RULES
    assert (await told(await client.get(f"{GAMES}/going", params=earlier)))["title"] == "Going"
    assert (await refused(await client.get(f"{GAMES}/going/about")))[1]["code"] == "no_description"


async def test_rules_that_are_wrong_are_refused_with_every_place(client: Client) -> None:
    status, error = await refused(await client.put(f"{GAMES}/going", json={"rules": WRONG}))
    assert (status, error["code"], error["line"], error["column"]) == (400, "rules_unfit", 5, 10)
    assert {"code", "severity", "message", "hint", "line", "column"} <= set(error["diagnostics"][0])
    assert (await refused(await client.get(f"{GAMES}/going")))[1]["code"] == "unknown_game_name"


async def test_rules_are_validated_without_being_kept(client: Client) -> None:
    found = [await told(await client.post("/api/v1/validations", json=_check(text))) for text in (RULES, WRONG)]
    assert [report["verdict"] for report in found] == ["ok", "wrong"]
    assert "gdl/unsafe-variable" in [one["code"] for one in found[1]["diagnostics"]]
    assert (await told(await client.get(GAMES)))["games"] == list(game_names())


def _check(text: str) -> dict[str, Any]:
    return {"rules": text, "play": False}


async def test_what_cannot_be_kept(client: Client) -> None:
    bodies = {
        "tictactoe": {"rules": RULES},
        "Going": {"rules": RULES},
        "a": {"rules": ""},
        "b": {"rules": RULES, "about": "title = 3"},
        "c": {"rules": RULES, "abuot": ABOUT},
        "d": {"rules": "(role a"},
        "unnamed": {"rules": RULES},
    }
    found = {}
    for name, body in bodies.items():
        status, error = await refused(await client.put(f"{GAMES}/{name}", json=body))
        found[name] = (status, error["code"])
    assert found == {
        "tictactoe": (409, "game_taken"),
        "Going": (400, "invalid_game_name"),
        "a": (400, "invalid_body"),
        "b": (400, "about_refused"),
        "c": (400, "invalid_body"),
        "d": (400, "rules_unfit"),
        "unnamed": (400, "invalid_game_name"),
    }


async def test_games_that_are_not_there(client: Client) -> None:
    paths = ("nimm", "nimm/rules", "nimm/about", "nimm/versions", f"nim/rules?version={'0' * 64}")
    found = [await refused(await client.get(f"{GAMES}/{path}")) for path in paths]
    assert [(status, error["code"]) for status, error in found] == [(404, "unknown_game_name")] * 5
    status, error = await refused(await client.get(f"{GAMES}/nim?version=abc"))
    assert (status, error["code"]) == (400, "invalid_query")
