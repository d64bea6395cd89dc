"""Expansion of states on the compiled engine: all moves in one pass over the lanes, and a table of what is known."""
