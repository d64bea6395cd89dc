"""From where a request comes, as proxies tell it."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from aiohttp.test_utils import make_mocked_request

from server.access.settings import Remote, remote_of

PROXIES = (ip_network("10.0.0.0/8"), ip_network("::1/128"))
FOR, PROTO, HOST = "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"


def seen(peer: str, headers: dict[str, str]) -> Remote:
    request = make_mocked_request("GET", "/", {"Host": "ours"} | headers)
    return remote_of(request.clone(remote=peer), PROXIES)


@pytest.mark.parametrize(
    ("peer", "headers", "remote"),
    [
        ("203.0.113.5", {FOR: "1.1.1.1", PROTO: "https", HOST: "x"}, Remote("203.0.113.5", "http", "ours")),
        ("10.0.0.1", {}, Remote("10.0.0.1", "http", "ours")),
        ("10.0.0.1", {FOR: "1.1.1.1", PROTO: "https", HOST: "x"}, Remote("1.1.1.1", "https", "x")),
        ("::1", {FOR: "6.6.6.6, 1.1.1.1,10.0.0.2"}, Remote("1.1.1.1", "http", "ours")),
        ("::ffff:10.0.0.1", {FOR: "1.1.1.1"}, Remote("1.1.1.1", "http", "ours")),
        ("10.0.0.1", {FOR: "1.1.1.1:4711"}, Remote("1.1.1.1", "http", "ours")),
        ("10.0.0.1", {FOR: "[2a00::1]:4711, [::1]"}, Remote("2a00::1", "http", "ours")),
        ("10.0.0.1", {FOR: "10.0.0.3, 10.0.0.2"}, Remote("10.0.0.3", "http", "ours")),
        ("10.0.0.1", {FOR: "1.1.1.1, unknown"}, Remote("10.0.0.1", "http", "ours")),
        ("10.0.0.1", {PROTO: "javascript"}, Remote("10.0.0.1", "http", "ours")),
    ],
)
def test_only_proxies_that_are_named_are_believed(peer: str, headers: dict[str, str], remote: Remote) -> None:
    assert seen(peer, headers) == remote


@pytest.mark.parametrize(
    ("address", "party"),
    [("203.0.113.5", "203.0.113.5"), ("2a00:1:2:3:4:5:6:7", "2a00:1:2:3::/64"), ("::ffff:1.2.3.4", "::ffff:1.2.3.4")],
)
def test_a_network_of_one_s_own_counts_as_one(address: str, party: str) -> None:
    assert Remote(address, "http", "ours").party == party


def test_a_host_without_a_name_has_none() -> None:
    assert Remote("127.0.0.1", "http", "[::1]@").name == ""
