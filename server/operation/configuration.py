"""The options of a command, from its flags, the environment and one TOML file; the first that names one counts."""

import difflib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from server.errors import ConfigurationError
from server.operation.logs import without_secrets
from server.storage.address import DEFAULT_DATABASE
from server.terminal.command_line import read_toml

PREFIX: Final = "GGP"
CONTEXT: Final[dict[str, Any]] = {"auto_envvar_prefix": PREFIX}
"""The context settings of a command whose options the environment may give."""
_ABOUT_ITSELF: Final = frozenset({"config", "print_config", "help"})
_F = TypeVar("_F", bound=Callable[..., Any])


def database_option(explanation: str) -> Callable[[_F], _F]:
    """Return the option `--database` of a command that works on a server's database, named as the server's own."""
    return click.option(
        "--database", default=DEFAULT_DATABASE, show_default=True, metavar="ADDRESS", envvar=f"{PREFIX}_DATABASE",
        help=explanation,
    )  # fmt: skip


def config_options(function: _F) -> _F:
    """Give a command the options `--config FILE` and `--print-config`."""
    path = click.Path(dir_okay=False, path_type=Path)
    file = click.option(
        "--config", type=path, metavar="FILE", is_eager=True, expose_value=False, callback=_take_file,
        help="A TOML file with options: max-matches = 200 stands for --max-matches 200. Flags and the environment, "
        "GGP_MAX_MATCHES=200, come before it.",
    )  # fmt: skip
    shown = click.option(
        "--print-config",
        is_flag=True,
        expose_value=False,
        callback=_take_print,
        help="Print what is in force, and end.",
    )
    return file(shown(function))


def _take_file(context: click.Context, _parameter: click.Parameter, path: Path | None) -> Path | None:
    if path is not None:
        context.default_map = {**(context.default_map or {}), **read_options(path, context)}
    return path


def _take_print(context: click.Context, _parameter: click.Parameter, is_wanted: bool) -> None:
    if is_wanted:
        # Once every option has been read, and before the command does anything.
        context.meta[PRINTING] = True


PRINTING: Final = "server.operation.configuration.printing"


def end_if_printing(context: click.Context) -> None:
    """Print the options in force and end the command, if `--print-config` was given."""
    if context.meta.get(PRINTING):
        click.echo(effective(context), nl=False)
        context.exit()


def read_options(path: Path, context: click.Context) -> dict[str, Any]:
    """Return the options of *context*'s command that the TOML file at *path* gives, by parameter.

    Raises:
        ConfigurationError: it is no TOML, names no option, or gives one a value that it cannot have.
    """
    options = {_key(option): option for option in _options(context.command)}
    found = {}
    for key, value in read_toml(path).items():
        if key.replace("_", "-") not in options:
            near = difflib.get_close_matches(key.replace("_", "-"), options, n=2)
            raise ConfigurationError(path, f"no option {key!r}", near)
        option = options[key.replace("_", "-")]
        assert option.name is not None
        found[option.name] = _checked(path, key, value, option, context)
    return found


def _checked(path: Path, key: str, value: object, option: click.Option, context: click.Context) -> object:
    """Return *value* if *option* can have it: a list only where an option may be given several times."""
    several = value if isinstance(value, list) and option.multiple else [value]
    if not all(_is_plain(item, option) for item in several):
        shown = json.dumps(value, default=str)[:100]
        raise ConfigurationError(path, f"{key} = {shown} is not what --{_key(option)} takes")
    kept = several if option.multiple else value
    try:
        option.type_cast_value(context, kept)
    except (click.BadParameter, ValueError) as error:  # click lets a path with a NUL raise ValueError
        raise ConfigurationError(path, f"{key}: {error}") from error
    return kept


def _is_plain(value: object, option: click.Option) -> bool:
    if option.is_flag or isinstance(value, bool):
        return option.is_flag and isinstance(value, bool)
    if isinstance(option.type, click.types.IntParamType):  # it would cut the fraction of a number off
        return isinstance(value, str | int)
    if isinstance(option.type, click.types.FloatParamType):
        return isinstance(value, str | int | float)
    return isinstance(value, str)


def _options(command: click.Command) -> Iterator[click.Option]:
    """Yield what can be configured: the options but for those that are about configuration."""
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.name not in _ABOUT_ITSELF:
            yield parameter


def _key(option: click.Option) -> str:
    """Return the key of *option*: its long name."""
    return max((name.lstrip("-") for name in option.opts), key=len)


def effective(context: click.Context) -> str:
    """Return the options in force as a TOML file, each with where it comes from; passwords are covered."""
    return "".join(f"{line}\n" for option in _options(context.command) for line in _line(option, context))


def _line(option: click.Option, context: click.Context) -> Iterator[str]:
    assert option.name is not None
    value, source = context.params.get(option.name), _source(option, context)
    if value is None or value == ():
        yield f"# {_key(option)} is not set"
    else:
        yield f"{_key(option)} = {without_secrets(_toml(value))}  # {source}"


def _source(option: click.Option, context: click.Context) -> str:
    assert option.name is not None
    source = context.get_parameter_source(option.name)
    if source is ParameterSource.ENVIRONMENT:
        return f"environment: {option.envvar or f'{PREFIX}_{option.name.upper()}'}"
    named = {ParameterSource.COMMANDLINE: "flag", ParameterSource.DEFAULT_MAP: "file"}
    return "default" if source is None else named.get(source, "default")


def _toml(value: object) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value if isinstance(value, bool | int | float) else _text(value), ensure_ascii=False)


def _text(value: object) -> str:
    return str(getattr(value, "value", value))
