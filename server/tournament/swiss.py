"""The Swiss system: every round, entrants with like scores meet who have not met before.

The criteria are those of the FIDE Dutch system (FIDE Handbook C.04.3) as far as they concern games without colours: a
set of matches gives every entrant each role. What comes first counts for more than all that follows:

1. an entrant who had a bye gets no other;
2. entrants who have met do not meet again;
3. the bye goes to the lowest score group;
4. entrants of one score group meet; else of groups as near as can be (the sum of the squared distances is least);
5. the first of the upper half of a score group meets the first of the lower half, and so on (the fold); who leaves its
   group is among the last of it, and meets one of the first of the other.

The pairing of least cost is found by matching (Edmonds 1965, as networkx has it). There are libraries that pair, but
they read chess tournament files, and know neither sets nor games of more than two roles.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from typing import Final

from server.errors import ScheduleError
from server.tournament import fixtures, grouping, scoring
from server.tournament.competition import Competition

MAX_EXACT: Final = 64  # up to so many entrants the pairing of least cost is that of all pairings
_MAX_BLOCK: Final = 256  # larger fields are paired in blocks, which grow to so many entrants to avoid repeated meetings
Cost = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Contender:
    """An entrant before a round: its score, how many byes it had, and how often it met others."""

    name: str
    score: float
    n_byes: int = 0
    met: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Swiss:
    """A number of rounds; in each, every entrant has one meeting, or a bye.

    A round is scheduled when the one before is over. Late entrants begin with no points. Scores are points of meetings,
    whatever the standings count. In games of more than two roles groups meet instead of pairs.

    Attributes:
        rounds: how many rounds are played.
        sets: how many sets a meeting has in each of its games.
        all_games: whether every meeting is played in all games, which then have as many roles; else they take turns.
        rules: what a meeting counts.
    """

    rounds: int
    sets: int = 1
    all_games: bool = False
    rules: scoring.ScoringRules = scoring.MEETINGS_COUNT

    def __call__(self, competition: Competition) -> tuple[fixtures.ScheduledMatch, ...]:
        """Return the matches of the next round; none before the last one is over, and after the last of all."""
        round_number = competition.last_round + 1
        if round_number > self.rounds or competition.open_matches or competition.missing_replays:
            return ()
        games = games_of_round(competition.games, round_number, self.all_games)
        size = games[0].group_size
        standing = self.contenders(competition, round_number)
        if len(standing) < size:
            return ()
        groups = pairs(standing) if size == 2 else groups_of(standing, size)
        meetings = (
            fixtures.Meeting(group, round_number, f"swiss {round_number}") for group in groups if len(group) == size
        )
        return tuple(
            match for meeting in meetings for match in fixtures.matches_of(meeting, games, competition.seed, self.sets)
        )

    def contenders(self, competition: Competition, round_number: int) -> tuple[Contender, ...]:
        """Return who can play in round *round_number*, by score and then by starting rank."""
        scores = self.scores(competition)
        n_byes = Counter(name for _, name in byes(competition))
        met: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for two, count in competition.meetings.items():
            one, other = two
            met[one][other] = met[other][one] = count
        active = sorted(competition.active_in(round_number), key=lambda name: -scores[name])
        return tuple(Contender(name, scores[name], n_byes[name], met[name]) for name in active)

    def scores(self, competition: Competition) -> dict[str, float]:
        """Return the points of all entrants, for meetings and byes."""
        scores = dict.fromkeys(competition.names, 0.0)
        for pairing in competition.pairings:
            for name, points in scoring.meeting_points(pairing, self.rules).items():
                scores[name] += points
        for _, name in byes(competition):
            scores[name] += self.rules.bye_points
        return {name: round(score, 9) for name, score in scores.items()}


def games_of_round(
    games: Sequence[fixtures.TournamentGame], round_number: int, all_games: bool
) -> tuple[fixtures.TournamentGame, ...]:
    """Return the games of every meeting of a round: all, or the one whose turn it is.

    Raises:
        ScheduleError: all are wanted, and they do not have as many roles: the same entrants cannot meet in them.
    """
    if not all_games:
        return (games[(round_number - 1) % len(games)],)
    if len({game.group_size for game in games}) > 1:
        raise ScheduleError("a meeting cannot have games for different numbers of players; let the games take turns")
    return tuple(games)


def byes(competition: Competition) -> tuple[tuple[int, str], ...]:
    """Return the rounds and names of entrants who could play in a round that was scheduled, and had no match in it."""
    busy: defaultdict[int, set[str]] = defaultdict(set)
    for match in competition.scheduled:
        busy[match.round].update(match.players)
    return tuple(
        (number, name) for number in sorted(busy) for name in competition.active_in(number) if name not in busy[number]
    )


def pairs(standing: Sequence[Contender]) -> tuple[tuple[str, ...], ...]:
    """Return who meets whom, as pairs in the order of *standing*; a single name has the bye.

    *standing* is in the order of scores, the best first, and of starting ranks among equal scores.
    """
    if len(standing) <= MAX_EXACT:
        return _names(_solved(standing))
    bye = _bye(standing) if len(standing) % 2 else None
    blocks = _blocks([contender for contender in standing if contender is not bye])
    place = {contender.name: i for i, contender in enumerate(standing)}
    solved = sorted(_solved_in_blocks(blocks, place), key=lambda pair: place[pair[0].name])
    return _names([*solved, *([(bye,)] if bye else [])])


def pairing_costs(standing: Sequence[Contender]) -> list[list[Cost]]:
    """Return what each pairing of two costs by the five criteria; an odd field has a bye as its last opponent."""
    groups = [list(found) for _, found in groupby(range(len(standing)), key=lambda i: standing[i].score)]
    places = {i: (number, place) for number, group in enumerate(groups) for place, i in enumerate(group)}
    n = len(standing) + len(standing) % 2
    costs: list[list[Cost]] = [[(0, 0, 0, 0, 0)] * n for _ in range(n)]
    for i, j in combinations(range(n), 2):
        if j == len(standing):
            number, place = places[i]
            below = len(groups) - 1 - number
            cost = (standing[i].n_byes, 0, below, 0, len(groups[number]) - 1 - place)
        else:
            times = standing[i].met.get(standing[j].name, 0)
            cost = (0, times, 0, *_distance(places[i], places[j], groups))
        costs[i][j] = costs[j][i] = cost
    return costs


def _distance(upper: tuple[int, int], lower: tuple[int, int], groups: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Return the squared distance of the score groups of two, and how far the pair is from the fold."""
    size = len(groups[upper[0]])
    if upper[0] == lower[0]:
        return 0, abs(lower[1] - upper[1] - size // 2)
    return (lower[0] - upper[0]) ** 2, size - 1 - upper[1] + lower[1]


def _solved(standing: Sequence[Contender]) -> list[tuple[Contender, ...]]:
    import networkx  # noqa: PLC0415 -- slow to load, which servers without Swiss tournaments save

    costs = _weighed(pairing_costs(standing))
    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_weighted_edges_from((i, j, costs[i][j]) for i, j in combinations(range(len(costs)), 2))
    found = sorted(tuple(sorted(pair)) for pair in networkx.min_weight_matching(graph))
    return [tuple(standing[i] for i in pair if i < len(standing)) for pair in found]


def _weighed(costs: Sequence[Sequence[Cost]]) -> list[list[int]]:
    """Return one integer for each cost, so that any sum for all pairs is in the order of the sums of the tuples."""
    highest = [max(values) for values in zip(*(cost for row in costs for cost in row), strict=True)]
    weights = [1] * len(highest)
    for i in range(len(highest) - 1, 0, -1):
        weights[i - 1] = weights[i] * (highest[i] * len(costs) + 1)
    return [[sum(map(int.__mul__, weights, cost)) for cost in row] for row in costs]


def _bye(standing: Sequence[Contender]) -> Contender:
    fewest = min(contender.n_byes for contender in standing)
    return next(contender for contender in reversed(standing) if contender.n_byes == fewest)


def _blocks(standing: Sequence[Contender]) -> list[list[Contender]]:
    """Return an even field in even parts of like scores, so that the pairs of the fold are together."""
    blocks: list[list[Contender]] = []
    carried: list[Contender] = []
    for _, found in groupby(standing, key=lambda contender: contender.score):
        members = [*carried, *found]
        carried = [members.pop()] if len(members) % 2 else []
        half, step = len(members) // 2, MAX_EXACT // 4
        for i in range(0, half, step):
            end = min(i + step, half)
            blocks.append([*members[i:end], *members[half + i : half + end]])
    return _merged_small(blocks)


def _merged_small(blocks: Sequence[list[Contender]]) -> list[list[Contender]]:
    merged: list[list[Contender]] = []
    for block in blocks:
        if merged and len(merged[-1]) + len(block) <= MAX_EXACT // 2:
            merged[-1] += block
        else:
            merged.append(list(block))
    return merged


def _solved_in_blocks(blocks: Sequence[list[Contender]], place: Mapping[str, int]) -> list[tuple[Contender, ...]]:
    """Pair each block; one that repeats a meeting is joined with the next, the last one with the one before."""
    solved: list[tuple[list[Contender], list[tuple[Contender, ...]]]] = []
    waiting = [sorted(block, key=lambda contender: place[contender.name]) for block in reversed(blocks)]
    while waiting:
        block = waiting.pop()
        found = _solved(block)
        neighbour = waiting[-1] if waiting else solved[-1][0] if solved else []
        is_repeated = any(one.met.get(other.name, 0) for one, other in found)
        if is_repeated and neighbour and len(block) + len(neighbour) <= _MAX_BLOCK:
            _ = waiting.pop() if waiting else solved.pop()
            waiting.append(sorted([*block, *neighbour], key=lambda contender: place[contender.name]))
        else:
            solved.append((block, found))
    return [pair for _, found in solved for pair in found]


def _names(groups: Sequence[tuple[Contender, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(contender.name for contender in group) for group in groups)


def groups_of(standing: Sequence[Contender], size: int) -> tuple[tuple[str, ...], ...]:
    """Return groups of *size* who meet, with few repeated meetings and like scores; single names have a bye.

    Byes go to those with the fewest byes, the last first. *Source*: `grouping.py` says how good the groups are.
    """
    n_byes = len(standing) % size
    by_need = sorted(range(len(standing)), key=lambda i: (standing[i].n_byes, -i))
    resting = sorted(by_need[:n_byes])
    playing = [contender for i, contender in enumerate(standing) if i not in resting]
    levels = {score: i for i, score in enumerate(sorted({contender.score for contender in playing}))}

    def cost(group: grouping.Group) -> Cost:
        members = [playing[i] for i in group]
        met = (one.met.get(other.name, 0) for one, other in combinations(members, 2))
        return (
            sum(count * count for count in met),
            grouping.spread([levels[member.score] for member in members]),
            grouping.spread(group),
        )

    found = grouping.least_cost_groups(len(playing), size, cost)
    return _names([*(tuple(playing[i] for i in group) for group in found), *((standing[i],) for i in resting)])
