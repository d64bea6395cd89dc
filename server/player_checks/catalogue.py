"""Every check of a player, in the order in which they are made.

Single messages come first, then whole matches, odd events in a match, and messages that make no sense.
"""

from typing import Final

from server.player_checks import message_checks, play_checks
from server.player_checks.examination import Check

CHECKS: Final[tuple[Check, ...]] = (
    message_checks.answers,
    message_checks.info,
    message_checks.ping,
    message_checks.preview,
    message_checks.closes_connection,
    message_checks.lets_browsers_in,
    play_checks.whole_match,
    play_checks.second_role,
    play_checks.simultaneous_moves,
    play_checks.scrambled_names,
    play_checks.upper_case_match,
    play_checks.odd_blanks,
    play_checks.gdl2_current,
    play_checks.gdl2_older,
    play_checks.words_of_the_protocol,
    play_checks.thoughts,
    play_checks.repeated_play,
    play_checks.replaced_move,
    play_checks.two_matches,
    play_checks.info_while_thinking,
    play_checks.abort_while_thinking,
    play_checks.match_after_abort,
    message_checks.unknown_match,
    message_checks.unreadable_rules,
    message_checks.garbage,
    message_checks.huge_message,
    play_checks.match_at_the_end,
)
"""The checks of a player over HTTP."""

PROGRAM_CHECKS: Final[tuple[Check, ...]] = (
    message_checks.answers_start,
    message_checks.info,
    play_checks.whole_match,
    play_checks.second_role,
    play_checks.simultaneous_moves,
    play_checks.scrambled_names,
    play_checks.upper_case_match,
    play_checks.gdl2_current,
    play_checks.gdl2_older,
    play_checks.words_of_the_protocol,
    play_checks.thoughts,
    play_checks.one_line_each,
    play_checks.replaced_move,
)
"""The checks of a program on standard input and output.

It plays one match in one role, gets a message a line, and answers in order: what asks for more than that is left out.
"""
