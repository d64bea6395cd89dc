"""Kernels are compiled anew when the code of any of them has changed, and not otherwise."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numba
import pytest

import gdl
from gdl.compiler.kernels import jit
from players.search.alphabeta import window
from players.search.proof import descent

PACKAGE: Final = Path(gdl.__file__).parent
SCRIPT: Final = """
import numpy as np
from gdl.compiler.kernels.batches import _read
from gdl.compiler.kernels.words import rows
answers = rows(1)
_read(rows(1), np.array([1], np.int32), answers)
print(answers[0, 0], sum(_read.stats.cache_misses.values()))
"""
"""Print the value of the complement of a row of zeros, and whether the kernel was compiled for that."""


def test_every_module_with_kernels_is_part_of_the_stamp() -> None:
    marks = ("from gdl.compiler.kernels.jit import", "from numba.extending import")
    files = (PACKAGE / "compiler").rglob("*.py")
    with_kernels = {file for file in files if any(mark in file.read_text(encoding="utf-8") for mark in marks)}
    assert with_kernels <= set(jit.FILES)
    assert all(file.is_file() for file in jit.FILES)


@pytest.mark.parametrize("kernel", [window.look_ahead, descent.descend])
def test_the_stamp_covers_the_packages_whose_functions_are_part_of_a_kernel(kernel: Any) -> None:
    folders = {folder.name for folder in jit._folders(kernel.py_func)}
    assert folders >= {"expansion", Path(kernel.py_func.__code__.co_filename).parent.name}


@pytest.mark.exhaustive
def test_a_kernel_is_compiled_again_when_a_function_of_another_file_has_changed(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "gdl", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True, text=True, check=True, cwd=tmp_path, env=environment, timeout=300,
        )  # fmt: skip
        return done.stdout.split()

    ones = str(2**64 - 1)
    assert [run(), run()] == [[ones, "1"], [ones, "0"]]
    choice = tmp_path / "gdl" / "compiler" / "kernels" / "choice.py"
    code = choice.read_text(encoding="utf-8")
    choice.write_text(code.replace("broadcast(ZERO - (U(x) & U(1)))", "broadcast(ZERO)"), encoding="utf-8")
    assert [run(), run()] == [["0", "1"], ["0", "0"]]


READ_ONLY: Final = """
import errno, os
from numba.core import caching
def refuse(_locator):
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))
caching._CacheLocator.ensure_cache_path = refuse
"""
FULL: Final = """
import errno, os
from numba.core import caching
def refuse(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
caching.IndexDataCacheFile._save_data = refuse
"""
CHECK: Final = """
from gdl.compiler.kernels.jit import UnkeptKernelsError, check_kept
try:
    check_kept()
except UnkeptKernelsError as error:
    print(error.n_kernels, error.folder.parent, error.reason)
"""


def compiled_in(folder: Path, script: str) -> tuple[list[str], str]:
    """Return what *script* prints in a process that keeps kernels in *folder*, and its complaints."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True, text=True, check=True, env={**os.environ, "NUMBA_CACHE_DIR": str(folder)}, timeout=300,
    )  # fmt: skip
    return done.stdout.split(), done.stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("disk", "reason"), [(READ_ONLY, "Read-only file system"), (FULL, "No space left on device")])
def test_a_kernel_that_cannot_be_kept_is_compiled_for_the_process_which_knows_where_and_why(
    tmp_path: Path, disk: str, reason: str
) -> None:
    assert compiled_in(tmp_path, disk + SCRIPT + CHECK) == (
        [str(2**64 - 1), "1", "1", str(tmp_path), *reason.split()],
        f"compiled kernels cannot be kept on disk ({reason}), and each process compiles them anew; "
        "NUMBA_CACHE_DIR names another folder for them\n",
    )


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], str]:
    """Return what a process says that finds a kernel in a folder that cannot be written, where another has kept it."""
    folder = tmp_path_factory.mktemp("kernels")
    compiled_in(folder, SCRIPT)
    return compiled_in(folder, f"{READ_ONLY}{SCRIPT}import sys\nprint('scipy.linalg' in sys.modules)")


@pytest.mark.exhaustive
def test_kernels_are_loaded_from_a_folder_that_cannot_be_written(loaded: tuple[list[str], str]) -> None:
    printed, complaints = loaded
    assert (printed[:2], complaints) == ([str(2**64 - 1), "0"], "")


def test_kernels_are_loaded_without_the_linear_algebra_of_scipy(loaded: tuple[list[str], str]) -> None:
    printed, _ = loaded
    assert printed[2:] == ["False"]


@jit.subroutine
def _doubled(number: int) -> int:
    return 2 * number


@jit.kernel
def _more_than_double(number: int) -> int:
    return int(_doubled(number) + 1)


def test_a_part_of_kernels_gets_no_machine_code_of_its_own() -> None:
    assert _more_than_double(3) == 7
    _doubled.compile((numba.int64,))  # where the kernel comes from the cache nothing else compiles it
    (part,) = _doubled.overloads.values()
    (whole,) = _more_than_double.overloads.values()
    engine = whole.library.codegen._engine
    names = (part.fndesc.llvm_func_name, whole.fndesc.llvm_func_name)
    assert [engine.is_symbol_defined(name) for name in names] == [False, True]
