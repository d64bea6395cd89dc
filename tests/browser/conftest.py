"""Fixtures of the tests that look at pages."""

from tests.kit.server.web.fixtures import chromium, open_page, site

__all__ = ["chromium", "open_page", "site"]
