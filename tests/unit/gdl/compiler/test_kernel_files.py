"""What numba keeps of kernels: files that cannot be read are obsolete, and written anew."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numba
import pytest

from gdl.compiler.kernels.jit import KernelFiles

MOVED = b"cgdl.compiler.a_module_that_has_moved\nTables\n."
"""A pickle that names a class of a module that is not there."""


def files_in(folder: Path, stamp: str = "stamp") -> Any:
    """Return the files of a kernel; numba has no types."""
    made: Any = KernelFiles
    return made(str(folder), "kernel", stamp)


@pytest.mark.parametrize("index", [MOVED, b"", b"garbage", pickle.dumps(("stamp", {}))[:-2], pickle.dumps(5)])
def test_an_index_that_cannot_be_read_is_empty_and_written_anew(tmp_path: Path, index: bytes) -> None:
    files = files_in(tmp_path)
    (tmp_path / "kernel.nbi").write_bytes(pickle.dumps(numba.__version__) + index)
    assert files.load("key") is None
    files.save("key", "machine code")
    assert files.load("key") == "machine code"


@pytest.mark.parametrize("data", [MOVED, b"", b"garbage"])
def test_a_kernel_that_cannot_be_read_is_written_anew(tmp_path: Path, data: bytes) -> None:
    files = files_in(tmp_path)
    files.save("key", "machine code")
    (tmp_path / "kernel.1.nbc").write_bytes(data)
    assert files.load("key") is None
    files.save("key", "machine code again")
    assert files.load("key") == "machine code again"


def test_files_of_other_code_are_not_loaded(tmp_path: Path) -> None:
    files_in(tmp_path).save("key", "machine code")
    assert files_in(tmp_path, "another stamp").load("key") is None
