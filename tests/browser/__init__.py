"""Tests that look at the pages in a real browser."""
