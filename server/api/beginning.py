"""Matches that begin at a step of another one: the order gets rules whose first state is the state of that step."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from gdl.positions import rules_from
from gdl.rules import read_rules, rules_sha256
from gdl.terms import Term
from server.errors import MatchRecordError, RequestError
from server.hosting.order import FromText, OrderText
from server.match.background import in_own_thread
from server.match.clock import now_ms
from server.records.archive import stored
from server.records.replay import facts_of
from server.spectating.record import known_match
from server.spectating.source import Source
from server.spectating.state import state_at
from server.storage.games import UNNAMED
from server.storage.rows import GameVersion

_HINT: Final = "say `from` with `match` or `record`, and `step`, and neither `game` nor `rules`"


async def with_first_state(source: Source, order: OrderText, by: str) -> OrderText:
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


async def _of_match(source: Source, match_id: str, step: int, by: str) -> str:
    match = await known_match(source, match_id)
    state = await state_at(source, match_id, step)
    version = await source.games.version(match.sha256)
    assert version is not None
    facts = facts_of(f"( {' '.join(state.facts or ())} )")
    rules = await in_own_thread(partial(_rules_from, version.rules, match.game, facts))
    await _keep(source, version, rules, by)
    return rules


async def _keep(source: Source, version: GameVersion, rules: str, by: str) -> None:
    """Keep *rules*, which play as those of *version* do, with the board of that game."""
    sha256 = rules_sha256(rules)
    if await source.games.version(sha256) is None:
        kept = GameVersion(
            UNNAMED, sha256, rules, version.roles, version.is_gdl2, now_ms(), version.about, uploaded_by=by
        )
        await source.games.put(kept)


def _rules_from(rules: str, name: str, facts: Iterable[Term]) -> str:
    return rules_from(read_rules(rules, name), facts)


async def _of_record(begin: FromText) -> tuple[str, str]:
    assert begin.record is not None
    try:
        record = stored(begin.record)
        if record.rules is None or begin.step >= len(record.states):
            what = "no rules (`x-rules`)" if record.rules is None else f"no state of step {begin.step}"
            raise RequestError("invalid_order", f"from.record: there are {what} in it")
        facts = facts_of(record.states[begin.step], f"states[{begin.step}]")
    except MatchRecordError as error:
        raise RequestError("invalid_order", f"from.record: {error}") from error
    rules = await in_own_thread(partial(_rules_from, record.rules, "rules", facts))
    return rules, record.match_id[:100] or "record"
