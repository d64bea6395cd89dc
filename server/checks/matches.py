"""How a player plays: whole matches in every dialect and spelling, and the odd things that happen in a match."""

from __future__ import annotations

import asyncio
from typing import Final

from gdl.messages import Abort, Dialect, Info, to_text
from server.checks.bout import CheckFailedError, Setting, scrambled, spread_out, upper_case
from server.checks.examination import Examinee, must, should

THINKING_S: Final = 0.3
"""How long after PLAY a player is taken to be thinking."""
PROMPT_S: Final = 0.3
"""What an answer takes that did not wait for anything."""


@must
async def whole_match(examinee: Examinee) -> None:
    """Play a match from START to STOP, with legal moves in time."""
    await examinee.play_match()


@must
async def second_role(examinee: Examinee) -> None:
    """Play a match as the second role, which begins by waiting."""
    await examinee.play_match(Setting(role=1))


@must
async def simultaneous_moves(examinee: Examinee) -> None:
    """Play a game in which all move at the same time."""
    await examinee.play_match(Setting("rockpaperscissors"))


@must
async def scrambled_names(examinee: Examinee) -> None:
    """Play a game whose names are scrambled; only keywords and numbers stay."""
    await examinee.play_match(Setting(spelling=scrambled))


@should
async def upper_case_match(examinee: Examinee) -> None:
    """Play a match in upper case; only the match id keeps its case."""
    await examinee.play_match(Setting(spelling=upper_case))


@should
async def odd_blanks(examinee: Examinee) -> None:
    """Read messages whatever blanks and line ends are in them."""
    await examinee.play_match(Setting(spelling=spread_out))


@should
async def gdl2_current(examinee: Examinee) -> None:
    """Play GDL-II in the current dialect: (PLAY id turn move percepts)."""
    await examinee.play_match(Setting("montyhall", dialect=Dialect.GDL2))


@should
async def gdl2_older(examinee: Examinee) -> None:
    """Play GDL-II in the older dialect: (PLAY id percepts)."""
    await examinee.play_match(Setting("montyhall", dialect=Dialect.GDL2_PERCEPTS))


@should
async def words_of_the_protocol(examinee: Examinee) -> None:
    """Answer START with ready, STOP with done, ABORT with aborted."""
    stopped, aborted = examinee.bout(), examinee.bout()
    started = await stopped.start()
    stopped.advance(await stopped.ask())
    said = started.text, (await stopped.stop()).text
    await aborted.start()
    found = tuple(text.strip().lower() for text in (*said, (await aborted.abort()).text))
    if found != ("ready", "done", "aborted"):
        raise CheckFailedError(f"START, STOP, ABORT were answered with {', '.join(word[:20] or '-' for word in found)}")


@must
async def repeated_play(examinee: Examinee) -> None:
    """Take a PLAY that is sent again for the same question, and give the same answer."""
    bout = examinee.bout()
    await bout.start()
    for _ in range(2):
        first, second = await bout.ask(), await bout.ask()
        if first != second:
            raise CheckFailedError(f"step {bout.turn}: answered {first}, and {second} when asked again")
        bout.advance(first)
    await bout.play()
    await bout.stop()


@should
async def replaced_move(examinee: Examinee) -> None:
    """Play on when its move was replaced, from the move that counts."""
    bout = examinee.bout()
    await bout.start()
    move = await bout.ask()
    bout.advance(next(bout.other_moves(move)))
    await bout.play()
    await bout.stop()


@should
async def two_matches(examinee: Examinee) -> None:
    """Play two matches at once."""
    bouts = examinee.bout(), examinee.bout(Setting(role=1))
    for bout in bouts:
        await bout.start()
    for _ in range(3):
        for bout in bouts:
            await bout.play(1)
    for bout in bouts:
        await bout.stop()


@should
async def info_while_thinking(examinee: Examinee) -> None:
    """Answer INFO within a second while it thinks."""
    bout = examinee.bout()
    await bout.start()
    thinking = asyncio.create_task(bout.ask())
    await asyncio.sleep(THINKING_S)
    observed = await examinee.say(to_text(Info()), 1.0)
    has_waited = thinking.done() and observed.took_s > PROMPT_S
    await asyncio.gather(thinking, return_exceptions=True)
    await bout.abort()
    if observed.trouble or has_waited:
        raise CheckFailedError(observed.trouble or "answered only after the move")


@should
async def abort_while_thinking(examinee: Examinee) -> None:
    """Answer an ABORT within a second while it thinks."""
    bout = examinee.bout()
    await bout.start()
    thinking = asyncio.create_task(bout.ask())
    await asyncio.sleep(THINKING_S)
    try:
        await bout.send(Abort(bout.match_id), 1.0, "ABORT")
    finally:
        await asyncio.gather(thinking, return_exceptions=True)


@must
async def match_after_abort(examinee: Examinee) -> None:
    """Play the next match after an ABORT."""
    bout = examinee.bout()
    await bout.start()
    bout.advance(await bout.ask())
    await bout.abort()
    await examinee.play_match()
