"""`ggp replay`: steps, verdicts, signatures and transcripts of match records."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from server.match.profiles import Profile
from server.records.journal import FileRecorder, journal_path, write_record
from server.records.signature import make_key
from server.storage.exporting import collection
from tests.kit.disks import no_file_beyond
from tests.kit.server.commands.fixtures import Ggp
from tests.kit.server.scripted import CIRCUMSTANCES, PLAIN, TURNS, TURNS_MOVES, events, turns


def recorded(path: Path, n: int | None = None, profile: Profile = PLAIN, *, is_signed: bool = False) -> FileRecorder:
    recorder = FileRecorder(CIRCUMSTANCES, path, make_key() if is_signed else None)
    for event in list(events(turns(), TURNS_MOVES, profile))[:n]:
        recorder.take(event)
    recorder.close()
    return recorder


@pytest.fixture
def record(tmp_path: Path) -> Path:
    asyncio.run(recorded(tmp_path / "m.json").finish())
    return tmp_path / "m.json"


def changed(record: Path, **keys: object) -> Path:
    write_record(json.loads(record.read_text()) | keys, record)
    return record


@pytest.mark.parametrize(
    ("names", "told"), [([None, "bob"], " (unnamed, bob)"), (["", None], ""), (None, "")], ids=["one", "none", "absent"]
)
def test_players_of_other_hosts_may_have_no_names(ggp: Ggp, record: Path, names: object, told: str) -> None:
    ended = ggp("replay", changed(record, playerNamesFromHost=names))
    assert (ended.exit_code, ended.output.partition("\n")[0]) == (0, f"match match.m1 of turns{told}")


def test_every_step_is_shown_and_verified(ggp: Ggp, record: Path) -> None:
    assert ggp("replay", record) == (
        0,
        """match match.m1 of turns (a-player, b-player)

step 0
at: 0
control: a

step 1  a: go [TO]  b: noop
at: 1
control: b

step 2  a: noop  b: (jump 1)
at: 2
control: a
terminal  a: 100  b: 0
errors of a: TO 1

agrees with the rules: 2 steps
""",
        "hint: states are listed as facts; --rules GAME, a name or a path, draws the board\n",
    )


def test_what_players_thought_is_shown_below_their_moves(ggp: Ggp, record: Path) -> None:
    told = {"leaves": 9, "plays": 8, "depth": 7.5, "value": 100, "line": ["( jump 1 )"], "proven": True}
    output = ggp("replay", changed(record, **{"x-insights": [[None, None], [None, told]]}), "--step", "2").output
    assert "b thought: value 100 (proven), 9 leaves, 8 plays, depth 7.5, line ( jump 1 )" in output


@pytest.mark.parametrize("insights", [7, [[7]], [[{"value": 101}, None]], [[{"line": ["\x1b[2J"]}, None]]])
def test_thoughts_that_are_none_are_refused(ggp: Ggp, record: Path, insights: object) -> None:
    ended = ggp("replay", changed(record, **{"x-insights": insights}))
    assert (ended.exit_code, "x-insights" in ended.errors, "\x1b" in ended.errors) == (1, True, False)


ORDERS = "\x1b[2J\x07\x9b31m"
UNSAFE = f"""(role a{ORDERS}) (init (p {ORDERS})) (legal a{ORDERS} (go {ORDERS}))
(<= (next (q {ORDERS})) (does a{ORDERS} (go {ORDERS}))) (<= terminal (true (q {ORDERS}))) (goal a{ORDERS} 100)"""


def test_records_of_others_give_no_orders_to_the_terminal(ggp: Ggp, tmp_path: Path) -> None:
    told: dict[str, Any] = {
        "matchId": f"m{ORDERS}",
        "playerNamesFromHost": [ORDERS],
        "x-game": ORDERS,
        "x-rules": UNSAFE,
        "states": [f"( ( p {ORDERS} ) )", f"( ( q {ORDERS} ) )"],
        "moves": [[f"( go {ORDERS} )"]],
        "errors": [[f"TO {ORDERS}"]],
        "x-failures": [[ORDERS]],
        "isCompleted": True,
        "goalValues": [100],
    }
    path = tmp_path / "unsafe.json"
    unread = f"(role a) (init {ORDERS}"
    for fields in (told, told | {"moves": [[ORDERS]]}, told | {"states": [ORDERS]}, told | {"x-rules": unread}):
        path.write_text(json.dumps(fields), encoding="utf-8")
        ended = ggp("replay", path)
        assert [text.replace("\n", "").isprintable() for text in (ended.output, ended.errors)] == [True, True]


def test_one_step_alone(ggp: Ggp, record: Path) -> None:
    ended = ggp("replay", record, "--step", 2)
    assert "step 2" in ended.output
    assert "step 1" not in ended.output
    ended = ggp("replay", record, "--step", 3)
    assert (ended.exit_code, "--step takes 0 to 2" in ended.errors) == (2, True)


def test_the_first_difference_and_exit_code_1(ggp: Ggp, record: Path) -> None:
    ended = ggp("replay", changed(record, goalValues=[0, 0]))
    assert (ended.exit_code, ended.output.splitlines()[-1]) == (
        1,
        "step 2, a: goal differs: the record has 0; by the rules it is 100",
    )


def test_the_verdict_as_json(ggp: Ggp, record: Path) -> None:
    ended = ggp("replay", record, "--json")
    agreed = {"agrees": True, "steps": 2, "signature": "none", "difference": None}
    assert (ended.exit_code, json.loads(ended.output)) == (0, agreed)
    ended = ggp("replay", changed(record, moves=[["go", "noop"], ["noop", "jump"]]), "--json")
    difference = json.loads(ended.output)["difference"]
    assert (ended.exit_code, difference.pop("message")[:6], difference) == (
        1,
        "step 2",
        {"step": 1, "role": "b", "kind": "move", "recorded": "jump", "expected": "one of (jump 1) go"},
    )


@pytest.mark.parametrize(("change", "code", "signature"), [({}, 0, "valid"), ({"x-more": 1}, 1, "wrong")])
def test_a_signature_is_verified(
    ggp: Ggp, tmp_path: Path, change: dict[str, object], code: int, signature: str
) -> None:
    path = tmp_path / "m.json"
    asyncio.run(recorded(path, is_signed=True).finish())
    ended = ggp("replay", changed(path, **change), "--json")
    assert (ended.exit_code, json.loads(ended.output)["signature"]) == (code, signature)


def test_rules_of_another_game_are_recognised_by_their_roles(ggp: Ggp, record: Path) -> None:
    last = ggp("replay", record, "--rules", "tictactoe").output.splitlines()[-1]
    assert last == "rules differ: the record has roles a, b; by the rules it is roles x, o"


def test_other_hosts_records_need_the_rules_named(ggp: Ggp, record: Path, tmp_path: Path) -> None:
    whole: dict[str, Any] = json.loads(record.read_text())
    write_record({name: value for name, value in whole.items() if not name.startswith("x-")}, record)
    rules = tmp_path / "turns.kif"
    rules.write_text(TURNS)
    ended = ggp("replay", record)
    assert (ended.exit_code, "--rules GAME" in ended.errors) == (2, True)
    assert ggp("replay", record, "--rules", rules).exit_code == 0
    assert ggp("replay", record, "--rules", "tictacto").exit_code == 2


def test_the_journal_of_an_interrupted_match(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    recorded(path, 14)
    for name in (path, journal_path(path)):
        ended = ggp("replay", name)
        assert (ended.exit_code, ended.output.splitlines()[-1]) == (0, "agrees with the rules: 1 step")


def test_a_seat_s_transcript(ggp: Ggp, record: Path) -> None:
    ended = ggp("replay", record, "--seat", "a")
    assert (ended.exit_code, ended.output.splitlines()) == (
        0,
        [
            "    0.002 s  start: sent (START match.m1 a (...) 10 5)",
            "    0.003 s  start: received ready (after 3 ms)",
            "    0.007 s  step 1: sent (PLAY match.m1 0)",
            "    0.008 s  step 1: received nothing (after 5 ms)",
            "             error TO: late",
            "             played instead: go",
            "    0.013 s  step 2: sent (PLAY match.m1 1)",
            "    0.014 s  step 2: received noop (after 5 ms)",
        ],
    )


def test_beside_busy_at_the_start_there_are_no_legal_moves(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    whole = asyncio.run(recorded(path).finish())
    answered = next(line for line in whole["x-wire"] if line["direction"] == "answered")
    answered |= {"text": "busy", "error": "IL busy", "detail": "it takes part in another match"}
    write_record(whole, path)
    output = ggp("replay", path, "--seat", "a").output
    assert ("error IL busy" in output, "legal: " in output) == (True, False)


@pytest.mark.parametrize("is_scrambled", [False, True])
def test_beside_an_illegal_move_the_legal_ones_as_the_player_knows_them(
    ggp: Ggp, tmp_path: Path, is_scrambled: bool
) -> None:
    path = tmp_path / "m.json"
    whole = asyncio.run(recorded(path, profile=Profile(is_scrambled=is_scrambled)).finish())
    whole["x-wire"][5] |= {"text": "fly", "error": "IL fly", "detail": "no such move"}
    write_record(whole, path)
    names = whole.get("x-scrambling", {})
    legal = f"({names.get('jump', 'jump')} 0) {names.get('go', 'go')}"
    line = ggp("replay", path, "--seat", "a").output.splitlines()[6]
    assert line.strip() == f"legal{' (in the scrambled names)' if is_scrambled else ''}: {legal}"


def test_the_legal_moves_that_a_child_got_have_a_line_of_their_own(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    whole = asyncio.run(recorded(path).finish())
    whole["x-wire"][4] |= {"direction": "sent", "text": "(LEGAL m1 (go))\n(PLAY m1 0)"}
    write_record(whole, path)
    lines = ggp("replay", path, "--seat", "a").output.splitlines()
    assert [line.strip() for line in lines if "LEGAL" in line or "PLAY m1" in line][:2] == [
        "0.007 s  step 1: sent (LEGAL m1 (go))",
        "(PLAY m1 0)",
    ]


def test_what_a_player_wrote_takes_one_line_and_leaves_the_terminal_as_it_is(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    whole = asyncio.run(recorded(path).finish())
    whole["x-wire"][5] |= {"text": "\x1b[2Jfly\nhigh\n", "error": "IL", "detail": "\x1b", "move": "( jump 0 )"}
    write_record(whole, path)
    lines = ggp("replay", path, "--seat", "a").output.splitlines()
    assert [line.strip() for line in lines[3:6]] == [
        r"0.008 s  step 1: received \x1b[2Jfly\nhigh (after 5 ms)",
        r"error IL: \x1b",
        "played instead: (jump 0)",
    ]


@pytest.mark.parametrize("seat", ["A", "nobody", "random"])
def test_a_seat_that_is_not_there(ggp: Ggp, record: Path, seat: str) -> None:
    ended = ggp("replay", record, "--seat", seat)
    assert (ended.exit_code, "its roles are a, b" in ended.errors) == (2, True)


DIFFERENCE = "step 2, a: goal differs: the record has 0; by the rules it is 100"


@pytest.fixture
def many(record: Path, tmp_path: Path) -> Path:
    """Return a folder with a record, one whose goals differ, one with a wrong signature, and a file that is none."""
    folder = tmp_path / "many"
    folder.mkdir()
    whole = record.read_text()
    (folder / "a.json").write_text(whole)
    (folder / "b.json").write_text(json.dumps(json.loads(whole) | {"goalValues": [0, 0], "x-goals": [0, 0]}))
    asyncio.run(recorded(folder / "c.json", is_signed=True).finish())
    changed(folder / "c.json", **{"x-more": 1})
    (folder / "d.json").write_text("{}")
    return folder


def test_of_a_folder_each_record_is_verified_and_what_is_wrong_named(ggp: Ggp, many: Path) -> None:
    assert ggp("replay", many) == (
        1,
        f"""{many}/b.json: {DIFFERENCE}
{many}/c.json: its signature is wrong
{many}/d.json: no match record: none of `matchId`, `moves`, `states` is there
1 record agrees with the rules, 3 do not
""",
        "",
    )


def test_the_verdicts_on_a_folder_as_json(ggp: Ggp, many: Path) -> None:
    (many / "c.json").unlink()
    ended = ggp("replay", many, "--json")
    found = json.loads(ended.output)
    different, none = (found["wrong"].pop(f"{many}/{name}.json") for name in "bd")
    assert (ended.exit_code, found, different["difference"]["message"]) == (1, {"verified": 1, "wrong": {}}, DIFFERENCE)
    assert none == {"reason": "no match record: none of `matchId`, `moves`, `states` is there"}


@pytest.mark.parametrize("name", ["all.zip", "all.jsonl", "all"])
def test_what_is_exported_is_verified(ggp: Ggp, record: Path, tmp_path: Path, name: str) -> None:
    whole = json.loads(record.read_text())
    with collection(tmp_path / name) as add:
        for match_id in ("match.a", "match.b"):
            add(whole | {"matchId": match_id})
    assert ggp("replay", tmp_path / name) == (0, "2 records agree with the rules\n", "")


def test_records_of_other_hosts_are_verified_by_the_rules_that_are_named(ggp: Ggp, many: Path, tmp_path: Path) -> None:
    for name in "bcd":
        (many / f"{name}.json").unlink()
    other = {key: value for key, value in json.loads((many / "a.json").read_text()).items() if not key.startswith("x-")}
    write_record(other, many / "a.json")
    told = f"{many}/a.json: the record carries no rules: name them with --rules GAME\n"
    assert ggp("replay", many).output == f"{told}0 records agree with the rules, 1 does not\n"
    (tmp_path / "turns.kif").write_text(TURNS)
    assert ggp("replay", many, "--rules", tmp_path / "turns.kif").exit_code == 0


@pytest.mark.parametrize("option", [("--step", "0"), ("--seat", "a"), ("--svg", "x"), ("--animate", "-o", "x.svg")])
def test_of_many_records_one_is_looked_at_by_its_own_name(ggp: Ggp, many: Path, option: tuple[str, ...]) -> None:
    ended = ggp("replay", many, *option)
    assert (ended.exit_code, f"{many} may hold many records: {option[0]}" in ended.errors) == (2, True)


def test_a_folder_without_records_is_refused(ggp: Ggp, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    ended = ggp("replay", tmp_path / "none")
    assert (ended.exit_code, f"there is no record in {tmp_path}/none" in ended.errors) == (2, True)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"event":"started"}\n{}\n', '{"moves": [["("]], "x-rules": "("}'])
def test_what_is_no_record_is_refused(ggp: Ggp, tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    ended = ggp("replay", path)
    assert (ended.exit_code, ended.output, ended.errors != "") == (1, "", True)


def test_a_file_that_is_not_there(ggp: Ggp, tmp_path: Path) -> None:
    assert ggp("replay", tmp_path / "none.json").exit_code == 2


def test_steps_are_written_as_pictures(ggp: Ggp, record: Path, tmp_path: Path) -> None:
    assert ggp("replay", record, "--json", "--svg", tmp_path / "pictures").exit_code == 0
    names = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert names == ["000.svg", "001.svg", "002.svg"]


def test_pictures_that_cannot_be_written_are_reported(ggp: Ggp, record: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = ggp("replay", record, "--svg", tmp_path / "file" / "pictures")
    assert (ended.exit_code, "pictures cannot be written: Not a directory" in ended.errors) == (2, True)


def test_a_disk_that_is_full_is_told_with_the_file_of_the_moving_picture(
    ggp: Ggp, record: Path, tmp_path: Path
) -> None:
    film = tmp_path / "film.svg"
    film.symlink_to("/dev/full")
    ended = ggp("replay", record, "--animate", "-o", film)
    assert (ended.exit_code, f"{film} cannot be written: No space left on device" in ended.errors) == (2, True)


@pytest.mark.parametrize("words", ["--animate -o old.svg", "--animate -o old.gif", "--svg ."])
def test_pictures_that_cannot_be_written_leave_those_that_were_there(
    ggp: Ggp, record: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(record.parent)
    for name in ("old.svg", "old.gif", "000.svg"):
        Path(name).write_text("old")
    before = {path.name: path.read_bytes() for path in record.parent.iterdir()}
    with no_file_beyond(1024):
        ended = ggp("replay", record, *words.split())
    assert (ended.exit_code, ended.errors.endswith("cannot be written: File too large\n")) == (2, True)
    assert {path.name: path.read_bytes() for path in record.parent.iterdir()} == before


def test_a_match_becomes_one_moving_picture(ggp: Ggp, record: Path, tmp_path: Path) -> None:
    ended = ggp("replay", record, "--animate", "-o", tmp_path / "m.svg")
    n_steps = len(json.loads(record.read_text())["moves"])
    assert ended.exit_code == 0
    assert (tmp_path / "m.svg").read_text(encoding="utf-8").count("<animate ") == n_steps + 1


@pytest.mark.parametrize("name", ["m.svg", "m.gif"])
def test_a_match_that_differs_from_the_first_state_on_becomes_no_picture(
    ggp: Ggp, record: Path, tmp_path: Path, name: str
) -> None:
    states = json.loads(record.read_text())["states"]
    ended = ggp("replay", changed(record, states=["(( at 7 ))", *states[1:]]), "--animate", "-o", tmp_path / name)
    assert (ended.exit_code, "step 0" in ended.output) == (1, True)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("options", [["--animate"], ["-o", "m.svg"], ["--animate", "-o", "m.png"]])
def test_a_moving_picture_needs_its_file(ggp: Ggp, record: Path, options: list[str]) -> None:
    assert "--animate and -o FILE go together" in ggp("replay", record, *options).errors
