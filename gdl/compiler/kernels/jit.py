"""How kernels are compiled: by numba, once on a machine, and once more when the code of any of them has changed.

numba keeps compiled code as long as the file of the outermost function stays as it is; ours call functions of other
files that become part of them. So what is kept is stamped with all files that kernels are made of: those of the engine,
and where another package has kernels of its own, those beside the kernel and beside the functions that it imports.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.dispatcher import Dispatcher
from numba.np import linalg

from gdl.errors import GdlError

FILES: Final = (*sorted(Path(__file__).parent.glob("*.py")), Path(__file__).parent.with_name("tables.py"))
"""The files whose code or constants become part of kernels."""
_LOG: Final = logging.getLogger(__name__)


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
def _fingerprint(folders: frozenset[Path]) -> str:
    """Return what stands for the code of all kernels that those of the packages at *folders* are made of."""
    others = sorted(file for folder in folders - {Path(__file__).parent} for file in folder.glob("*.py"))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in (*FILES, *others))).hexdigest()


def _folders(function: Callable[..., Any]) -> frozenset[Path]:
    """Return where the files are that *function*, and the functions that its module has imported, are written in."""
    parts = (value.py_func for value in function.__globals__.values() if isinstance(value, Dispatcher))
    return frozenset(Path(part.__code__.co_filename).parent for part in (function, *parts))


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


class _ReadOnlyLocator(InTreeCacheLocator):
    """The folder that numba would write kernels to: those that it holds are loaded where nothing can be written."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        settings: Any = numba.config  # made at run time
        if folder := settings.CACHE_DIR:
            self._cache_path = str(Path(folder, self.get_suitable_cache_subpath(file)))

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _ReadOnlyLocator:
        """Return where the kernels of *function* would be, whether or not that can be written."""
        return cls(function, file)


class _KernelFolder(CompileResultCacheImpl):
    """Finds the folder of a kernel: the first that can be written, else one to read from."""

    _locator_classes = [*CompileResultCacheImpl._locator_classes, _ReadOnlyLocator]  # noqa: RUF012 -- as numba has it


UNKEPT: Final[dict[Callable[..., Any], tuple[Path, str]]] = {}
"""The functions that this process has compiled and could not keep: in which folder, and why."""


class UnkeptKernelsError(GdlError, RuntimeError):
    """The system keeps no compiled kernels on disk."""

    template: ClassVar[str] = (
        "{n_kernels} kernels could not be kept on disk below {folder} ({reason}); "
        "NUMBA_CACHE_DIR names another folder for them"
    )
    n_kernels: int
    folder: Path
    reason: str


def check_kept() -> None:
    """Look whether all that this process has compiled was kept.

    Raises:
        UnkeptKernelsError: some of it could not be.
    """
    if UNKEPT:
        folders, reasons = zip(*UNKEPT.values(), strict=True)
        raise UnkeptKernelsError(len(UNKEPT), Path(os.path.commonpath(folders)), reasons[0])


@cache
def _warn(reason: str) -> None:
    """Say once in a process that kernels cannot be kept."""
    _LOG.warning(
        "compiled kernels cannot be kept on disk (%s), and each process compiles them anew; "
        "NUMBA_CACHE_DIR names another folder for them",
        reason,
    )


class _KernelCache(FunctionCache):
    """What numba keeps of a function on disk, stamped with the code of all kernels."""

    _impl_class = _KernelFolder

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = _fingerprint(_folders(function))
        self._cache_file = KernelFiles(self._cache_path, self._impl.filename_base, stamp)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was *compiled*; where the disk takes nothing it serves this process all the same."""
        try:
            super().save_overload(signature, compiled)
        except OSError as error:
            reason = error.strerror or str(error)
            UNKEPT[self._py_func] = (Path(self.cache_path).absolute(), reason)
            _warn(reason)


class _NoEnvironment:
    """Takes the place of what generates machine code, where numba asks it to tell a function of its globals."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: there is no machine code to tell."""


_NO_ENVIRONMENT: Final = _NoEnvironment()


class _PartLibrary(JITCodeLibrary):
    """The code of a part, which is linked into kernels as numba has written it."""

    @property
    def codegen(self) -> _NoEnvironment:
        """What numba tells of globals after the compilation."""
        return _NO_ENVIRONMENT

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002 -- the signature is numba's
        """Return 0: no function has an entry."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        """Leave that to the kernels."""

    def _finalize_final_module(self) -> None:
        """Make no machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True


class _PartCompiler(Compiler):
    """numba's compiler, for functions that kernels alone call: they are typed and written down for LLVM, no further.

    numba optimises the code of each function together with all that it calls, and makes machine code of it, before it
    does so for the functions that call it. That takes four tenths of the time of all kernels, and is for nothing where
    no function but a kernel is entered from Python: LLVM sees every part of a kernel when it optimises the kernel as a
    whole, and comes to code that is as fast.
    """

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *arguments: Any) -> None:
        part = _PartLibrary(targetctx.codegen(), "part of kernels") if library is None else library
        super().__init__(typingctx, targetctx, part, *arguments)


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
    return _compiled(function, no_cpython_wrapper=True, pipeline_class=_PartCompiler)


def inlined(function: Callable[..., Any]) -> Any:
    """Return *function* as a part of kernels that is inlined wherever it is called."""
    # LLVM inlines, not numba: a function that numba inlines is typed anew at each call, which takes most of the time.
    return _compiled(function, no_cpython_wrapper=True, forceinline=True, pipeline_class=_PartCompiler)
