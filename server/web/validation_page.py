"""The page that checks rules: what is wrong is underlined where it is, with a hint what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aiohttp import web
from aiohttp.web_request import FileField

from gdl.diagnostics import Severity
from server.access.rights import requires
from server.access.role import Role
from server.api.keys import CHECKER
from server.validating.checker import MAX_CHARACTERS
from server.validating.validation import Validation
from server.web.listing import MAX_REMARKS, listing, plain, remark_of
from server.web.rendering import render

_NAME: Final = "rules"


@dataclass(frozen=True, slots=True)
class RulesForm:
    """What somebody wants checked: the text, and whether it is to be played, too."""

    text: str
    is_played: bool
    problem: str = ""


async def show_form(request: web.Request) -> web.Response:
    """Show the empty form, or the rules of the game that the query names."""
    return render(request, "validate.html", form=RulesForm("", is_played=True), verdict=None)


@requires(Role.SPECTATOR)
async def check(request: web.Request) -> web.Response:
    """Check the rules in the form, and show them with what is wrong."""
    form = await rules_form(request)
    if form.problem:
        return render(request, "validate.html", status=400, form=form, verdict=None)
    found = await request.app[CHECKER].validation(form.text, _NAME, is_played=form.is_played)
    return render(request, "validate.html", form=form, verdict=verdict_of(found))


async def rules_form(request: web.Request) -> RulesForm:
    """Return what the form of *request* holds; a file counts before the text."""
    data = await request.post()
    file, text = data.get("file"), str(data.get("rules", ""))
    is_played = data.get("play") == "yes"
    if isinstance(file, FileField) and file.filename:
        try:
            text = file.file.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            return RulesForm("", is_played, "That file is no text in UTF-8. Save it as text and choose it again.")
    text = text.replace("\r\n", "\n")
    if not text.strip():
        return RulesForm("", is_played, "There are no rules yet. Paste them into the field, or choose a file.")
    if len(text) > MAX_CHARACTERS:
        return RulesForm("", is_played, f"These rules are too long: at most {MAX_CHARACTERS:,} characters are checked.")
    return RulesForm(text, is_played)


def verdict_of(found: Validation) -> dict[str, object]:
    """Return what the template shows of a validation."""
    remarks = tuple(remark_of(one) for one in found.diagnostics[:MAX_REMARKS])
    return {
        "word": found.verdict,
        "limit": found.limit,
        "counts": [(found.count(severity), str(severity)) for severity in Severity if found.count(severity)],
        "remarks": remarks,
        "n_more": len(found.diagnostics) - len(remarks),
        "lines": [plain(line) for line in found.lines],
        "listing": listing(found.source.text, remarks),
    }
