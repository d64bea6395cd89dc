"""Options from flags, the environment and a file; each test has a command of its own to configure."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from server.errors import ConfigurationError
from server.operation.configuration import CONTEXT, config_options, end_if_printing


@click.command(context_settings=CONTEXT)
@click.option("--database", default="sqlite:///ggp.sqlite")
@click.option("--max-matches", type=click.IntRange(1), default=64)
@click.option("--allow-network", multiple=True)
@click.option("--is-loud", is_flag=True)
@click.option("--sign", type=click.Path(path_type=Path, dir_okay=False))
@config_options
@click.pass_context
def command(context: click.Context, /, max_matches: int, **others: object) -> None:
    end_if_printing(context)
    click.echo(f"{max_matches} {others['allow_network']}")


def run(*arguments: str, environment: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(command, arguments, env=environment, catch_exceptions=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "ggp.toml"
    path.write_text('max-matches = 8\nallow_network = ["10.0.0.0/8", "::1"]\n', encoding="utf-8")
    return path


def test_a_flag_comes_before_the_environment_and_that_before_the_file(file: Path) -> None:
    environment = {"GGP_MAX_MATCHES": "9", "GGP_CONFIG": str(file)}
    assert run().output == "64 ()\n"
    assert run("--config", str(file)).output == "8 ('10.0.0.0/8', '::1')\n"
    assert run(environment=environment).output == "9 ('10.0.0.0/8', '::1')\n"
    assert run("--max-matches", "10", environment=environment).output == "10 ('10.0.0.0/8', '::1')\n"


def test_what_is_in_force_is_printed_with_where_it_comes_from_and_without_passwords(file: Path) -> None:
    environment = {"GGP_DATABASE": "postgresql://ggp:hunter2@db/ggp"}
    assert run("--is-loud", "--config", str(file), "--print-config", environment=environment).output == (
        'database = "postgresql://ggp:***@db/ggp"  # environment: GGP_DATABASE\n'
        "max-matches = 8  # file\n"
        'allow-network = ["10.0.0.0/8", "::1"]  # file\n'
        "is-loud = true  # flag\n"
        "# sign is not set\n"
    )


def test_what_is_printed_is_a_file_that_says_the_same(file: Path, tmp_path: Path) -> None:
    printed = run("--config", str(file), "--is-loud", "--print-config").output
    (tmp_path / "again.toml").write_text(printed, encoding="utf-8")
    again = run("--config", str(tmp_path / "again.toml"), "--print-config").output
    assert [line.partition("  #")[0] for line in again.splitlines()] == [
        line.partition("  #")[0] for line in printed.splitlines()
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max-macthes = 3", "no option 'max-macthes'; did you mean max-matches?"),
        ("[server]\nport = 1", "no option 'server'"),
        ("max-matches = 0", "max-matches: 0 is not in the range x>=1."),
        ('max-matches = "many"', "max-matches: 'many' is not a valid integer range."),
        ("max-matches = [1]", "max-matches = [1] is not what --max-matches takes"),
        ("max-matches = 3.7", "max-matches = 3.7 is not what --max-matches takes"),
        ("max-matches = true", "max-matches = true is not what --max-matches takes"),
        ("sign = 5", "sign = 5 is not what --sign takes"),
        ("database = 1.5", "database = 1.5 is not what --database takes"),
        ('is-loud = "yes"', 'is-loud = "yes" is not what --is-loud takes'),
        ("config = 'other.toml'", "no option 'config'"),
        ("max-matches =", "no TOML: Invalid value (at end of document)"),
        ("games = " + "[" * 10_000, "no TOML: tables or lists nest too deep"),
    ],
)
def test_a_file_that_says_what_no_option_can_be_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "ggp.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        run("--config", str(path))
    assert str(caught.value) == f"{path}: {expected}"


def test_a_path_with_a_null_character_is_refused_in_the_words_of_python(tmp_path: Path) -> None:
    path = tmp_path / "ggp.toml"
    path.write_text('sign = "a\\u0000b"')
    with pytest.raises(ConfigurationError, match=r"sign: (stat: )?embedded null (byte|character in path)$"):
        run("--config", str(path))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        run("--config", str(tmp_path / "ggp.toml"))
