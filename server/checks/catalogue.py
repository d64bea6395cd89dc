"""Every check of a player in the order in which they are made, with the messages that make no sense."""

from __future__ import annotations

from typing import Final

from gdl.wire.messages import Abort, Info, Stop, to_text
from gdl.wire.replies import is_busy
from server.checks import matches
from server.checks.bout import CheckFailedError, PlayerBusyError
from server.checks.examination import Check, CheckedPlayer, must, risky

GARBAGE: Final = (b"", b"hello", b"(((((", b")", b"\xff\xfe\x00\x01", b"(PLAY)", b"(HELLO x)", b"(START x)", b"()")
HUGE_BYTES: Final = 5_000_000


async def _lives(examinee: CheckedPlayer, after: str) -> None:
    observed = await examinee.say(to_text(Info()))
    if not observed.status:
        raise CheckFailedError(f"after {after}: {observed.trouble or 'no HTTP reply'}")


@must
async def unknown_match(examinee: CheckedPlayer) -> None:
    """Live on after messages about matches that were never started."""
    for text in ("(PLAY Nobody.1 NIL)", to_text(Stop("Nobody.1")), to_text(Abort("Nobody.1"))):
        await examinee.say(text)
        await _lives(examinee, text)


@must
async def unreadable_rules(examinee: CheckedPlayer) -> None:
    """Live on after rules that cannot be read."""
    for rules in ("(role", "role", "(<= (legal ?x ?y))", "(role x) (<= (next (p ?x)) (not (q ?x)))"):
        observed = await examinee.say(f"(START Odd.1 x ({rules}) 2 1)", 3.0)
        if is_busy(observed.text):
            raise PlayerBusyError
        await examinee.say("(ABORT Odd.1)")
        await _lives(examinee, f"START with the rules {rules}")


@must
async def garbage(examinee: CheckedPlayer) -> None:
    """Live on after garbage."""
    for body in GARBAGE:
        await examinee.say(body, 1.0)
        await _lives(examinee, f"the body {body!r}")


@risky("a weak player dies of it: if yours is gone then, start it again")
@must
async def huge_message(examinee: CheckedPlayer) -> None:
    """Live on after a huge message."""
    for body, what in ((b"(PLAY x (" + b"a " * (HUGE_BYTES // 2) + b"))", "5 MB"), (b"(" * 50_000, "50,000 times `(`")):
        await examinee.say(body, 10.0)
        await _lives(examinee, what)


@must
async def match_at_the_end(examinee: CheckedPlayer) -> None:
    """Play a match after all this as before."""
    await examinee.play_match()


CHECKS: Final[tuple[Check, ...]] = (
    matches.answers,
    matches.info,
    matches.ping,
    matches.preview,
    matches.closes_connection,
    matches.lets_browsers_in,
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
    unknown_match,
    unreadable_rules,
    garbage,
    huge_message,
    match_at_the_end,
)
