"""The author's script in the process that workers are forked from, which imports this module: once for all matches.

Nothing else imports it. That process gets no path of the script from CPython before 3.13.2, and the modules beside the
script are found there as in the program itself.
*Source*: https://github.com/python/cpython/issues/126631.
"""

import gc
import json
import os
from contextlib import suppress
from multiprocessing import process, spawn

from players.kit.forking import PREPARATION


def _import_main() -> None:
    """Import `__main__` of the program as `multiprocessing` does in a new process.

    One that fails is imported again by each worker, which says what went wrong, and is lost.
    """
    preparation = os.environ.pop(PREPARATION, None)
    if preparation is None:
        return
    current = process.current_process()
    setattr(current, "_inheriting", True)  # noqa: B010 -- a script without a guard starts no process meanwhile
    try:
        with suppress(Exception, SystemExit):
            spawn.prepare(json.loads(preparation))
    finally:
        delattr(current, "_inheriting")


def _collect_own() -> None:
    """Look for garbage from now on, among what this worker makes: modules last."""
    gc.freeze()
    gc.enable()


gc.disable()  # while modules are imported, of which this is the first
os.register_at_fork(after_in_child=_collect_own)
_import_main()
