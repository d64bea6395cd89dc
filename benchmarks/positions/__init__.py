"""Positions with exact values: the files, and what made them."""
