"""What this server calls when a caller names an address, and what not; also against names that change their mind."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence
from ipaddress import ip_network

import pytest

from server.links.addresses import AllowedAddresses, check_target, look_up
from server.links.errors import ForbiddenTargetError, PlayerSpecError
from server.links.http_player import HttpPlayer
from server.links.player_info import ask_info
from server.match.driver import MatchDriver
from server.match.exchange import Answered, Event
from server.match.link import PlayerRequest, ReplyBuffer
from server.match.referee import LocalReferee
from tests.kit.server.peers import listening, replying, sending
from tests.kit.server.plays import LEFT, RIGHT, setup, two_steps

OUTSIDE = AllowedAddresses()
WITH_LOOPBACK = AllowedAddresses(has_loopback=True)
LOOPBACK = ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "2002:7f00:1::"]
INSIDE = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::10.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:10.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:a00:1::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
]
PUBLIC = [
    "1.1.1.1",
    "9.9.9.9",
    "100.63.255.255",
    "172.32.0.1",
    "192.169.0.1",
    "::ffff:9.9.9.9",
    "64:ff9b::9.9.9.9",
    "2002:909:909::1",
    "2606:4700::1111",
    "2a00::1",
]


def is_called(address: str, targets: AllowedAddresses) -> bool:
    try:
        targets.check(address)
    except ForbiddenTargetError:
        return False
    return True


@pytest.mark.parametrize("address", [*LOOPBACK, *INSIDE])
def test_addresses_inside_networks_are_not_called(address: str) -> None:
    assert not is_called(address, OUTSIDE)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_called(address: str) -> None:
    assert is_called(address, OUTSIDE)


@pytest.mark.parametrize("address", LOOPBACK)
def test_a_server_that_only_its_machine_reaches_calls_its_machine(address: str) -> None:
    assert is_called(address, WITH_LOOPBACK)


@pytest.mark.parametrize("address", INSIDE)
def test_and_nothing_else_inside(address: str) -> None:
    assert not is_called(address, WITH_LOOPBACK)


def test_a_network_that_is_allowed_is_called_in_every_notation_and_no_other_is() -> None:
    targets = AllowedAddresses(allowed=(ip_network("10.1.0.0/16"), ip_network("fd00::/8")))
    asked = ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "fd12::1", "10.2.0.1", "192.168.0.1"]
    assert [is_called(each, targets) for each in asked] == [True, True, True, True, False, False]


def noting(called: list[str]) -> Callable[[str], str]:
    def answer(body: str) -> str:
        called.append(body)
        return "ready"

    return answer


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return what names are looked up to, one answer after the other; without an answer nothing can be looked up."""
    answers: list[list[str]] = []

    def look_up(_host: str, port: int, **_: object) -> Sequence[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in answers.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return answers


@pytest.mark.parametrize("host", ["127.0.0.1", "[::ffff:127.0.0.1]", "localhost", "2130706433", "0x7f.1", "127.1"])
async def test_no_notation_of_an_address_leads_inside(host: str) -> None:
    async with listening(replying(lambda _: "ready")) as url:
        inside = url.replace("127.0.0.1", host)
        with pytest.raises(ForbiddenTargetError):
            await HttpPlayer(inside, targets=OUTSIDE).deliver(PlayerRequest("(INFO)"), ReplyBuffer())
        with pytest.raises(PlayerSpecError, match="in a network that this server calls no players in"):
            await check_target(inside, OUTSIDE)


async def test_a_name_that_leads_elsewhere_when_it_is_called_is_checked_again(lookups: list[list[str]]) -> None:
    lookups += [["9.9.9.9"], ["127.0.0.1"]]
    async with listening(replying(lambda _: "ready")) as url:
        named = url.replace("127.0.0.1", "changing.example")
        await check_target(named, OUTSIDE)
        with pytest.raises(ForbiddenTargetError):
            await HttpPlayer(named, targets=OUTSIDE).deliver(PlayerRequest("(INFO)"), ReplyBuffer())


async def test_the_address_that_was_checked_is_called_without_another_look(lookups: list[list[str]]) -> None:
    lookups += [["127.0.0.1"]]
    reply = ReplyBuffer()
    async with listening(replying(lambda _: "ready")) as url:
        await HttpPlayer(url.replace("127.0.0.1", "player.example"), targets=WITH_LOOPBACK).deliver(
            PlayerRequest("(INFO)"), reply
        )
    assert (bytes(reply.raw), lookups) == (b"ready", [])


async def test_of_several_addresses_only_those_that_may_be_are_called(lookups: list[list[str]]) -> None:
    lookups += [["10.0.0.1", "127.0.0.1"]]
    reply = ReplyBuffer()
    async with listening(replying(lambda _: "ready")) as url:
        named = url.replace("127.0.0.1", "player.example")
        await HttpPlayer(named, targets=WITH_LOOPBACK).deliver(PlayerRequest("(INFO)"), reply)
    assert bytes(reply.raw) == b"ready"


async def test_a_name_with_one_address_inside_is_not_registered(lookups: list[list[str]]) -> None:
    lookups += [["9.9.9.9", "10.0.0.1"]]
    with pytest.raises(PlayerSpecError) as raised:
        await check_target("http://player.example", OUTSIDE)
    assert raised.value.reason == (
        "the address is in a network that this server calls no players in; "
        "it can dial in, or the host allows the network by --allow-network"
    )


@pytest.mark.parametrize(
    ("url", "looked_up"),
    [
        ("http://player.example:8080/x", ("player.example", 8080)),
        ("http://player.example", ("player.example", 9147)),
        ("https://player.example", ("player.example", 443)),
    ],
)
async def test_the_name_that_is_looked_up_is_the_one_that_is_called(
    monkeypatch: pytest.MonkeyPatch, url: str, looked_up: tuple[str, int]
) -> None:
    asked: list[tuple[str, int, int]] = []

    def note(host: str, port: int, *, type: int) -> list[tuple[object, ...]]:  # noqa: A002 -- the library's name
        asked.append((host, port, type))
        return [(socket.AF_INET, type, 6, "", (address, port)) for address in ("9.9.9.9", "9.9.9.9", "1.1.1.1")]

    monkeypatch.setattr(socket, "getaddrinfo", note)
    await check_target(url, OUTSIDE)
    assert asked == [(*looked_up, socket.SOCK_STREAM)]
    assert await look_up(*looked_up) == ("9.9.9.9", "1.1.1.1")


async def test_why_a_name_leads_nowhere_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()

    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    def wait(*_: object, **__: object) -> list[object]:
        never.wait()
        return []

    told = []
    for look, limit_s in ((fail, 60.0), (wait, 0.05)):
        monkeypatch.setattr(socket, "getaddrinfo", look)
        monkeypatch.setattr("server.links.addresses.LOOKUP_LIMIT_S", limit_s)
        with pytest.raises(PlayerSpecError) as caught:
            await check_target("http://player.example", OUTSIDE)
        told.append((caught.value.spec, caught.value.reason))
    never.set()
    assert told == [
        ("http://player.example", "Name or service not known"),
        ("http://player.example", "its name was not found within 0.05 s"),
    ]


async def test_redirects_inside_are_not_followed() -> None:
    called: list[str] = []
    async with listening(replying(noting(called))) as inside:
        moved = sending(f"HTTP/1.0 302 Found\r\nLocation: {inside}\r\n\r\n".encode())
        async with listening(moved) as url:
            info = await ask_info(url, targets=WITH_LOOPBACK)
    assert (info.answered, called) == (None, [])


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    async with listening(replying(noting(called))) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy)
        async with listening(replying(lambda _: "busy")) as url:
            info = await ask_info(url, targets=WITH_LOOPBACK)
    assert (info.answered, called) == ("INFO", [])


async def test_the_answer_says_that_the_server_calls_no_player_there() -> None:
    async with listening(replying(lambda _: "ready")) as url:
        info = await ask_info(url, targets=OUTSIDE)
    sentence = "the address is in a network that this server calls no players in"
    assert (info.answered, info.trouble) == (None, (f"(INFO): {sentence}", f"(PING): {sentence}"))


async def test_in_a_match_it_is_a_player_without_connection() -> None:
    events: list[Event] = []
    async with listening(replying(lambda _: "(say Yes)")) as url:
        links = {LEFT: HttpPlayer(url, targets=WITH_LOOPBACK), RIGHT: HttpPlayer(url, targets=OUTSIDE)}
        await MatchDriver(LocalReferee(two_steps()), setup(), links, [events.append]).run()
    answers = {(event.role, event.error, event.detail) for event in events if isinstance(event, Answered)}
    assert answers == {
        (LEFT, "", ""),
        (RIGHT, "CE", "the address is in a network that this server calls no players in"),
    }
