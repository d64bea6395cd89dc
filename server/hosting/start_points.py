"""Where a match begins that begins at a step of another match, or of a match record: its rules with that state."""

from functools import partial
from typing import Final

from gdl.language.rules import rules_sha256
from server.clock import now_ms
from server.hosting.order import MAX_NAME, FromText, MatchRequest
from server.hosting.referees import outside_rules_at
from server.records.errors import MatchRecordError
from server.records.stored_record import rules_at, stored
from server.refusals import RequestError
from server.sanitization import clean_line
from server.spectating.public_record import MatchSource, known_match
from server.spectating.state import state_at
from server.storage.games import UNNAMED
from server.storage.rows import GameVersion
from server.threads import in_own_thread

_HINT: Final = "say `from` with `match` or `record`, and `step`, and neither `game` nor `rules`"


async def with_first_state(source: MatchSource, order: MatchRequest, by: str) -> MatchRequest:
    """Return *order*; if it begins at a step of another match or record, with the rules that begin there.

    Raises:
        UnknownMatchError: there is no such match.
        RequestError: there is no such step, its state is not public yet, or the record tells too little.
        RuleFileError: the rules of the record cannot be read.
    """
    if order.begin is None:
        return order
    if order.game is not None or order.rules is not None:
        raise RequestError("invalid_order", "what begins at a step of another match has its rules", _HINT)
    if order.begin.match is not None:
        rules = await _of_match(source, order.begin.match, order.begin.step, by)
        return order.model_copy(update={"rules": rules})
    rules, name = await _of_record(order.begin)
    # The record itself is not kept with the order, only which one it was.
    kept = FromText(match=name, step=order.begin.step)
    return order.model_copy(update={"rules": rules, "begin": kept})


async def _of_match(source: MatchSource, match_id: str, step: int, by: str) -> str:
    """Return the rules that begin at *step* of a match here, which become a version of the game."""
    match = await known_match(source, match_id)
    state = await state_at(source, match_id, step)
    version = await source.games.version(match.sha256)
    assert version is not None
    facts = f"( {' '.join(state.facts or ())} )"
    rules = await in_own_thread(partial(rules_at, version.rules, match.game, facts, "state"))
    await _keep(source, version, rules, by)
    return rules


async def _keep(source: MatchSource, version: GameVersion, rules: str, by: str) -> None:
    """Keep *rules*, which play as those of *version* do, with the board of that game."""
    sha256 = rules_sha256(rules)
    if await source.games.version(sha256) is None:
        kept = GameVersion(
            UNNAMED, sha256, rules, version.roles, version.is_gdl2, now_ms(), version.about, uploaded_by=by
        )
        await source.games.put(kept)


async def _of_record(begin: FromText) -> tuple[str, str]:
    """Return the rules that begin at a step of a match record, and what the record is called.

    Raises:
        RequestError: the record cannot be read, or lacks the rules or the step.
    """
    assert begin.record is not None
    try:
        record = stored(begin.record)
        if record.rules is None or begin.step >= len(record.states):
            what = "no rules (`x-rules`)" if record.rules is None else f"no state of step {begin.step}"
            raise RequestError("invalid_order", f"from.record: there are {what} in it")
        state, where = record.states[begin.step], f"states[{begin.step}]"
        rules = await outside_rules_at(record.rules, "rules", state, where)
    except MatchRecordError as error:
        raise RequestError("invalid_order", f"from.record: {error}") from error
    return rules, clean_line(record.match_id, MAX_NAME) or "record"
