"""The options of `ggp serve`: what their values may be, and what becomes of them."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from server.access.settings import Limits
from server.operation.options import ServeOptions, serve_options


def options(*arguments: str, **environment: str) -> ServeOptions:
    """Return the options that *arguments* and *environment* say."""

    @click.command(context_settings={"auto_envvar_prefix": "GGP"})
    @serve_options
    def command(**given: Any) -> ServeOptions:
        return ServeOptions(**given)

    with CliRunner().isolation(env=environment):
        found = command.main(arguments, "serve", standalone_mode=False)
    assert isinstance(found, ServeOptions)
    return found


def test_several_server_names_in_a_variable_are_separated_by_blanks() -> None:
    found = options(GGP_SERVER_NAME="Games.example.org xn--mnchen-3ya.example 10.0.0.1")
    assert found.access().hosts == ("games.example.org", "münchen.example", "10.0.0.1")


@pytest.mark.parametrize("name", ["a.example,b.example", "a b", "https://a.example", "a.example/b", "a.example:80", ""])
def test_a_server_name_that_is_no_name_of_a_host_is_refused(name: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        options("--server-name", name)
    expected = f"{name!r} is no name of a host; one is written games.example.org, without a port"
    assert caught.value.message == expected


def test_a_host_says_how_often_and_how_much_at_once_is_asked() -> None:
    rates = ("--rate-requests", "1/minute", "--rate-orders", "2/hour", "--rate-uploads", "3/day")
    found = options(*rates, "--requests-at-once", "4").access().limits
    assert found == Limits(requests="1/minute", orders="2/hour", uploads="3/day", n_at_once=4)


@pytest.mark.parametrize(
    "text",
    [
        "300/minute;10/second",
        "10/minute,5/hour",
        "10/0minute",
        "10 per 00 hours",
        f"10/{'9' * 400} years",
        "10/2 years",
        "",
    ],
)
def test_what_is_not_one_rate_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        options("--rate-requests", text)
    assert caught.value.message == f"{text!r} is no rate; one is written 300/minute"


@pytest.mark.parametrize("text", ["300/minute", "10 per 2 hours", "5/10 seconds", "1/year"])
def test_a_rate_is_kept_as_it_is_written(text: str) -> None:
    assert options("--rate-requests", text).rate_requests == text


@pytest.mark.parametrize("name", ["lobby-limit", "lease", "rules-seconds", "shutdown-limit"])
def test_a_time_that_no_clock_takes_is_refused(name: str) -> None:
    with pytest.raises(click.BadParameter, match=r"1e\+300 is not in the range"):
        options(f"--{name}", "1e300")
