"""How many files, connections among them, this process may have open."""

from __future__ import annotations

import resource
from typing import Final

ENOUGH: Final = 65_536
"""A connection for each seat of tens of thousands of matches."""


def allow_many_files(enough: int = ENOUGH) -> int:
    """Raise the limit of open files to *enough*, or as far as this user may; return what it is then.

    Systems begin with 1,024, which a thousand seats use up.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = enough if hard == resource.RLIM_INFINITY else min(enough, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted
