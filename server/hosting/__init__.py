"""Matches from the order to the record."""
