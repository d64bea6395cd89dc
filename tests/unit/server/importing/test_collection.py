"""Found files as games: names, titles and descriptions."""

from __future__ import annotations

import json

from gdl.boards.metadata import metadata_of
from server.importing.collection import CandidateGame, candidates, description_of
from server.importing.sources import FoundFiles, ImportLimits

RULES = b"(role x) (role o)"


def found(**files: bytes) -> FoundFiles:
    return FoundFiles({path.replace("__", "/").replace("_kif", ".kif"): raw for path, raw in files.items()})


def test_metadata_tells_title_and_summary_of_the_rule_sheet_that_it_names() -> None:
    said = {"gameName": " Tic-Tac\tToe ", "rulesheet": "ticTacToe.kif", "description": "d.txt", "stylesheet": "x.xsl"}
    files = FoundFiles({
        "games/ticTacToe/METADATA": json.dumps(said).encode(),
        "games/ticTacToe/ticTacToe.kif": RULES,
        "games/ticTacToe/d.txt": b"Three\r\nin a row.",
    })  # fmt: skip
    assert candidates(files, ImportLimits()) == [
        CandidateGame("games/ticTacToe/ticTacToe.kif", "tictactoe", RULES.decode(), "Tic-Tac Toe", "Three in a row.")
    ]


def test_a_version_inherits_what_its_own_metadata_leaves_out_and_versions_come_by_number() -> None:
    said = {"gameName": "Nim", "rulesheet": "nim.kif", "description": "d.txt", "authors": ["Bouton"]}
    files = FoundFiles({
        "nim/METADATA": json.dumps(said).encode(),
        "nim/d.txt": b"Take.",
        "nim/nim.kif": RULES,
        "nim/v10/nim.kif": RULES,
        "nim/v2/nim.kif": RULES,
        "nim/v2/d.txt": b"Take one.",
        "nim/v3/METADATA": b'{"gameName": "Nim 3", "rulesheet": "three.kif"}',
        "nim/v3/three.kif": RULES,
        "nim/other/nim.kif": RULES,
    })  # fmt: skip
    text = RULES.decode()
    assert candidates(files, ImportLimits()) == [
        CandidateGame("nim/nim.kif", "nim", text, "Nim", "Take.", ("Bouton",)),
        CandidateGame("nim/other/nim.kif", "nim", text, "nim"),
        CandidateGame("nim/v2/nim.kif", "nim", text, "Nim", "Take one.", ("Bouton",)),
        CandidateGame("nim/v3/three.kif", "three", text, "Nim 3", "Take.", ("Bouton",)),
        CandidateGame("nim/v10/nim.kif", "nim", text, "Nim", "Take.", ("Bouton",)),
    ]


def test_names_that_say_nothing_give_way_to_those_of_folders() -> None:
    files = found(games__Nim_v1__v2__rulesheet_kif=RULES, Nim__17_kif=RULES)
    files.files["3pttc.kif"] = RULES
    names = [(game.name, game.title) for game in candidates(files, ImportLimits())]
    assert names == [("3pttc", "3pttc"), ("nim", "Nim"), ("nim_v1", "Nim_v1")]


def test_odd_metadata_is_passed_over() -> None:
    for raw in (b"\xff", b"[]", b"{" * 100_000, b'{"rulesheet": 3}', b'{"rulesheet": "nim.kif", "gameName": ["x"]}'):
        files = FoundFiles({"nim.kif": RULES, "METADATA": raw})
        assert [game.title for game in candidates(files, ImportLimits())] == ["nim"]


def test_a_description_comes_along_if_it_can_be_used() -> None:
    about = b'title = "Mine"\nauthors = ["me"]\nroles = ["x", "o"]\nplayers = 2\nsummary = "s"\n'
    (good,) = candidates(FoundFiles({"a/nim.kif": RULES, "a/nim.toml": about}), ImportLimits())
    (bad,) = candidates(FoundFiles({"a/nim.kif": RULES, "a/nim.toml": about + b"odd = 1"}), ImportLimits())
    assert (good.title, description_of(good, ("x", "o"), "here")) == ("Mine", about.decode())
    assert description_of(good, ("x",), "here") is None
    assert (bad.about, bad.title, bad.remarks) == (
        None, "nim", ("its description cannot be used: odd: unknown key",)
    )  # fmt: skip


def test_a_minimal_description_says_what_is_known() -> None:
    game = CandidateGame("p", "nim", "", 'N "i" \\ m', "Take.", ("A", "B"))
    text = description_of(game, ("x", "random"), "https://example.org/games.zip")
    about = metadata_of((text or "").encode())
    assert (about.title, about.authors, about.players, about.summary, about.source) == (
        'N "i" \\ m', ("A", "B"), 1, "Take.", "https://example.org/games.zip"
    )  # fmt: skip
    assert "board" not in about.model_fields_set
    assert description_of(game, ("x" * 100,), "here") is None


def test_no_more_games_than_allowed_are_looked_at() -> None:
    files = FoundFiles({f"{n}.kif": RULES for n in range(5)})
    assert len(candidates(files, ImportLimits(games=3))) == 3
    assert list(files.passed_over) == ["3.kif", "4.kif"]
