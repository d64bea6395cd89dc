"""A player whose start clock is short, however long it may be: it neither proves nor learns anything there."""

from __future__ import annotations

from players.stock import MctsPlayer


class TreePlayer(MctsPlayer):
    """Searches by its tree alone, as `mcts` does after its start clock where nothing was found out."""

    proves = False

    def __init__(self, *, threads: int = 1, ponder: bool = False) -> None:
        super().__init__(threads=threads, ponder=ponder, weights=False, mast=False)
