"""Compiled games on disk: found again, bounded, and never an error."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

import pytest

import gdl
from gdl.compiler import cache as module
from gdl.compiler.cache import FILES, GameCache, game_cache, key_of
from gdl.compiler.pipeline import compile_rules
from gdl.compiler.serialization import serialized
from gdl.compiler.tables import CompiledRules
from gdl.datalog.translation import clauses_of
from gdl.interpreter import InterpretedGame
from gdl.language.rules import read_rules
from tests.kit.gdl.compiler.rules import GAME

KEYS: Final = tuple(bytes([i]) * 32 for i in range(5))


@cache
def compiled() -> CompiledRules:
    rules = read_rules(GAME)
    return compile_rules(clauses_of(rules.rules), InterpretedGame(rules).roles, 100_000)


def size() -> int:
    return len(serialized(compiled(), KEYS[0]))


def begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what is in use in this process, as a new process has it."""
    monkeypatch.setattr(module, "_LOADED", WeakValueDictionary())


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GameCache:
    begin_anew(monkeypatch)
    return GameCache(tmp_path / "a" / "games")


def names(kept: GameCache) -> set[str]:
    return {path.name for path in kept.folder.iterdir()}


def test_a_game_is_found_again_by_its_key_alone(kept: GameCache, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept.load(KEYS[0]) is None
    kept.store(KEYS[0], compiled())
    begin_anew(monkeypatch)
    found = kept.load(KEYS[0])
    assert found is not None
    assert found is not compiled()
    assert (found.fluents, found.moves, found.phases) == (compiled().fluents, compiled().moves, compiled().phases)
    assert kept.load(KEYS[1]) is None
    assert names(kept) == {f"{KEYS[0].hex()}.game"}


def test_matches_of_a_process_share_the_tables_of_a_game(kept: GameCache, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.store(KEYS[0], compiled())
    assert kept.load(KEYS[0]) is compiled()
    begin_anew(monkeypatch)
    assert kept.load(KEYS[0]) is kept.load(KEYS[0])


def test_only_the_user_can_read_what_is_kept(kept: GameCache) -> None:
    kept.store(KEYS[0], compiled())
    modes = [path.stat().st_mode & 0o777 for path in (kept.folder, *kept.folder.iterdir())]
    assert modes == [0o700, 0o600]


def test_what_was_not_used_for_longest_is_removed_first(kept: GameCache, monkeypatch: pytest.MonkeyPatch) -> None:
    small = GameCache(kept.folder, 3 * size() + size() // 2)
    for number, key in enumerate(KEYS[:3]):
        small.store(key, compiled())
        os.utime(small.folder / f"{key.hex()}.game", (number, number))
    begin_anew(monkeypatch)
    assert small.load(KEYS[0]) is not None  # now it was used last
    small.store(KEYS[3], compiled())
    assert names(small) == {f"{key.hex()}.game" for key in (KEYS[0], KEYS[2], KEYS[3])}
    GameCache(kept.folder, size() - 1).store(KEYS[4], compiled())  # it has no room for that game at all
    assert len(names(small)) == 3


def test_what_a_killed_process_has_left_is_removed_after_a_day(kept: GameCache) -> None:
    kept.folder.mkdir(parents=True)
    left = [kept.folder / name for name in (".ab.game.1234", "ab.lock", ".cd.game.5678", "cd.lock", "notes.txt")]
    for path in left:
        path.write_bytes(b"x")
    for path in (left[0], left[1], left[4]):
        os.utime(path, (0, 0))
    kept.store(KEYS[0], compiled())
    assert names(kept) == {f"{KEYS[0].hex()}.game", ".cd.game.5678", "cd.lock", "notes.txt"}


def damaged(path: Path, how: str) -> None:
    content = path.read_bytes()
    path.unlink()
    match how:
        case "cut":
            path.write_bytes(content[: len(content) // 2])
        case "flipped":
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        case "empty":
            path.touch()
        case "of another game":
            path.write_bytes(serialized(compiled(), KEYS[1]))
        case "enormous":
            path.touch()
            os.truncate(path, 2**40)
        case "a pipe":
            os.mkfifo(path)
        case "a link to nothing":
            path.symlink_to(path.with_name("nothing"))
        case "a link to what never ends":
            path.symlink_to("/dev/zero")
        case _:
            path.mkdir()


@pytest.mark.parametrize(
    "how",
    ["cut", "flipped", "empty", "of another game", "enormous", "a pipe", "a link to nothing",
     "a link to what never ends", "a folder"],
)  # fmt: skip
def test_a_file_that_is_not_what_was_kept_is_no_game(
    kept: GameCache, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.store(KEYS[0], compiled())
    damaged(kept.folder / f"{KEYS[0].hex()}.game", how)
    begin_anew(monkeypatch)
    assert kept.load(KEYS[0]) is None
    kept.store(KEYS[0], compiled())
    begin_anew(monkeypatch)
    assert (kept.load(KEYS[0]) is not None) == (how != "a folder")


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin_anew(monkeypatch)
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file" / "games", tmp_path / "file", Path("/proc/nothing"), tmp_path / ("n" * 300)):
        hopeless = GameCache(folder)
        with hopeless.compiling(KEYS[0], 0.0):
            assert hopeless.load(KEYS[0]) is None
        hopeless.store(KEYS[0], compiled())
        begin_anew(monkeypatch)
        assert hopeless.load(KEYS[0]) is None


def test_a_full_disk_leaves_what_was_there(kept: GameCache, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.store(KEYS[0], compiled())

    @contextmanager
    def full(path: Path, *args: Any, **kwargs: Any) -> Iterator[Path]:
        raise OSError(errno.ENOSPC, "no space left")
        yield path

    monkeypatch.setattr(module, "replacing", full)
    kept.store(KEYS[1], compiled())
    assert names(kept) == {f"{KEYS[0].hex()}.game"}


def test_one_at_a_time_compiles_a_game(kept: GameCache) -> None:
    with kept.compiling(KEYS[0], 0.0):
        before = names(kept)
        with kept.compiling(KEYS[1], 0.0):
            assert len(names(kept)) == 2
        with kept.compiling(KEYS[0], 0.0):  # it has waited for long enough
            assert names(kept) == before
    assert names(kept) == set()


def test_a_game_has_a_key_whatever_the_layout_of_its_rules() -> None:
    def key(text: str, max_ground_rules: int = 1) -> bytes:
        rules = read_rules(text)
        return key_of(clauses_of(rules.rules), InterpretedGame(rules).roles, max_ground_rules)

    text = "(role r) (init a) (<= (legal r go) (true ?x) (distinct ?x b)) (<= terminal (not (true a)))"
    same = "(ROLE r)\n; a comment\n(init a) (<= (legal r go) (true ?x)\n (distinct ?x b)) (<= terminal (not (true a)))"
    assert key(text) == key(same)
    others = [
        text.replace("distinct ?x b", "distinct ?x c"),
        text.replace("(distinct ?x b)", "(not (distinct ?x b))"),
        text.replace("(not (true a))", "(true a)"),
        text.replace("init a", "init c"),
        text.replace("(role r)", "(role r) (role s)"),
    ]
    assert len({key(text), key(text, 2), *map(key, others)}) == 2 + len(others)


def test_another_version_never_finds_what_this_one_has_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = read_rules(GAME)
    arguments = clauses_of(rules.rules), InterpretedGame(rules).roles, 1
    before = key_of(*arguments)
    monkeypatch.setattr(module, "_stamp", lambda: "of a changed version")
    assert key_of(*arguments) != before


def test_every_module_that_makes_tables_is_part_of_the_stamp() -> None:
    package = Path(gdl.__file__).parent
    makes = {
        Path(found.__file__)
        for name, found in list(sys.modules.items())
        if name.startswith(("gdl.compiler", "gdl.datalog", "gdl.language")) and found.__file__
    }
    assert makes <= set(FILES)
    assert package / "compiler" / "pipeline.py" in FILES
    assert all(file.is_file() for file in FILES)


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"GGP_GAME_CACHE": "/x/y", "NUMBA_CACHE_DIR": "/n"}, "/x/y"),
        ({"GGP_GAME_CACHE": "", "NUMBA_CACHE_DIR": "/n", "XDG_CACHE_HOME": "/c"}, "/n/ggp-games"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/ggp/games"),
        ({"NUMBA_CACHE_DIR": "n", "XDG_CACHE_HOME": "c"}, "n/ggp-games"),
        ({"GGP_GAME_CACHE": "off", "XDG_CACHE_HOME": "/c"}, None),
        ({"GGP_GAME_CACHE": "OFF"}, None),
        ({"GGP_GAME_CACHE": "0"}, None),
    ],
)
def test_the_environment_says_where_games_are_kept(environment: dict[str, str], folder: str | None) -> None:
    found = game_cache(environment)
    assert (found and found.folder) == (folder and Path(folder))


def test_a_folder_of_caches_that_depends_on_the_current_one_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """*Source*: XDG Base Directory Specification, 2: relative paths are invalid, and ignored."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert game_cache({"XDG_CACHE_HOME": "c"}) == GameCache(tmp_path / ".cache" / "ggp" / "games")


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", homeless)
    assert game_cache({}) is None
