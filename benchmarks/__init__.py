"""Benchmarks: how fast, how strong, how much at once; none of it is in the wheel."""
