"""What can go wrong where the server is configured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gdl.errors import CallerError

if TYPE_CHECKING:
    pass


class ConfigurationError(CallerError):
    """A configuration file says what no option can be; `suggestions` are options that may have been meant."""

    def __init__(self, path: Path, reason: str, suggestions: Sequence[str] = ()) -> None:
        super().__init__(path, reason, suggestions)
        self.path, self.reason, self.suggestions = path, reason, tuple(suggestions)

    def __str__(self) -> str:
        meant = f"; did you mean {' or '.join(self.suggestions)}?" if self.suggestions else ""
        return f"{self.path}: {self.reason}{meant}"
