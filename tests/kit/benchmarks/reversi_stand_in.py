"""A program that speaks as much of GTP as one of reversi is asked for.

It allows three cells: after d3 the other side is to move, after c4 the other side passes, after h8 the match is over.
"""

from __future__ import annotations

import sys

CELLS = ("d3", "c4", "h8")


def answer(words: list[str], played: list[str]) -> str:
    match words:
        case ["play", _, cell] if cell not in CELLS or cell in played:
            return "? illegal move"
        case ["play", _, cell]:
            played.append(cell)
        case ["undo"]:
            played.pop()
        case ["reg_genmove", _]:
            return "= C4"
        case ["showboard"]:
            return "= Game ended" if "h8" in played else f"= Next move: {'White' if 'd3' in played else 'Black'}"
        case ["final_score"]:
            return "= W+12" if "h8" in played else "? cannot score"
        case ["clear_board"]:
            played.clear()
    return "="


def main() -> None:
    played: list[str] = []
    for line in sys.stdin:
        sys.stdout.write(f"{answer(line.split(), played)}\n\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
