"""Every check, in the order in which they are made; the first one is whether anybody answers."""

from __future__ import annotations

from typing import Final

from server.checks import hardships, matches, single_messages
from server.checks.examination import Check

CHECKS: Final[tuple[Check, ...]] = (
    single_messages.answers,
    single_messages.info,
    single_messages.ping,
    single_messages.preview,
    single_messages.closes_connection,
    single_messages.lets_browsers_in,
    matches.whole_match,
    matches.second_role,
    matches.simultaneous_moves,
    matches.scrambled_names,
    matches.upper_case_match,
    matches.odd_blanks,
    matches.gdl2_current,
    matches.gdl2_older,
    matches.words_of_the_protocol,
    matches.repeated_play,
    matches.replaced_move,
    matches.two_matches,
    matches.info_while_thinking,
    matches.abort_while_thinking,
    matches.match_after_abort,
    hardships.unknown_match,
    hardships.unreadable_rules,
    hardships.garbage,
    hardships.huge_message,
    hardships.match_at_the_end,
)
