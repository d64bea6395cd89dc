"""The options of `ggp serve`, by what they are about: where it listens, what it plays, who may, how it is watched.

Every option is a flag, a variable of the environment, and a key of the configuration file, so the parameter of an
option is called as its flag is.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from limits import parse

from server.access.settings import AccessSettings, Limits, Network, is_loopback_host
from server.errors import ConfigurationError
from server.hosting.cores import n_cores_here
from server.hosting.order import LEASE_S, LOBBY_S, MAX_QUEUED, MAX_ROLES, MAX_RUNNING, PLAYER_MEMORY_MB, HostSettings
from server.hosting.referees import RefereeLimits
from server.links.address import AllowedAddresses
from server.operation.health import Manner
from server.operation.logs import LogFormat
from server.records.signature import kept_key
from server.spectating.events import Delay, read_delay
from server.spectating.publishing import PublishSettings
from server.storage.address import DEFAULT_DATABASE

DEFAULT_PORT: Final = 9148
LOG_LEVELS: Final = ("debug", "info", "warning", "error")
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
            parse(str(value))
        except ValueError:
            self.fail(f"{value!r} is no rate; one is written 300/minute", param, ctx)
        return str(value)


class DelayText(click.ParamType[Delay]):
    """How late spectators see a match: 3 steps, 60 s, end, live."""

    name = "delay"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Delay:
        """Return the delay."""
        try:
            return read_delay(str(value))
        except ValueError as error:
            self.fail(f"{error}", param, ctx)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of `ggp serve`, each called as its flag. *Units*: seconds, megabytes."""

    host: str
    port: int
    tls_cert: Path | None
    tls_key: Path | None
    trusted_proxy: tuple[Network, ...]
    server_name: tuple[str, ...]
    database: str
    max_matches: int
    max_queued: int
    max_roles: int
    max_state: int
    rules_processes: int | None
    player_cores: int | None
    player_memory: int
    lobby_limit: float
    lease: float
    sign: Path | None
    publish: str | None
    publish_games: str
    rules_seconds: float
    rules_memory: int
    public: bool
    broadcast_delay: Delay
    allow_network: tuple[Network, ...]
    rate_requests: str
    rate_orders: str
    rate_uploads: str
    warm_up: bool
    metrics_from: tuple[Network, ...]
    log_format: str
    log_level: str
    shutdown: str
    shutdown_limit: float

    @property
    def manner(self) -> Manner:
        """What becomes of running matches in the end."""
        return Manner(self.shutdown)

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
            limits=Limits(requests=self.rate_requests, orders=self.rate_orders, uploads=self.rate_uploads),
        )

    def hosting(self) -> HostSettings:
        """Return what the game manager is allowed.

        Raises:
            KeyFileError: the file that should keep the key for signatures cannot be used.
        """
        return HostSettings(
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
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), function)


_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_NETWORK: Final = NetworkText()
_RATE: Final = RateText()
_DELAY: Final = DelayText()
_LIMITS: Final = Limits()
_REFEREE: Final = RefereeLimits()


def _option(name: str, **how: Any) -> Callable[[Any], Any]:
    shown = how.get("default") is not None and how.get("show_default", True)
    return click.option(f"--{name}", **(how | {"show_default": shown}))


_OPTIONS: Final = (
    _option("host", default="127.0.0.1", help="The address to listen on; 0.0.0.0 for all. Where others than this "
            "machine can reach it, they need tokens: `ggp token`."),
    _option("port", type=click.IntRange(0, 65_535), default=DEFAULT_PORT, help="0: any free one."),
    _option("tls-cert", type=_FILE, metavar="FILE", help="Speak HTTPS, with the certificate chain in this PEM file."),
    _option("tls-key", type=_FILE, metavar="FILE", help="The certificate's key, where it is in a file of its own."),
    _option("trusted-proxy", type=_NETWORK, multiple=True, help="Believe the reverse proxies in this network who asks "
            "(X-Forwarded-For, -Proto, -Host). May be given several times."),
    _option("server-name", multiple=True, metavar="NAME", help="A name under which the server is reached, besides "
            "localhost. May be given several times."),
    _option("database", default=DEFAULT_DATABASE, metavar="ADDRESS", help="sqlite:///FILE, or "
            "postgresql://USER:PASSWORD@HOST/NAME; its tables are made."),
    _option("max-matches", type=click.IntRange(1), default=MAX_RUNNING, help="How many are played at once."),
    _option("max-queued", type=click.IntRange(0), default=MAX_QUEUED, help="How many more may wait."),
    _option("max-roles", type=click.IntRange(1), default=MAX_ROLES, help="How many roles a game may have, `random` "
            "included."),
    _option("player-cores", type=click.IntRange(1), help="How many cores players of ours think on: each has room for "
            "one search, or four players like greedy. Matches wait for room. By default all cores of the machine."),
    _option("player-memory", type=click.IntRange(256), default=PLAYER_MEMORY_MB, help="How many megabytes each "
            "process of a player of ours may use."),
    _option("lobby-limit", type=click.FloatRange(1), default=LOBBY_S, help="For how many seconds a match waits for the "
            "people who play in it, before it is cancelled."),
    _option("lease", type=click.FloatRange(1), default=LEASE_S, help="After how many seconds of silence another "
            "manager on the same database goes on with our matches."),
    _option("sign", type=_FILE, metavar="KEYFILE", help="Sign records with the key in this file, which is made if it "
            "is not there."),
    _option("publish", metavar="URL", help="Publish matches at the old spectator server there, too, as they go on."),
    _option("publish-games", metavar="URL", default="", show_default=False, help="Where readers of published matches "
            "find the rules: where this server is reached, and /base/games/ behind it."),
    _option("rules-seconds", type=click.FloatRange(0.1), default=_REFEREE.max_seconds, help="How long uploaded rules "
            "may think about one state."),
    _option("max-state", type=click.IntRange(1), default=_REFEREE.max_state_kb, help="How many kilobytes of text a "
            "state may have, and what players may do in it: rules that make larger ones end their match."),
    _option("rules-memory", type=click.IntRange(64), default=_REFEREE.max_memory_mb, help="How many megabytes uploaded "
            "rules may use."),
    _option("rules-processes", type=click.IntRange(1), help="How many processes may run uploaded rules at once. By "
            "default four for each core of the machine."),
    _option("public", is_flag=True, help="Let everybody watch, without a token."),
    _option("broadcast-delay", type=_DELAY, default="live", help="How late those who watch see a match: by '3 steps', "
            "by '60 s', or not before its 'end'. An order may say otherwise."),
    _option("allow-network", type=_NETWORK, multiple=True, help="Call players in this network although it is private. "
            "May be given several times."),
    _option("rate-requests", type=_RATE, default=_LIMITS.requests, help="How often one token, or address, may ask."),
    _option("rate-orders", type=_RATE, default=_LIMITS.orders, help="How often of these it may order a match."),
    _option("rate-uploads", type=_RATE, default=_LIMITS.uploads, help="How often it may upload or validate rules."),
    _option("warm-up/--no-warm-up", default=True, help="Make the compiled engine ready at the start, and not when the "
            "first match needs it."),
    _option("metrics-from", type=_NETWORK, multiple=True, help="Show /metrics to this network without a token, "
            "besides this machine. May be given several times."),
    _option("log-format", type=click.Choice([form.value for form in LogFormat]), default=LogFormat.AUTO.value,
            help="auto: text at a terminal, JSON elsewhere."),
    _option("log-level", type=click.Choice(LOG_LEVELS), default="info", help="The least that is logged."),
    _option("shutdown", type=click.Choice([manner.value for manner in Manner]), default=Manner.PARK.value, help="What "
            "becomes of running matches at SIGTERM or Ctrl-C: finish them; park them, and they go on with the next "
            "start; abort them."),
    _option("shutdown-limit", type=click.FloatRange(0), default=600.0, help="After how many seconds of `--shutdown "
            "finish` the rest is parked."),
)  # fmt: skip
