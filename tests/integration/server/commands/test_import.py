"""`ggp import`: what comes in, what does not and why, and how it is found again."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from gdl.games.library import find_game
from server.errors import ImportSourceError
from server.importing.fetching import fetched
from server.links.addresses import AllowedAddresses
from tests.kit.server.commands.fixtures import Ggp

RULES = """(role robot) (init (cell 1 1 robot)) (init (cell 2 2 flag)) (succ 1 2)
(<= (legal robot stay) (true (cell ?x 1 robot)))
(<= (next (cell ?y 1 robot)) (true (cell ?x 1 robot)) (succ ?x ?y))
(<= terminal (true (cell 2 1 robot)))
(<= (goal robot 100) (true (cell 2 1 robot)))
(<= (goal robot 0) (true (cell 1 1 robot)))
"""
OTHER = RULES.replace("100", "90")
RENAMED = "; the same\n" + RULES.replace("?x", "?from").replace("?y", "?to")
BROKEN = "(role robot)\n(<= (legal robot (go ?x)) (not (true (at ?x))))\n"


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def public(tmp_path: Path) -> Path:
    said = json.dumps({"gameName": "Walking Robot", "rulesheet": "Walk Now.kif"})
    return written(tmp_path / "public", {
        "games/walk/Walk Now.kif": RULES, "games/walk/METADATA": said, "games/walk/walk.xsl": "<x/>",
        "games/zz/copy.kif": RENAMED, "games/zz/broken.kif": BROKEN, "games/zz/unread.kif": "(role a",
        "more/walk_now/walk now.gdl": OTHER,
    })  # fmt: skip


def told(ggp: Ggp, *words: object, code: int = 0) -> list[dict[str, object]]:
    ended = ggp("import", *words, "--json")
    assert (ended.exit_code, ended.errors) == (code, "")
    rows: list[dict[str, object]] = json.loads(ended.output)["games"]
    return rows


@pytest.mark.exhaustive
@pytest.mark.parametrize("other", ["folder", "link"])
def test_a_folder_or_a_broken_link_with_the_name_of_a_rule_file_hinders_no_import(
    ggp: Ggp, tmp_path: Path, other: str
) -> None:
    place = tmp_path / "mine" / "odd" / "odd.kif"
    place.parent.mkdir(parents=True)
    if other == "folder":
        place.mkdir()
    else:
        place.symlink_to(tmp_path / "gone.kif")
    (row,) = told(ggp, written(tmp_path / "public", {"odd.kif": RULES}), "--into", tmp_path / "mine")
    assert (row["outcome"], row["name"]) == ("imported", "odd-2")


@pytest.mark.exhaustive
def test_what_an_import_that_was_killed_left_behind_takes_no_name(ggp: Ggp, tmp_path: Path) -> None:
    written(tmp_path / "mine", {"nim-left/nim-left.toml": "title = 'Nim'", "nim-left/.nim-left.kif.01234567": "(role"})
    (row,) = told(ggp, written(tmp_path / "public", {"Nim Left.kif": RULES}), "--into", tmp_path / "mine")
    assert (row["outcome"], row["name"]) == ("imported", "nim-left")


@pytest.mark.exhaustive
def test_a_folder_comes_in_with_reasons_for_what_does_not(ggp: Ggp, public: Path, tmp_path: Path) -> None:
    rows = told(ggp, public, "--into", tmp_path / "mine")
    assert [(row["path"], row["outcome"], row["name"], row["reason"]) for row in rows] == [
        ("games/walk/Walk Now.kif", "imported", "walk-now", ""),
        ("games/zz/broken.kif", "refused", "", rows[1]["reason"]),
        ("games/zz/copy.kif", "double", "", "the same rules as walk-now"),
        ("games/zz/unread.kif", "refused", "", "line 1: this parenthesis is never closed"),
        ("more/walk_now/walk now.gdl", "imported", "walk-now-2", ""),
    ]
    assert rows[1]["reason"] == "line 1: no role ever gets points: no `goal` (and 3 more)"
    assert (rows[0]["title"], rows[0]["roles"], rows[0]["board"]) == ("Walking Robot", ["robot"], "grid")
    figures = rows[0]["figures"]
    assert isinstance(figures, dict)
    assert (figures["plays"], figures["steps"]["mean"], figures["exhaustive"]["states"]) == (20, 1.0, 2)
    game = find_game(str(tmp_path / "mine" / "walk-now"))
    about = game.metadata()
    assert about is not None
    assert (about.title, about.roles, about.source, game.read().source.text) == (
        "Walking Robot", ("robot",), "public", RULES
    )  # fmt: skip


@pytest.mark.exhaustive
def test_what_came_in_is_there_already_the_next_time(ggp: Ggp, public: Path, tmp_path: Path) -> None:
    told(ggp, public, "--into", tmp_path / "mine")
    again = told(ggp, public, "--into", tmp_path / "mine")
    assert {row["outcome"] for row in again} == {"double", "refused"}
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["walk-now", "walk-now-2"]


@pytest.mark.exhaustive
def test_rules_of_the_library_are_left_out(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "my nim.kif"
    path.write_bytes(b"; mine\n" + find_game("nim").path.read_bytes())
    (row,) = told(ggp, path, "--into", tmp_path / "mine")
    assert (row["outcome"], row["reason"]) == ("double", "the same rules as nim")


@pytest.mark.exhaustive
def test_a_table_ends_with_what_to_do_next(ggp: Ggp, public: Path, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(public.rglob("*.*")):
            archive.write(path, path.relative_to(public))
    (tmp_path / "games.zip").write_bytes(buffer.getvalue())
    ended = ggp("import", tmp_path / "games.zip", "--into", tmp_path / "mine")
    lines = ended.output.splitlines()
    assert (ended.exit_code, lines[0].split()) == (0, ["game", "roles", "plays", "steps", "moves", "board", "remarks"])
    assert lines[1].split() == ["walk-now", "robot", "20", "1", "1", "grid"]
    assert "1 there already:" in ended.output
    assert lines[-1] == (
        f"2 of 5 came in; `ggp serve --games {tmp_path / 'mine'}` serves them, "
        f"`ggp show {tmp_path / 'mine' / 'walk-now'}` shows one"
    )


@pytest.mark.exhaustive
def test_nothing_that_comes_in_is_an_error(ggp: Ggp, tmp_path: Path) -> None:
    folder = written(tmp_path / "public", {"broken.kif": BROKEN})
    ended = ggp("import", folder, "--into", tmp_path / "mine")
    assert ended.exit_code == 1
    assert ended.output.splitlines()[-1].startswith("0 of 1 came in; nothing is new; ")
    (tmp_path / "empty").mkdir()
    empty = ggp("import", tmp_path / "empty", "--into", tmp_path / "mine")
    assert empty == (1, f"no rule file (.kif, .gdl) is in {tmp_path / 'empty'}\n", "")
    assert list((tmp_path / "mine").iterdir()) == []


@pytest.mark.exhaustive
def test_a_copy_of_what_is_refused_is_refused_too(ggp: Ggp, tmp_path: Path) -> None:
    folder = written(tmp_path / "public", {"a.kif": BROKEN, "b.kif": f"; a copy\n{BROKEN}"})
    rows = told(ggp, folder, "--into", tmp_path / "mine", code=1)
    assert [(row["outcome"], row["reason"]) for row in rows] == [("refused", rows[0]["reason"])] * 2


@pytest.mark.exhaustive
def test_commands_take_names_from_the_folder_that_the_environment_names(
    ggp: Ggp, public: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(ggp, public, "--into", tmp_path / "mine")
    monkeypatch.setenv("GGP_GAMES", str(tmp_path / "mine"))
    assert ggp("show", "walk-now").output.startswith("Walking Robot (walk-now)\n")
    assert "walk-now-2" in ggp("games").output
    assert "did you mean walk-now" in ggp("show", "walk-nov").errors


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ftp://example.org/games.zip", "an address begins with http:// or https://"),
        ("file:///etc/passwd", "an address begins with http:// or https://"),
        ("http://127.0.0.1:1/games.zip", "in a network that nothing is fetched from"),
        ("http://[::1]:1/games.zip", "in a network that nothing is fetched from"),
        ("http://localhost:1/games.zip", "in a network that nothing is fetched from"),
        ("http://169.254.169.254/latest", "in a network that nothing is fetched from"),
    ],
)
def test_other_addresses_are_refused(ggp: Ggp, tmp_path: Path, source: str, said: str) -> None:
    ended = ggp("import", source, "--into", tmp_path / "mine")
    assert (ended.exit_code, said in ended.errors) == (2, True), ended.errors


async def test_an_address_is_fetched_with_its_redirects_within_limits() -> None:
    async def moved(request: web.Request) -> web.Response:
        raise web.HTTPFound(request.query.get("to", "/nim.kif"))

    async def circle(request: web.Request) -> web.Response:
        raise web.HTTPFound("/circle")

    async def rules(request: web.Request) -> web.Response:
        return web.Response(body=RULES.encode())

    app = web.Application()
    app.router.add_get("/moved", moved)
    app.router.add_get("/circle", circle)
    app.router.add_get("/nim.kif", rules)
    async with TestServer(app) as server:
        here = AllowedAddresses(has_loopback=True)
        assert await fetched(str(server.make_url("/moved")), here, 10_000) == RULES.encode()
        for path, most, reason in (
            ("/nim.kif", 100, "more than 100 bytes"),
            ("/none", 100, "the answer is 404"),
            ("/circle", 100, "more than 5 redirects"),
            ("/moved?to=http://10.0.0.1/x", 100, "in a network that nothing is fetched from"),
            ("/moved?to=file:///etc/passwd", 100, "begins with http:// or https://"),
        ):
            with pytest.raises(ImportSourceError, match=reason):
                await fetched(str(server.make_url(path)), here, most)
