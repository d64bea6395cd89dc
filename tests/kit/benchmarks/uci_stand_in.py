"""A program that speaks as much of UCI as a chess engine is asked for: it lists two moves, and makes the second."""

from __future__ import annotations

import sys


def main() -> None:
    position = ""
    for line in sys.stdin:
        match line.split():
            case ["uci"]:
                replies = ["id name stand-in", "uciok"]
            case ["isready"]:
                replies = ["readyok"]
            case ["position", *words]:
                position, replies = " ".join(words), []
            case ["go", "perft", "1"]:
                moves = [] if position.endswith("d8h4") else ["e2e4", "g1f3"] if "moves" not in position else ["d8h4"]
                replies = [*(f"{move}: 1" for move in moves), "", f"Nodes searched: {len(moves)}"]
            case ["go", *_]:
                replies = ["info depth 1 score cp 20 pv g1f3", "bestmove g1f3 ponder e7e5"]
            case _:
                replies = []
        sys.stdout.write("".join(f"{reply}\n" for reply in replies))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
