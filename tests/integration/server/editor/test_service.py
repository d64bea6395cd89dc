"""The editor server as a real child process, asked over its standard input and output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gdl.checks import check
from gdl.diagnostics import Source
from gdl.editing.fixes import FIXERS
from gdl.editing.formatting import format_rules
from gdl.games.library import find_game
from gdl.language.rules import read_rules
from server.editor.answers import MENDING
from tests.kit.server.editor.client import LIMIT_S, URI, Editor, Json, Refused, applied, pointed_at, position, started

METHOD_NOT_FOUND, INVALID_REQUEST = -32601, -32600
GAME = find_game("tictactoe").path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """Start one server for all questions: no answer depends on earlier texts."""
    with started(tmp_path_factory.mktemp("editor")) as editor:
        yield editor


def pointed(text: str, places: list[Json]) -> list[str]:
    """Return the lines from the beginning of each place on."""
    return [text.split("\n")[place["range"]["start"]["line"]].strip() for place in places]


def codes(diagnostics: list[Json]) -> list[str]:
    return [diagnostic["code"] for diagnostic in diagnostics]


def test_a_sound_file_has_no_diagnostics_and_one_that_becomes_wrong_gets_them(server: Editor) -> None:
    assert server.open(GAME) == []
    server.change(GAME.replace("(index ?row)", "(indx ?row)", 1))
    (found,) = server.diagnostics()
    (said,) = check(Source("", server.text))
    assert pointed_at(server.text, found.pop("range")) == "indx"
    assert found == {
        "message": f"{said.message}\nhint: {said.hint}",
        "severity": 2,
        "code": "gdl/undefined-relation",
        "source": "ggp",
    }
    server.change(GAME)
    assert server.diagnostics() == []


def test_other_places_come_with_a_diagnostic(server: Editor) -> None:
    found = server.open(GAME + "(index 1 2)\n")
    (related,) = found[0]["relatedInformation"]
    assert (codes(found), related["location"]["uri"], related["message"]) == (
        ["gdl/relation-arities"], URI, check(Source("", server.text))[0].related[0].message,
    )  # fmt: skip
    assert pointed_at(server.text, related["location"]["range"]) == "index"


def test_every_beginning_of_a_file_has_its_answers(server: Editor) -> None:
    server.open("")
    for end in range(0, len(GAME), 97):
        server.change(GAME[:end])
        for method in ("hover", "completion", "definition", "documentHighlight"):
            server.ask(method, end)
        assert isinstance(server.ask("documentSymbol"), list)
        assert isinstance(server.ask("formatting", options={"tabSize": 4, "insertSpaces": True}), list)
    assert [message for message in server.log if message["method"] == "window/showMessage"] == []


def test_a_text_that_is_no_text_is_reported_and_questions_have_empty_answers(server: Editor) -> None:
    assert codes(server.open("(p \0)")) == ["gdl/no-text"]
    assert server.ask("hover", 1) is None
    assert server.ask("documentSymbol") == []


def test_hover_shows_the_definition_with_its_comment(server: Editor) -> None:
    server.open("; it is over\n(<= over (true (at 9)))\n(<= terminal over)\n")
    shown = server.ask("hover", "over)\n")
    assert pointed_at(server.text, shown["range"]) == "over"
    assert shown["contents"] == {
        "kind": "markdown",
        "value": "relation `over`  \n1 definition, 2 places in this file\n\n"
        "```gdl\n; it is over\n(<= over (true (at 9)))\n```",
    }
    assert server.ask("hover", "(true") is None


def test_the_definition_of_a_fluent_is_where_it_comes_about(server: Editor) -> None:
    server.open(GAME)
    found = server.ask("definition", "control o)))")
    assert pointed(GAME, found) == [
        "(<= (base (control ?player))", "(init (control x))", "(<= (next (control o))", "(<= (next (control x))",
    ]  # fmt: skip
    assert {pointed_at(GAME, place["range"]) for place in found} == {"control"}


def test_uses_of_a_name_come_with_its_definitions_or_without(server: Editor) -> None:
    server.open(GAME)
    uses = server.ask("references", "open\n", context={"includeDeclaration": False})
    every = server.ask("references", "open\n", context={"includeDeclaration": True})
    assert pointed(GAME, uses) == ["(not open))"]
    assert pointed(GAME, every) == ["(<= open", "(not open))"]


def test_uses_of_a_variable_are_those_of_its_rule(server: Editor) -> None:
    server.open(GAME)
    uses = server.ask("documentHighlight", "?other)\n")
    assert pointed(GAME, uses) == ["(line ?other)", "(distinct ?player ?other))"]


def test_renaming_gives_a_file_of_equal_meaning(server: Editor) -> None:
    server.open(GAME)
    edits = server.ask("rename", "cell ?column", newName="square")["changes"][URI]
    after = applied(GAME, edits)
    assert (len(edits), "cell" in after) == (19, False)
    assert read_rules(after.replace("square", "cell")).rules == read_rules(GAME).rules
    server.change(after)
    assert server.diagnostics() == []
    back = server.ask("rename", "square ?column", newName="cell")["changes"][URI]
    assert applied(after, back) == GAME


def test_renaming_a_variable_leaves_other_rules_alone(server: Editor) -> None:
    server.open(GAME)
    edits = server.ask("rename", "?other)\n", newName="?loser")["changes"][URI]
    assert applied(GAME, edits) == GAME.replace("?other", "?loser")


@pytest.mark.parametrize(
    ("place", "name", "why"),
    [
        ("legal x", "allowed", "`legal` is a word of the language"),
        ("index 1", "line", "this file has the name line already"),
        (
            "index 1",
            "two words",
            "'two words' is no name: it needs a character, and no blanks, parentheses or semicolons",
        ),
    ],
)
def test_what_cannot_be_renamed_is_refused_with_the_reason(server: Editor, place: str, name: str, why: str) -> None:
    server.open(GAME)
    with pytest.raises(Refused, match=f"^{re.escape(why)}$") as refused:
        server.ask("rename", place, newName=name)
    assert refused.value.code == -32803


def test_the_name_to_be_renamed_is_known_beforehand(server: Editor) -> None:
    server.open(GAME)
    found = server.ask("prepareRename", "index 1")
    assert (pointed_at(GAME, found["range"]), found["placeholder"]) == ("index", "index")
    with pytest.raises(Refused, match="1 is a number"):
        server.ask("prepareRename", "1)")


def test_the_outline_has_relations_and_their_rules(server: Editor) -> None:
    server.open(GAME)
    entries = server.ask("documentSymbol")
    named = {entry["name"]: (entry["detail"], [inner["name"] for inner in entry["children"]]) for entry in entries}
    assert list(named)[:3] == ["role", "base", "input"]
    assert named["index"] == ("3 facts", [])
    assert named["terminal"] == ("2 rules", ["terminal", "terminal"])
    assert {pointed_at(GAME, entry["selectionRange"]) for entry in entries} >= {"role", "next", "line", "goal"}


def test_completion_in_a_rule_without_an_end_proposes_what_fits(server: Editor) -> None:
    text = GAME + "(<= (next (control ?p)) (true (con"
    server.open(text)
    found = server.ask("completion", len(text))
    proposals = {item["label"]: item["textEdit"]["newText"] for item in found["items"]}
    assert proposals == {"cell": "cell", "control": "control"}
    assert {pointed_at(text, item["textEdit"]["range"]) for item in found["items"]} == {"con"}


def test_formatting_is_that_of_ggp_format_and_leaves_what_does_not_balance(server: Editor) -> None:
    loose = "( role   x )\n(<= terminal (true (at 2)) (true (at 3)))"
    options = {"tabSize": 4, "insertSpaces": True}
    server.open(loose)
    neat = applied(loose, server.ask("formatting", options=options))
    assert neat == format_rules(Source("", loose)) != loose
    server.change(neat)
    assert server.ask("formatting", options=options) == []
    server.change(neat + "(")
    assert server.ask("formatting", options=options) == []


def test_what_is_mended_mechanically_is_offered_where_it_is_found(server: Editor) -> None:
    (found,) = server.open(GAME + "(<= (index 4))\n")
    context = {"diagnostics": [found]}
    (offered,) = server.ask("codeAction", range=found["range"], context=context)
    assert (offered["title"], offered["kind"], offered["diagnostics"]) == ("Write a fact", "quickfix", [found])
    assert applied(server.text, offered["edit"]["changes"][URI]) == GAME + "(index 4)\n"
    elsewhere = {"start": position(GAME, 0), "end": position(GAME, 9)}
    assert server.ask("codeAction", range=elsewhere, context=context) == []


@pytest.mark.parametrize(
    ("right", "wrong", "meant"),
    [
        ("(index ?row)", "(indx ?row)", "index"),
        ("(init (control x))", "(init (contrl x))", "control"),
        ("(true (control", "(true ( contrl", "control"),
    ],
)
def test_the_name_that_is_meant_is_offered(server: Editor, right: str, wrong: str, meant: str) -> None:
    assert right in GAME
    said = server.open(GAME.replace(right, wrong, 1))
    (found,) = (one for one in said if "did you mean" in one["message"])
    (offered,) = server.ask("codeAction", range=found["range"], context={"diagnostics": [found]})
    assert (offered["title"], offered["kind"], offered["diagnostics"]) == (f"Write {meant}", "quickfix", [found])
    mended = applied(server.text, offered["edit"]["changes"][URI])
    assert mended.replace("( control", "(control") == GAME


def test_every_mechanical_change_has_its_words() -> None:
    assert MENDING.keys() == FIXERS.keys()


def test_columns_are_counted_in_utf_16(server: Editor) -> None:
    text = "(p \U0001f600 \u00e9a) (<= (q ?\U0001f600 ?b) (p ?\U0001f600 ?b)) ; \U0001f600\n"
    server.open(text)
    uses = server.ask("references", "?b) (p", context={"includeDeclaration": True})
    assert [use["range"]["start"] for use in uses] == [position(text, text.index(at)) for at in ("?b) (p", "?b))")]
    edits = server.ask("rename", "?b)", newName="\U0001f600\U0001f600")["changes"][URI]
    assert applied(text, edits) == text.replace("?b", "?\U0001f600\U0001f600")


@pytest.mark.exhaustive
def test_an_editor_may_count_columns_otherwise(tmp_path: Path) -> None:
    with started(tmp_path, {"general": {"positionEncodings": ["utf-32", "utf-16"]}}) as editor:
        greeting = editor.greeting["capabilities"]
        editor.open("(p \U0001f600 a)\n")
        uses = editor.ask("references", 1, context={"includeDeclaration": True})
        end = editor.ask("hover", "a)")["range"]["end"]
        assert (greeting["positionEncoding"], len(uses), end) == ("utf-32", 1, {"line": 0, "character": 6})


@pytest.mark.exhaustive
def test_closing_a_file_clears_its_diagnostics(tmp_path: Path) -> None:
    with started(tmp_path) as editor:
        assert codes(editor.open("(p")) != []
        editor.log.clear()
        editor.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
        with pytest.raises(Refused, match=f"no document is open as {URI}"):
            editor.ask("hover")
        assert [message["params"] for message in editor.log] == [{"uri": URI, "diagnostics": []}]


def test_the_server_ends_with_0_when_it_is_asked_to_and_says_nothing_else(tmp_path: Path) -> None:
    with started(tmp_path) as editor:
        editor.open(GAME)
        assert editor.child.stderr is not None
        assert (editor.shut_down(), editor.child.stderr.read()) == (0, b"")


def test_the_server_ends_with_1_when_the_editor_is_gone(tmp_path: Path) -> None:
    with started(tmp_path) as editor:
        editor.open(GAME)
        assert editor.child.stdin is not None
        editor.child.stdin.close()
        assert editor.child.wait(30) == 1


@pytest.mark.parametrize("parameters", [[], {}, {"textDocument": 5}, {"textDocument": {"uri": URI}, "position": "1"}])
def test_a_request_with_parameters_of_another_shape_is_refused(server: Editor, parameters: Json) -> None:
    with pytest.raises(Refused, match="the parameters of textDocument/hover are not of the shape") as refused:
        server.request("textDocument/hover", parameters)
    assert refused.value.code == -32602


def test_an_unknown_request_without_parameters_is_unknown(server: Editor) -> None:
    server.send({"id": "unknown", "method": "workspace/nothing"})
    while (message := server.receive()).get("id") != "unknown":
        server.log.append(message)
    assert message["error"]["code"] == METHOD_NOT_FOUND


def test_a_request_after_the_last_one_is_refused(tmp_path: Path) -> None:
    with started(tmp_path) as editor:
        editor.request("shutdown")
        with pytest.raises(Refused, match="asked to shut down") as refused:
            editor.ask("hover")
        assert refused.value.code == INVALID_REQUEST
        editor.notify("exit")
        assert editor.child.wait(LIMIT_S) == 0


@pytest.mark.exhaustive
def test_messages_that_are_none_do_not_end_the_server(tmp_path: Path) -> None:
    with started(tmp_path) as editor:
        assert editor.child.stdin is not None
        for body in (b"{", b"[]", b'{"jsonrpc": "2.0", "id": 7, "method": "no/such", "params": {}}', b"[" * 5_000):
            editor.child.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        editor.notify("textDocument/didChange", {"textDocument": {"uri": "file:///unknown", "version": 1}})
        assert editor.open(GAME) == []
        assert editor.shut_down() == 0
