"""What programs read of a validation, whole."""

from __future__ import annotations

import json

from server.validating.formats import as_json
from tests.kit.server.validating.data import expected
from tests.kit.server.validating.example import ALL, FINE


def test_everything_is_in_one_object() -> None:
    (text,) = as_json(ALL)
    assert f"{text}\n" == expected("report.json", f"{text}\n")


def test_all_is_well_where_every_file_is() -> None:
    (text,) = as_json([FINE])
    assert json.loads(text)["ok"] is True
