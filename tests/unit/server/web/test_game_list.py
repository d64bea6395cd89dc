"""The list of games: what is looked for is found, in order, and addresses keep what was asked."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl
from xml.etree import ElementTree

import pytest
from multidict import MultiDict

from server.storage.rows import GameVersion
from server.web.game_list import GameQuery, GameTraits, traits_of
from server.web.game_pictures import initial_picture, lines_picture, picture_key

ABOUT = 'title = "Dice"\nauthors = ["me"]\nroles = ["a", "random"]\nplayers = 1\nsummary = "s"\ntags = ["luck"]\n'


def game(name: str, n_roles: int = 2, *kinds: str, **how: float) -> GameTraits:
    branching, n_steps = how.get("branching"), how.get("n_steps")
    return GameTraits(name, name.title(), "", n_roles, frozenset(kinds), (), "grid", branching, n_steps)


GAMES = [
    game("chess", branching=30.0, n_steps=80.0),
    game("nim", branching=4.9, n_steps=7.0),
    game("peg", 1, "one", branching=5.0, n_steps=20.0),
    game("poker", 3, "chance", "hidden"),
]


def found(text: str) -> list[str]:
    pairs: MultiDict[str] = MultiDict(parse_qsl(text))
    return [each.name for each in GameQuery.of(pairs, pairs.getall("kind", [])).found(GAMES)]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["chess", "nim", "peg", "poker"]),
        ("q=P", ["peg", "poker"]),
        ("q=p k", ["poker"]),
        ("roles=1", ["peg"]),
        ("roles=3", ["poker"]),
        ("kind=chance&kind=hidden", ["poker"]),
        ("kind=chance&kind=one", []),
        ("branching=low", ["nim"]),
        ("branching=middle", ["peg"]),
        ("branching=high", ["chess"]),
        ("length=short", ["nim"]),
        ("length=long", ["chess"]),
        ("board=heaps", []),
        ("sort=branching", ["nim", "peg", "chess", "poker"]),
        ("sort=length&roles=2", ["nim", "chess"]),
        ("sort=odd&roles=odd&kind=odd&board=odd&page=-1", ["chess", "nim", "peg", "poker"]),
    ],
)
def test_what_is_looked_for_is_found_in_order(query: str, names: list[str]) -> None:
    assert found(query) == names


def test_the_address_of_another_page_asks_for_the_same() -> None:
    pairs = MultiDict({"q": "a b", "roles": "2", "sort": "new"})
    wanted = GameQuery.of(pairs, ["hidden", "chance"])
    assert wanted.address(3) == "q=a+b&roles=2&sort=new&page=3&kind=chance&kind=hidden"
    assert wanted.address(1) == "q=a+b&roles=2&sort=new&kind=chance&kind=hidden"


@pytest.mark.parametrize("page", ["0", "x", "", "-1", "9" * 50, "٣"])
def test_odd_pages_are_the_first(page: str) -> None:
    assert GameQuery.of({"page": page}, []).page == 1


def test_traits_come_from_roles_description_and_figures() -> None:
    report = {
        "simulation": {
            "board": "grid", "simultaneous": True, "jointMoves": {"mean": 2.5}, "steps": {"mean": 7}, "plays": 20,
        }
    }  # fmt: skip
    version = GameVersion("dice", "0" * 64, "", ("a", "random"), True, 5, about=ABOUT, report=report)
    found = traits_of(version)
    assert found == GameTraits(
        "dice", "Dice", picture_key(version), 1, frozenset({"one", "chance", "hidden", "simultaneous"}), ("luck",),
        "grid", 2.5, 7.0, 5,
    )  # fmt: skip
    assert (found.words, found.figures) == (
        "1 role, chance, hidden information, simultaneous moves", "2.5 moves a state, 7 steps"
    )  # fmt: skip


def test_where_each_role_knows_the_state_nothing_is_hidden() -> None:
    about = ABOUT + 'information = "perfect"\n'
    found = traits_of(GameVersion("dice", "0" * 64, "", ("a", "random"), True, 5, about=about))
    assert found.kinds == {"one", "chance"}


@pytest.mark.parametrize(
    "report", [None, {}, {"simulation": None}, {"simulation": {"steps": {"mean": None}, "jointMoves": None}}]
)
def test_what_was_not_measured_is_not_known(report: dict[str, Any] | None) -> None:
    found = traits_of(GameVersion("x", "0" * 64, "", ("a", "b"), False, 5, report=report))
    assert (found.title, found.board, found.branching, found.figures) == ("x", None, None, "")


@pytest.mark.parametrize(
    ("picture", "texts"),
    [
        (lines_picture(["p: <b>", "q: \x0b\u202e", "x" * 40]), ["p: <b>", "q: ??", "x" * 33 + "…"]),
        (lines_picture(["west: 3 missionaries, 3 cannibals, a boat"]), ["west: 3 missionaries, 3…"]),
        (lines_picture([str(n) for n in range(9)]), [str(n) for n in range(6)]),
        (initial_picture("\x0bodd"), ["?"]),
        (initial_picture("<b>"), ["<"]),
    ],
)
def test_text_of_others_is_text(picture: bytes, texts: list[str]) -> None:
    found = ElementTree.fromstring(picture)
    assert [one.text for one in found.iter("{http://www.w3.org/2000/svg}text")] == texts
