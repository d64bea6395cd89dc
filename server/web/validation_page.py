"""The page that checks rules: its form, with texts and files, and what is wrong with what was sent."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from aiohttp import web
from aiohttp.web_request import FileField

from gdl.boards import metadata_of
from gdl.diagnostics import Severity
from gdl.errors import MetadataError
from server.access.control import requires
from server.app_keys import CHECKER
from server.principal import Role
from server.sanitization import game_name_of
from server.validating.checker import MAX_CHARACTERS
from server.validating.validation import Validation
from server.web.rendering import render
from server.web.rule_listing import MAX_REMARKS, listing, plain, remark_of

_NAME: Final = "rules"


@dataclass(frozen=True, slots=True)
class RulesForm:
    """A form with rules to validate: the text, whether it is to be played, its TOML description, and a likely name."""

    text: str
    is_played: bool
    problem: str = ""
    about: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class _ChosenFile:
    """A file of the form: its name and text, None where it is no text in UTF-8."""

    name: str
    text: str | None


async def show_form(request: web.Request) -> web.Response:
    """Show the empty form, or the rules of the game that the query names."""
    return render(request, "validate.html", form=RulesForm("", is_played=True), verdict=None)


@requires(Role.PLAYER)
async def check(request: web.Request) -> web.Response:
    """Check the rules in the form, and show them with what is wrong."""
    form = await rules_form(request)
    if form.problem:
        return render(request, "validate.html", status=400, form=form, verdict=None)
    found = await request.app[CHECKER].validation(form.text, _NAME, is_played=form.is_played)
    about = await request.app[CHECKER].description(form.about, found) if form.about.strip() else None
    return render(request, "validate.html", form=form, verdict=verdict_of(found, about))


async def rules_form(request: web.Request) -> RulesForm:
    """Return what the form of *request* holds; files count before the texts, which stay where something is wrong."""
    data = await request.post()
    typed = RulesForm(
        _with_line_feeds(str(data.get("rules", ""))),
        data.get("play") == "yes",
        about=_with_line_feeds(str(data.get("about", ""))),
        name=str(data.get("name", "")),
    )
    rules, about = _chosen(data, "file"), _chosen(data, "about-file")
    for file, what in ((rules, "rules"), (about, "description")):
        if file is not None and file.text is None:
            told = f"The file of the {what} is no text in UTF-8. Save it as text and choose it again."
            return replace(typed, problem=told)
    return _filled(typed, rules, about)


def _filled(typed: RulesForm, rules: _ChosenFile | None, about: _ChosenFile | None) -> RulesForm:
    """Return *typed* with the texts of the files in the place of those of the fields, and what is wrong with them."""
    text = typed.text if rules is None else rules.text or ""
    if not text.strip():
        return replace(typed, problem="There are no rules yet. Paste them into the field, or choose a file.")
    if len(text) > MAX_CHARACTERS:
        told = f"These rules are too long: at most {MAX_CHARACTERS:,} characters are checked."
        return replace(typed, problem=told)
    name = game_name_of(typed.name or ("" if rules is None else rules.name))
    form = replace(typed, text=text, about=typed.about if about is None else about.text or "", name=name)
    try:
        if form.about.strip():
            metadata_of(form.about.encode(), "description")
    except MetadataError as error:
        return replace(form, problem=f"The description cannot be used: {'; '.join(error.problems)[:2_000]}.")
    return form


def _chosen(data: Mapping[str, object], field: str) -> _ChosenFile | None:
    """Return the file that was chosen in a field."""
    file = data.get(field)
    if not (isinstance(file, FileField) and file.filename):
        return None
    try:
        return _ChosenFile(file.filename, _with_line_feeds(file.file.read().decode("utf-8-sig")))
    except UnicodeDecodeError:
        return _ChosenFile(file.filename, None)


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n")


def verdict_of(found: Validation, about: Validation | None = None) -> dict[str, object]:
    """Return what the template shows of a validation, and that of the description *about* if something is wrong."""
    remarks = tuple(remark_of(one) for one in found.diagnostics[:MAX_REMARKS])
    return {
        "word": found.verdict,
        "limit": found.limit,
        "is_checked": found.is_checked,
        "counts": [(found.count(severity), str(severity)) for severity in Severity if found.count(severity)],
        "remarks": remarks,
        "n_more": len(found.diagnostics) - len(remarks),
        "about": [] if about is None else [remark_of(one) for one in about.diagnostics[:MAX_REMARKS]],
        "lines": [plain(line) for line in found.lines],
        "listing": listing(found.source.text, remarks),
    }
