"""What a tournament so far has shown: who is ahead, how the sequential test stands, what was short of cores."""

from typing import Any, Final

from server.tournament.progress import PlayedMatch, Progress, absent_players, sprt_counts
from server.tournament.table import table_of

NOTABLE_SHARE: Final = 0.1
"""A match in which processes waited for a core for a larger share of its time is marked."""
NOTABLE_MS: Final = 1_000
"""Where no player thought for so long in all, it did not matter."""
_SURE: Final = 0.999
"""Above, a likelihood is only said to be more than that."""


def is_short(played: PlayedMatch) -> bool:
    """Return whether processes waited for a core for a notable share of a match in which players thought for long."""
    return (played.waited_share or 0.0) > NOTABLE_SHARE and max(played.thinking_ms, default=0) >= NOTABLE_MS


def summary(progress: Progress) -> dict[str, Any]:
    """Return a tournament as `--json` prints it."""
    return {
        "format": progress.plan.format.value,
        "games": list(progress.plan.games),
        "matches": len(progress.played),
        "scheduled": len(progress.scheduled),
        "matchesShortOfCores": sum(map(is_short, progress.played)),
        "standings": [row.as_json() for row in table_of(progress)],
        "sprt": sprt_summary(progress),
    }


def verdict(progress: Progress) -> str | None:
    """Return in a sentence who of two players is ahead, by how much, and how sure that is; None for other numbers."""
    if len(progress.ratings.players) != 2:
        return None
    first, second = (rating.player for rating in progress.ratings.players)
    elo, low, high = progress.ratings.lead(first, second)
    los = progress.ratings.superiority(first, second)
    if round(elo) == 0:
        return f"{first} and {second} are level so far (95 %: {low:.0f} to {high:.0f} Elo)"
    sureness = "more than 99.9" if los > _SURE else f"{100 * los:.1f}"
    told = f"{first} is ahead of {second} by {elo:.0f} Elo (95 %: {low:.0f} to {high:.0f})"
    return f"{told}, and the stronger one with a likelihood of {sureness} %"


def shortage(progress: Progress) -> str | None:
    """Return in a sentence in how many matches players waited for cores; None where in none."""
    n_short = sum(map(is_short, progress.played))
    if not n_short:
        return None
    where = f"In {n_short} of {len(progress.played)} matches"
    told = f"{where} processes of the machine that played them waited for a core for more than a tenth of the time"
    return f"{told}, so that their results may be the machine's: close other programs, or give longer clocks"


def sprt_summary(progress: Progress) -> dict[str, Any] | None:
    """Return how the sequential test stands; None where the plan has none."""
    sprt = progress.plan.sprt
    if sprt is None:
        return None
    test, counts = sprt.test, sprt_counts(progress)
    return {
        "elo0": sprt.elo0, "elo1": sprt.elo1, "alpha": sprt.alpha, "beta": sprt.beta, "pentanomial": list(counts),
        "llr": round(test.llr(counts), 3), "lower": round(test.lower, 3), "upper": round(test.upper, 3),
        "decision": test.decision(counts).value, "absent": list(absent_players(progress)),
    }  # fmt: skip


def sprt_line(progress: Progress) -> str | None:
    """Return in a sentence how the sequential test stands; None where there is none."""
    found = sprt_summary(progress)
    if found is None:
        return None
    first, second = progress.plan.players
    said = {
        "H1": f"{first} is stronger than {second} (H1 accepted)",
        "H0": f"{first} is not stronger than {second} by as much (H0 accepted)",
    }.get(found["decision"], "not decided")
    is_over = not progress.playing and len(progress.played) == len(progress.scheduled)
    if found["absent"]:
        names = " and ".join(found["absent"])
        said = f"ended undecided, since no move of {names} counted in any match: begin anew when that answers"
    elif said == "not decided" and is_over and not progress.plan.format.is_knockout:
        said += f"; add rounds with --rounds (now {progress.plan.n_rounds})"
    bounds = f"{found['lower']:.2f} to {found['upper']:.2f}"
    return f"SPRT elo0={found['elo0']:g} elo1={found['elo1']:g}: LLR {found['llr']:.2f} ({bounds}), {said}"
