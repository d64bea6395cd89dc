"""The structure of the packages in figures: `python -m tools.structure`.

`--page FILE` writes them into a page, between its lines `<!-- figures -->` and `<!-- end of figures -->`.
"""

from __future__ import annotations

import ast
import re
import resource
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import click
import networkx

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ("gdl", "players", "server")
_FIGURES: Final = re.compile(r"(<!-- figures -->\n).*?(<!-- end of figures -->)", re.DOTALL)
_NO_IDEA_OF_THEIR_OWN: Final = {"__init__", "__main__"}
_RIDDLES: Final = re.compile(r"\b(nobody|somebody|whoever|nought|is told|are told)\b", re.IGNORECASE)

Graph: TypeAlias = Mapping[str, frozenset[str]]
"""Which modules, or packages, a module or package imports."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the packages, read but not run."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def n_lines(self) -> int:
        """How many lines the file has, blank ones and comments included."""
        return self.text.count("\n")

    @property
    def is_face(self) -> bool:
        """Whether it is the face or the entry point of a package."""
        return self.path.stem in _NO_IDEA_OF_THEIR_OWN


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement, with the bound that it should keep, if it has one."""

    what: str
    value: str
    bound: str = ""


def read_modules() -> tuple[Module, ...]:
    """Return the modules of the packages; migrations, which are history, are left out."""
    paths = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return tuple(_read(path) for path in paths if "migrations" not in path.parts)


def _read(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, path, text, ast.parse(text))


def imports_of(modules: Sequence[Module]) -> Graph:
    """Return which modules each module imports, those for annotations too, but none inside functions."""
    names = {module.name for module in modules}
    return {
        module.name: frozenset(
            target
            for statement in _top_level_imports(module.tree)
            for target in _targets(statement, names)
            if target != module.name
        )
        for module in modules
    }


def _top_level_imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If):
            yield from (inner for inner in statement.body if isinstance(inner, ast.Import | ast.ImportFrom))


def _targets(statement: ast.Import | ast.ImportFrom, names: set[str]) -> Iterator[str]:
    """Yield the modules among *names* that *statement* imports."""
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names if alias.name in names)
        return
    for alias in statement.names:
        below = f"{statement.module}.{alias.name}"
        if below in names:
            yield below
        elif statement.module in names:
            yield statement.module


def circles(graph: Graph) -> list[tuple[str, ...]]:
    """Return the groups of modules that import each other, each in alphabetical order."""
    edges = ((name, target) for name, targets in graph.items() for target in targets)
    imports: networkx.DiGraph[str] = networkx.DiGraph(edges)
    groups = networkx.strongly_connected_components(imports)
    return [tuple(sorted(group)) for group in groups if len(group) > 1]


def between_packages(graph: Graph) -> Graph:
    """Return the imports between packages; a module directly in `gdl`, `players` or `server` is one of its own."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, targets in graph.items():
        found[_package(name)] |= {_package(target) for target in targets} - {_package(name)}
    return {name: frozenset(targets) for name, targets in found.items()}


def _package(name: str) -> str:
    return ".".join(name.split(".")[:2])


def _calls_of_private_functions(module: Module) -> list[int]:
    """Return how often the module names each of its private functions beside their definitions."""
    functions = [node for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    named = Counter(node.id for node in ast.walk(module.tree) if isinstance(node, ast.Name))
    named.update(node.attr for node in ast.walk(module.tree) if isinstance(node, ast.Attribute))
    return [named[f.name] for f in functions if f.name.startswith("_") and not f.name.startswith("__")]


def _import_lines(module: Module) -> int:
    """Return how many lines the imports of the module have."""
    return sum(each.end_lineno - each.lineno + 1 for each in _top_level_imports(module.tree) if each.end_lineno)


def _public_classes(module: Module) -> list[str]:
    classes = (node.name for node in module.tree.body if isinstance(node, ast.ClassDef))
    return [name for name in classes if not name.startswith("_")]


def _docstrings(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


def structure(modules: Sequence[Module]) -> list[Figure]:
    """Return what the text of the modules says of their structure."""
    rooms = [module for module in modules if not module.is_face]
    graph = imports_of(modules)
    importers = Counter(target for targets in graph.values() for target in targets)
    import_lines = sum(map(_import_lines, modules))
    calls = [count for module in modules for count in _calls_of_private_functions(module)]
    stems = Counter(module.path.stem for module in rooms)
    classes = Counter(name for module in modules for name in _public_classes(module))
    docstrings = [text for module in modules for text in _docstrings(module) if text]
    n_riddles = sum(bool(_RIDDLES.search(text)) for text in docstrings)
    n_lines = sum(module.n_lines for module in modules)
    median = statistics.median(module.n_lines for module in rooms)
    return [
        Figure("modules, package faces and migrations left out", str(len(rooms)), "about 200"),
        Figure("lines of a module, median", f"{median:.0f}", "at least 140"),
        Figure("modules under 40 lines", str(sum(module.n_lines < 40 for module in rooms)), "entry points only"),
        Figure("lines that import, of all", _share(import_lines, n_lines), "at most 6 %"),
        Figure("modules with one importer", str(sum(importers[module.name] == 1 for module in rooms))),
        Figure("private functions named once", _share(sum(count == 1 for count in calls), len(calls))),
        Figure("file names that repeat", str(sum(count > 1 for count in stems.values()))),
        Figure("public class names that repeat", str(sum(count > 1 for count in classes.values())), "0"),
        Figure("circles of modules", str(len(circles(graph))), "0"),
        Figure("circles of packages", str(len(circles(between_packages(graph)))), "0"),
        Figure("docstrings with a riddle, of all", f"{n_riddles} of {len(docstrings)}", "0"),
    ]


def start_up(commands: Mapping[str, str]) -> list[Figure]:
    """Return the processor time of whole `ggp` commands, each with its bound, the least of five runs."""
    return [Figure(f"`ggp {words}`, CPU", f"{_least_cpu_s(words):.2f} s", bound) for words, bound in commands.items()]


def _least_cpu_s(words: str) -> float:
    return min(_cpu_s([sys.executable, "-m", "server", *words.split()]) for _ in range(5))


def _cpu_s(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


START_UP: Final = {
    "--version": "under 0.1 s",
    "--help": "under 0.3 s",
    "validate rules/tictactoe/tictactoe.kif": "under 0.4 s",
}


def table(figures: Sequence[Figure]) -> str:
    """Return *figures* as a Markdown table."""
    rows = "".join(f"| {figure.what} | {figure.value} | {figure.bound} |\n" for figure in figures)
    return "| figure | now | bound |\n| --- | --: | --- |\n" + rows


@click.command()
@click.option("--page", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Write into this page.")
def command(page: Path | None) -> None:
    """Measure the structure of the packages."""
    printed = table([*structure(read_modules()), *start_up(START_UP)])
    if page is None:
        click.echo(printed, nl=False)
    else:
        page.write_text(_FIGURES.sub(rf"\1\n{printed}\n\2", page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    command()
