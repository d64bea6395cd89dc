"""Class lists, in the forms that people have them in."""

from __future__ import annotations

import csv
from contextlib import suppress
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.access.issuing import MAX_NAMES, Listed, read_class_list
from server.principal import Role
from server.refusals import ListedRoleError, TokenFieldError
from server.sanitization import write_csv


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("", []),
        ("Ada\r\n\r\n Grace, Hopper \n", [Listed("Ada", 1), Listed("Grace, Hopper", 3)]),
        ("\ufeffname\nAda\n", [Listed("Ada", 2)]),
        ("Name;Role;Note\nAda;HOST;group 1\n", [Listed("Ada", 2, Role.HOST, "group 1")]),
        ('id,name,mail\n1,"Hopper, Grace",g@x\n\n', [Listed("Hopper, Grace", 2)]),
        ("note,name\nshort\n", [Listed("", 2, None, "short")]),
        ('"name"\n"Grace"\n', [Listed("Grace", 2)]),
        ('"name","role"\n"Hopper, Grace","host"\n', [Listed("Hopper, Grace", 2, Role.HOST)]),
        ('"id; old",name\n1,Ada\n', [Listed("Ada", 2)]),
        ("name\trole\nHopper, Grace\thost\n", [Listed("Hopper, Grace", 2, Role.HOST)]),
        ("\nname;role\nAda;host\n", [Listed("Ada", 3, Role.HOST)]),
        ("\ufeff \r\n;;\r\nname;role\r\nAda;host\r\n", [Listed("Ada", 4, Role.HOST)]),
        (";;\nname,role\nAda,host\n", [Listed("Ada", 3, Role.HOST)]),
        ("name,role\nAda,host\n \n ,\t\nBob,\n", [Listed("Ada", 2, Role.HOST), Listed("Bob", 5)]),
        ("\n,\nAda\n", [Listed("Ada", 3)]),
        (";;\n", []),
        ("Ada" * 50_000, [Listed("Ada" * 50_000, 1)]),
    ],
)
def test_a_list_is_read(text: str, listed: list[Listed]) -> None:
    assert read_class_list(text) == listed


def test_an_unknown_role_is_refused_with_its_line() -> None:
    with pytest.raises(ListedRoleError) as caught:
        read_class_list("name,role\nBob,host\n\nAda,queen\n")
    meant = "spectator or player or host or admin"
    assert str(caught.value) == f"line 4: no role 'queen'; did you mean {meant}?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Nachname;Vorname;Matrikel\nMeier;Uwe;123\n", "line 1: the first line has several columns"),
        ("surname,first\nMeier,Uwe\n", "line 1: the first line has several columns"),
        ("Bob\thost\n", "line 1: the first line has several columns"),
        ("name,rol\nAda,host\n", "line 1: there is no column 'rol'; did you mean role"),
        ("\n;;\nname;rol\nAda;host\n", "line 3: there is no column 'rol'; did you mean role"),
        ("\n\nBob\thost\n", "line 3: the first line has several columns"),
        ("name\nAda\n" + "x" * 131_073, "line 3: this is no CSV: field larger than field limit"),
    ],
)
def test_columns_that_are_none_of_ours_are_no_names(text: str, said: str) -> None:
    with pytest.raises(TokenFieldError, match=said):
        read_class_list(text)


def test_names_may_have_commas() -> None:
    assert [each.name for each in read_class_list("Lovelace, Ada\nHopper, Grace\n")] == [
        "Lovelace, Ada",
        "Hopper, Grace",
    ]


def test_a_list_without_end_is_refused() -> None:
    assert len(read_class_list("Ada\n" * MAX_NAMES)) == MAX_NAMES
    with pytest.raises(TokenFieldError, match=r"^a class list has at most 5,000 names$"):
        read_class_list("Ada\n" * (MAX_NAMES + 1))


@given(st.text() | st.text().map(lambda text: "name,role\n" + text))
def test_garbage_is_read_or_refused(text: str) -> None:
    with suppress(TokenFieldError, ListedRoleError):
        read_class_list(text)


@pytest.mark.parametrize(
    "name", ["=1+1", "+1", "-1", "@SUM(A1)", "=HYPERLINK(1)", "Ada", "'quoted'", 'a,"b"', "Rock'n'-Roll"]
)
def test_no_cell_is_a_formula_and_names_come_back(name: str) -> None:
    stream = StringIO()
    write_csv([("name", "token"), (name, "=1+1")], stream)
    cells = [cell for line in csv.reader(StringIO(stream.getvalue())) for cell in line]
    assert [cell for cell in cells if cell[:1] in tuple("=+-@\t\r")] == []
    assert [each.name for each in read_class_list(stream.getvalue())] == [name]
