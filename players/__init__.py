"""The player kit and the players.

An author subclasses `Player` and calls `run` (a player over HTTP), `dial_in` (one that calls its game manager) or
`run_stdio` (over standard input and output).
"""

from gdl.errors import wrong_type
from players.deadline import Deadline
from players.kit.local_match import LocalMatch, LocalStep
from players.kit.player_server import Settings
from players.kit.session import Timing
from players.player import MakePlayer, Player, check_maker

__all__ = [
    "DEFAULT_PORT",
    "Deadline",
    "LocalMatch",
    "LocalStep",
    "MakePlayer",
    "Player",
    "Settings",
    "Timing",
    "dial_in",
    "run",
    "run_stdio",
]

DEFAULT_PORT = 9147


def run(
    player: MakePlayer, port: int = DEFAULT_PORT, host: str = "127.0.0.1", settings: Settings | None = None
) -> None:
    """Serve *player*, a subclass of `Player`, over HTTP until Ctrl-C; port 0 is one that the system chooses.

    Raises:
        ListenError: the port is taken.
        WrongTypeError: *player* is something else, as a player that is made already, or *settings* are.
    """
    _check(player, settings)
    from players.kit import http_transport  # noqa: PLC0415 -- a search needs no web server to be loaded

    http_transport.run_http(player, port, host, settings)


def run_stdio(player: MakePlayer, settings: Settings | None = None) -> None:
    """Serve *player*, a subclass of `Player`, on standard input and output until the input ends.

    Raises:
        WrongTypeError: as `run`.
    """
    _check(player, settings)
    from players.kit import player_server  # noqa: PLC0415 -- as above

    with player_server.reserved_output() as output:
        player_server.run_stdio(player, output, settings)


def dial_in(
    player: MakePlayer, url: str, name: str, token: str | None = None, settings: Settings | None = None
) -> None:
    """Play for the game manager at *url* as *name* until Ctrl-C; *token* lets the player in there.

    The player needs no address of its own: it fetches its messages and posts its answers.

    Raises:
        GameManagerError: the game manager refuses the player, or is none; or no player has such a name or token.
        GameManagerUnreachableError: it cannot be reached at first.
        WrongTypeError: as `run`, or *url*, *name* or *token* is no text.
    """
    _check(player, settings)
    from players.kit import dialling, game_manager_client  # noqa: PLC0415 -- a search needs no web server to be loaded

    dialling.dial_in(player, settings or Settings(name), game_manager_client.GameManagerClient(url, name, token), print)


def _check(player: MakePlayer, settings: Settings | None) -> None:
    """Raise WrongTypeError unless *player* makes players, and *settings* are some or None."""
    check_maker(player)
    if settings is not None and not isinstance(settings, Settings):
        raise wrong_type(settings, "players.Settings(name), or None")
