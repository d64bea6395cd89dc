"""The fixtures of a competition: entrants, games, matches in sets with rotating seats, and the results of matches."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Self, TypeAlias

from server.match.chance import SEED_BITS

MAX_ROLES: Final = 8


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player of a competition.

    Attributes:
        name: its name, unlike those of the others.
        since_round: the first round in which it can play; more than 1 for a late entrant.
        withdrawn_after: the last round in which it can play; None while it has not withdrawn.
    """

    name: str
    since_round: int = 1
    withdrawn_after: int | None = None

    @property
    def has_withdrawn(self) -> bool:
        """Whether the entrant has withdrawn, after any round."""
        return self.withdrawn_after is not None

    def plays_in(self, round_number: int) -> bool:
        """Return whether the entrant can play in round *round_number*, of which the first is 1."""
        return self.since_round <= round_number and not self.has_withdrawn_before(round_number)

    def has_withdrawn_before(self, round_number: int) -> bool:
        """Return whether the entrant has withdrawn before round *round_number*."""
        return self.withdrawn_after is not None and self.withdrawn_after < round_number


@dataclass(frozen=True, slots=True)
class TournamentGame:
    """A game of a competition, with its number of roles, `random` not counted.

    Raises:
        ValueError: it has no role, or more than 8.
    """

    name: str
    n_roles: int

    def __post_init__(self) -> None:
        if not 1 <= self.n_roles <= MAX_ROLES:
            raise ValueError(f"{self.name} has {self.n_roles} roles; competitions take games of 1 to {MAX_ROLES}")

    @property
    def group_size(self) -> int:
        """How many entrants meet in a pairing: one for each role; in a game of one role two, who play it each alone."""
        return max(2, self.n_roles)


Games: TypeAlias = tuple[TournamentGame, ...]


@dataclass(frozen=True, slots=True)
class ScheduledMatch:
    """A match that is to be played.

    Attributes:
        match_id: its id, which the seed of the competition and what the match is decide.
        game: the name of the game.
        players: the names of the entrants in the order of the game's roles.
        seed: decides the moves of `random` and of substitutes; equal within a set.
        scramble_seed: decides the names that players with a scrambling profile see; equal within a set.
        round: the number of the round, from 1.
        pairing_id: what the matches have in common by which the same entrants meet in this round.
        set_id: what the matches of a set have in common: the same entrants, game and seeds, with rotated seats.
        attempt: how often the match was scheduled, from 1; more after it was annulled to be played again.
    """

    match_id: str
    game: str
    players: tuple[str, ...]
    seed: int
    scramble_seed: int
    round: int
    pairing_id: str
    set_id: str
    attempt: int = 1

    @property
    def original_id(self) -> str:
        """The id of the first attempt."""
        return self.match_id if self.attempt == 1 else self.match_id.rpartition("-")[0]

    def again(self) -> Self:
        """Return the match that is played in the place of this one: equal but for its id and the number of attempts."""
        attempt = self.attempt + 1
        return replace(self, match_id=f"{self.original_id}-{attempt}", attempt=attempt)


@dataclass(frozen=True, slots=True)
class Meeting:
    """The entrants *players* who meet in *round*; *label* tells the meeting from others of the same entrants."""

    players: tuple[str, ...]
    round: int
    label: str

    def pairing_id(self, seed: int) -> str:
        """Return the id of the meeting in a competition with *seed*: it depends on the label and who meets."""
        return digest(seed, "pairing", self.label, *sorted(self.players))


def matches_of(
    meeting: Meeting, games: tuple[TournamentGame, ...], seed: int, n_sets: int = 1, legs: int | None = None
) -> tuple[ScheduledMatch, ...]:
    """Return the matches of a meeting: in each of *games*, *n_sets* sets, with *seed* the seed of the competition.

    The seats rotate within a set, so that each entrant plays each role once against the same opponents, with the same
    seeds: duplicate matches. A set of a game of one role has a match of each entrant. With *legs* a set has only so
    many matches, the first of the rotation.
    """
    pairing_id = meeting.pairing_id(seed)
    matches: list[ScheduledMatch] = []
    for game in games:
        for number in range(1, n_sets + 1):
            own = MatchSet(pairing_id, digest(pairing_id, game.name, number), seed)
            lineups = rotations(meeting.players, game.n_roles)[:legs]
            matches += (
                scheduled_match(f"{own.set_id}.{i}", game.name, lineup, meeting.round, own)
                for i, lineup in enumerate(lineups, 1)
            )
    return tuple(matches)


@dataclass(frozen=True, slots=True)
class MatchSet:
    """The set of matches `set_id` of a pairing, which have the same seeds; `seed` is that of the competition.

    Everybody knows the ids of matches, which begin with that of their set. So the seeds come of both: who knows the id
    alone must not know what chance will do, nor the scrambled names.
    """

    pairing_id: str
    set_id: str
    seed: int

    def seed_of(self, what: str) -> int:
        """Return the seed that decides *what* in the matches of the set."""
        return derived_seed(self.seed, self.set_id, what)


def scheduled_match(
    match_id: str, game: str, players: tuple[str, ...], round_number: int, own: MatchSet
) -> ScheduledMatch:
    """Return a match of the set *own*, with the seeds of that."""
    return ScheduledMatch(
        match_id=match_id,
        game=game,
        players=players,
        seed=own.seed_of("chance"),
        scramble_seed=own.seed_of("scrambling"),
        round=round_number,
        pairing_id=own.pairing_id,
        set_id=own.set_id,
    )


def rotations(players: tuple[str, ...], n_roles: int) -> tuple[tuple[str, ...], ...]:
    """Return who sits where in each match of a set: every one of *players* has each of *n_roles* roles once.

    Raises:
        ValueError: there are not as many players as roles.
    """
    if n_roles == 1:
        return tuple((player,) for player in players)
    if len(players) != n_roles:
        raise ValueError(f"{len(players)} players cannot take {n_roles} roles")
    return tuple(players[i:] + players[:i] for i in range(n_roles))


def digest(*parts: object) -> str:
    """Return a word of letters and digits, beginning with a letter, that depends on *parts* alone."""
    return "t" + hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def derived_seed(*parts: object) -> int:
    """Return a seed that depends on *parts* alone."""
    whole = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(whole, "big") >> (64 - SEED_BITS)


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The end of a match between players of a competition.

    Attributes:
        game: the name of the game.
        players: who played each role, in the order of the game's roles, without `random`.
        goals: what each of them reached, 0 to 100.
        errors: how many moves of each the game manager made instead, since they were illegal, late or missing.
        match_id: the id of the match, by which its record is found.
        forfeited: who did not come, so that no move was made; it counts in standings, and says nothing of strength.
    """

    game: str
    players: tuple[str, ...]
    goals: tuple[int, ...]
    errors: tuple[int, ...] = ()
    match_id: str = ""
    forfeited: tuple[str, ...] = ()

    def goal_of(self, player: str) -> float:
        """Return the mean goal of the seats of *player*.

        Raises:
            ValueError: the player had no seat.
        """
        found = [goal for name, goal in zip(self.players, self.goals, strict=True) if name == player]
        if not found:
            raise ValueError(f"{player} did not play in the match {self.match_id}")
        return sum(found) / len(found)

    def points(self, role: int, other: int) -> float:
        """Return what the player of *role* gets against that of *other*: 1 for more, 1/2 for as much, 0 for less."""
        difference = self.goals[role] - self.goals[other]
        return 1.0 if difference > 0 else 0.5 if difference == 0 else 0.0


def forfeit(match: ScheduledMatch, absent: Iterable[str]) -> MatchResult:
    """Return the result of a match that is not played since the players *absent* did not come.

    They get 0; the others get 100, as if they had won. The result counts in standings; ratings leave it out.
    """
    missing = frozenset(absent)
    goals = tuple(0 if player in missing else 100 for player in match.players)
    errors = (0,) * len(match.players)
    forfeited = tuple(player for player in match.players if player in missing)
    return MatchResult(match.game, match.players, goals, errors, match.match_id, forfeited)
