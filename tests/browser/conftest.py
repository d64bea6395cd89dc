"""Fixtures of the tests that look at pages."""

from tests.kit.server.databases import (
    database,
    database_address,
    postgresql,
    postgresql_address,
    postgresql_model,
)
from tests.kit.server.web.fixtures import chromium, open_page, site

__all__ = [
    "chromium",
    "database",
    "database_address",
    "open_page",
    "postgresql",
    "postgresql_address",
    "postgresql_model",
    "site",
]
