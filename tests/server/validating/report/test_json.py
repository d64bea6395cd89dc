"""What programs read of a validation, whole."""

from __future__ import annotations

import json

from server.validating.report.json import report
from tests.server.validating.report.data import expected
from tests.server.validating.report.example import ALL, FINE


def test_everything_is_in_one_object() -> None:
    (text,) = report(ALL)
    assert f"{text}\n" == expected("report.json", f"{text}\n")


def test_all_is_well_where_every_file_is() -> None:
    (text,) = report([FINE])
    assert json.loads(text)["ok"] is True
