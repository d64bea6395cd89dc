"""How kernels are compiled: by numba, once on a machine, and once more when the code of any of them has changed.

numba keeps compiled code as long as the file of the outermost function stays as it is; ours call functions of other
files that become part of them. So what is kept is stamped with all files that kernels are made of: those of the engine,
and those beside the kernel where another package has kernels of its own.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.np import linalg

from gdl.compiler.kernels.parts import PartCompiler

FILES: Final = (*sorted(Path(__file__).parent.glob("*.py")), Path(__file__).parent.with_name("tables.py"))
"""The files whose code or constants become part of kernels."""


def _without_blas() -> None:
    raise ImportError("no kernel needs linear algebra")


def _load_array_functions() -> None:
    """Have numba load what it would load for the first kernel, but for SciPy's linear algebra.

    Where SciPy is installed numba looks for that once, which takes a third of the time that all kernels take to load.
    """
    found, linalg.ensure_blas = linalg.ensure_blas, _without_blas
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = found


_load_array_functions()


@cache
def _fingerprint(folder: Path) -> str:
    """Return what stands for the code of all kernels that those of the package at *folder* are made of."""
    own = () if folder == Path(__file__).parent else sorted(folder.glob("*.py"))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in (*FILES, *own))).hexdigest()


KERNELS: Final[list[Any]] = []
"""The kernels of all modules that are imported, compiled or not."""


class KernelFiles(IndexDataCacheFile):
    """The files in which numba keeps a function; those that cannot be read are obsolete, and written anew.

    They are pickles, which name classes: one that has moved since is in no module any more.
    """

    def _load_index(self) -> dict[Any, Any]:
        try:
            found: dict[Any, Any] = super()._load_index()
        except Exception:  # whatever reading a pickle leads to
            return {}
        return found

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except Exception as error:  # as above; numba takes this one for a file that is not there
            raise OSError(f"{name} is obsolete") from error


class _KernelCache(FunctionCache):
    """What numba keeps of a function on disk, stamped with the code of all kernels."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = _fingerprint(Path(function.__code__.co_filename).parent)
        self._cache_file = KernelFiles(self._cache_path, self._impl.filename_base, stamp)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    njit: Any = numba.njit  # whose types leave out the options about wrappers
    return njit(nogil=True, boundscheck=False, no_cfunc_wrapper=True, **options)(function)


def kernel(function: Callable[..., Any]) -> Any:
    """Return *function* compiled when it is first called, or loaded from disk; it holds no lock and checks no index."""
    dispatcher = _compiled(function)
    dispatcher._cache = _KernelCache(function)
    KERNELS.append(dispatcher)
    return dispatcher


def subroutine(function: Callable[..., Any]) -> Any:
    """Return *function* as a part of kernels, which alone call it; it is compiled with each of them."""
    return _compiled(function, no_cpython_wrapper=True, pipeline_class=PartCompiler)


def inlined(function: Callable[..., Any]) -> Any:
    """Return *function* as a part of kernels that is inlined wherever it is called."""
    # LLVM inlines, not numba: a function that numba inlines is typed anew at each call, which takes most of the time.
    return _compiled(function, no_cpython_wrapper=True, forceinline=True, pipeline_class=PartCompiler)
