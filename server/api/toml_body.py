"""Bodies of requests in TOML, with the keys that files have."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from server.errors import RequestError

TOML: Final = "application/toml"
FromToml: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Makes of the keys of a file the fields of the model of a body."""
_PLACE: Final = re.compile(r"\(at line (\d+), column (\d+)\)")


def toml_fields(raw: bytes) -> dict[str, Any]:
    """Return what a body in TOML says.

    Raises:
        RequestError: it is no TOML; the error has line and column, where they are known.
    """
    try:
        return tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        refused = RequestError("invalid_toml", f"the body is no TOML: {error}")
        if place := _PLACE.search(str(error)):
            refused.place.update(line=int(place[1]), column=int(place[2]))
        raise refused from error
