"""`ggp token`: issued, listed, rotated, revoked, and in bulk."""

from __future__ import annotations

import asyncio
import csv
import json
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from server.access.authentication import read_token
from server.storage.database import Database
from server.storage.revisions import REVISION
from tests.kit.server.commands.fixtures import Ended, Ggp
from tests.kit.server.storage import samples


@pytest.fixture
def token(ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ggp:
    """Return `ggp token` on a new database."""
    monkeypatch.setenv("GGP_DATABASE", f"sqlite:///{tmp_path}/ggp.sqlite")
    return lambda *words: ggp("token", *words)


def listed(token: Ggp, *words: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(token("list", "--json", *words).output)
    return rows


def names(ended: Ended) -> list[str]:
    return [row["name"] for row in csv.DictReader(ended.output.splitlines())]


def test_a_token_is_printed_alone_and_said_to_be_shown_once(token: Ggp) -> None:
    ended = token("issue", "Ada", "--role", "admin")
    assert (ended.exit_code, ended.errors) == (0, "for Ada (admin); keep it, for it is shown this once\n")
    assert read_token(ended.output.rstrip("\n")) is not None


def test_lists_show_no_secret(token: Ggp) -> None:
    issued = json.loads(token("issue", "Ada", "--role", "admin", "--note", "her laptop", "--json").output)
    shown = token("list").output
    assert listed(token) == [{name: value for name, value in issued.items() if name != "token"}]
    assert (issued["token"] in shown, issued["id"] in shown, "her laptop" in shown) == (False, True, True)


def test_it_says_that_it_brings_tables_of_an_older_version_up_to_date(token: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "ggp.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(Path(samples.__file__).with_name("revision_0005.sql").read_text("utf-8"))
    said = f"the tables of {path} are brought from revision 0005 to {REVISION}\n"
    assert [token("list", "--json").errors, token("list", "--json").errors] == [said, ""]


def test_the_first_token_must_be_an_admin_s(token: Ggp) -> None:
    ended = token("issue", "Bob")
    sentence = "ggp: with its first token a server demands one of everybody: issue one with the role admin first\n"
    assert ended == Ended(2, "", sentence)


@pytest.mark.parametrize("words", [("list",), ("rotate", "id"), ("revoke", "id")])
def test_a_database_that_is_not_there_is_not_made(token: Ggp, tmp_path: Path, words: tuple[str, ...]) -> None:
    expected = f"ggp: the database {tmp_path}/ggp.sqlite: there is no such file\n"
    assert (token(*words), list(tmp_path.iterdir())) == (Ended(2, "", expected), [])


@pytest.mark.parametrize(
    "words",
    [
        ("issue", "Bob"),
        ("issue", "", "--role", "admin"),
        ("issue", "Ada", "--role", "admin", "--note", "n" * 201),
        ("import", "class.csv"),
        ("import", "class.csv", "--role", "admin"),
    ],
)
def test_no_database_is_made_for_tokens_that_are_refused(
    token: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("class.csv").write_text("name,note\nAda,\n,teacher\n", encoding="utf-8")
    assert (token(*words).exit_code, list(tmp_path.glob("ggp*"))) == (2, [])


def test_revoked_tokens_are_listed_only_when_asked_for(token: Ggp) -> None:
    token("issue", "Ada", "--role", "admin")
    bob = json.loads(token("issue", "Bob", "--json").output)["id"]
    assert token("revoke", bob) == Ended(0, f"revoked {bob}\n", "")
    assert ([row["name"] for row in listed(token)], [row["name"] for row in listed(token, "--all")]) == (
        ["Ada"],
        ["Ada", "Bob"],
    )
    assert "revoked" in token("list", "--all").output
    said = f"ggp: no token {bob!r}\nhint: `ggp token list` lists them\n"
    assert token("revoke", bob) == Ended(2, "", said)


def test_rotation_prints_a_new_token_of_the_same_id(token: Ggp) -> None:
    old = read_token(token("issue", "Ada", "--role", "admin").output.strip())
    assert old is not None
    new = read_token(token("rotate", old.id).output.strip())
    assert new is not None
    assert (new.id == old.id, new.secret == old.secret) == (True, False)


def test_a_class_list_becomes_names_with_tokens_of_those_who_have_none(token: Ggp, tmp_path: Path) -> None:
    token("issue", "Ada", "--role", "admin")
    path = tmp_path / "class.txt"
    path.write_text("Ada\nBob\nGrace\n", encoding="utf-8")
    ended = token("import", path)
    assert (names(ended), ended.errors) == (["Bob", "Grace"], "2 issued; 1 had one already\n")
    assert {row["name"]: row["role"] for row in listed(token)} == {"Ada": "admin", "Bob": "player", "Grace": "player"}


def test_tokens_for_a_class_go_to_a_file_that_others_cannot_read(token: Ggp, tmp_path: Path) -> None:
    path, out = tmp_path / "class.csv", tmp_path / "tokens.csv"
    path.write_text("name;role\nAda;admin\nBob;\n", encoding="utf-8-sig")
    assert token("import", path, "--out", out).output == ""
    assert out.stat().st_mode & 0o777 == 0o600
    assert names(Ended(0, out.read_text("utf-8-sig"), "")) == ["Ada", "Bob"]
    assert token("import", path, "--out", out).exit_code == 2


def test_a_file_of_tokens_says_to_spreadsheets_that_it_is_utf_8_and_one_of_json_does_not(
    token: Ggp, tmp_path: Path
) -> None:
    path, out, as_json = tmp_path / "class.csv", tmp_path / "tokens.csv", tmp_path / "tokens.json"
    path.write_text("name,role\nAda,admin\nJörg,\n", encoding="utf-8")
    token("import", path, "--out", out)
    path.write_text("name\nGrete\n", encoding="utf-8")
    token("import", path, "--json", "--out", as_json)
    assert out.read_bytes().splitlines()[0] == b"\xef\xbb\xbfname,token"
    assert [row["name"] for row in json.loads(as_json.read_text("utf-8"))] == ["Grete"]


@pytest.mark.parametrize("words", [("issue", "Bob"), ("import", "class.txt"), ("import", "class.txt", "--json")])
def test_tokens_that_cannot_be_written_are_not_issued(
    token: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("class.txt").write_text("Ada\nBob\n", encoding="utf-8")
    token("issue", "Ada", "--role", "admin")
    with monkeypatch.context() as full, suppress(OSError), Path("/dev/full").open("w", encoding="utf-8") as device:
        full.setattr(sys, "stdout", device)
        ended = token(*words)
    assert ended == Ended(2, "", "ggp: input or output: No space left on device\n")
    assert [row["name"] for row in listed(token, "--all")] == ["Ada"]


def test_a_wrong_class_list_issues_nothing_and_leaves_no_file(token: Ggp, tmp_path: Path) -> None:
    path, out = tmp_path / "class.csv", tmp_path / "tokens.csv"
    path.write_text("name,role\nAda,admin\nBob,king\n", encoding="utf-8")
    token("issue", "Eve", "--role", "admin")
    assert token("import", path, "--out", out).exit_code == 2
    assert (out.exists(), [row["name"] for row in listed(token)]) == (False, ["Eve"])


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_a_list_as_some_spreadsheets_write_it_is_refused_with_what_to_choose_there(
    token: Ggp, tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "class.csv"
    path.write_text("name;role\nJörg;player\n", encoding=encoding)
    said = "ggp: the class list is not UTF-8: have the spreadsheet save it as 'CSV UTF-8', or the editor as UTF-8\n"
    assert token("import", path) == Ended(2, "", said)


def test_tokens_are_issued_while_a_server_has_the_database(token: Ggp, tmp_path: Path) -> None:
    database = asyncio.run(Database.open(f"sqlite:///{tmp_path}/ggp.sqlite"))
    assert token("issue", "Ada", "--role", "admin").exit_code == 0
    asyncio.run(database.close())
