"""Where players are."""

from __future__ import annotations

import pytest

from server.links.addresses import host_and_port, player_url
from server.links.child_player import ChildPlayer
from server.links.errors import PlayerSpecError
from server.links.http_player import HttpPlayer
from server.links.player_spec import is_command, open_link
from server.match.profiles import Profile
from server.match.setup import Seat
from tests.kit.server.plays import LEFT

SEAT = Seat(LEFT, "Deep", Profile(grace_s=3))


@pytest.mark.parametrize("address", ["http://127.0.0.1:9147", "https://example.org/player"])
def test_urls_lead_to_http_players(address: str) -> None:
    link, seat = open_link(address, SEAT)
    assert (type(link), seat) == (HttpPlayer, SEAT)
    assert not is_command(address)


@pytest.mark.parametrize(
    ("address", "gets_legal_moves"), [("cmd:./bot --fast", False), ("cmd+legal:node bot.js", True)]
)
def test_commands_lead_to_child_processes(address: str, gets_legal_moves: bool) -> None:
    link, seat = open_link(address, SEAT)
    expected = Seat(LEFT, "Deep", Profile(grace_s=3, gets_legal_moves=gets_legal_moves))
    assert (type(link), seat) == (ChildPlayer, expected)
    assert is_command(address)


@pytest.mark.parametrize(
    "address", ["", "name", "file:///x", "cmd:", "cmd+legal: ", "http://", "CMD:ls", " http://x", "http://[::1]:80@"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(PlayerSpecError):
        open_link(address, SEAT)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("http://Example.org:8080/x", "example.org:8080"),
        ("http://example.org", "example.org:9147"),
        ("https://example.org", "example.org:443"),
        ("http://[::1]:80", "::1:80"),
    ],
)
def test_a_player_is_called_by_its_host_and_port(address: str, name: str) -> None:
    assert host_and_port(address) == name


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("ftp://example.org", "expected http://host:port"),
        ("http://:80", "Invalid URL"),
        ("http://example.org:0", "expected http://host:port"),
    ],
)
def test_what_is_no_address_is_refused_with_a_reason(address: str, reason: str) -> None:
    with pytest.raises(PlayerSpecError) as caught:
        player_url(address)
    assert (caught.value.spec, caught.value.reason[: len(reason)]) == (address, reason)
