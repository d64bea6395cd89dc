"""The way to players that dial in: letters wait in their mailboxes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from server.links.mailbox import Mailbox
from server.match.link import Letter, ReplyBuffer

CAUGHT_UP: Final = frozenset(("START", "PLAY"))
"""The messages that a new process of a player has to know to play on."""


class MailboxLink:
    """The way to a player that dials in; *grace_s* of each wait is not told to it. *Units*: seconds."""

    def __init__(self, mailbox: Mailbox, grace_s: float = 0.0) -> None:
        self._mailbox, self._grace_s = mailbox, grace_s
        self._match_ids: set[str] = set()
        self._is_open = True

    def remember(self, match_id: str, letters: Sequence[Letter]) -> None:
        """Keep what was answered before, perhaps to another process of the game manager, for the player to catch up."""
        self._match_ids.add(match_id)
        self._mailbox.remember(match_id, letters)

    async def until_connected(self, limit_s: float) -> bool:
        """Wait until the player is connected, *limit_s* at most; return whether it is."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not self._mailbox.is_connected:
                    await self._mailbox.news.wait()
        return self._mailbox.is_connected

    async def deliver(self, letter: Letter, reply: ReplyBuffer) -> None:
        """Let *letter* wait in the mailbox until its reply is posted."""
        limit_s = None if letter.limit_s is None else max(0.0, letter.limit_s - self._grace_s)
        mail = self._mailbox.put(letter, reply, limit_s)
        try:
            await mail.answered.wait()
        finally:
            self._mailbox.withdraw(mail)
            if self._is_open and mail.message in CAUGHT_UP:
                answered = bytes(reply.raw).decode("utf-8", "replace")
                self.remember(letter.match_id, [replace(letter, answered=answered)])

    async def close(self) -> None:
        """Keep no more of the matches that were played over this link."""
        self._is_open = False
        for match_id in self._match_ids:
            self._mailbox.forget_match(match_id)
