"""The list of games: what each is like, in words to search and figures to filter and sort by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import urlencode

from aiohttp import web
from cachetools import LRUCache

from gdl.quantities import quantity, whole_number
from server.app_keys import MANAGER
from server.storage.games import title_of, version_metadata
from server.storage.rows import RANDOM, GameVersion
from server.web.game_pictures import picture_key
from server.web.measurements import MEASUREMENTS, figures_of
from server.web.rendering import render

N_ON_PAGE: Final = 60
_MOST_WORDS: Final = 200
KINDS: Final = {
    "one": "one player",
    "chance": "chance",
    "hidden": "hidden information",
    "simultaneous": "simultaneous moves",
}
"""What a game may be, each a filter of its own."""
ROLES: Final = {"1": "one role", "2": "two roles", "3": "three or more"}
BOARDS: Final = {"grid": "a grid", "heaps": "heaps", "stacks": "stacks", "facts": "no board"}
BRANCHING: Final = {"low": (0.0, 5.0), "middle": (5.0, 30.0), "high": (30.0, float("inf"))}
LENGTH: Final = {"short": (0.0, 20.0), "middle": (20.0, 60.0), "long": (60.0, float("inf"))}
"""From how many joint moves, or steps, on, and below how many."""


@dataclass(frozen=True, slots=True)
class GameTraits:
    """A game as lists show it; what is not measured yet is None.

    Attributes:
        n_roles: how many roles players play.
        board: the kind of its board.
        picture: what the address of its picture ends with.
        branching: joint moves for each state of random plays, the mean.
        n_steps: steps of a random play, the mean.
    """

    name: str
    title: str
    picture: str
    n_roles: int
    kinds: frozenset[str]
    tags: tuple[str, ...] = ()
    board: str | None = None
    branching: float | None = None
    n_steps: float | None = None
    created_ms: int = 0

    @property
    def words(self) -> str:
        """What is said of it in a line: its roles and kinds."""
        roles = quantity(self.n_roles, "role")
        return ", ".join([roles, *(KINDS[kind] for kind in KINDS if kind in self.kinds and kind != "one")])

    @property
    def figures(self) -> str:
        """What was measured, in a line; empty before."""
        if self.branching is None or self.n_steps is None:
            return ""
        return f"{self.branching:,.3g} moves a state, {self.n_steps:,.3g} steps"


def traits_of(version: GameVersion) -> GameTraits:
    """Return what *version* is like: by its roles, its description, and the figures of its validation."""
    metadata, figures = version_metadata(version), figures_of(version)
    n_roles = len(version.played_roles)
    kinds = {
        "one": n_roles == 1,
        "chance": version.is_gdl2 and RANDOM in version.roles,
        "hidden": version.is_gdl2 and (metadata is None or metadata.information != "perfect"),
        "simultaneous": figures.get("simultaneous") is True,
    }
    given = metadata.board.kind if metadata is not None and "board" in metadata.model_fields_set else None
    return GameTraits(
        name=version.name,
        title=title_of(version),
        picture=picture_key(version),
        n_roles=n_roles,
        kinds=frozenset(kind for kind, is_so in kinds.items() if is_so),
        tags=() if metadata is None else metadata.tags,
        board=given or figures.get("board"),
        branching=_mean(figures.get("jointMoves")),
        n_steps=_mean(figures.get("steps")),
        created_ms=version.created_ms,
    )


def _mean(spread: Mapping[str, float | None] | None) -> float | None:
    return (spread or {}).get("mean")


Key = Callable[[GameTraits], Any]
SORTS: Final[dict[str, tuple[str, Key]]] = {
    "title": ("title", lambda game: (game.title.casefold(), game.name)),
    "new": ("newest first", lambda game: (-game.created_ms, game.name)),
    "branching": ("fewest moves first", lambda game: (_last(game.branching), game.name)),
    "length": ("shortest first", lambda game: (_last(game.n_steps), game.name)),
    "roles": ("fewest roles first", lambda game: (game.n_roles, game.title.casefold())),
}
"""The orders of the list, each with its words."""


def _last(value: float | None) -> tuple[bool, float]:
    return value is None, value or 0.0


@dataclass(frozen=True, slots=True)
class GameQuery:
    """What a visitor looks for; empty texts are no conditions, and words that mean nothing are passed over."""

    text: str = ""
    roles: str = ""
    kinds: tuple[str, ...] = ()
    board: str = ""
    branching: str = ""
    length: str = ""
    tag: str = ""
    sort: str = "title"
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str], kinds: Sequence[str]) -> Self:
        """Return what the parameters *query* of an address mean; *kinds* are all values of `kind`."""
        sort, page = query.get("sort", ""), whole_number(query.get("page", ""))
        return cls(
            text=query.get("q", "").strip()[:_MOST_WORDS],
            roles=_one_of(query.get("roles"), ROLES),
            kinds=tuple(kind for kind in KINDS if kind in kinds),
            board=_one_of(query.get("board"), BOARDS),
            branching=_one_of(query.get("branching"), BRANCHING),
            length=_one_of(query.get("length"), LENGTH),
            tag=query.get("tag", "")[:_MOST_WORDS],
            sort=sort if sort in SORTS else "title",
            page=page or 1,
        )

    @property
    def needs_figures(self) -> bool:
        """Whether it asks for what random plays measure."""
        return bool(self.branching or self.length or self.board or "simultaneous" in self.kinds) or (
            self.sort in ("branching", "length")
        )

    def fits(self, game: GameTraits) -> bool:
        """Return whether *game* is looked for; where something is not measured yet, no filter of it is met."""
        said = f"{game.title} {game.name} {' '.join(game.tags)}".casefold()
        return (
            all(word in said for word in self.text.casefold().split())
            and self.roles in ("", "1" if game.n_roles < 2 else "2" if game.n_roles == 2 else "3")
            and set(self.kinds) <= game.kinds
            and self.board in ("", game.board)
            and _is_in(game.branching, BRANCHING.get(self.branching))
            and _is_in(game.n_steps, LENGTH.get(self.length))
            and (not self.tag or self.tag in game.tags)
        )

    def found(self, games: Sequence[GameTraits]) -> list[GameTraits]:
        """Return those of *games* that are looked for, in order."""
        return sorted(filter(self.fits, games), key=SORTS[self.sort][1])

    def address(self, page: int) -> str:
        """Return the query of the address of a page of the same list."""
        fields = {
            "q": self.text, "roles": self.roles, "board": self.board, "branching": self.branching,
            "length": self.length, "tag": self.tag, "sort": "" if self.sort == "title" else self.sort,
            "page": "" if page == 1 else str(page),
        }  # fmt: skip
        given = [(name, value) for name, value in fields.items() if value]
        return urlencode([*given, *(("kind", kind) for kind in self.kinds)])


def _one_of(value: str | None, known: Mapping[str, object]) -> str:
    return value if value is not None and value in known else ""


def _is_in(value: float | None, bounds: tuple[float, float] | None) -> bool:
    return bounds is None or (value is not None and bounds[0] <= value < bounds[1])


_TRAITS: Final[LRUCache[tuple[str, str, str | None, str], GameTraits]] = LRUCache(4_096)
"""What versions are like: they never change but for what is said of them."""


async def show_games(request: web.Request) -> web.Response:
    """Show the games that the query asks for, a page at a time, with pictures of their first positions."""
    versions = await request.app[MANAGER].games.listed()
    games = [_traits(version) for version in versions]
    wanted = GameQuery.of(request.query, request.query.getall("kind", []))
    n_unmeasured = await request.app[MEASUREMENTS].begin(versions) if wanted.needs_figures else 0
    found = wanted.found(games)
    n_pages = max(1, -(-len(found) // N_ON_PAGE))
    page = min(wanted.page, n_pages)
    tags = sorted({tag for game in games for tag in game.tags})
    return render(
        request,
        "games.html",
        games=found[(page - 1) * N_ON_PAGE : page * N_ON_PAGE],
        n_games=len(games),
        n_found=len(found),
        n_unmeasured=n_unmeasured,
        page=page,
        n_pages=n_pages,
        wanted=wanted,
        roles=list(ROLES.items()),
        boards=list(BOARDS.items()),
        kinds=list(KINDS.items()),
        sorts=[(name, words) for name, (words, _) in SORTS.items()],
        tags=[(tag, tag) for tag in tags],
    )


def _traits(version: GameVersion) -> GameTraits:
    key = (version.name, version.sha256, version.about, repr(figures_of(version)))
    if key not in _TRAITS:
        _TRAITS[key] = traits_of(version)
    return _TRAITS[key]
