"""What `ggp player` lets a player use: threads by its matches at once, unless they are named."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from players import Settings
from players.registry import PlayerMaker
from server.commands import player
from server.commands.player import command, threads_for


@pytest.fixture(autouse=True)
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})


@pytest.mark.parametrize(("n_matches", "expected"), [(1, 4), (2, 2), (3, 1), (4, 1), (8, 1)])
def test_matches_share_the_cores(n_matches: int, expected: int) -> None:
    assert threads_for(n_matches) == expected


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["mcts"], {"ponder": True, "threads": 1}),
        (["mcts", "--max-matches", "1"], {"ponder": True, "threads": 4}),
        (["mcts", "--max-matches", "2"], {"ponder": True, "threads": 2}),
        (["mcts", "--threads", "3", "--memory", "64"], {"ponder": True, "memory": 64.0, "threads": 3}),
        (["mcts:threads=5", "--threads", "3"], {"ponder": True, "threads": 5}),
        (["mcts", "--stdio"], {"ponder": True, "threads": 1}),
        (["mcts", "--connect", "http://127.0.0.1:1"], {"ponder": True, "threads": 4}),
        (["mcts", "--connect", "http://127.0.0.1:1", "--max-matches", "2"], {"ponder": True, "threads": 2}),
        (["legal", "--max-matches", "1"], {}),
    ],
)
def test_a_player_gets_the_threads_that_it_has_cores_for(
    words: list[str], options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[PlayerMaker] = []

    def take(maker: PlayerMaker, *_: object) -> None:
        made.append(maker)

    monkeypatch.setattr("players.kit.http_transport.run_http", take)
    monkeypatch.setattr(player, "run_stdio", take)
    monkeypatch.setattr("players.kit.dialling.dial_in", take)
    assert CliRunner().invoke(command, words).exit_code == 0
    assert [maker.options for maker in made] == [options]


def test_a_password_of_a_spec_is_in_no_name_of_the_player(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    def take(_maker: PlayerMaker, *words: object) -> None:
        names.extend(word.name for word in words if isinstance(word, Settings))

    monkeypatch.setattr("players.kit.http_transport.run_http", take)
    monkeypatch.setattr("players.kit.dialling.dial_in", take)
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    spec = "llm:model=m,url=http://bob:secret@host:8/v1"
    for words in ([], ["--connect", "http://127.0.0.1:1"]):
        assert CliRunner().invoke(command, [spec, *words]).exit_code == 0
    assert names == ["llm:model=m,url=http://bob:***@host:8/v1", "ada-llm"]


def test_a_player_without_threads_refuses_them() -> None:
    ended = CliRunner().invoke(command, ["legal", "--threads", "2"])
    assert ended.exit_code != 0
    assert str(ended.exception).endswith("it has no option threads; it takes none")


def test_too_many_threads_are_refused() -> None:
    ended = CliRunner().invoke(command, ["mcts", "--threads", "65"])
    assert "threads are from 1 to 64, not 65" in str(ended.exception)
