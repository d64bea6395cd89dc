"""Finding games by name and by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdl.errors import NamedDescriptionError, UnknownNameError
from gdl.games.library import GameFile, find_game, game_names, library_folder, same_game
from gdl.language.rules import read_file, read_rules


def test_the_library_has_the_four_briefs_and_the_classics() -> None:
    assert set(game_names()) >= {
        "amazons", "breakthrough", "connectfour", "darkhex", "eightpuzzle", "kuhnpoker", "leducpoker", "montyhall",
        "mummymaze", "nim", "phantomtictactoe", "rockpaperscissors", "tictactoe", "zion", "zombies",
    }  # fmt: skip


def test_a_name_finds_the_game_of_the_library() -> None:
    assert find_game("nim") == GameFile("nim", library_folder() / "nim" / "nim.kif")


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_finds_a_file_anywhere(tmp_path: Path, kind: type[str] | type[Path]) -> None:
    path = tmp_path / "mine.kif"
    path.write_text("(role me)", encoding="utf-8")
    found = find_game(kind(path))
    assert (found, found.metadata()) == (GameFile("mine", path), None)
    assert [str(rule.head.term) for rule in found.read().rules] == ["(role me)"]
    assert read_file(kind(path)) == found.read()


def test_a_name_of_the_library_wins_over_a_file_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nim").write_text("(role me)", encoding="utf-8")
    assert find_game("nim").path == library_folder() / "nim" / "nim.kif"


@pytest.mark.parametrize(
    ("name", "suggestions"),
    [
        ("tic-tac-toe", ("tictactoe", "phantomtictactoe", "biddingtictactoe")),
        ("Amazon", ("amazons",)),
        ("conect4", ("connectsix", "connectfour")),
        ("rules/zombi.kif", ("zombies",)),
        ("rock", ("rockpaperscissors",)),
        ("xyz", ()),
        ("", ()),
        ("\0", ()),
        ("a" * 100_000, ()),
    ],
)
def test_a_misspelt_name_is_refused_with_the_nearest_ones(name: str, suggestions: tuple[str, ...]) -> None:
    with pytest.raises(UnknownNameError) as error:
        find_game(name)
    assert error.value.suggestions == suggestions


@pytest.mark.parametrize(
    ("name", "suggestions"),
    [
        ("nimbel.kif", ("nimble.kif", "nim")),
        ("nimble", ("nimble.kif", "nim")),
        ("deep/nimbel.kif", ("deep/nimbler.kif", "nim")),
        ("other.kif", ("othello",)),
    ],
)
def test_a_misspelt_path_is_refused_with_the_nearest_rule_files_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, suggestions: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deep").mkdir()
    for path in ("nimble.kif", "nimble.txt", "deep/nimbler.kif"):
        Path(path).touch()
    with pytest.raises(UnknownNameError) as error:
        find_game(name)
    assert error.value.suggestions == suggestions


def test_the_folder_of_a_game_is_as_good_as_its_rule_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rules = Path("mine", "mine.kif")
    rules.parent.mkdir()
    rules.write_text("(role me)", encoding="utf-8")
    assert [find_game(name) for name in ("mine", "mine/")] == [GameFile("mine", rules)] * 2


def test_a_description_is_not_taken_for_rules(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.touch()
    with pytest.raises(NamedDescriptionError) as error:
        find_game(path)
    assert (error.value.path, error.value.rules) == (path, tmp_path / "mine.kif")


def test_another_folder_is_no_game(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError):
        find_game(str(tmp_path))


def test_only_the_very_rules_of_a_library_game_are_that_game() -> None:
    nim, other = find_game("nim"), read_rules("(role me)")
    assert same_game("nim", nim.read()) == nim
    assert [same_game(name, other) for name in ("nim", "turns", "", "rules/nim/nim.kif")] == [None] * 4
