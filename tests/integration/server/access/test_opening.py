"""What must be so before a server opens to others."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

import pytest

from server.access.control import AccessControl
from server.access.guard import check_opening
from server.access.settings import AccessSettings, is_loopback_host
from server.errors import NoAdminError
from server.principal import Role
from server.storage.accounts import TokenStore
from tests.kit.server.access.guarded_app import database

PROXY = ip_network("10.0.0.0/8")


@pytest.mark.parametrize(
    "settings", [AccessSettings(is_loopback=False), AccessSettings(proxies=(PROXY,)), AccessSettings(False, True)]
)
async def test_the_server_opens_to_others_only_with_an_admin_token(tmp_path: Path, settings: AccessSettings) -> None:
    async with database(tmp_path) as found:
        access = AccessControl(settings, TokenStore(found))
        with pytest.raises(NoAdminError) as caught:
            await check_opening(access, "0.0.0.0", "x")
        assert (caught.value.host, caught.value.command) == (
            "0.0.0.0",
            "ggp token issue NAME --role admin --database x",
        )
        await access.issuing.issue("Ada", Role.ADMIN)
        await check_opening(access, "0.0.0.0", "x")


async def test_on_this_machine_alone_it_just_opens(tmp_path: Path) -> None:
    async with database(tmp_path) as found:
        await check_opening(AccessControl(AccessSettings(), TokenStore(found)), "127.0.0.1", "x")


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("LocalHost.", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("192.168.0.2", False),
        ("localhost.evil.example", False),
        ("example.org", False),
    ],
)
def test_where_only_this_machine_reaches(host: str, is_loopback: bool) -> None:
    assert is_loopback_host(host) is is_loopback
