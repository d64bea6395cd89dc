"""The player that a text specifies: `mcts`, `http://host:port` or `cmd:./player`; and what may be, over a network."""

import difflib
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gdl.errors import UnknownNameError
from gdl.files import is_file
from gdl.game import Role
from gdl.language.terms import Constant
from players.kit.worker import WorkerLimits
from players.player import PlayerFileError
from players.registry import PLAYERS, find_player, missing_setting, variables_of
from server.links import child_player, http_player, own_player
from server.links.addresses import AllowedAddresses, host_and_port, is_address
from server.links.errors import PlayerSpecError
from server.match.link import PlayerLink
from server.match.profiles import Profile
from server.match.setup import Seat
from server.sanitization import without_passwords
from server.storage.rows import SeatKind

COMMAND: Final = "cmd:"
COMMAND_WITH_LEGAL_MOVES: Final = "cmd+legal:"
HUMAN: Final = "human"
"""How a person is named who plays by hand."""
OWN_PLAYERS: Final = tuple(name for name in PLAYERS if name != HUMAN and missing_setting(name) is None)
"""Players of ours that a game manager can start, as the environment of its process is set up."""
_DIAL_IN: Final = "a file or program of yours dials in, and is named then: ggp player SPEC --connect URL --name NAME"
_ANY_ROLE: Final = Constant("any")
_HOST_AND_PORT: Final = re.compile(r"(?:(?i:https?)(?:://?|//))?(?P<rest>[\w.-]+:[0-9]{1,5}(?:/.*)?)")
"""An address without its scheme, or with one that a slip of the finger made."""
_FILE_NAME: Final = re.compile(r"\S+\.[A-Za-z]\w*")
_PYTHON: Final = re.compile(r"(python|pypy)[0-9.]*")
_OPTION: Final = r"[a-z_]+=[^,]*"
_OWN: Final = re.compile(rf"(?P<name>[a-z]+)(:(?P<options>{_OPTION}(,{_OPTION})*))?")
_PUBLIC_VALUE: Final = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?|True|False")
_WORD: Final = re.compile(r"[a-z]{1,20}")
_PUBLIC_WORDS: Final = frozenset({"engine", "simultaneous"})
"""The options that take a word over HTTP too; other words would be files, addresses, or models that are paid for."""


def is_command(address: str) -> bool:
    """Return whether *address* starts a program on this machine, which may not be asked for over a network."""
    return address.startswith((COMMAND, COMMAND_WITH_LEGAL_MOVES))


def open_link(address: str, seat: Seat, targets: AllowedAddresses | None = None) -> tuple[PlayerLink, Seat]:
    """Return the way to the player at *address*, and its seat with what the address adds to its profile.

    `http://host:port` and `https://...` are HTTP players, `cmd:program argument ...` is a child process,
    and `cmd+legal:...` one that gets its legal moves. HTTP players outside *targets* are not called.

    Raises:
        PlayerSpecError: *address* is nothing of that kind.
    """
    if address.startswith(COMMAND_WITH_LEGAL_MOVES):
        profile = replace(seat.profile, gets_legal_moves=True)
        return _child(address), replace(seat, profile=profile)
    if address.startswith(COMMAND):
        return _child(address), seat
    if is_address(address):
        return http_player.HttpPlayer(address, seat.player_name, targets=targets), seat
    raise PlayerSpecError(address, "expected http://host:port, or cmd: and a program")


def _child(address: str) -> child_player.ChildPlayer:
    try:
        return child_player.ChildPlayer(address.partition(":")[2])
    except PlayerSpecError as error:
        raise PlayerSpecError(address, error.reason) from error


@dataclass(frozen=True, slots=True)
class PlayerSpec:
    """A player by its specification: an address, a program, or one of our players, which must be started.

    `targets` says which addresses may be called; None allows all. With `worker_limits` one of ours plays in a worker of
    this process, else in a service of its own. `called` is what it is called where its own name would not do. `seed`
    makes the choices of one of ours repeatable.
    """

    text: str
    is_own: bool
    targets: AllowedAddresses | None = None
    worker_limits: WorkerLimits | None = None
    called: str = ""
    seed: int | None = None

    @property
    def name(self) -> str:
        """What the player is called in the record, which has no password of an address."""
        if self.called or self.is_own:
            return without_passwords(self.called or self.text)
        if is_command(self.text):
            return _name_of_command(shlex.split(self.text.partition(":")[2]))
        return host_and_port(self.text)

    @property
    def kind(self) -> SeatKind:
        """Which way leads to the player."""
        if self.is_own:
            return SeatKind.OWN
        return SeatKind.COMMAND if is_command(self.text) else SeatKind.HTTP

    def seat(self, role: Role, profile: Profile) -> Seat:
        """Return the player's seat at *role*, spoken to as *profile* and the specification say."""
        seat = Seat(role, self.name, profile)
        return seat if self.is_own else open_link(self.text, seat)[1]

    async def open(self, role: Role) -> PlayerLink:
        """Return the way to the player, which is started if it is one of ours.

        Raises:
            PlayerStartError: one of ours did not come up.
        """
        if self.text in own_player.IN_PROCESS:
            return own_player.InProcessPlayer(self.text, self.seed)
        if self.is_own:
            limits = self.worker_limits
            if limits is None:
                return await own_player.start_own_player(self.text, seed=self.seed)
            return own_player.WorkerPlayer(self.text, limits, self.seed)
        return open_link(self.text, Seat(role, self.name), self.targets)[0]


def _name_of_command(arguments: Sequence[str]) -> str:
    """Return what the player is called that a command starts: as its program, or as the file that an interpreter runs.

    Example:
        >>> [_name_of_command(words.split()) for words in ("./bot --net a.pt", "sh -e bots/a.sh b.sh", "sh -c 1.5")]
        ['bot', 'a.sh', 'sh']
        >>> _name_of_command(["env/bin/python3.99", "bot.py"])
        'bot.py'
    """
    program = Path(arguments[0]).name
    # What is on the path is there for many players, as is the Python of any environment; one that is called by its own
    # path is a player itself.
    if shutil.which(program) is None and not _PYTHON.fullmatch(program):
        return program
    files = (each for each in arguments[1:] if not each.startswith("-"))
    return next((Path(each).name for each in files if _FILE_NAME.fullmatch(each) or is_file(Path(each))), program)


def player_spec(text: str) -> PlayerSpec:
    """Return the player that *text* names: `http://host:port`, `cmd:program arguments`, or one of ours.

    Raises:
        PlayerSpecError: an address or a program that cannot be one.
        UnknownNameError: no player of ours; it suggests the nearest names.
        PlayerFileError: a file or module that holds no player.
    """
    if is_command(text) or is_address(text):
        open_link(text, Seat(_ANY_ROLE))
        if is_command(text):
            _check_program(text)
        return PlayerSpec(text, is_own=False)
    if text == HUMAN:
        raise PlayerSpecError(text, "a person plays with `ggp play`, or `ggp player human` in a terminal of its own")
    if (address := _HOST_AND_PORT.fullmatch(text)) is not None:
        raise PlayerSpecError(text, f"an address begins with http://, as in http://{address['rest']}")
    try:
        find_player(text)
    except UnknownNameError as error:
        if is_file(Path(text.split(" ", maxsplit=1)[0])):
            raise PlayerSpecError(text, f"a program begins with cmd:, as in cmd:{text}") from error
        raise
    return PlayerSpec(text, is_own=True)


def _check_program(text: str) -> None:
    program = shlex.split(text.partition(":")[2])[0]
    if shutil.which(program) is not None:
        return
    if not is_file(Path(program)):
        reason = f"there is no program {program}"
    elif os.access(program, os.X_OK):
        reason = f"{program} is in this folder, and not on the search path: write ./{program}"
    else:
        reason = f"{program} may not be executed: try chmod +x {program}"
    raise PlayerSpecError(text, reason)


def public_player_spec(text: str, targets: AllowedAddresses | None = None) -> PlayerSpec:
    """Return the player that *text*, which came over the network, names: an address, or one of ours by name.

    *targets* says which addresses may be called, once it comes to that.

    Raises:
        PlayerSpecError: anything else; programs, files and modules are never started for a caller on the network.
        UnknownNameError: no player of ours.
    """
    if is_address(text):
        return replace(player_spec(text), targets=targets)
    own = None if is_command(text) else _OWN.fullmatch(text)
    if own is None:
        ours = ", ".join(OWN_PLAYERS)
        reason = f"over HTTP a player is a registered one, an address (http://host:port), or one of {ours}"
        raise PlayerSpecError(text, reason, _DIAL_IN)
    name = own["name"]
    if name not in PLAYERS:
        raise UnknownNameError("player", name, difflib.get_close_matches(name, PLAYERS))
    if missing_setting(name) is not None:
        raise PlayerSpecError(text, f"the server's environment must set {' and '.join(variables_of(name))}")
    _check_public_options(text, own["options"] or "")
    try:
        return player_spec(text)
    except PlayerFileError as error:
        raise PlayerSpecError(text, error.reason) from error


def _check_public_options(text: str, options: str) -> None:
    """Check that no value of the *options* of *text* is a file, an address, or anything else that is the server's own.

    Raises:
        PlayerSpecError: one is, or may be.
    """
    for name, _, value in (option.partition("=") for option in options.split(",") if option):
        takes_word = name in _PUBLIC_WORDS
        if not (_PUBLIC_VALUE.fullmatch(value) or (takes_word and _WORD.fullmatch(value))):
            word = ", or a word" if takes_word else ""
            raise PlayerSpecError(text, f"over HTTP its option {name} takes a number, or True or False{word}")
