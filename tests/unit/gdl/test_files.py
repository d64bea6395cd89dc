"""Files that are replaced in one step, or locked for one process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gdl.files import PRIVATE, open_locked, replacing, writing


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("is_durable", [True, False])
def test_a_reader_finds_the_old_content_until_the_new_one_is_whole(tmp_path: Path, is_durable: bool) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with replacing(path, is_durable=is_durable) as passing:
        passing.write_text("ne")
        seen = [path.read_text()]
        passing.write_text("new")
    assert [*seen, path.read_text(), names(tmp_path)] == ["old", "new", ["file"]]


def test_what_fails_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), replacing(path) as passing:
        passing.write_text("ne\ud800", encoding="utf-8")
    assert (path.read_text(), names(tmp_path)) == ("old", ["file"])


def test_a_private_file_is_private_from_its_first_byte(tmp_path: Path) -> None:
    with replacing(tmp_path / "file", PRIVATE) as passing:
        modes = [passing.stat().st_mode & 0o777]
    assert [*modes, (tmp_path / "file").stat().st_mode & 0o777] == [0o600, 0o600]


@pytest.mark.parametrize("name", ["n" * 255, "棋" * 85, "\udce9" * 255])
def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with replacing(path) as passing:
        passing.write_text("new")
    assert path.read_text() == "new"


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "folder" / "file"):
        pass


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="a device or a pipe cannot be replaced; name a file on a disk") as caught:
        replacing(path).__enter__()
    assert (caught.value.filename, path.is_fifo(), names(tmp_path)) == (str(path), True, ["pipe"])


def test_an_error_names_the_file_that_was_meant(tmp_path: Path) -> None:
    path = tmp_path / "no" / "file"
    with pytest.raises(FileNotFoundError) as caught, replacing(path):
        pass
    assert caught.value.filename == str(path)


def test_a_disk_that_is_full_is_told_with_the_file_that_was_meant(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(OSError, match="No space left") as caught, replacing(path):
        Path("/dev/full").write_text("new")
    assert caught.value.filename == str(path)


@pytest.mark.parametrize("is_link", [False, True])
def test_what_a_user_wants_is_there_whole_or_not_at_all(tmp_path: Path, is_link: bool) -> None:
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    path.write_text("old")
    named = tmp_path / "link" if is_link else path
    if is_link:
        named.symlink_to(path)
    with pytest.raises(UnicodeEncodeError), writing(named) as file:
        file.write_text("ha\ud800", encoding="utf-8")
    seen = [path.read_text()]
    with writing(named) as file:
        file.write_text("new")
    assert [*seen, path.read_text(), named.is_symlink(), names(path.parent)] == ["old", "new", is_link, ["file"]]


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_a_file_that_is_written_anew_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(mode)
    with writing(path) as file:
        file.write_text("new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", mode)


def test_a_pipe_is_written_to_itself(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with writing(path) as file:
        file.write_text("new")
    assert (os.read(reader, 10), path.is_fifo(), names(tmp_path)) == (b"new", True, ["pipe"])
    os.close(reader)


def test_a_file_that_is_a_stream_of_the_process_is_added_to(tmp_path: Path) -> None:
    path = tmp_path / "file"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    with writing(Path(f"/dev/fd/{handle}")) as file:
        file.write_text("new")
    assert (os.fstat(handle).st_nlink, path.read_text(), names(tmp_path)) == (1, "new", ["file"])
    os.close(handle)


def test_a_file_is_locked_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    handle = open_locked(path, PRIVATE)
    with pytest.raises(BlockingIOError) as refused:
        open_locked(path, PRIVATE)
    os.close(handle)
    os.close(open_locked(path, PRIVATE))
    assert (refused.value.filename, path.stat().st_mode & 0o777) == (str(path), PRIVATE)
