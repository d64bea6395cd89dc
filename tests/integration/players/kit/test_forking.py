"""Workers are forked wherever temporary files lie, and whatever becomes of these."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

SCRIPT: Final = """
import shutil, tempfile, time
from multiprocessing.util import get_temp_dir
from pathlib import Path
from players.kit import forking

def fork():
    process = forking.CONTEXT.Process(target=time.sleep, args=(0,))
    forking.start(process)
    process.join()
    return process.exitcode

def clean_up():
    for entry in Path(tempfile.gettempdir()).iterdir():
        shutil.rmtree(entry)

forking.prepare([])
"""


def run_in(folder: Path, script: str) -> list[str]:
    """Return what *script* prints where temporary files lie in *folder*; it complains of nothing."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + script],
        capture_output=True, text=True, check=True, env={**os.environ, "TMPDIR": str(folder)}, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split()


def test_a_worker_is_forked_after_the_temporary_files_were_removed(tmp_path: Path) -> None:
    assert run_in(tmp_path, "print(fork()); clean_up(); print(fork(), fork())") == ["0", "0", "0"]
    assert [*tmp_path.iterdir()] == []


def test_a_worker_goes_on_when_its_fork_server_is_replaced(tmp_path: Path) -> None:
    script = """
early = forking.CONTEXT.Process(target=time.sleep, args=(1000,))
forking.start(early)
clean_up()
print(fork(), early.is_alive())
early.terminate()
early.join()
print(early.is_alive())
"""
    assert run_in(tmp_path, script) == ["0", "True", "False"]


def test_a_program_ends_in_silence_after_the_temporary_files_were_removed(tmp_path: Path) -> None:
    assert run_in(tmp_path, "print(fork()); clean_up()") == ["0"]


def test_a_folder_whose_path_is_too_long_for_a_socket_gives_way_to_another(tmp_path: Path) -> None:
    folder = tmp_path / ("d" * 95)
    folder.mkdir()
    code, used = run_in(folder, "print(fork(), get_temp_dir())")
    assert (code, Path(used).parent, Path(used).exists()) == ("0", Path("/tmp"), False)


def test_a_worker_is_forked_after_the_current_folder_was_removed(tmp_path: Path) -> None:
    script = "import os\nos.mkdir('gone')\nos.chdir('gone')\nos.rmdir(Path.cwd())\nprint(fork(), Path('.').is_dir())"
    assert run_in(tmp_path, f"import os\nos.chdir({str(tmp_path)!r})\n{script}") == ["0", "True"]


def test_a_worker_looks_for_garbage_among_what_it_makes_alone(tmp_path: Path) -> None:
    script = """
import gc
forking.CONTEXT.set_forkserver_preload(["players.kit.forked_main"])
clean_up()
fork()
with forking.CONTEXT.Pool(1) as pool:
    print(pool.apply(gc.isenabled), pool.apply(gc.get_freeze_count) > 1000)
"""
    assert run_in(tmp_path, script) == ["True", "True"]
