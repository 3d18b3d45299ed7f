"""A database is read from a private copy, with its log wherever that lies, and nothing is made beside the evidence."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
import tarfile
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from forensics.engine import read_all
from forensics.ingest import plan
from forensics.model.errors import UnreadableError
from forensics.signatures import Matcher, load
from forensics.sources import sqlite, streams
from forensics.sources.discovery import discover
from forensics.sources.limits import Damage, noting

if TYPE_CHECKING:
    from pathlib import Path

MATCHER = Matcher(load())
MISSING = "no write-ahead log lies beside it: if it was copied while the monitor ran, recent rows are missing; copy NAME-wal together with NAME"


@pytest.fixture
def kuma(tmp_path: Path) -> Path:
    """Return a folder with a database of which the last of three rows lies in the log alone."""
    folder = tmp_path / "live"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "kuma.db")) as database:
        database.execute("pragma journal_mode = wal")
        database.execute("create table monitor (id integer primary key, name text, interval integer)")
        database.execute("create table heartbeat (id integer primary key, important integer, monitor_id integer, status integer, msg text, time text, ping integer)")  # fmt: skip
        database.execute("insert into monitor values (1, 'api', 60)")
        rows = [(n, 0, 1, 1, "200 - OK", f"2026-11-29 12:0{n}:00.000", 20) for n in range(3)]
        database.executemany("insert into heartbeat values (?, ?, ?, ?, ?, ?, ?)", rows[:2])
        database.commit()
        database.execute("pragma wal_checkpoint(truncate)")
        database.execute("insert into heartbeat values (?, ?, ?, ?, ?, ?, ?)", rows[2])
        database.commit()
        copied = tmp_path / "copy"
        shutil.copytree(folder, copied)
    return copied


def beats(path: Path) -> dict[str, tuple[int | None, tuple[str, ...], str | None]]:
    """Return the number of results, the limits and the reason of every input."""
    reading = read_all(plan.make(discover([str(path)])), MATCHER, streams.SHARD_BYTES)
    table = reading.digest.frames.get("beats")
    found = {}
    for fact in reading.facts:
        source = fact.source
        count = None if table is None else table.filter(table["source"] == source.index).height
        found[source.name] = (count, source.limits, source.skipped)
    return found


def test_folder(kuma: Path) -> None:
    """The row in the log is read, the log is part of the database's input, and the folder stays as it was."""
    before = {path.name: path.read_bytes() for path in kuma.iterdir()}
    kuma.chmod(0o555)
    found = beats(kuma)
    kuma.chmod(0o755)

    assert {path.name: path.read_bytes() for path in kuma.iterdir()} == before
    assert found == {"kuma.db": (3, (), None)}


def test_file_alone(kuma: Path) -> None:
    """The log is found beside a database that was given by name."""
    assert beats(kuma / "kuma.db") == {"kuma.db": (3, (), None)}


def test_without_its_log(kuma: Path) -> None:
    """Rows that may be missing are said."""
    (kuma / "kuma.db-wal").unlink()
    (kuma / "kuma.db-shm").unlink()
    assert beats(kuma) == {"kuma.db": (2, (MISSING,), None)}


def test_of_a_database_without_a_log(tmp_path: Path) -> None:
    """A database in the other journal mode has no log to miss."""
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.execute("create table t (x)")
        database.commit()
    damage = Damage()
    with noting(damage), sqlite.copy(tmp_path / "a.db") as copy:
        assert sqlite.columns(copy, "t") == {"x"}
    assert damage.notes == []


def test_log_alone(kuma: Path) -> None:
    """A log without its database is one line that says what to copy."""
    (kuma / "kuma.db").unlink()
    (kuma / "kuma.db-shm").unlink()
    assert beats(kuma)["kuma.db-wal"][2] == (
        "SQLite's write-ahead log without its database; copy the database together with it: NAME.db and NAME.db-wal"
    )


@pytest.mark.parametrize("packed", ["zip", "tar", "tar.gz", "each"])
def test_packed(packed: str, kuma: Path, tmp_path: Path) -> None:
    """Database and log are found together inside an archive, and where each was compressed on its own."""
    target = tmp_path / "packed"
    target.mkdir()
    names = ["kuma.db", "kuma.db-wal"]
    if packed == "zip":
        with zipfile.ZipFile(target / "in.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                archive.write(kuma / name, f"data/{name}")
    elif packed == "each":
        for name in names:
            (target / f"{name}.gz").write_bytes(gzip.compress((kuma / name).read_bytes()))
    else:
        with tarfile.open(target / "in", "w:gz" if packed == "tar.gz" else "w") as archive:
            for name in names:
                archive.add(kuma / name, f"data/{name}")
    found = beats(target)

    assert list(found.values()) == [(3, (), None)]


def test_compressed_without_its_log(kuma: Path, tmp_path: Path) -> None:
    """A compressed database is read from its unpacked copy."""
    path = tmp_path / "kuma.db.zst.gz"
    path.write_bytes(gzip.compress((kuma / "kuma.db").read_bytes()))
    assert beats(path) == {"kuma.db.zst.gz": (2, (MISSING,), None)}


def test_truncated(kuma: Path, tmp_path: Path) -> None:
    """A database that was cut says how much is there."""
    whole = (kuma / "kuma.db").read_bytes()
    path = tmp_path / "cut.db"
    path.write_bytes(whole[:4096])
    damage = Damage()
    with noting(damage), pytest.raises(UnreadableError), sqlite.copy(path) as database:
        database.execute("select * from heartbeat").fetchall()

    assert f"the database is cut: 4,096 of {len(whole):,} bytes are there; copy it again" in damage.notes


@pytest.mark.parametrize("data", [b"SQLite format 3\0", b"\x8f" * 5000, b"text\n" * 90])
def test_no_database(data: bytes, tmp_path: Path) -> None:
    """What is no database, or an encrypted one, is told in one line with a remedy."""
    path = tmp_path / "x.db"
    path.write_bytes(data)
    with pytest.raises(UnreadableError) as refused, sqlite.copy(path):
        pass
    assert str(refused.value).startswith("SQLite cannot read it (")
    assert "encrypted" in str(refused.value)


def test_cut_log(kuma: Path) -> None:
    """A log that was cut gives the rows that were committed before."""
    log = kuma / "kuma.db-wal"
    log.write_bytes(log.read_bytes()[:40])
    assert beats(kuma)["kuma.db"] == (2, (), None)
