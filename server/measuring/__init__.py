"""Measurements: how fast engines are, how fast and how well players search, and how many ways a game can go."""
