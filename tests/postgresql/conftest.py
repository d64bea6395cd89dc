"""Fixtures of the tests on databases."""

from tests.kit.server.databases import (
    database,
    database_address,
    postgresql,
    postgresql_address,
    postgresql_model,
)
from tests.kit.server.registry.fixtures import changes, clock, registry, sqlite

__all__ = [
    "changes",
    "clock",
    "database",
    "database_address",
    "postgresql",
    "postgresql_address",
    "postgresql_model",
    "registry",
    "sqlite",
]
