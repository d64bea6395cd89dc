"""What must be so before a server opens to others."""

from __future__ import annotations

from server.access.access import Access
from server.access.errors import NoAdminError


async def check_opening(access: Access, host: str, database: str) -> None:
    """Check that somebody can administer a server that others reach at *host*, and whose tokens *database* has.

    Raises:
        NoAdminError: nobody can; it names the command that issues a token.
    """
    if not access.settings.is_private and not await access.issuing.has_admin():
        raise NoAdminError(host, f"ggp token issue NAME --role admin --database {database}")
