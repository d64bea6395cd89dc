"""The load benchmark of the game manager: many matches at once over real sockets, and pages over many old matches."""

from __future__ import annotations
