"""The error classes of the three packages: built from sample fields, told by their templates, pickled and restored."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from types import SimpleNamespace
from typing import Final

import pytest

import gdl
import players
import server
from gdl.diagnostics import Source, Span
from gdl.errors import GdlError, LimitExceeded, MalformedRuleError
from server.principal import Role

NOT_IMPORTED: Final = (
    "server.storage.migrations", "server.__main__", "server.editor", "server.arena.cluster",
    "players.environments.openspiel",
)  # fmt: skip
"""Modules that do something when they are imported, or need an extra."""
SAMPLES: Final = {
    "str": "a {text}",
    "NameKind": "game",
    "int": 3,
    "float": 2.5,
    "Sequence[str]": ["a", "b"],
    "Path": Path("a.key"),
    "Role": Role.ADMIN,
    "Validation": SimpleNamespace(limit=None),
    "LimitExceeded": LimitExceeded("seconds", 1.0),
}


def _modules() -> Iterator[str]:
    for package in (gdl, players, server):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(NOT_IMPORTED):
                yield module.name


def _import(module: str) -> None:
    """Import *module*, unless it needs PyTorch (the extra `learn`), which may be missing."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise


def _subclasses(kind: type[GdlError]) -> Iterator[type[GdlError]]:
    for found in kind.__subclasses__():
        yield found
        yield from _subclasses(found)


def _classes() -> list[type[GdlError]]:
    for module in _modules():
        _import(module)
    found = {kind for kind in _subclasses(GdlError) if kind.__module__.split(".")[0] in {"gdl", "players", "server"}}
    return sorted(found, key=lambda kind: kind.__qualname__)


def _sample(kind: type[GdlError]) -> GdlError:
    parameters = inspect.signature(kind).parameters.values()
    needed = [each for each in parameters if each.default is each.empty]
    return kind(*(SAMPLES[_type_name(each.annotation)] for each in needed))


def _type_name(annotation: object) -> str:
    """Return an annotation, a text or a type by its module, as a text without names of modules."""
    return annotation if isinstance(annotation, str) else re.sub(r"\w+\.", "", inspect.formatannotation(annotation))


def _plain(error: GdlError) -> dict[str, object]:
    """Return the attributes of *error*, with errors among them, which equal only themselves, as text."""
    return {name: repr(value) if isinstance(value, Exception) else value for name, value in vars(error).items()}


@pytest.fixture(scope="module")
def classes() -> list[type[GdlError]]:
    return _classes()


def test_every_error_is_the_same_after_pickling_and_copying(classes: list[type[GdlError]]) -> None:
    assert len(classes) > 70
    for kind in classes:
        error = _sample(kind)
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert type(again) is kind
            assert (str(again), again.args, _plain(again)) == (str(error), error.args, _plain(error))


def test_every_template_names_only_fields_and_properties_of_its_error(classes: list[type[GdlError]]) -> None:
    for kind in classes:
        error = _sample(kind)
        derived = [each.metadata.get("derived", "") for each in kind.__dict__["__dataclass_fields__"].values()]
        for template in (kind.template, *(text for text in derived if isinstance(text, str))):
            for _, name, _, _ in Formatter().parse(template):
                assert name is None or hasattr(error, name.partition("[")[0].partition(".")[0]), (kind, template)


def test_every_error_but_a_root_has_a_message(classes: list[type[GdlError]]) -> None:
    silent = {kind.__name__ for kind in classes if not str(_sample(kind))}

    assert silent == {"CallerError", "ServerError"}


def test_an_error_with_a_note_and_a_span_is_restored_with_both() -> None:
    error = MalformedRuleError("odd", Span(Source("a.kif", "(odd)"), 0, 5), "mend it", code="empty-list")
    error.add_note("seen in passing")

    again = pickle.loads(pickle.dumps(error))

    assert (str(again), again.code, again.__notes__) == (str(error), "empty-list", ["seen in passing"])


class CutError(GdlError, RuntimeError):
    template = "{name[:3]!r} of {names}"
    name: str
    names: tuple[str, ...]


def test_a_template_cuts_quotes_and_joins() -> None:
    error = CutError("abcdef", ("x", "y"))

    assert (str(error), error.args, isinstance(error, RuntimeError)) == (
        "'abc' of x, y",
        ("abcdef", ("x", "y")),
        True,
    )


def test_a_constructor_refuses_what_is_no_field() -> None:
    with pytest.raises(TypeError, match="names"):
        CutError("abc")  # type: ignore[call-arg]  # the test is that mypy sees it as well


def test_no_error_says_by_itself_how_it_is_pickled(classes: list[type[GdlError]]) -> None:
    assert [kind.__name__ for kind in classes if "__reduce__" in vars(kind)] == []
