"""`ggp diff`: two files, and two versions that a server keeps."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from gdl.games.library import find_game
from server.client import texts_of_versions
from server.errors import OrderRefusedError
from tests.kit.server.api.whole_server import told, whole_server
from tests.kit.server.commands.fixtures import Ggp

RULES = "(role a) (init (p)) (legal a go) (<= (next (q)) (does a go)) (<= terminal (true (q))) (goal a 100)\n"


def test_the_same_rules_in_other_words_do_not_differ(ggp: Ggp, tmp_path: Path) -> None:
    other = tmp_path / "other.kif"
    other.write_text(find_game("nim").read().source.text.replace("?heap", "?which") + "; end", encoding="utf-8")
    ended = ggp("diff", "nim", other)
    assert (ended.exit_code, ended.output.startswith("0 added, 0 removed, 0 changed, ")) == (0, True)


def test_differences_are_shown_with_their_lines(ggp: Ggp, tmp_path: Path) -> None:
    old, new = tmp_path / "old.kif", tmp_path / "new.kif"
    old.write_text(RULES.replace(" (", "\n("), encoding="utf-8")
    new.write_text("; new\n" + RULES.replace("(p)", "(r)").replace("does a go", "does a stay").replace(" (", "\n("))
    ended = ggp("diff", old, new)
    assert (ended.exit_code, ended.output.splitlines()) == (1, [
        "+ added line 3: init",
        "  + (init",
        "  + (r))",
        "~ changed line 5 -> 6: next",
        "    (<=",
        "    (next",
        "    (q))",
        "  - (does a go))",
        "  + (does a stay))",
        "- removed line 2: init",
        "  - (init",
        "  - (p))",
        "1 added, 1 removed, 1 changed, 4 the same",
    ])  # fmt: skip
    found = json.loads(ggp("diff", old, new, "--json").output)
    assert (found["same"], [(one["kind"], one["relation"]) for one in found["changes"]]) == (
        4, [("added", "init"), ("changed", "next"), ("removed", "init")]
    )  # fmt: skip


@pytest.mark.parametrize("order", [1, -1])
def test_a_file_that_is_no_rules_is_no_difference(ggp: Ggp, tmp_path: Path, order: int) -> None:
    wrong = tmp_path / "wrong.kif"
    wrong.write_text("(role a")
    said = f"ggp: {wrong}:1:1: this parenthesis is never closed\n1 | (role a\n    ^\nhint: add a closing parenthesis\n"
    assert ggp("diff", *("nim", wrong)[::order]) == (2, "", said)


def test_other_numbers_of_names_are_wrong_usage(ggp: Ggp) -> None:
    assert ggp("diff", "nim").exit_code == 2


async def test_versions_come_from_a_server(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        texts = (RULES, RULES + "(p)\n")
        kept = [await told(await client.put("/api/v1/games/going", json={"rules": text}), 201) for text in texts]
        server, versions = str(client.make_url("")).rstrip("/"), [one["sha256"][:10] for one in kept]
        async with asyncio.timeout(60):
            assert await texts_of_versions(server, "going", versions, None) == list(texts)
            for game, version, said in (("none", "0", "no game"), ("going", "xyz", "no version begins with 'xyz'")):
                with pytest.raises(OrderRefusedError, match=said):
                    await texts_of_versions(server, game, [version], None)
