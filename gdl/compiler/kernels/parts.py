"""How functions are compiled that kernels alone call: typed and written down for LLVM, no further.

numba optimises the code of each function together with all that it calls, and makes machine code of it, before it does
so for the functions that call it. That takes four tenths of the time of all kernels, and is for nothing where no
function but a kernel is entered from Python: LLVM sees every part of a kernel when it optimises the kernel as a whole,
and comes to code that is as fast.
"""

from typing import Any, Final

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


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


class PartCompiler(Compiler):
    """numba's compiler, for parts of kernels."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *arguments: Any) -> None:
        part = _PartLibrary(targetctx.codegen(), "part of kernels") if library is None else library
        super().__init__(typingctx, targetctx, part, *arguments)
