"""A program that speaks as much of GTP as a program of go is asked for: it lists two moves, and refuses a corner."""

from __future__ import annotations

import sys


def main() -> None:
    for line in sys.stdin:
        match line.split():
            case ["all_legal", _]:
                reply = "= C3 E1"
            case ["kgs-genmove_cleanup", _]:
                reply = "= C3"
            case ["play", _, "A1"]:
                reply = "? illegal move"
            case _:
                reply = "="
        sys.stdout.write(f"{reply}\n\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
