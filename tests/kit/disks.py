"""Disks that are full, as far as this process can tell."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock


@contextmanager
def no_file_beyond(n_bytes: int) -> Iterator[None]:
    """Let this process write no file beyond *n_bytes*, as a disk that is full does.

    The importer would leave such a part of a module's bytecode, and see no error.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with mock.patch.object(sys, "dont_write_bytecode", True):
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
