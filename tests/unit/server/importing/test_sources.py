"""Folders and archives of others: what is read of them, and what of hostile ones is not."""

from __future__ import annotations

import errno
import io
import os
import stat
import zipfile
from pathlib import Path
from typing import IO, Any

import pytest

from server.errors import ImportSourceError
from server.importing.sources import ImportLimits, files_of_bytes, files_of_path

LIMITS = ImportLimits()
SMALL = ImportLimits(files=4, file_bytes=100, total_bytes=250, archive_bytes=3_000)


def packed(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_a_folder_is_read_at_any_depth_without_hidden_folders_links_and_style_sheets(tmp_path: Path) -> None:
    for name in ("nim/nim.kif", "nim/METADATA", "nim/nim.xsl", "a/b/c/deep.GDL", ".git/x.kif", "other/y.rg"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("(role a)", encoding="utf-8")
    (tmp_path / "link.kif").symlink_to("/etc/passwd")
    (tmp_path / "elsewhere").symlink_to("/etc")
    found = files_of_path(tmp_path, LIMITS)
    assert sorted(found.files) == ["a/b/c/deep.GDL", "nim/METADATA", "nim/nim.kif"]
    assert found.passed_over == {
        "link.kif": "a link, or no plain file",
        "other/y.rg": "Regular Games: not the Game Description Language",
    }


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let folders and files called `closed` be such as this process may not read, whoever runs it."""
    scan, open_file = os.scandir, Path.open

    def refuse(path: Path) -> None:
        if path.stem == "closed":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

    def scandir(path: str | Path) -> object:
        refuse(Path(path))
        return scan(path)

    def opened(path: Path, mode: str = "r") -> IO[Any]:
        if mode.startswith("r"):
            refuse(path)
        return open_file(path, mode)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(Path, "open", opened)


@pytest.mark.usefixtures("closed")
def test_what_cannot_be_read_in_a_folder_is_passed_over_with_the_reason(tmp_path: Path) -> None:
    for name in ("closed/x.kif", "nim/nim.kif", "nim/closed.kif"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"(role a)")
    found = files_of_path(tmp_path, LIMITS)
    assert (list(found.files), found.passed_over) == (
        ["nim/nim.kif"],
        {"closed": "Permission denied", "nim/closed.kif": "Permission denied"},
    )


@pytest.mark.usefixtures("closed")
def test_a_folder_that_cannot_be_read_is_no_empty_one(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    with pytest.raises(PermissionError) as refused:
        files_of_path(tmp_path / "closed", LIMITS)
    assert refused.value.filename == str(tmp_path / "closed")


def test_an_archive_is_read_and_paths_that_lead_elsewhere_are_not() -> None:
    names = ["nim/nim.kif", "../up.kif", "/root.kif", "c:/drive.kif", "a\\..\\..\\b.kif"]
    found = files_of_bytes(packed(dict.fromkeys(names, b"(role a)")), "games.zip", LIMITS)
    assert list(found.files) == ["nim/nim.kif"]
    assert set(found.passed_over.values()) == {"its path leads out of the archive"}
    assert len(found.passed_over) == 4


def test_links_in_an_archive_are_not_read() -> None:
    buffer, link = io.BytesIO(), zipfile.ZipInfo("link.kif")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    found = files_of_bytes(buffer.getvalue(), "games.zip", LIMITS)
    assert (found.files, found.passed_over) == ({}, {"link.kif": "a link, or no plain file"})


def test_a_bomb_is_not_unpacked() -> None:
    bomb = packed({"bomb.kif": b" " * 10_000_000, "nim.kif": b"(role a)"})
    assert len(bomb) < 20_000
    found = files_of_bytes(bomb, "games.zip", LIMITS)
    assert (list(found.files), found.passed_over) == (
        ["nim.kif"], {"bomb.kif": "the file has more than 2,000,000 bytes"}
    )  # fmt: skip


def damaged(files: dict[str, bytes]) -> bytes:
    """Return an archive whose files are not what it says of them."""
    raw = packed(files, zipfile.ZIP_STORED)
    for content in files.values():
        raw = raw.replace(content, b"?" * len(content))
    return raw


def test_a_file_that_is_too_large_is_not_even_unpacked() -> None:
    found = files_of_bytes(damaged({"large.kif": b"x" * 101}), "games.zip", SMALL)
    assert (found.passed_over, found.n_bytes) == ({"large.kif": "the file has more than 100 bytes"}, 0)


def test_damaged_files_count_since_they_were_unpacked() -> None:
    with pytest.raises(ImportSourceError, match="all files together have more than 250 bytes"):
        files_of_bytes(damaged({f"{n}.kif": b"x" * 99 for n in range(3)}), "games.zip", SMALL)


def test_other_ways_of_packing_and_damaged_entries_are_passed_over() -> None:
    raw = packed({"good.kif": b"(role a)"})
    lzma = packed({"lzma.kif": b"(role a)"}, zipfile.ZIP_LZMA)
    damaged = raw.replace(b"PK\x01\x02", b"PK\x01\x02", 1)
    at = damaged.index(b"good.kif") + len("good.kif")
    damaged = damaged[:at] + b"\xff" + damaged[at + 1 :]
    assert files_of_bytes(lzma, "x.zip", LIMITS).passed_over == {
        "lzma.kif": "it is packed in another way than by deflate"
    }
    found = files_of_bytes(damaged, "x.zip", LIMITS)
    assert (found.files, list(found.passed_over)) == ({}, ["good.kif"])


def test_an_entry_without_a_name_is_none_that_is_wanted() -> None:
    raw = packed({"@x.kif": b"(role a)", "good.kif": b"(role a)"}).replace(b"@x.kif", b"\0x.kif")
    found = files_of_bytes(raw, "x.zip", LIMITS)
    assert (list(found.files), found.passed_over) == (["good.kif"], {})


@pytest.mark.parametrize(
    ("raw", "name", "reason"),
    [
        (packed({f"{n}.kif": b"(role a)" for n in range(5)}), "x.zip", "it has more than 4 entries"),
        (packed({f"{n}.kif": b"x" * 99 for n in range(3)}), "x.zip", "all files together have more than 250 bytes"),
        (b"PK" + bytes(4_000), "x.zip", "it has more than 3,000 bytes"),
        (b"PK" + bytes(100), "x.zip", "no ZIP archive that can be read: it is cut off"),
        (b"%PDF", "x.pdf", "neither a folder, nor a ZIP archive, nor a .kif or .gdl file"),
    ],
)
def test_what_is_too_much_or_nothing_is_refused(raw: bytes, name: str, reason: str) -> None:
    with pytest.raises(ImportSourceError) as error:
        files_of_bytes(raw, name, SMALL)
    assert error.value.reason == reason


def test_a_list_of_a_million_entries_is_refused_before_it_is_read() -> None:
    end = b"PK\x05\x06" + bytes(8) + (100_000_000).to_bytes(4, "little") + bytes(6)
    with pytest.raises(ImportSourceError, match="too many entries"):
        files_of_bytes(b"PK\x03\x04" + end, "x.zip", LIMITS)


def test_sizes_of_64_bits_are_refused() -> None:
    locator = b"PK\x06\x07" + bytes(16)
    end = b"PK\x05\x06" + bytes(18)
    with pytest.raises(ImportSourceError, match="too many entries"):
        files_of_bytes(b"PK\x03\x04" + locator + end, "x.zip", LIMITS)


@pytest.mark.parametrize("cut", [1, 10, 30, 60])
def test_an_archive_that_is_cut_off_is_refused(cut: int) -> None:
    with pytest.raises(ImportSourceError):
        files_of_bytes(packed({"nim.kif": b"(role a)"})[:-cut], "x.zip", LIMITS)
