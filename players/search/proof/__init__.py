"""Proof-number search on the compiled engine: exact values of positions that are late, or of small games."""
