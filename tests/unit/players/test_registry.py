"""Players by name, by file, by module; what is not there is refused with a hint."""

import pickle
import sys
from pathlib import Path

import pytest

from gdl.errors import UnknownNameError
from gdl.extras import MissingExtraError
from players import Player
from players.language_model.player import MODEL, URL
from players.player import PlayerFileError
from players.registry import PLAYERS, find_player
from players.specs import player_file, with_whole_path, without_folders

FILE = """
from neighbour import MOVE
from players import Player

class Mine(Player):
    def __init__(self, depth=1, style="calm"):
        self.depth, self.style = depth, style

    def move(self, state, role, deadline):
        return MOVE
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "neighbour.py").write_text("MOVE = 1")
    path = tmp_path / "my_player.py"
    path.write_text(FILE)
    return path


@pytest.fixture
def without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (URL, MODEL):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("name", PLAYERS)
def test_each_of_our_players_is_there(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(URL, "http://127.0.0.1:1/v1")
    monkeypatch.setenv(MODEL, "small")
    assert issubclass(find_player(name).player_class(), Player)


def test_options_go_to_the_constructor(file: Path) -> None:
    player = find_player(f"{file}:Mine:depth=3,style=wild")()
    assert (type(player).__name__, vars(player)) == ("Mine", {"depth": 3, "style": "wild"})


@pytest.mark.parametrize("spec", ["{file}", "{file}:Mine"])
def test_a_player_of_a_file_can_be_made_in_another_process(file: Path, spec: str) -> None:
    maker = pickle.loads(pickle.dumps(find_player(spec.format(file=file))))
    assert type(maker()).__name__ == "Mine"


def test_a_player_of_a_module_can_be_made() -> None:
    assert type(find_player("tests.kit.players.odd_players:First")()).__name__ == "First"


def test_a_whole_number_is_taken_where_the_constructor_has_a_float() -> None:
    assert find_player("mcts:memory=64,exploration=1").options == {"memory": 64, "exploration": 1}


def test_a_misspelt_name_has_suggestions() -> None:
    with pytest.raises(UnknownNameError) as caught:
        find_player("mimimax")
    assert caught.value.suggestions == ("minimax",)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("nowhere.py", "there is no file nowhere.py"),
        ("nowhere.py:Mine", "there is no file nowhere.py"),
        ("{file}:Yours", "Yours is no subclass of players.Player there"),
        ("{file}:MOVE", "MOVE is no subclass of players.Player there"),
        ("{file}:Mine:width=1", "it has no option width; did you mean depth?"),
        ("mcts:playots=3", "it has no option playots; did you mean playouts?"),
        ("nested:width=3", "it has no option width; it takes playouts, level"),
        ("mcts:playouts=many", "its option playouts cannot be 'many'"),
        ("mcts:memory=much", "its option memory cannot be 'much'"),
        (f"mcts:memory={10**400}", f"its option memory cannot be '1{'0' * 98}"),
        ("mcts:playouts={{[]:1}}", "its option playouts cannot be '{[]:1}'"),
        (f"mcts:playouts={'-' * 3_000}1", f"its option playouts cannot be '{'-' * 99}"),
        (f"mcts:playouts={'(' * 100_000}", f"its option playouts cannot be '{'(' * 99}"),
        (f"mcts:playouts=0x{'f' * 5_000}", f"its option playouts cannot be '0x{'f' * 97}"),
        (f"mcts:playouts=[0x{'f' * 5_000}]", f"its option playouts cannot be '[0x{'f' * 96}"),
        (f"mcts:playouts={2**63}", f"its option playouts cannot be '{2**63}'"),
        ("a\0b.py:Mine", "no name of a file has a NUL"),
        ("mcts:playouts=0", "playouts are at least 1, not 0"),
        ("planner:playouts=-3", "playouts are at least 1, not -3"),
        ("minimax:positions=0", "positions are at least 1, not 0"),
        ("mcts:simultaneous=lots", "simultaneous is one of "),
        ("llm", "set GGP_LLM_URL, or write llm:url=..."),
        ("llm:url=http://127.0.0.1:1/v1", "set GGP_LLM_MODEL, or write llm:model=..."),
        ("net", "it is written net:FILE"),
        ("openspiel", "it is written openspiel:BOT"),
        ("cmd:foo", "a program plays in `ggp match` and `ggp tournament run`"),
        ("cmd+legal:./p.sh x=1", "a program plays in `ggp match` and `ggp tournament run`"),
        ("http://x", "the player there runs already"),
        ("ftp://foo", "that is no address of a player"),
        ("{file}:Player", "Player has no method move(self, state, role, deadline)"),
        ("{file.parent}/neighbour.py", "there is no subclass of players.Player in it"),
        ("no_such_module:Mine", "ModuleNotFoundError when it was imported: No module named 'no_such_module'"),
        ("tests/kit/players/odd_players.py", "say which class of the file (FILE.py:CLASS); its players: First, "),
    ],
)
@pytest.mark.usefixtures("without_model")
def test_what_holds_no_player_is_refused(file: Path, spec: str, reason: str) -> None:
    with pytest.raises(PlayerFileError) as caught:
        find_player(spec.format(file=file))
    assert caught.value.reason.startswith(reason)


def test_a_bot_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError) as caught:
        find_player("openspiel:random")
    assert (caught.value.library, caught.value.extra) == ("pyspiel", "learn")


def test_a_file_that_fails_says_how(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("1 / 0")
    with pytest.raises(
        PlayerFileError, match=r"ZeroDivisionError when it was imported: division by zero \(broken.py, line 1\)"
    ):
        find_player(str(path))


def test_options_are_added_to_those_of_the_spec_where_the_constructor_takes_them() -> None:
    assert find_player("mcts:ponder=False").with_options(ponder=True, memory=64.0).options == {
        "ponder": False, "memory": 64.0,
    }  # fmt: skip
    assert (find_player("mcts").takes("memory"), find_player("legal").takes("memory")) == (True, False)
    with pytest.raises(PlayerFileError, match="it has no option memory; it takes none"):
        find_player("legal").with_options(memory=64.0)


@pytest.mark.parametrize(
    "annotation",
    [
        '"players.Nothing"',
        "'1 / 0'",
        pytest.param(
            "Depth",
            marks=pytest.mark.skipif(sys.version_info < (3, 14), reason="Python before 3.14 refuses the file"),
        ),
    ],
)
def test_a_constructor_takes_options_whose_annotation_cannot_be_evaluated(file: Path, annotation: str) -> None:
    file.write_text("import players\n" + FILE.replace("depth=1", f"depth: {annotation} = 1"))
    player = find_player(f"{file}:Mine:depth=3")
    assert (player.takes("depth"), player.options) == (True, {"depth": 3})


@pytest.mark.parametrize(
    ("spec", "file"),
    [
        ("mine.py", "mine.py"),
        ("sub/mine.py:Mine:depth=2", "sub/mine.py"),
        ("sub/mine.py:Mine:url=http://host/v1", "sub/mine.py"),
        ("net:four.pt", "four.pt"),
        ("net:e:simulations=200", "e"),
        ("net:file=four.pt,simulations=200", "four.pt"),
        ("net:simulations=200, file = 'four.pt'", "four.pt"),
        ("net", None),
        ("mcts:playouts=20", None),
        ("openspiel:mcts?simulations=20", None),
        ("package.module:Mine", None),
        ("http://host.py:9147", None),
    ],
)
def test_the_file_of_a_spec_can_be_named_from_any_folder(spec: str, file: str | None) -> None:
    found = player_file(spec)
    assert found == (None if file is None else Path(file))
    if file is not None:
        assert with_whole_path(spec) == str(Path(file).absolute()).join(spec.rsplit(file, 1))


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("/srv/ann/deep.py", "deep.py"),
        ("../deep.py:Deep:book=/srv/ann/a.bin,net='/x/b.pt',depth=3", "deep.py:Deep:book=a.bin,net='b.pt',depth=3"),
        ("package.module:Deep:book = ~/a.bin", "package.module:Deep:book = a.bin"),
        ("net:course/net.pt:simulations=200", "net:net.pt:simulations=200"),
        ("net:file=/srv/ann/net.pt,cache=/tmp/x", "net:file=net.pt,cache=x"),
        ("llm:model=org/large,url=http://host/v1", "llm:model=large,url=http://host/v1"),
        ("mcts:playouts=200", "mcts:playouts=200"),
    ],
)
def test_a_spec_without_folders_tells_nothing_of_the_machine(spec: str, told: str) -> None:
    assert without_folders(spec) == told
