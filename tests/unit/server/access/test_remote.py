"""From where a request comes, as proxies tell it."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from server.access.remote import Remote, check_host, check_not_forwarded, check_origin, is_forwarded, remote_of
from server.access.settings import AccessSettings, is_loopback_host, network
from server.refusals import ForeignRequestError, WrongHostError

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


def test_what_proxies_say_on_several_lines_counts_in_their_order() -> None:
    lines = CIMultiDict(
        [("Host", "ours"), (FOR, "6.6.6.6"), (FOR, "1.1.1.1, ,10.0.0.2"), (PROTO, "http"), (PROTO, "https")]
    )
    request = make_mocked_request("GET", "/", lines)
    assert remote_of(request.clone(remote="10.0.0.1"), PROXIES) == Remote("1.1.1.1", "https", "ours")


@pytest.mark.parametrize("peer", ["", "unix:", "203.0.113.5"])
def test_a_peer_that_is_no_proxy_speaks_for_itself(peer: str) -> None:
    assert seen(peer, {FOR: "1.1.1.1"}) == Remote(peer, "http", "ours")


def test_a_request_without_a_host_names_none() -> None:
    assert remote_of(make_mocked_request("GET", "/").clone(remote="203.0.113.5"), ()) == Remote(
        "203.0.113.5", "http", ""
    )


@pytest.mark.parametrize(
    ("remote", "told"),
    [
        (Remote("", "http", "Ours:8080"), ("http://ours:8080", False, "ours", False)),
        (Remote("", "https", "ggp.localhost"), ("https://ggp.localhost", True, "ggp.localhost", True)),
        (Remote("", "http", "[::1]:80"), ("http://[::1]:80", False, "::1", True)),
        (Remote("", "http", ""), ("http://", False, "", False)),
    ],
)
def test_a_host_has_an_origin_and_a_name(remote: Remote, told: tuple[str, bool, str, bool]) -> None:
    assert (remote.origin, remote.is_secret, remote.name, remote.is_local) == told


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("localhost", True), ("LocalHost.", True), ("a.localhost", True), ("alocalhost", False), ("127.9.9.9", True),
        ("[::1]", True), ("::1", True), ("0.0.0.0", False), ("ours", False), ("", False),
    ],
)  # fmt: skip
def test_names_of_this_machine_are_known(host: str, is_loopback: bool) -> None:
    assert is_loopback_host(host) == is_loopback


def test_one_address_is_a_network_and_so_is_one_in_it() -> None:
    assert [network(text) for text in ("10.0.0.7", "10.0.0.7/8", "::1")] == [
        ip_network("10.0.0.7/32"), ip_network("10.0.0.0/8"), ip_network("::1/128"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("host", "settings", "is_refused"),
    [
        ("localhost", AccessSettings(), False),
        ("", AccessSettings(), False),
        ("ours", AccessSettings(hosts=("ours",)), False),
        ("ours", AccessSettings(), True),
        ("ours", AccessSettings(hosts=("others",)), True),
        ("ours", AccessSettings(is_loopback=False), False),
        ("ours", AccessSettings(proxies=PROXIES), False),
    ],
)
def test_where_no_token_is_needed_a_client_means_this_machine(
    host: str, settings: AccessSettings, is_refused: bool
) -> None:
    refused = []
    try:
        check_host(Remote("127.0.0.1", "http", host), settings)
    except WrongHostError as error:
        refused.append(error.args)
    assert refused == ([WrongHostError(host).args] if is_refused else [])


@pytest.mark.parametrize(
    ("header", "is_told"),
    [("Forwarded", True), ("via", True), (FOR, True), ("X-Real-IP", True), (PROTO, False), ("Accept", False)],
)
def test_a_proxy_says_that_it_forwards(header: str, is_told: bool) -> None:
    assert is_forwarded(make_mocked_request("GET", "/", {header: "1.1.1.1"})) == is_told


def test_who_puts_a_proxy_before_an_open_server_is_told_how() -> None:
    with pytest.raises(ForeignRequestError) as caught:
        check_not_forwarded(make_mocked_request("GET", "/", {"Via": "1.1 proxy"}))
    assert (caught.value.message, caught.value.hint) == (
        "a proxy stands before this server, which does not know of any",
        "start it with --trusted-proxy and the proxy's network, and issue tokens with `ggp token issue`",
    )


OURS = Remote("127.0.0.1", "http", "Ours:80")


@pytest.mark.parametrize(
    ("headers", "is_refused"),
    [
        ({}, False),
        ({"Origin": "HTTP://ours:80"}, False),
        ({"Origin": "http://ours"}, True),
        ({"Origin": "https://ours:80"}, True),
        ({"Sec-Fetch-Site": "none"}, False),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://ours:80"}, False),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://others"}, True),
        ({"Sec-Fetch-Site": "same-site"}, True),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://ours:80"}, True),
    ],
)
def test_only_our_own_pages_ask_for_changes(headers: dict[str, str], is_refused: bool) -> None:
    told = []
    try:
        check_origin(make_mocked_request("POST", "/", headers), OURS)
    except ForeignRequestError as error:
        told.append((error.message, error.hint))
    assert told == ([("a page of another site asks for this", "use the pages of this server")] if is_refused else [])
