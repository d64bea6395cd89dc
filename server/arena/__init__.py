"""Tournaments of `ggp tournament`: a plan, a folder that outlives a crash, the matches, the live table, the reports."""
