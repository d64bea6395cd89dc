"""`python -m tests.fuzz`: random games on every engine, held against a naive evaluator."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.fuzz.campaign import Campaign
from tests.fuzz.workers import Worker


def main() -> int:
    """Compare games; return 1 where an engine is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="rule files to compare instead of random games")
    parser.add_argument("--games", type=int, default=2_000, help="how many random games")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes compare")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds of processor time for one game")
    parser.add_argument(
        "--shrink", type=float, default=120.0, help="seconds to make the rules of a failure small, or 0"
    )
    parser.add_argument("--json", type=Path, help="where to write the summary with all failures")
    options = parser.parse_args()
    if options.files:
        return _compare_files(options.files, options.timeout)
    campaign = Campaign(options.jobs, options.timeout, options.shrink)
    summary = campaign.run(range(options.seed, options.seed + options.games), _print)
    if options.json is not None:
        options.json.write_text(json.dumps(summary.as_json(), indent=1) + "\n")
    _print(summary.text())
    return 1 if summary.failures else 0


def _compare_files(files: list[Path], timeout_s: float) -> int:
    n_wrong = 0
    with Worker(timeout_s) as worker:
        for file in files:
            found = worker.compare(file.read_text(), 0)
            n_wrong += bool(found.failure)
            answer = f"{found.failure}: {found.detail}" if found.failure else found.refusal or str(found.comparison)
            _print(f"{file}: {answer}")
    return 1 if n_wrong else 0


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
