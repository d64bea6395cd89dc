"""Templates to pages, with numbers and times in words, static files by content, and the visitor who asks."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from gdl.boards import board_css
from gdl.quantities import quantity
from server import clock
from server.access.access import PRINCIPAL, REMOTE, csrf_token
from server.access.roles import requires
from server.match.verdicts import BUSY
from server.operation.requests import accepts_gzip, packed
from server.principal import Principal, Role
from server.storage.tournament_rows import TournamentRow

_ERRORS: Final = {"TO": "too late", "CE": "no connection", "IL": "illegal move"}
_STATUSES: Final = {
    "lobby": "waiting for people",
    "queued": "waiting",
    "running": "live",
    "completed": "completed",
    "aborted": "aborted",
    "failed": "failed",
}
_UNITS: Final = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"))


def sentence(said: object) -> str:
    """Return what was *said* with a full stop, unless it ends like a sentence already.

    >>> sentence("no such player"), sentence("did you mean mcts?")
    ('no such player.', 'did you mean mcts?')
    """
    text = str(said)
    return text if text.endswith((".", "?", "!")) else f"{text}."


def date(at_ms: int | None) -> str:
    """Return a moment as people read it, in universal time: `2026-11-22 02:40`."""
    return "" if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def machine_date(at_ms: int | None) -> str:
    """Return a moment as the attribute `datetime` has it."""
    return "" if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="seconds")


def ago(at_ms: int | None, now_ms: int | None = None) -> str:
    """Return how long ago a moment was, in the largest unit that fits."""
    if at_ms is None:
        return ""
    passed = (clock.now_ms() if now_ms is None else now_ms) - at_ms
    for size, name in _UNITS:
        if passed >= size:
            return f"{quantity(passed // size, name)} ago"
    return "just now"


def minutes_left(until_ms: int, now_ms: int | None = None) -> str:
    """Return how long it is to a moment, in minutes begun: `27 minutes`."""
    left_ms = until_ms - (clock.now_ms() if now_ms is None else now_ms)
    return quantity(max(1, -(-left_ms // 60_000)), "minute")


def seconds(elapsed_ms: float | None) -> str:
    """Return a time that a player took: `0.42 s`."""
    if elapsed_ms is None:
        return ""
    taken_s = elapsed_ms / 1000
    return f"{taken_s:.2f} s" if taken_s < 10 else f"{taken_s:.1f} s" if taken_s < 60 else _minutes(taken_s)


def _minutes(taken_s: float) -> str:
    minutes, left_s = divmod(round(taken_s), 60)
    return f"{minutes} min {left_s:02} s"


def error_words(code: str) -> str:
    """Return in words what is wrong with a reply: the codes of records, such as `TO` or `IL ( mark 9 9 )`."""
    if code == BUSY:
        return "busy"
    kind, _, rest = code.partition(" ")
    words = _ERRORS.get(kind, kind)
    return f"{words}: {plain_term(rest)}" if rest else words


def plain_term(text: str) -> str:
    """Return a term of a record as rule files write it, without the blanks inside parentheses."""
    return text.replace("( ", "(").replace(" )", ")")


def points(value: float) -> str:
    """Return a score as tables show it, halves as a fraction.

    >>> points(2.5), points(0.5), points(3.0), points(66.666)
    ('2½', '½', '3', '66.67')
    """
    if (2 * value).is_integer() and value >= 0:
        whole, has_half = int(value), not float(value).is_integer()
        return f"{whole:,}" if not has_half else f"{whole:,}½" if whole else "½"
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def status_word(status: str) -> str:
    """Return the status of a match as pages call it."""
    return _STATUSES.get(status, status)


def segment(text: str) -> str:
    """Return *text* as one segment of the path of an address, whatever it holds.

    >>> segment("a/b {x}")
    'a%2Fb%20%7Bx%7D'
    """
    return quote(text, safe="")


_CODE: Final = re.compile(r"`([^`]+)`")


def with_code(text: str) -> Markup:
    """Return *text* as HTML, in which what stands between backticks is code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 -- the text is escaped


def takes_entries(row: TournamentRow) -> bool:
    """Return whether owners can enter their players in the tournament now."""
    return row.admits(clock.now_ms())


FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "ago": ago,
    "quantity": quantity,
    "date": date,
    "error_words": error_words,
    "machine_date": machine_date,
    "minutes_left": minutes_left,
    "plain_term": plain_term,
    "points": points,
    "seconds": seconds,
    "segment": segment,
    "status_word": status_word,
    "takes_entries": takes_entries,
    "with_code": with_code,
}


_STRANGER: Final = Principal("", Role.SPECTATOR)
"""Who asks for a page that everybody may see, the one to log in above all."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks, as pages need to know it; `csrf_token` goes into every form."""

    name: str
    role: Role
    is_known: bool
    may_watch: bool
    may_host: bool
    may_register: bool
    csrf_token: str


def visitor_of(request: web.Request) -> Visitor:
    """Return who asks."""
    who = request.get(PRINCIPAL, _STRANGER)
    return Visitor(
        name=who.name,
        role=who.role,
        is_known=who.token_id is not None,
        may_watch=PRINCIPAL in request,
        may_host=who.may(Role.HOST),
        may_register=who.may(Role.PLAYER),
        csrf_token=csrf_token(request) if REMOTE in request else "",
    )


_FOLDER: Final = Path(__file__).resolve().parent / "static"
_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOR_LONG: Final = "public, max-age=31536000, immutable"
_BOARDS: Final = "board.css"


@cache
def static_files() -> dict[str, bytes]:
    """Return the static files by name."""
    found = {path.name: path.read_bytes() for path in _FOLDER.iterdir() if path.suffix in _TYPES}
    return found | {_BOARDS: board_css().encode()}


@cache
def static_address(name: str) -> str:
    """Return the address of a static file.

    Raises:
        KeyError: there is no such file.
    """
    return f"/static/{name}?v={_version(name)}"


@cache
def _version(name: str) -> str:
    return hashlib.sha256(static_files()[name]).hexdigest()[:12]


@requires(None)
async def send_static_file(request: web.Request) -> web.Response:
    """Send a static file; only under the address of this very content is it to be kept."""
    name = request.match_info["name"]
    body = static_files().get(name)
    if body is None:
        raise web.HTTPNotFound
    is_this = request.query.get("v") == _version(name)
    is_packed = accepts_gzip(request)
    etag = f"{_version(name)}-gzip" if is_packed else _version(name)
    headers = {
        "Cache-Control": _FOR_LONG if is_this else "no-cache",
        "ETag": f'"{etag}"',
        "Vary": "Accept-Encoding",
    }
    if any(known.value in (etag, "*") for known in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    if is_packed:
        body, headers["Content-Encoding"] = _packed(name), "gzip"
    return web.Response(body=body, content_type=_TYPES[Path(name).suffix], charset="utf-8", headers=headers)


@cache
def _packed(name: str) -> bytes:
    return packed(static_files()[name], 9)


_TEMPLATES: Final = Path(__file__).resolve().parent / "templates"


@cache
def templates() -> Environment:
    """Return the templates of all pages."""
    found = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals["static"] = static_address
    found.filters |= FILTERS
    return found


def compile_templates() -> None:
    """Read all templates, which otherwise happens when each is first needed."""
    for name in templates().list_templates(extensions=["html"]):
        templates().get_template(name)


def render(request: web.Request, template: str, *, status: int = 200, **context: Any) -> web.Response:
    """Return the page that *template* makes of *context* for the visitor who sends *request*."""
    text = templates().get_template(template).render(visitor=visitor_of(request), path=request.path, **context)
    return web.Response(text=text, status=status, content_type="text/html", headers={"Cache-Control": "no-store"})


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What a page asks before something is done that cannot be undone.

    Its button, with `word` on it, posts `fields` to `address`; a link leads `back`.
    """

    question: str
    consequence: str
    word: str
    address: str
    back: str
    fields: Mapping[str, str] = field(default_factory=dict)


def ask(request: web.Request, asked: Confirmation) -> web.Response:
    """Return the page that asks what is to be confirmed."""
    return render(request, "confirm.html", asked=asked)
