"""The forms of tournaments: ordering one, and what its host and the owners of players do with it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from aiohttp import web
from multidict import MultiDictProxy
from pydantic import ValidationError

from gdl.errors import GdlError
from gdl.violations import violation_message, violation_place, violations
from server.access.control import principal, requires
from server.api import tournament_models
from server.api import tournaments as commands
from server.api.player_models import is_own
from server.app_keys import MANAGER
from server.links.player_spec import OWN_PLAYERS
from server.principal import Role
from server.refusals import RequestError
from server.storage.games import title_of
from server.storage.tournament_rows import EntryRule
from server.storage.tournaments import StoredTournament
from server.tournament.plan import DEFAULT_ROUNDS, TournamentFormat
from server.tournament.scoring import Measure
from server.web.rendering import render
from server.web.template_filters import sentence

_TEXTS: Final = ("name", "format", "rounds", "startClock", "playClock", "measure", "forfeitErrors", "entry")
_CHECKS: Final = ("allGames", "scramble")
_DEFAULTS: Final = {
    "name": "", "format": TournamentFormat.SWISS.value, "rounds": "", "startClock": "10", "playClock": "5",
    "measure": Measure.POINTS.value, "forfeitErrors": "", "entry": EntryRule.OPEN.value, "players": "",
    "allGames": "", "scramble": "",
}  # fmt: skip
_LABELS: Final = {
    "name": "Name", "rounds": "Rounds", "startClock": "Start clock", "playClock": "Play clock", "games": "Games",
    "forfeitErrors": "Errors that lose a match", "players": "Players",
}  # fmt: skip
MEASURE_WORDS: Final[dict[Measure, str]] = {
    Measure.POINTS: "points of each match",
    Measure.MEETINGS: "points of each meeting",
    Measure.GOALS: "the mean goal",
}


@requires(Role.HOST)
async def show_form(request: web.Request) -> web.Response:
    """Show the form that orders a tournament."""
    return await _form(request, _DEFAULTS, request.query.getall("game", []))


@requires(Role.HOST)
async def order(request: web.Request) -> web.StreamResponse:
    """Order the tournament of the form, and go to its page."""
    form = await request.post()
    data = {name: str(value).strip() for name, value in form.items()}
    games = [str(game) for game in form.getall("games", [])]
    try:
        text = tournament_models.NewTournament.model_validate(_order(data, games))
        await commands.order_tournament(request, text)
    except ValidationError as error:
        return await _form(request, data, games, sentence(_refusal(error)))
    except GdlError as error:
        return await _form(request, data, games, sentence(error))
    raise web.HTTPSeeOther(f"/tournaments/{text.name}")


def _order(data: Mapping[str, str], games: list[str]) -> dict[str, Any]:
    """Return the order that the form says, as the JSON API takes it."""
    found: dict[str, Any] = {name: data[name] for name in _TEXTS if data.get(name)}
    found |= {name: data.get(name) == "yes" for name in _CHECKS}
    lines = (line.strip() for line in data.get("players", "").splitlines())
    return found | {"games": games, "players": [_entry(line) for line in lines if line]}


def _entry(line: str) -> dict[str, str]:
    """Return the entry of a line: a player, or a name for it and the player, as in `strong = mcts:playouts=500`."""
    name, equals, player = line.partition(" = ")
    return {"name": name.strip(), "player": player.strip()} if equals else {"player": line}


def _refusal(error: ValidationError) -> str:
    """Return the first thing that is wrong with a form, after the label of its field."""
    first = violations(error)[0]
    place = violation_place(first)
    field = _LABELS.get(str(place[0]), str(place[0])) if place else "This form"
    return f"{field}: {violation_message(first)}"


async def _form(request: web.Request, data: Mapping[str, str], games: list[str], problem: str = "") -> web.Response:
    """Return the form, filled with *data* and *games*, and with the *problem* of what was sent."""
    manager = request.app[MANAGER]
    return render(
        request,
        "start_tournament.html",
        status=400 if problem else 200,
        problem=problem,
        data=_DEFAULTS | dict(data),
        chosen=games,
        games=[(game.name, title_of(game)) for game in await manager.games.listed()],
        formats={form.value: form.words for form in TournamentFormat},
        measures=MEASURE_WORDS,
        default_rounds=DEFAULT_ROUNDS,
        own=OWN_PLAYERS,
        registered=[row.name for row in await manager.players.listed()],
    )


async def own_players(request: web.Request, found: StoredTournament) -> list[tuple[str, str | None]]:
    """Return the players that the visitor may enter or withdraw, each with an entrant whose player it is.

    One that has not entered has None there; one that plays for several entrants comes with each of them.
    """
    viewer = principal(request)
    if not viewer.may(Role.PLAYER):
        return []
    entered = [one for one in found.entrants if one.withdrawn_after is None]
    own: list[tuple[str, str | None]] = []
    for row in await request.app[MANAGER].players.listed():
        if is_own(row, viewer):
            played = [(row.name, one.name) for one in entered if one.is_played_by(row)]
            own.extend(played or [(row.name, None)])
    return own


Form = MultiDictProxy[Any]


async def carry_out(request: web.Request) -> None:
    """Do with a tournament what the form says, as far as its sender may.

    Raises:
        RequestError: it cannot be done, or not by them, or the form is not filled in so.
    """
    name, form = request.match_info["name"], await request.post()
    needed, do = _COMMANDS.get(str(form.get("do", "")), (Role.PLAYER, None))
    if do is None:
        raise RequestError("bad_request", "that cannot be done with a tournament", status=400)
    if not principal(request).may(needed):
        raise RequestError("forbidden", f"that needs the role {needed.word}", status=403)
    try:
        await do(request, name, form)
    except ValidationError as error:
        raise RequestError("bad_request", _refusal(error), status=400) from error


async def _start(request: web.Request, name: str, _form: Form) -> None:
    await commands.start_tournament(request, name)


async def _pause(request: web.Request, name: str, form: Form) -> None:
    await commands.pause_tournament(request, name, tournament_models.ReasonText(reason=_text(form, "reason")))


async def _resume(request: web.Request, name: str, _form: Form) -> None:
    await commands.resume_tournament(request, name)


async def _cancel(request: web.Request, name: str, form: Form) -> None:
    await commands.cancel_tournament(request, name, tournament_models.ReasonText(reason=_text(form, "reason")))


async def _enter(request: web.Request, name: str, form: Form) -> None:
    await commands.enter_tournament(
        request, name, tournament_models.EntryText.model_validate(_entry(_text(form, "player")))
    )


async def _withdraw(request: web.Request, name: str, form: Form) -> None:
    query = tournament_models.WithdrawalQuery(reason=_text(form, "reason"), annul=_text(form, "annul") == "yes")
    await commands.withdraw(request, name, _text(form, "entrant"), query)


async def _substitute(request: web.Request, name: str, form: Form) -> None:
    text = tournament_models.SubstitutionText(reason=_text(form, "reason"), player=_text(form, "player"))
    await commands.substitute_player(request, name, _text(form, "entrant"), text)


async def _annul(request: web.Request, name: str, form: Form) -> None:
    text = tournament_models.AnnulmentText(reason=_text(form, "reason"), replay=_text(form, "replay") == "yes")
    await commands.annul_match(request, name, _text(form, "match"), text)


def _text(form: Form, name: str) -> str:
    return str(form.get(name, "")).strip()


_COMMANDS: Final[dict[str, tuple[Role, Callable[[web.Request, str, Form], Awaitable[None]]]]] = {
    "start": (Role.HOST, _start),
    "pause": (Role.HOST, _pause),
    "resume": (Role.HOST, _resume),
    "cancel": (Role.HOST, _cancel),
    "annul": (Role.HOST, _annul),
    "substitute": (Role.HOST, _substitute),
    "enter": (Role.PLAYER, _enter),
    "withdraw": (Role.PLAYER, _withdraw),
}
