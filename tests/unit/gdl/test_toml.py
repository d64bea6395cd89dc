"""TOML from outside: long keys are refused before they cost anything, whatever is around them."""

from __future__ import annotations

import re
import tomllib

import pytest

from gdl.toml import MAX_KEY_PARTS, toml_of

LONG = ".".join(["a"] * (MAX_KEY_PARTS + 1))


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        (f"{LONG} = 1", 1, 1),
        (f"a = 1\n  {LONG} = 1", 2, 3),
        (f"[{LONG}]", 1, 2),
        (f"[[{LONG}]]", 1, 3),
        (f"a = {{{LONG} = 1}}", 1, 6),
        (LONG.replace("a", "'='"), 1, 1),
        (LONG.replace("a", '"a \\" #"').replace(".", " .\t"), 1, 1),
        ('a = """\n\\"""b""""\n' + LONG, 3, 1),
        (f"a = '''b''\n''' # '''\n{LONG}", 3, 1),
        (f'a = {{b = """c"""", {LONG} = 1}}', 1, 20),
        (f"a = {{b = '''c''''', {LONG} = 1}}", 1, 21),
        (f"a = '' # \"\n{LONG}", 2, 1),
        (f'a = "\n{LONG}', 2, 1),
    ],
)
def test_a_key_of_too_many_parts_is_refused_where_it_stands(text: str, line: int, column: int) -> None:
    reason = f"a key has more than {MAX_KEY_PARTS} parts (at line {line}, column {column})"
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        toml_of(text)


@pytest.mark.parametrize(
    "text",
    [
        LONG.removesuffix(".a") + " = 1",
        f'a = "{LONG}"',
        f"a = '{LONG}'",
        f'a = """\n\\" "" {LONG}\n"""',
        f"a = '''\n' '' {LONG}\n'''",
        f"# {LONG}",
        "a = [" + "0.1, " * 100 + "]",
    ],
)
def test_dots_of_texts_comments_and_numbers_divide_no_key(text: str) -> None:
    assert toml_of(text) == tomllib.loads(text)


def test_lists_that_nest_too_deep_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^tables or lists nest too deep$"):
        toml_of("a = " + "[" * 100_000)


@pytest.mark.parametrize(
    "text",
    ["a = 0x" + "f" * 5_000, "a = 0b1" + "0" * 63, "a = 9223372036854775808", "a = -9223372036854775809",
     "[[a.b]]\nc = [1, {d = 0o" + "7" * 30 + "}]"],
)  # fmt: skip
def test_integers_beyond_64_bits_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^an integer has more than 64 bits$"):
        toml_of(text)


def test_integers_of_64_bits_are_read() -> None:
    assert toml_of("a = [-9223372036854775808, 0x7fffffffffffffff]") == {"a": [-(2**63), 2**63 - 1]}


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert toml_of("\ufeffa = 1") == {"a": 1}
