"""Yardsticks: engines by others, and an exact solver, to measure our players by. None of it is needed to play."""
