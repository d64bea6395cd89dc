"""The players by name, by file and by module: what makes one for each match, and whether its options fit."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Final

from gdl.errors import UnknownNameError, question
from gdl.extras import check_extra
from gdl.files import is_file
from players.player import Player, PlayerFileError
from players.specs import NET, OPENSPIEL, options_of, split_class, split_options

if sys.version_info >= (3, 14):
    import annotationlib

PLAYERS: Final = {
    "legal": "players.simple:LegalPlayer",
    "random": "players.simple:RandomPlayer",
    "greedy": "players.simple:GreedyPlayer",
    "minimax": "players.stock:MinimaxPlayer",
    "mcts": "players.stock:MctsPlayer",
    "planner": "players.stock:PlannerPlayer",
    "nested": "players.stock:NestedPlayer",
    "human": "players.human:HumanPlayer",
    "llm": "players.language_model.player:LanguageModelPlayer",
}
"""Our own players: a name, and the class in its module."""
LIGHT: Final = frozenset({"legal", "random", "greedy"})
"""Those that think for a moment; all others search until their time is over, and take a core each."""

_NEEDED: Final = {"llm": {"url": "GGP_LLM_URL", "model": "GGP_LLM_MODEL"}}
"""The options without which a player of ours can play no match, and the variables that stand for them."""
_OPENSPIEL_CLASS: Final = ("players.environments.openspiel_bots", "OpenSpielPlayer")
"""What plays as a bot of OpenSpiel, where that is installed."""
_NET_CLASS: Final = ("players.learning.player", "NetPlayer")
"""What plays with the network of a file, where PyTorch is installed."""

_CHECKING: Final = frozenset({"players.stock", _OPENSPIEL_CLASS[0], _NET_CLASS[0]})
"""The modules of players whose constructors do nothing but check options and keep them."""

_WRITTEN: Final = {"openspiel": "openspiel:BOT, as in openspiel:mcts?simulations=200", "net": "net:FILE"}
"""How the players are written whose names say nothing alone."""
_PROGRAM: Final = "a program plays in `ggp match` and `ggp tournament run`; docs/dial-in.md says how one dials in"
_ADDRESS: Final = "the player there runs already: `ggp match` asks it, and the page Players of a server registers it"
_ELSEWHERE: Final = {"cmd:": _PROGRAM, "cmd+legal:": _PROGRAM, "http://": _ADDRESS, "https://": _ADDRESS}
"""What is said of players that others run, by how they begin."""
_MAX_SHOWN: Final = 100
FORMS: Final = ("net:FILE", "openspiel:BOT")
"""What there is besides the names of our players."""


@dataclass(frozen=True)
class PlayerMaker:
    """Makes a player for each match, in any process: `spec` names its class, `options` go to its constructor."""

    spec: str
    source: str
    class_name: str
    options: dict[str, object] = field(default_factory=dict)

    def __call__(self) -> Player:
        """Return a new player."""
        return self.player_class()(**self.options)

    @property
    def preloaded(self) -> tuple[str, ...]:
        """The modules that the process of players imports before a match."""
        return self.player_class().preloaded

    def takes(self, option: str) -> bool:
        """Return whether the constructor has an option of that name."""
        return option in _signature(self.player_class()).parameters

    def with_options(self, **options: object) -> PlayerMaker:
        """Return the maker of the same player with more *options*; those that the spec names go first.

        Raises:
            PlayerFileError: the constructor refuses them.
        """
        maker = PlayerMaker(self.spec, self.source, self.class_name, options | self.options)
        _check_options(maker)
        return maker

    def player_class(self) -> type[Player]:
        """Return the class.

        Raises:
            PlayerFileError: it cannot be loaded, or is no player.
        """
        module = _module(self.spec, self.source)
        found = getattr(module, self.class_name, None) if self.class_name else _only_player(self.spec, module)
        if not (isinstance(found, type) and issubclass(found, Player)):
            raise PlayerFileError(self.spec, f"{self.class_name} is no subclass of players.Player there")
        if found.move is Player.move:
            raise PlayerFileError(self.spec, f"{found.__name__} has no method move(self, state, role, deadline)")
        return found


def find_player(spec: str) -> PlayerMaker:
    """Return the maker of the player that *spec* names: one of ours, `path/to/file.py:Class`, or `module:Class`.

    `openspiel:BOT?OPTIONS` is a bot of OpenSpiel, `net:FILE` plays with a network of `ggp train`. Options for the
    constructor may follow: `mcts:playouts=200`. The class of a file with only one may be left out.

    Raises:
        UnknownNameError: there is no such player of ours.
        PlayerFileError: the file or module does not hold it, or with such options it can play no match.
        MissingExtraError: a library that it needs is not installed.

    Example:
        >>> find_player("mcts:playouts=200").options
        {'playouts': 200}
    """
    _check_place(spec)
    name, options = split_options(spec)
    if spec.startswith(OPENSPIEL):
        maker = _bot(spec)
    elif spec.startswith(NET):
        maker = _network_player(spec, name, options)
    elif name in PLAYERS:
        maker = _own_player(spec, name, options)
    else:
        maker = _loaded_player(spec, name, options)
    _check_options(maker)
    return maker


def _bot(spec: str) -> PlayerMaker:
    check_extra("pyspiel", "learn", spec)
    bot, _, options = spec.removeprefix(OPENSPIEL).partition("?")
    return PlayerMaker(spec, *_OPENSPIEL_CLASS, {"bot": bot, **options_of(f":{options}")})


def _network_player(spec: str, name: str, options: dict[str, object]) -> PlayerMaker:
    options = {"file": name.removeprefix(NET)} | options if name != NET[:-1] else options
    file = options.get("file")
    if not is_file(Path(str(file))):
        raise PlayerFileError(spec, f"there is no file {file}" if file else "say which file, as in net:FILE")
    check_extra("torch", "learn", spec)
    return PlayerMaker(spec, *_NET_CLASS, options)


def _own_player(spec: str, name: str, options: dict[str, object]) -> PlayerMaker:
    missing = missing_setting(name, options)
    if missing is not None:
        raise PlayerFileError(spec, f"set {_NEEDED[name][missing]}, or write {name}:{missing}=...")
    return PlayerMaker(spec, *split_class(PLAYERS[name]), options)


def _loaded_player(spec: str, name: str, options: dict[str, object]) -> PlayerMaker:
    source, class_name = split_class(name)
    if name in _WRITTEN:
        raise PlayerFileError(spec, f"it is written {_WRITTEN[name]}")
    if "://" in spec:
        raise PlayerFileError(spec, "that is no address of a player, which begins with http:// or https://")
    if not class_name and not source.endswith(".py"):
        raise UnknownNameError("player", name, difflib.get_close_matches(name, PLAYERS))
    return PlayerMaker(spec, source, class_name, options)


def _check_place(spec: str) -> None:
    """Raise PlayerFileError where *spec* means a player that others run, or a file that no system has."""
    if "\0" in spec:
        raise PlayerFileError(spec, "no name of a file has a NUL")
    for beginning, reason in _ELSEWHERE.items():
        if spec.startswith(beginning):
            raise PlayerFileError(spec, reason)


def missing_setting(name: str, options: Mapping[str, object] = MappingProxyType({})) -> str | None:
    """Return the first option without which our player *name* plays no match, and for which no variable stands."""
    needed = _NEEDED.get(name, {})
    return next((key for key, variable in needed.items() if not (options.get(key) or os.environ.get(variable))), None)


def variables_of(name: str) -> tuple[str, ...]:
    """Return the variables that stand for the options without which our player *name* plays no match.

    Example:
        >>> variables_of("llm"), variables_of("mcts")
        (('GGP_LLM_URL', 'GGP_LLM_MODEL'), ())
    """
    return tuple(_NEEDED.get(name, {}).values())


def _check_options(maker: PlayerMaker) -> None:
    player_class = maker.player_class()
    signature = _signature(player_class)
    try:
        signature.bind(**maker.options)
    except TypeError as error:
        unknown = next((name for name in maker.options if name not in signature.parameters), "")
        said = _no_option(unknown, signature) if unknown else f"its constructor refuses the options: {error}"
        raise PlayerFileError(maker.spec, said) from error
    for name, value in maker.options.items():
        if not _is_of_its_type(player_class, name, value):
            raise PlayerFileError(maker.spec, f"its option {name} cannot be {repr(value)[:_MAX_SHOWN]}")
    if maker.source in _CHECKING:
        try:
            maker()
        except (ValueError, OverflowError) as error:
            raise PlayerFileError(maker.spec, str(error)) from error


def _no_option(name: str, signature: inspect.Signature) -> str:
    """Return what to do about an option that a constructor of that *signature* does not take."""
    near = question(difflib.get_close_matches(name, signature.parameters, n=2))
    taken = ", ".join(signature.parameters) or "none"
    return f"it has no option {name[:_MAX_SHOWN]}{near or f'; it takes {taken}'}"


def _signature(player_class: type[Player]) -> inspect.Signature:
    """Return the signature of the constructor; what its annotations name may be imported for type checkers alone."""
    if sys.version_info >= (3, 14):  # before, annotations are evaluated, if at all, when the file is imported
        return inspect.signature(player_class, annotation_format=annotationlib.Format.STRING)
    return inspect.signature(player_class)


def _is_of_its_type(player_class: type[Player], name: str, value: object) -> bool:
    """Return whether the constructor's annotation allows *value*; without a class to compare with, it is allowed.

    A whole number is allowed where a float is. Source: PEP 484, "The numeric tower".
    """
    with contextlib.suppress(Exception):  # annotations are the author's code, evaluated here
        wanted = typing.get_type_hints(player_class.__init__).get(name, object)
        return isinstance(value, wanted) or (isinstance(value, int) and isinstance(0.0, wanted))
    return True


def _module(spec: str, source: str) -> ModuleType:
    try:
        return _file_module(Path(source)) if source.endswith(".py") else importlib.import_module(source)
    except FileNotFoundError as error:
        raise PlayerFileError(spec, f"there is no file {source}") from error
    except Exception as error:
        raise PlayerFileError(
            spec, f"{type(error).__name__} when it was imported: {error}{_line(error, source)}"
        ) from error


def _line(error: Exception, source: str) -> str:
    """Return where in the file *source* the import failed, if it is one; a SyntaxError says so itself."""
    lines = [
        at.lineno for at in traceback.extract_tb(error.__traceback__) if Path(at.filename) == Path(source).resolve()
    ]
    return f" ({Path(source).name}, line {lines[-1]})" if lines else ""


def _file_module(path: Path) -> ModuleType:
    """Import the file at *path* under a name of its own; its neighbours can be imported from it."""
    path = path.resolve()
    name = f"player_file_{path.stem}_{abs(hash(path)):x}"
    if name not in sys.modules:
        loaded = importlib.util.spec_from_file_location(name, path)
        if loaded is None or loaded.loader is None or not path.is_file():
            raise FileNotFoundError(path)
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))
        sys.modules[name] = module = importlib.util.module_from_spec(loaded)
        try:
            loaded.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _only_player(spec: str, module: ModuleType) -> type[Player]:
    """Return the only subclass of `Player` that *module* defines."""
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Player) and value.__module__ == module.__name__
    ]
    if not found:
        raise PlayerFileError(spec, "there is no subclass of players.Player in it")
    if len(found) != 1:
        names = ", ".join(value.__name__ for value in found)
        raise PlayerFileError(spec, f"say which class of the file (FILE.py:CLASS); its players: {names}")
    return found[0]
