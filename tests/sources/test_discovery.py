"""Which files the given inputs name, and why some can't be opened."""

from __future__ import annotations

import io
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from forensics.model.errors import UsageError
from forensics.sources import discovery


def names(*inputs: object) -> list[str]:
    """Return the names of what inputs expand to."""
    return [item.name for item in discovery.discover(map(str, inputs))]


def files(folder: Path, *paths: str) -> Path:
    """Create small files."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x\n")
    return folder


def test_folder_is_walked(tmp_path: Path) -> None:
    """A folder gives all its files by their path inside it, sorted; hidden ones are left out."""
    files(tmp_path, "b.log", "a/c.log", ".hidden", ".git/config", "a/.x/y")

    assert names(tmp_path) == ["a/c.log", "b.log"]


def test_names_hold_no_path_of_the_machine(tmp_path: Path) -> None:
    """A file is called by its own name, wherever it lies."""
    files(tmp_path, "deep/er/a.log")

    assert names(tmp_path / "deep/er/a.log") == ["a.log"]
    assert names(f"{tmp_path}/deep/*/a.log") == ["a.log"]


def test_empty_folder(tmp_path: Path) -> None:
    """An empty folder has no files and is no error here."""
    assert names(tmp_path) == []


def test_glob(tmp_path: Path) -> None:
    """A glob is expanded in sorted order; ** goes down."""
    files(tmp_path, "b.log", "a.log", "c.txt", "d/e.log")

    assert names(f"{tmp_path}/*.log") == ["a.log", "b.log"]
    assert names(f"{tmp_path}/**/*.log") == ["a.log", "b.log", "e.log"]


def test_a_file_named_like_a_glob(tmp_path: Path) -> None:
    """A file that exists is taken as it is, even if its name has wildcards."""
    files(tmp_path, "a[1].log")

    assert names(tmp_path / "a[1].log") == ["a[1].log"]


@pytest.mark.parametrize("name", ["nothing", "nothing/*.log", "*.nothing", ""])
def test_missing_is_refused(name: str, tmp_path: Path, monkeypatch) -> None:
    """An input that names nothing is a usage error that says which."""
    monkeypatch.chdir(files(tmp_path, "a.log"))
    if name == "":
        name = "./nowhere"
    with pytest.raises(UsageError, match="no such file or folder") as refused:
        names(name)

    assert str(refused.value).startswith(f"{name}: ")


def test_same_file_twice_is_read_once(tmp_path: Path) -> None:
    """A file that two inputs name is read once."""
    files(tmp_path, "a.log")

    assert names(tmp_path, tmp_path / "a.log", f"{tmp_path}/./*.log") == ["a.log"]


def test_same_file_by_another_path(tmp_path: Path, monkeypatch) -> None:
    """A relative and an absolute path name the same file."""
    monkeypatch.chdir(files(tmp_path, "a.log"))

    assert names("a.log", tmp_path / "a.log") == ["a.log"]


def test_same_name_in_two_folders(tmp_path: Path) -> None:
    """Two files of one name stay apart in the report."""
    files(tmp_path, "monday/api.log", "tuesday/api.log")
    found = names(tmp_path / "monday/api.log", tmp_path / "tuesday/api.log")

    assert len(set(found)) == 2


def trouble(path: Path) -> str:
    """Return why one file can't be opened."""
    (item,) = discovery.discover([str(path)])
    assert item.trouble is not None
    return item.trouble


def test_dangling_link(tmp_path: Path) -> None:
    """A link to nothing is listed with a reason, alone and in a folder."""
    (tmp_path / "gone.log").symlink_to(tmp_path / "nowhere")

    assert "export" in trouble(tmp_path / "gone.log")
    assert "export" in trouble(tmp_path)


def test_fifo(tmp_path: Path) -> None:
    """A pipe without a writer is not opened, which would wait for ever."""
    os.mkfifo(tmp_path / "pipe")

    assert trouble(tmp_path / "pipe").startswith("not a regular file")


def test_permission(tmp_path: Path, monkeypatch) -> None:
    """A file that may not be read is listed with its mode and the remedy."""
    path = files(tmp_path, "secret.log") / "secret.log"
    path.chmod(0)

    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)

    assert trouble(path) == "permission denied (mode 0); copy it with sudo and make the copy readable"


def test_unreadable_subfolder_is_listed(tmp_path: Path, monkeypatch) -> None:
    """A folder below the input that may not be listed is named, since its files are missing from the report."""
    files(tmp_path, "a.log", "locked/b.log")
    real = os.scandir

    def refuse(path: object) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", refuse)

    assert "locked" in names(tmp_path)


def test_linked_folder_is_followed_or_listed(tmp_path: Path) -> None:
    """A link to a folder is not silently left out."""
    files(tmp_path, "real/b.log", "in/a.log")
    (tmp_path / "in/link").symlink_to(tmp_path / "real")

    assert len(names(tmp_path / "in")) == 2


def test_standard_input_is_spooled(monkeypatch) -> None:
    """`-` is copied to a private file that only its owner can read."""
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"a line\n")))
    (item,) = discovery.discover(["-"])

    assert item.name == "stdin"
    assert item.path.read_bytes() == b"a line\n"
    assert item.path.parent.stat().st_mode & 0o077 == 0
    item.path.unlink()
    item.path.parent.rmdir()


def test_rotated_sets_are_in_natural_order(tmp_path: Path) -> None:
    """Numbers in names count by value, and the order does not hang on the order of the files."""
    files(tmp_path, "x.log.10.gz", "x.log.2.gz", "x.log", "x.log.1", "a/9.log", "a/10.log", "x-json.log.1.gz")

    assert names(tmp_path) == [
        "a/9.log",
        "a/10.log",
        "x-json.log.1.gz",
        "x.log",
        "x.log.1",
        "x.log.2.gz",
        "x.log.10.gz",
    ]


def test_natural_order_is_total() -> None:
    """Names that differ only in leading zeros, or in nothing but endless digits, are still in one order."""
    found = ["a01", "a1", "a001", "a" + "9" * 5000, "a", "", "1", "01", "a1b", "a1-"]

    backwards = list(reversed(found))

    assert sorted(found, key=discovery.natural) == sorted(backwards, key=discovery.natural)
    assert len({discovery.natural(name) for name in found}) == len(found)


def test_limits_reach_a_single_file(tmp_path: Path) -> None:
    """A compressed file is unpacked up to the limit that was given with it."""
    import gzip

    from forensics.sources import streams

    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(b"line\n" * 1_000_000))
    (item,) = discovery.discover([str(path)], limits=streams.Limits(total=2 << 20))
    damage = streams.Damage()
    given = sum(map(len, streams.chunks(item.path, damage)))

    assert given < 5_000_000
    assert [note.partition(" after")[0] for note in damage.notes] == ["unpacking stopped"]
    (item,) = discovery.discover([str(path)])
    assert sum(map(len, streams.chunks(item.path))) == 5_000_000
