"""The list of games: what each is like, in words to search and figures to filter and sort by; its pictures."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self
from urllib.parse import urlencode
from xml.etree.ElementTree import Element

from aiohttp import web
from cachetools import LRUCache

from gdl.boards import Board, svg_of
from gdl.boards.svg import add, root, written
from gdl.errors import GdlError
from gdl.quantities import quantity, whole_number
from server.api.operation import MANAGER
from server.match.referee import in_own_thread
from server.refusals import RequestError
from server.storage.games import about_version, title_of
from server.storage.rows import RANDOM, GameVersion
from server.web.boards import board
from server.web.rule_books import FIRST_POSITIONS, rule_book

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


def picture_key(version: GameVersion) -> str:
    """Return what the address of the picture of *version* ends with: another picture has another address."""
    return version.fingerprint[:12]


def traits_of(version: GameVersion) -> GameTraits:
    """Return what *version* is like: by its roles, its description, and the figures of its validation."""
    about, figures = about_version(version), figures_of(version)
    n_roles = len(version.played_roles)
    kinds = {
        "one": n_roles == 1,
        "chance": version.is_gdl2 and RANDOM in version.roles,
        "hidden": version.is_gdl2 and (about is None or about.information != "perfect"),
        "simultaneous": figures.get("simultaneous") is True,
    }
    given = about.board.kind if about is not None and "board" in about.model_fields_set else None
    return GameTraits(
        name=version.name,
        title=title_of(version),
        picture=picture_key(version),
        n_roles=n_roles,
        kinds=frozenset(kind for kind, is_so in kinds.items() if is_so),
        tags=() if about is None else about.tags,
        board=given or figures.get("board"),
        branching=_mean(figures.get("jointMoves")),
        n_steps=_mean(figures.get("steps")),
        created_ms=version.created_ms,
    )


def figures_of(version: GameVersion) -> Mapping[str, Any]:
    """Return the figures that random plays of *version* gave; none where none were made."""
    return (version.report or {}).get("simulation") or {}


def measured(version: GameVersion) -> list[tuple[str, str]]:
    """Return what random plays measured of *version*, each figure with its words; nothing where none were made."""
    figures = figures_of(version)
    exact = figures.get("exhaustive") or {}
    found = [
        (_spread(figures.get("jointMoves")), "joint moves in a state"),
        (_spread(figures.get("steps")), "steps of a play"),
        (_number(exact.get("states"), ","), "states in all"),
        (_number(figures.get("playsPerSecond")), "plays a second, interpreted"),
    ]
    return [(value, words) for value, words in found if value]


def _spread(spread: Mapping[str, float | None] | None) -> str:
    """Return the least, the mean and the most of a figure in words; empty where it is none."""
    least, mean, most = ((spread or {}).get(name) for name in ("min", "mean", "max"))
    if least is None or mean is None or most is None:
        return ""
    return f"{mean:,.3g}" if least == most else f"{mean:,.3g} ({least:,} to {most:,})"


def _number(value: float | None, form: str = ",.3g") -> str:
    return "" if value is None else format(value, form)


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


PICTURES: Final = web.AppKey("game_pictures", LRUCache[str, bytes])
N_KEPT: Final = 1_024
_FOR_LONG: Final = "private, max-age=31536000, immutable"
_AGAIN: Final = "no-cache"
_N_LINES: Final = 6
_MOST_LINE: Final = 34
_STYLE: Final = "text{font:12px system-ui,sans-serif;fill:#6b7582}"
_LARGE: Final = "font-size:60px;font-weight:700"


async def send_picture(request: web.Request) -> web.Response:
    """Send the first position of the game, in the version that the query names, else in the current one."""
    name, wanted = request.match_info["name"], request.query.get("v", "")
    current = await request.app[MANAGER].games.find(name)
    if current is None:
        raise RequestError("unknown_game", f"there is no game called {name[:100]!r}", "the games are in the menu", 404)
    drawn = await _drawn(request, current)
    body = drawn or initial_picture(title_of(current))
    etag = hashlib.sha256(body).hexdigest()[:16]
    is_lasting = drawn is not None and wanted == picture_key(current)
    headers = {"Cache-Control": _FOR_LONG if is_lasting else _AGAIN, "ETag": f'"{etag}"'}
    if any(known.value in (etag, "*") for known in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    return web.Response(body=body, content_type="image/svg+xml", headers=headers)


async def _drawn(request: web.Request, version: GameVersion) -> bytes | None:
    """Return the picture of the first position; None where it is not known, or not yet."""
    kept, key = request.app[PICTURES], version.fingerprint
    if key not in kept:
        facts = await request.app[FIRST_POSITIONS].facts(version)
        if facts is None:
            return None
        try:
            drawn = await board(await rule_book(version), facts)
        except GdlError:
            return None
        if drawn is None:
            return None
        kept[key] = await in_own_thread(partial(_picture, drawn, title_of(version)))
    return kept[key]


def _picture(drawn: Board, title: str) -> bytes:
    if not drawn.has_picture:
        return lines_picture(drawn.lines) if drawn.lines else initial_picture(title)
    title = f"{title}, first position"
    return svg_of(drawn, title=title, captions=False, standalone=True, transparent=True).encode()


def lines_picture(lines: Sequence[str]) -> bytes:
    """Return the picture of a state without a board: its first lines."""
    picture = _sheet()
    for number, line in enumerate(lines[:_N_LINES]):
        add(picture, "text", _cut(line), x=12, y=24 + 22 * number)
    return written(picture).encode()


def _cut(line: str) -> str:
    """Return *line*, or as many of its words as there is room for."""
    if len(line) <= _MOST_LINE:
        return line
    cut = line[: _MOST_LINE - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def initial_picture(title: str) -> bytes:
    """Return the picture of a game of which nothing else is known: the first letter of its *title*."""
    picture = _sheet()
    add(picture, "text", title[:1], x=120, y=95, text_anchor="middle", style=_LARGE)
    return written(picture).encode()


def _sheet() -> Element:
    picture = root(240, 150)
    add(picture, "style", _STYLE)
    return picture
