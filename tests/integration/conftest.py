"""Fixtures of the tests of parts that work together."""

from tests.kit.server.api.fixtures import client, noop, thinker
from tests.kit.server.commands.fixtures import ggp
from tests.kit.server.databases import (
    database,
    database_address,
    postgresql,
    postgresql_address,
    postgresql_model,
)
from tests.kit.server.registry.fixtures import changes, clock, registry, sqlite
from tests.kit.server.web.fixtures import site

__all__ = [
    "changes",
    "client",
    "clock",
    "database",
    "database_address",
    "ggp",
    "noop",
    "postgresql",
    "postgresql_address",
    "postgresql_model",
    "registry",
    "site",
    "sqlite",
    "thinker",
]
