"""The plan of a tournament: what a file may say, and what the errors say where it says something else."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from gdl.games.library import find_game
from server.arena.plan_file import extended, found_games, plan_of, player_hashes, read_plan
from server.errors import ConfigurationError, GameNameClashError, TournamentFolderError
from server.tournament.knockout import Knockout
from server.tournament.plan import TournamentFormat
from server.tournament.round_robin import Gauntlet, RoundRobin, ScoreTable
from server.tournament.swiss import Swiss

PATH = Path("plan.toml")
TWO = {"games": ["tictactoe"], "players": {"a": "random", "b": "legal"}}


def test_a_file_says_everything(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(
        """
        format = "swiss"
        games = ["tictactoe", "breakthrough"]
        rounds = 6
        play_clock = 2
        forfeit_errors = 3
        [players]
        mine = "my_player.py"
        mcts = "mcts:playouts=200"
        """
    )
    plan = read_plan(path, {"seed": 5})
    assert (plan.format, plan.games, plan.n_rounds, plan.play_clock, plan.forfeit_errors, plan.seed) == (
        TournamentFormat.SWISS, ("tictactoe", "breakthrough"), 6, 2, 3, 5,
    )  # fmt: skip
    assert [entrant.name for entrant in plan.entrants] == ["mine", "mcts"]


def test_a_list_of_players_names_them_and_what_only_servers_use_is_left_out() -> None:
    fields = {"games": ["tictactoe"], "players": ["random", "legal"], "name": "cup", "entry": "open", "starts": None}
    assert plan_of(fields, PATH).players == {"random": "random", "legal": "legal"}


def test_a_player_of_a_list_is_called_without_its_password() -> None:
    spec = "llm:model=m,url=http://bob:secret@host/v1"
    found = plan_of({"games": ["tictactoe"], "players": [spec, "legal"]}, PATH).players
    assert found == {"llm:model=m,url=http://bob:***@host/v1": spec, "legal": "legal"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"gamez": ["tictactoe"], "players": {"a": "random"}}, "gamez: unknown key; did you mean games?"),
        ({**TWO, "players": ["random", "random"]}, "players: random is there twice; "),
        ({**TWO, "players": [{"player": "random"}]}, "players.0: write its name, "),
        ({**TWO, "sprt": {"elo2": 5}}, "sprt.elo2: unknown key; did you mean elo"),
        ({**TWO, "games": []}, "games: "),
        ({**TWO, "players": {}}, "players: "),
        ({**TWO, "players": {"": "random"}}, 'players."": the key must have 1 or more characters'),
        ({**TWO, "players": {"a": ""}}, "players.a: must have 1 or more characters"),
        ({**TWO, "round": 3}, "round: "),
        ({**TWO, "rounds": 0}, "rounds: "),
        ({**TWO, "forfeit_errors": 10**30}, "forfeit_errors: must be 1,000,000 or less"),
        ({**TWO, "format": "cup"}, "format: "),
        ({**TWO, "games": ["tictactoe", "tictactoe"]}, "games: a game is there twice"),
        ({**TWO, "sprt": {"elo0": 5, "elo1": 5}}, "sprt: elo0 must be below elo1"),
        ({**TWO, "players": {"a": "random"}, "sprt": {}}, "sprt: a sequential test is between two players, not 1"),
    ],
)
def test_what_is_no_plan_is_refused_with_its_key(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        plan_of(fields, PATH)
    assert str(refused.value).startswith(f"plan.toml: {reason}")


@pytest.mark.parametrize(
    ("format_", "schedule"),
    [
        ("round-robin", RoundRobin(3)),
        ("gauntlet", Gauntlet(("a",), 3)),
        ("swiss", Swiss(3, rules=plan_of(TWO, PATH).scoring)),
        ("knockout", Knockout(sets=3, rules=plan_of(TWO, PATH).scoring)),
        ("double-knockout", Knockout(is_double=True, sets=3, rules=plan_of(TWO, PATH).scoring)),
        ("score-table", ScoreTable(3)),
        ("ladder", None),
    ],
)
def test_each_format_has_its_schedule(format_: str, schedule: object) -> None:
    assert plan_of({**TWO, "format": format_, "rounds": 3}, PATH).schedule() == schedule


def test_files_and_networks_of_players_are_known_by_their_hashes(tmp_path: Path) -> None:
    for name in ("mine.py", "four.pt"):
        (tmp_path / name).write_text(name)
    players = {
        "a": f"{tmp_path}/mine.py:Mine",
        "b": f"net:{tmp_path}/four.pt:simulations=9",
        "c": "net:absent.pt",
        "d": "mcts",
    }
    assert player_hashes(plan_of({**TWO, "players": players}, PATH)) == {
        "a": sha256(b"mine.py").hexdigest(),
        "b": sha256(b"four.pt").hexdigest(),
    }


def test_two_games_of_one_name_are_refused_and_both_files_named(tmp_path: Path) -> None:
    files = [tmp_path / folder / "nim.kif" for folder in "ab"]
    for file in files:
        file.parent.mkdir()
        file.write_text("")
    for first, games in ((files[0], files), (find_game("nim").path, ["nim", files[1]])):
        plan = plan_of({"games": list(map(str, games)), "players": {"a": "random", "b": "legal"}}, Path("plan"))
        with pytest.raises(GameNameClashError) as refusal:
            found_games(plan)
        assert str(refusal.value) == f"two games are called nim, {first} and {files[1]}: rename one of the files"


@pytest.mark.parametrize("format_", ["knockout", "double-knockout"])
def test_rounds_are_not_added_to_a_knockout(format_: str) -> None:
    kept = plan_of({"games": ["nim"], "players": {"a": "random", "b": "legal"}, "format": format_}, Path("plan"))
    with pytest.raises(TournamentFolderError) as refusal:
        extended(kept, kept.model_copy(update={"rounds": 3}), Path("cup"))
    assert refusal.value.reason == (
        f"no rounds are added to a {format_}, whose meetings keep their number of sets (1);"
        " begin another tournament with --out"
    )


def test_rounds_are_added_to_other_formats() -> None:
    kept = plan_of({"games": ["nim"], "players": {"a": "random", "b": "legal"}, "format": "swiss"}, Path("plan"))
    wanted = kept.model_copy(update={"rounds": 7})
    assert extended(kept, wanted, Path("cup")) == wanted


def test_the_same_players_in_another_order_are_another_tournament() -> None:
    kept = plan_of(TWO, PATH)
    with pytest.raises(TournamentFolderError) as refusal:
        extended(kept, plan_of({**TWO, "players": {"b": "legal", "a": "random"}, "rounds": 6}, PATH), Path("cup"))
    assert refusal.value.reason == (
        "another tournament is in this folder (rounds is not given, not 6; players are in another order);"
        " choose another one with --out"
    )
