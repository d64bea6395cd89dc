"""The options of `ggp serve`, by what they are about: where it listens, what it plays, who may, how it is watched.

Every option is a flag, a variable of the environment, and a key of the configuration file, so the parameter of an
option is called as its flag is.
"""

import re
import ssl
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from limits import parse_many
from yarl import URL

from server.access.settings import AccessSettings, Limits, Network, is_loopback_host
from server.errors import ConfigurationError
from server.hosting import settings
from server.hosting.cores import n_cores_here
from server.hosting.referees import RefereeLimits
from server.links.addresses import AllowedAddresses
from server.match.setup import MAX_CLOCK_S, MAX_ROLES
from server.operation.logs import LogFormat
from server.operation.shutdown import ShutdownMode
from server.records.signature import kept_key
from server.spectating.broadcast import Delay, read_delay
from server.spectating.publishing import PublishSettings
from server.storage.address import DEFAULT_DATABASE
from server.terminal.command_line import FiniteRange

DEFAULT_PORT: Final = 9148
LOG_LEVELS: Final = ("debug", "info", "warning", "error")
_DAY_S: Final = 86_400
_MAX_PERIOD_S: Final = 366 * _DAY_S
"""The longest period of a rate."""
_NO_TIME: Final = re.compile(r"(/|per)\s*0+(?!\d)", re.IGNORECASE)
_HOST: Final = re.compile(r"[\w.:-]+")
_F = TypeVar("_F", bound=Callable[..., Any])


class NetworkText(click.ParamType[Network]):
    """A network as people write it: 10.0.0.0/8, or one address."""

    name = "network"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Network:
        """Return the network."""
        try:
            return ip_network(str(value), strict=False)
        except ValueError as error:
            self.fail(f"{error}; a network is written 10.0.0.0/8", param, ctx)


class RateText(click.ParamType[str]):
    """A rate: 300/minute."""

    name = "rate"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the rate as it was given."""
        try:
            [rate] = parse_many(str(value))
            # The library takes a period of zero minutes for one minute.
            is_rate = not _NO_TIME.search(str(value)) and rate.get_expiry() <= _MAX_PERIOD_S
        except ValueError:
            is_rate = False
        if not is_rate:
            self.fail(f"{value!r} is no rate; one is written 300/minute", param, ctx)
        return str(value)


class HostText(click.ParamType[str]):
    """The name of a host, without a port: games.example.org, or an address."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as requests have it."""
        try:
            host = URL.build(scheme="http", host=str(value)).host or ""
        except ValueError:
            host = ""
        if not _HOST.fullmatch(host):
            self.fail(f"{value!r} is no name of a host; one is written games.example.org, without a port", param, ctx)
        return host


class DelayText(click.ParamType[Delay]):
    """How late spectators see a match: 3 steps, 60 s, end, live."""

    name = "delay"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Delay:
        """Return the delay."""
        try:
            return read_delay(str(value))
        except ValueError as error:
            self.fail(f"{error}", param, ctx)


_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_NETWORK: Final = NetworkText()
_RATE: Final = RateText()
_DELAY: Final = DelayText()
_HOST_NAME: Final = HostText()
_LIMITS: Final = Limits()
_REFEREE: Final = RefereeLimits()
_PRACTICE: Final = settings.PracticeLimits()
_LADDER: Final = settings.LadderSettings()


def _option(default: object, explanation: str, kind: click.ParamType[Any] | None = None, **how: Any) -> Any:
    """Return the field of an option; its value is of *kind*, or else of the default's type."""
    return field(metadata={"default": default, "help": explanation, "type": kind, **how})


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of `ggp serve`, each called as its flag: from this table come flags, variables, keys and the page.

    *Units*: seconds, megabytes.
    """

    # fmt: off
    host: str = _option("127.0.0.1", "The address to listen on; 0.0.0.0 for all. Where others than this machine can "
        "reach it, they need tokens: `ggp token`.")
    port: int = _option(DEFAULT_PORT, "0: any free one.", click.IntRange(0, 65_535))
    tls_cert: Path | None = _option(None, "Speak HTTPS, with the certificate chain in this PEM file.", _FILE)
    tls_key: Path | None = _option(None, "The certificate's key, where it is in a file of its own.", _FILE)
    trusted_proxy: tuple[Network, ...] = _option((), "Believe the reverse proxies in this network who asks "
        "(X-Forwarded-For, -Proto, -Host). May be given several times.", _NETWORK)
    server_name: tuple[str, ...] = _option((), "A name under which the server is reached, besides localhost. May be "
        "given several times.", _HOST_NAME)
    database: str = _option(DEFAULT_DATABASE, "sqlite:///FILE, or postgresql://USER:PASSWORD@HOST/NAME; its tables are "
        "made.", metavar="ADDRESS")
    games: Path | None = _option(None, "A folder of games, as `ggp import` makes it, that are kept beside the "
        "library.",
        click.Path(path_type=Path, exists=True, file_okay=False), metavar="FOLDER")
    max_matches: int = _option(settings.MAX_RUNNING, "How many are played at once.", click.IntRange(1))
    max_queued: int = _option(settings.MAX_QUEUED, "How many more may wait.", click.IntRange(1))
    max_roles: int = _option(MAX_ROLES, "How many roles a game may have, `random` included.", click.IntRange(1))
    player_cores: int | None = _option(None, "How many cores players of ours think on: each has room for one search, "
        "or four players like greedy. Matches wait for room. By default all cores of the machine.", click.IntRange(1))
    player_memory: int = _option(settings.PLAYER_MEMORY_MB, "How many megabytes each process of a player of ours may "
        "use.", click.IntRange(256))
    lobby_limit: float = _option(settings.LOBBY_S, "For how many seconds a match waits for the people who play in it, "
        "before it is cancelled.", FiniteRange(1, 30 * _DAY_S))
    lease: float = _option(settings.LEASE_S, "After how many seconds of silence another manager on the same database "
        "goes on with our matches.", FiniteRange(1, _DAY_S))
    sign: Path | None = _option(None, "Sign records with the key in this file, which is made if it is not there.",
        _FILE, metavar="KEYFILE")
    publish: str | None = _option(None, "Publish matches at the old spectator server there, too, as they go on.",
        metavar="URL")
    publish_games: str = _option("", "Where readers of published matches find the rules: where this server is reached, "
        "and /base/games/ behind it.", metavar="URL")
    rules_seconds: float = _option(_REFEREE.max_seconds, "How long uploaded rules may think about one state.",
        FiniteRange(0.1, _DAY_S))
    max_state: int = _option(_REFEREE.max_state_kb, "How many kilobytes of text a state may have, and what players may "
        "do in it: rules that make larger ones end their match.", click.IntRange(1))
    rules_memory: int = _option(_REFEREE.max_memory_mb, "How many megabytes uploaded rules may use.",
        click.IntRange(64))
    rules_processes: int | None = _option(None, "How many processes may run uploaded rules at once. By default four "
        "for each core of the machine.", click.IntRange(1))
    practice_per_day: int = _option(_PRACTICE.per_day, "How many practice matches who has the role player may order "
        "in 24 hours; 0: none.", click.IntRange(0))
    practice_at_once: int = _option(_PRACTICE.at_once, "How many of them may wait or be played at once.",
        click.IntRange(1))
    ladder: tuple[str, ...] = _option((), "A game in which idle players that allow it are paired again and again, "
        "after all other matches, so that they have ratings. May be given several times.", metavar="GAME")
    ladder_start_clock: int = _option(_LADDER.start_clock, "How many seconds they have there to prepare.",
        click.IntRange(1, MAX_CLOCK_S))
    ladder_play_clock: int = _option(_LADDER.play_clock, "How many seconds they have there for a move.",
        click.IntRange(1, MAX_CLOCK_S))
    public: bool = _option(False, "Let everybody watch, without a token.")
    broadcast_delay: Delay = _option("live", "How late those who watch see a match: by '3 steps', by '60 s', or not "
        "before its 'end'. An order may say otherwise.", _DELAY)
    live_insight: bool = _option(False, "Show those who watch what players think while a match is played, where "
        "nothing is hidden from anybody; everywhere else it is shown after the end.")
    allow_network: tuple[Network, ...] = _option((), "Call players in this network although it is private. May be "
        "given several times.", _NETWORK)
    rate_requests: str = _option(_LIMITS.requests, "How often one token, or address, may ask.", _RATE)
    rate_orders: str = _option(_LIMITS.orders, "How often of these it may order a match.", _RATE)
    rate_uploads: str = _option(_LIMITS.uploads, "How often it may upload or validate rules.", _RATE)
    requests_at_once: int = _option(_LIMITS.n_at_once, "How many of its requests may be open at once, streams of "
        "events included.", click.IntRange(1))
    warm_up: bool = _option(True, "Make the compiled engine ready at the start, and not when the first match needs it.")
    game_cache: str | None = _option(None, "The folder in which compiled games are kept, at most 512 MB, or 'off'. By "
        "default beside the kernels in $NUMBA_CACHE_DIR, or in the user's cache.", metavar="FOLDER")
    metrics_from: tuple[Network, ...] = _option((), "Show /metrics to this network without a token, besides this "
        "machine. May be given several times.", _NETWORK)
    log_format: str = _option(LogFormat.AUTO.value, "auto: text at a terminal, JSON elsewhere.",
        click.Choice([form.value for form in LogFormat]))
    log_level: str = _option("info", "The least that is logged.", click.Choice(LOG_LEVELS))
    shutdown: str = _option(ShutdownMode.PARK.value, "What becomes of running matches at SIGTERM or Ctrl-C: finish "
        "them; park them, and they go on with the next start; abort them.",
        click.Choice([mode.value for mode in ShutdownMode]))
    shutdown_limit: float = _option(600.0, "After how many seconds of `--shutdown finish` the rest is parked.",
        FiniteRange(0, _DAY_S))
    # fmt: on

    @property
    def shutdown_mode(self) -> ShutdownMode:
        """What becomes of running matches in the end."""
        return ShutdownMode(self.shutdown)

    @property
    def format(self) -> LogFormat:
        """How log lines look."""
        return LogFormat(self.log_format)

    def access(self) -> AccessSettings:
        """Return how the server is reached."""
        return AccessSettings(
            is_loopback=is_loopback_host(self.host),
            is_public=self.public,
            proxies=self.trusted_proxy,
            hosts=self.server_name,
            limits=Limits(
                requests=self.rate_requests,
                orders=self.rate_orders,
                uploads=self.rate_uploads,
                n_at_once=self.requests_at_once,
            ),
        )

    def hosting(self) -> settings.GameManagerSettings:
        """Return what the game manager is allowed.

        Raises:
            KeyFileError: the file that should keep the key for signatures cannot be used.
        """
        return settings.GameManagerSettings(
            max_running=self.max_matches,
            max_queued=self.max_queued,
            max_roles=self.max_roles,
            player_cores=self.player_cores or n_cores_here(),
            player_memory_mb=self.player_memory,
            lobby_s=self.lobby_limit,
            lease_s=self.lease,
            signing_key=None if self.sign is None else kept_key(self.sign),
            targets=self.targets(),
            referee_limits=RefereeLimits(
                max_seconds=self.rules_seconds,
                max_memory_mb=self.rules_memory,
                max_state_kb=self.max_state,
                max_processes=self.rules_processes or _REFEREE.max_processes,
            ),
            broadcast_delay=self.broadcast_delay,
            live_insight=self.live_insight,
            practice=settings.PracticeLimits(self.practice_per_day, self.practice_at_once),
            ladder=settings.LadderSettings(self.ladder, self.ladder_start_clock, self.ladder_play_clock),
            games_folder=self.games,
        )

    def publishing(self) -> PublishSettings | None:
        """Return where matches are published, None where they are not; raises as `hosting`."""
        if self.publish is None:
            return None
        key = None if self.sign is None else kept_key(self.sign)
        return PublishSettings(self.publish, self.publish_games, key)

    def targets(self) -> AllowedAddresses:
        """Return which players' addresses may be called."""
        return AllowedAddresses(has_loopback=self.access().is_private, allowed=self.allow_network)

    def tls(self) -> ssl.SSLContext | None:
        """Return how connections are made secret, None where they are not.

        Raises:
            ConfigurationError: the files hold no certificate with its key.
        """
        if self.tls_cert is None:
            if self.tls_key is not None:
                raise ConfigurationError(self.tls_key, "a key needs its certificate: --tls-cert")
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(self.tls_cert, self.tls_key)
        except OSError as error:
            reason = f"no certificate with its key: {error.strerror or error}"
            raise ConfigurationError(self.tls_cert, reason) from error
        return context


def serve_options(function: _F) -> _F:
    """Give a command the options that `ServeOptions` holds."""
    for each in reversed(fields(ServeOptions)):
        function = _flag(each)(function)
    return function


def _flag(option: Field[Any]) -> Callable[[_F], _F]:
    """Return what gives a command *option*: several times where its default is empty, on and off where it is a bool."""
    name, default = option.name.replace("_", "-"), option.metadata["default"]
    spelling = f"--{name}/--no-{name}" if default is True else f"--{name}"
    is_shown = default not in (None, False, "", ())
    how = {"is_flag": isinstance(default, bool), "multiple": default == (), "show_default": is_shown}
    return click.option(spelling, **how, **option.metadata)
