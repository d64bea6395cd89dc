"""Tests that run on SQLite and on a real PostgreSQL server."""
