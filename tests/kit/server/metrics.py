"""Figures for Prometheus, as tests compare them."""

from __future__ import annotations

from server.operation.metrics import Metrics


def told(metrics: Metrics, *prefixes: str) -> dict[str, float]:
    """Return the figures whose names begin with one of *prefixes*, without the times at which they were made."""
    lines = metrics.text().decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines if line.startswith(prefixes) and "_created" not in line)
    return {name: float(value) for name, _, value in pairs}
