"""Competitions: schedules, standings, ratings and sequential tests, as functions without input or output."""
