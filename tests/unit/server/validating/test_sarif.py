"""The log that code-scanning tools read: its results whole, its rules by what the standard demands of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gdl.diagnostics import Diagnostic, Source, Span, codes
from server.validating.formats import as_sarif
from server.validating.validation import Validation
from tests.kit.server.validating.data import expected
from tests.kit.server.validating.example import ALL, FINE

URI = re.compile(r"(?:file:///)?[A-Za-z0-9._~/!$&'()*+,;=@%-]*")


def log_of(*validations: Validation) -> dict[str, Any]:
    (text,) = as_sarif(validations)
    log = json.loads(text)
    assert isinstance(log, dict)
    return log


def test_results_and_invocation_are_there_whole() -> None:
    run = log_of(*ALL)["runs"][0]
    of_files = {name: run[name] for name in ("invocations", "columnKind", "results")}
    for result in of_files["results"]:
        assert run["tool"]["driver"]["rules"][result.pop("ruleIndex")]["id"] == result["ruleId"]
    output = f"{json.dumps(of_files, indent=2)}\n"
    assert output == expected("report.sarif.json", output)


def test_the_log_has_what_the_standard_demands() -> None:
    log = log_of(*ALL)
    (run,) = log["runs"]
    assert (set(log), log["version"], run["tool"]["driver"]["name"]) == ({"$schema", "version", "runs"}, "2.1.0", "ggp")
    for result in run["results"]:
        assert set(result) <= {
            "ruleId",
            "level",
            "message",
            "locations",
            "ruleIndex",
            "relatedLocations",
            "suppressions",
        }
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        for location in (*result["locations"], *result.get("relatedLocations", [])):
            place = location["physicalLocation"]
            assert URI.fullmatch(place["artifactLocation"]["uri"])
            assert min(place["region"].values()) >= 1
            assert place["region"]["startLine"] <= place["region"]["endLine"]


def test_every_code_is_a_rule_with_a_text_of_help() -> None:
    rules = log_of(FINE)["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(codes())
    for rule in rules:
        assert re.fullmatch(r"[A-Z][A-Za-z0-9]+", rule["name"])
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"]
        assert set(rule["help"]) == {"text", "markdown"}
        assert rule["help"]["text"].startswith(rule["fullDescription"]["text"])
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")


def test_a_run_without_limits_was_successful() -> None:
    run = log_of(FINE)["runs"][0]
    assert (run["results"], run["invocations"]) == (
        [],
        [{"executionSuccessful": True, "toolExecutionNotifications": []}],
    )


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("rules/a b.kif", "rules/a%20b.kif"),
        ("{here}/rules/a.kif", "rules/a.kif"),
        ("/elsewhere/100%.kif", "file:///elsewhere/100%25.kif"),
        ("<stdin>", "%3Cstdin%3E"),
        ("odd\udcff.kif", "odd%FF.kif"),
    ],
)
def test_a_file_is_named_by_an_address_from_the_working_folder(
    name: str, uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = Source(name.format(here=tmp_path), "(p)")
    found = Diagnostic(codes()["gdl/open-fact"], Span(source, 0, 1), "odd")
    (result,) = log_of(Validation(source, diagnostics=(found,)))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri
