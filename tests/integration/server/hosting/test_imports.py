"""Imports at a server: an archive that a host uploads, the page with its table, and a folder of games at the start."""

from __future__ import annotations

import asyncio
import base64
import io
import logging
import re
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from aiohttp import FormData

from gdl.diagnostics import Source
from gdl.games.library import find_game
from server.app_keys import IMPORTS
from server.errors import NameTakenError
from server.hosting.imports import GameImports
from server.hosting.settings import GameManagerSettings, LadderSettings
from server.hosting.uploads import Upload, keep_game
from server.importing import intake
from server.importing.collection import CandidateGame
from server.importing.intake import ImportOutcome
from server.refusals import RequestError
from server.storage.errors import StorageError
from server.storage.games import GameStore, title_of
from server.storage.rows import GameVersion
from server.validating.checker import Checker
from server.validating.validation import Validation
from tests.kit.polling import until
from tests.kit.server.api.whole_server import Client, manager_of, refused, told, whole_server
from tests.kit.server.web.fetching import page_at, words_of

IMPORT = "/api/v1/imports"
RULES = "(role a) (init (p)) (legal a go) (<= (next (q)) (does a go)) (<= terminal (true (q))) (goal a 100)\n"
OTHER = RULES.replace("(q)", "(r)")


def archive(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return buffer.getvalue()


ARCHIVE = archive({"x/Going On.kif": RULES, "y/going on.kif": OTHER, "z/copy.kif": RULES, "z/bad.kif": "(role"})


async def over(client: Client, url: str) -> dict[str, Any]:
    async def looked_at() -> dict[str, Any] | None:
        found: dict[str, Any] = await told(await client.get(url))
        return found if found["isOver"] else None

    return await until(looked_at, 120)


@pytest.mark.exhaustive
async def test_an_archive_comes_in_with_a_table_of_what_became_of_each_file(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        body = {"archive": base64.b64encode(ARCHIVE).decode(), "name": "mine.zip"}
        begun = await told(await client.post(IMPORT, json=body), 202)
        found = await over(client, begun["url"])
        assert [(row["path"], row["outcome"], row["name"]) for row in found["games"]] == [
            ("x/Going On.kif", "imported", "going-on"),
            ("y/going on.kif", "imported", "going-on-2"),
            ("z/bad.kif", "refused", ""),
            ("z/copy.kif", "double", ""),
        ]
        game = await told(await client.get("/api/v1/games/going-on"))
        assert (game["title"], game["report"]["simulation"]["plays"]) == ("Going On", 20)
        again = await told(await client.post(IMPORT, json=body), 202)
        assert {row["outcome"] for row in (await over(client, again["url"]))["games"]} == {"double", "refused"}


@pytest.mark.exhaustive
async def test_the_form_leads_to_a_page_with_the_table(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        async with client.get("/games") as answer:
            token = re.search(r'name="csrf_token" value="([^"]+)"', await answer.text())
        assert token is not None
        form = FormData({"csrf_token": token[1]})
        form.add_field("archive", ARCHIVE, filename="mine.zip", content_type="application/zip")
        async with client.post("/games/import", data=form, allow_redirects=False) as answer:
            assert answer.status == 303, await answer.text()
            address = answer.headers["Location"]
        await over(client, f"{IMPORT}/{address.rpartition('/')[2]}")
        words = words_of(await page_at(client, address))
        assert "2 games came in, 1 were there already, 1 did not come in." in words
        assert "this parenthesis is never closed" in words


async def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        for raw, name, code in ((b"PK\x03\x04", "a.zip", "import_refused"), (b"x", "a.png", "import_refused")):
            body = {"archive": base64.b64encode(raw).decode(), "name": name}
            status, error = await refused(await client.post(IMPORT, json=body))
            assert (status, error["code"]) == (400, code)
        assert (await refused(await client.post(IMPORT, json={"archive": "%"})))[1]["code"] == "invalid_body"
        assert (await refused(await client.get(f"{IMPORT}/none")))[1]["code"] == "unknown_import"


async def test_a_folder_of_games_is_kept_at_the_start_in_the_versions_that_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    rules = folder / "mine" / "mine.kif"
    rules.parent.mkdir(parents=True)
    for text in (RULES, OTHER):
        rules.write_text(text, encoding="utf-8")
        async with whole_server(tmp_path, GameManagerSettings(games_folder=folder)) as (client, _):
            current = await manager_of(client).games.find("mine")
            assert current is not None
            assert (current.rules, current.is_library) == (text, False)
            n_versions = len(await manager_of(client).games.versions("mine"))
    assert n_versions == 2


async def test_a_large_folder_does_not_hold_up_the_start_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "mine.kif").write_text(RULES, encoding="utf-8")
    async with whole_server(tmp_path) as (client, _):
        work = await imports_of(client).keep_folder(folder, patience_s=0)
        assert not work.is_over
        await work.ended.wait()
    (told,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert told.startswith(f"looking at the games of {folder} takes long: the server starts with those that were seen")


async def test_a_game_of_the_folder_that_is_still_looked_at_is_asked_for_again_later(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "mine.kif").write_text(RULES, encoding="utf-8")
    order = {"game": "mine", "players": {"a": "random"}, "startClock": 1, "playClock": 1}
    async with whole_server(tmp_path) as (client, _):
        imports, coming = imports_of(client), manager_of(client).finder.coming
        coming.add("mine")  # as soon as the files are read
        told = [
            await refused(await client.post("/api/v1/matches", json=order)),
            await refused(await client.get("/api/v1/games/mine")),
        ]
        page = words_of(await page_at(client, "/games/mine", 503))
        await (await imports.keep_folder(folder, patience_s=0)).ended.wait()
        async with client.get("/api/v1/games/mine") as answer:
            assert (answer.status, coming) == (200, set())
    message = "the game 'mine' of this server's folder is still being looked at"
    hint = "try again in a minute; 1 of its games are to come, as the log of the server says"
    assert told == [(503, {"code": "busy", "message": message, "hint": hint})] * 2
    assert "still being looked at" in page


async def test_the_games_of_a_folder_are_looked_at_on_all_processors_and_kept_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, alone = threading.Barrier(2, timeout=60), intake.examined

    def examined(game: CandidateGame, is_wanted: Callable[[], bool]) -> intake.ImportRow | intake.AcceptedGame:
        both.wait()
        return alone(game, is_wanted)

    monkeypatch.setattr(intake, "examined", examined)
    monkeypatch.setattr("server.hosting.imports.os.cpu_count", lambda: 2)
    for name, text in (("a", RULES), ("b", OTHER)):
        (tmp_path / f"{name}.kif").write_text(text, encoding="utf-8")
    async with whole_server(tmp_path) as (client, _):
        work = await imports_of(client).keep_folder(tmp_path, patience_s=120)
    assert [(row.name, row.outcome) for row in work.rows] == [("a", "imported"), ("b", "imported")]


async def test_a_game_that_takes_long_holds_back_none_of_those_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others_are_kept, alone = threading.Event(), intake.examined

    def examined(game: CandidateGame, is_wanted: Callable[[], bool]) -> intake.ImportRow | intake.AcceptedGame:
        assert game.name != "a" or others_are_kept.wait(60)
        return alone(game, is_wanted)

    monkeypatch.setattr(intake, "examined", examined)
    monkeypatch.setattr("server.hosting.imports.os.cpu_count", lambda: 2)
    for name in "abc":
        (tmp_path / f"{name}.kif").write_text(RULES.replace("(q)", f"({name})"), encoding="utf-8")
    async with whole_server(tmp_path) as (client, _):
        imports, games = imports_of(client), manager_of(client).games
        keeping = asyncio.create_task(imports.keep_folder(tmp_path, patience_s=120))
        await until(lambda: kept(games, "b", "c"), 60)
        others_are_kept.set()
        work = await keeping
    assert [(row.name, row.outcome) for row in work.rows] == [(name, "imported") for name in "abc"]


async def kept(games: GameStore, *names: str) -> bool:
    return set(names) <= set(await games.names())


async def test_of_games_with_the_same_rules_the_first_is_kept_though_it_takes_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second_is_seen, alone = threading.Event(), intake.examined

    def examined(game: CandidateGame, is_wanted: Callable[[], bool]) -> intake.ImportRow | intake.AcceptedGame:
        assert game.name != "a" or second_is_seen.wait(60)
        found = alone(game, is_wanted)
        second_is_seen.set()
        return found

    monkeypatch.setattr(intake, "examined", examined)
    monkeypatch.setattr("server.hosting.imports.os.cpu_count", lambda: 2)
    for name in "ab":
        (tmp_path / f"{name}.kif").write_text(RULES, encoding="utf-8")
    async with whole_server(tmp_path) as (client, _):
        work = await imports_of(client).keep_folder(tmp_path, patience_s=120)
    assert [(row.path, row.outcome) for row in work.rows] == [("a.kif", "imported"), ("b.kif", "double")]


async def test_the_log_says_how_far_the_look_at_a_folder_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.kif").write_text(RULES, encoding="utf-8")
    monkeypatch.setattr("server.hosting.imports._PROGRESS_S", 0.05)
    caplog.set_level(logging.INFO, "server.hosting.imports")
    async with whole_server(tmp_path) as (client, _):
        await imports_of(client).keep_folder(tmp_path, patience_s=120)
    assert f"looked at 0 of 1 games of {tmp_path}" in [record.getMessage() for record in caplog.records]


async def test_a_description_that_changed_is_kept_with_the_rules_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "mine" / "mine.kif"
    path.parent.mkdir()
    path.write_text(RULES, encoding="utf-8")
    described = 'title = "{}"\nauthors = ["me"]\nroles = ["a"]\nplayers = 1\nsummary = "Goes on."\nsource = "me"\n'
    titles, outcomes = [], []
    async with whole_server(tmp_path) as (client, _):
        for title in ("Mine", "Ours", "Ours"):
            path.with_suffix(".toml").write_text(described.format(title), encoding="utf-8")
            work = await imports_of(client).keep_folder(path.parent, patience_s=120)
            kept = await manager_of(client).games.versions("mine")
            titles.append([title_of(version) for version in kept])
            outcomes += [row.outcome for row in work.rows]
    assert titles == [["Mine"], ["Ours"], ["Ours"]]
    assert outcomes == [ImportOutcome.IMPORTED, ImportOutcome.IMPORTED, ImportOutcome.DOUBLE]


async def test_rules_that_are_only_written_otherwise_are_a_new_version_too(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    folder.mkdir()
    async with whole_server(tmp_path) as (client, _):
        for text in (RULES, f"; a comment\n{RULES}"):
            (folder / "mine.kif").write_text(text, encoding="utf-8")
            await imports_of(client).keep_folder(folder, patience_s=120)
        kept = await manager_of(client).games.versions("mine")
    assert [version.rules for version in kept] == [f"; a comment\n{RULES}", RULES]


async def test_the_ladder_may_be_of_a_game_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.kif").write_text(find_game("tictactoe").text().replace("mark", "take"), encoding="utf-8")
    settings = GameManagerSettings(games_folder=tmp_path, ladder=LadderSettings(("mine",)))
    async with whole_server(tmp_path, settings, plays=False) as (client, _):
        await manager_of(client).play()


async def test_the_log_says_which_files_of_a_folder_are_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "bad.kif").write_text("(role", encoding="utf-8")
    caplog.set_level(logging.INFO, "server.hosting.imports")
    async with whole_server(tmp_path) as (client, _):
        work = await imports_of(client).keep_folder(folder)
        await work.ended.wait()
        (row,) = work.rows
    assert [record.getMessage() for record in caplog.records if record.name == "server.hosting.imports"] == [
        f"looking at the games of {folder}",
        f"bad.kif of games is refused: {row.reason}",
        "import of games by the server: 0 imported, 0 double, 1 refused",
    ]


@pytest.mark.exhaustive
async def test_a_copy_of_what_is_refused_is_refused_too(tmp_path: Path) -> None:
    broken = RULES.replace("(goal a 100)", "")
    async with whole_server(tmp_path) as (client, _):
        work = await imports_of(client).begin(archive({"a.kif": broken, "b.kif": broken}), "two.zip", "me")
        await work.ended.wait()
        assert [row.outcome for row in work.rows] == [ImportOutcome.REFUSED] * 2
        assert work.rows[0].reason == work.rows[1].reason


async def test_no_more_imports_begin_at_once_than_may_however_close_they_come(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        begun = (imports_of(client).begin(ARCHIVE, f"{n}.zip", "me") for n in range(6))
        found = await asyncio.gather(*begun, return_exceptions=True)
        assert [one.code if isinstance(one, RequestError) else "begun" for one in found] == ["begun"] * 2 + ["busy"] * 4


@pytest.mark.exhaustive
async def test_a_busy_moment_refuses_no_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n_calls = 0

    async def keep(*arguments: Any, **settings: Any) -> GameVersion:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 1:
            raise RequestError("busy", "many rules are being checked just now", status=503)
        return await keep_game(*arguments, **settings)

    monkeypatch.setattr("server.hosting.imports.keep_game", keep)
    monkeypatch.setattr("server.hosting.imports._RETRY_S", 0.0)
    async with whole_server(tmp_path) as (client, _):
        work = await imports_of(client).begin(archive({"going-on.kif": RULES}), "mine.zip", "local")
        await work.ended.wait()
        assert [(row.outcome, row.name) for row in work.rows] == [(ImportOutcome.IMPORTED, "going-on")]


@pytest.mark.exhaustive
async def test_a_database_that_fails_refuses_no_game_and_ends_the_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def keep(*_arguments: Any, **_settings: Any) -> GameVersion:
        raise StorageError("ggp.sqlite", "the disk is full")

    monkeypatch.setattr("server.hosting.imports.keep_game", keep)
    async with whole_server(tmp_path) as (client, _):
        work = await imports_of(client).begin(archive({"going-on.kif": RULES}), "mine.zip", "local")
        await work.ended.wait()
        assert (work.rows, "the disk is full" in work.problem) == ([], True)


@pytest.mark.exhaustive
async def test_a_game_that_came_in_without_a_verdict_is_played_at_length(tmp_path: Path) -> None:
    first = Validation(Source("slow", RULES), limit="no play came to its end within 1.5 seconds")
    async with whole_server(tmp_path) as (client, _):
        games, checker = manager_of(client).games, Checker()
        version = await keep_game(games, checker, Upload("slow", RULES, "me", None, first))
        assert version.verdict == "unknown"

        async def is_ok() -> bool:
            found = await games.find("slow")
            return found is not None and found.verdict == "ok"

        await until(is_ok, 120)
        await checker.close()


async def test_a_name_that_another_owner_takes_during_the_validation_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with whole_server(tmp_path) as (client, _):
        games, checker = manager_of(client).games, Checker()
        sound = Validation(Source("mine", RULES))
        monkeypatch.setattr(games, "owns", AsyncMock(return_value=True))  # as both saw it at first
        first = await keep_game(games, checker, Upload("mine", RULES, "ada", None, sound))
        with pytest.raises(NameTakenError):
            await keep_game(games, checker, Upload("mine", RULES, "bob", None, sound))
        assert await games.find("mine") == first
        await checker.close()


async def test_an_import_that_fails_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def listed() -> list[GameVersion]:
        raise OSError(28, "No space left on device")

    async with whole_server(tmp_path) as (client, _):
        monkeypatch.setattr(manager_of(client).games, "listed", listed)
        work = await imports_of(client).begin(ARCHIVE, "mine.zip", "local")
        await work.ended.wait()
        monkeypatch.undo()
        assert (work.is_over, work.problem) == (True, "an error of this server, which its log describes")
        words = words_of(await page_at(client, f"/games/imports/{work.id}"))
        assert f"The import ended before all files were looked at: {work.problem}." in words


def imports_of(client: Client) -> GameImports:
    app = client.app
    assert app is not None
    return app[IMPORTS]
