"""The live journal of this host, or a folder or file of journals, read by libsystemd (extra ``journald``).

Entries come in bounded frames of the raw fields as text, times as integers of microseconds; the window and the units
of a request are handed to libsystemd. Where each frame began is kept in the ledger, a small private file that stands
for the input, so that the same entries can be read again by cursor.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.errors import UnreadableError
from forensics.sources.live_request import PREFIX, Request, Window, module, request

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

FRAME_BYTES = 32 << 20
"""Text in one frame; the frame itself, with what Python keeps beside it, takes a few times as much."""
OVERHEAD = 64
"""Bytes counted for each value beside its text, so that many small entries are bounded as well."""
LATE_US = 60_000_000
"""Receipt may be later than the source's own time: so much more is read behind the end of a window."""
THIS_HOST = 1
"""``SD_JOURNAL_LOCAL_ONLY``: what journalctl reads without options."""
STAMPS = ("__CURSOR", "__REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP", "_BOOT_ID")
"""Columns every frame has, beside ``ordinal``."""
UNIT_FIELDS = (
    "_SYSTEMD_UNIT", "UNIT", "_SYSTEMD_USER_UNIT", "USER_UNIT", "OBJECT_SYSTEMD_UNIT", "COREDUMP_UNIT", "CONTAINER_NAME", "SYSLOG_IDENTIFIER",
    "_COMM",
)  # fmt: skip
"""Fields that may name the service of an entry; which of them does is decided later, so that all are matched."""


@dataclass(frozen=True, slots=True)
class Part:
    """Where a frame began and how many entries it has."""

    ordinal: int
    count: int
    cursor: str


def connect(wanted: Request) -> Any:
    """Open the journal with whole values and the matches of the units."""
    reader_of = module()._Reader  # noqa: SLF001 - the module is private but the one that gives exact integers
    try:
        if not wanted.where:
            reader = reader_of(THIS_HOST)
        elif Path(wanted.where).is_dir():
            reader = reader_of(0, path=wanted.where)
        else:
            reader = reader_of(0, files=[wanted.where])
    except OSError as error:
        raise UnreadableError(
            f"libsystemd refuses it ({error.strerror})",
            remedy=f"give the .journal file itself, without {PREFIX}, which reads damaged ones too",
        ) from error
    reader.data_threshold = 0
    for unit in wanted.window.units:
        for field in UNIT_FIELDS:
            for name in dict.fromkeys((unit, unit if "." in unit else f"{unit}.service")):
                reader.add_match(f"{field}={name}")
                reader.add_disjunction()
        if unit == "kernel":
            reader.add_match("_TRANSPORT=kernel")
            reader.add_disjunction()
    return reader


def latest(inputs: Iterable[str]) -> int:
    """Return when the newest entry of all live inputs was received (µs), 0 when there is none: a span counts back from it."""
    instants = [0]
    for text in inputs:
        if text.startswith(PREFIX):
            with suppress(UnreadableError), connect(request(text)) as reader:
                reader.seek_tail()
                if reader._previous():  # noqa: SLF001 - as in connect
                    instants.append(int(reader._get_realtime()))  # noqa: SLF001 - as in connect
    return max(instants)


def frames(
    wanted: Request, fields: Sequence[str], size: int = FRAME_BYTES, book: Path | None = None
) -> Iterator[pl.DataFrame]:
    """Yield the entries that were there at the start, some at a time, as text under the names of their fields.

    ``ordinal`` counts from 1 in each frame. Of a field with several values the first is taken.
    """
    columns = [name for name in dict.fromkeys(fields) if name not in STAMPS]
    window, at = wanted.window, 1
    with connect(wanted) as reader:
        last = tail(reader)
        if last is None:
            return
        if book is not None:
            book.write_text(json.dumps(asdict(wanted)) + "\n", encoding="utf-8")
        if window.since is None:
            reader.seek_head()
        else:
            reader.seek_realtime(max(0, window.since))
        rows: list[tuple[Any, ...]] = []
        taken, more = 0, True
        while more and reader._next():  # noqa: SLF001 - as in connect
            more = not reader.test_cursor(last)
            if inside(reader, window):
                rows.append(row(reader, columns))
                taken += sum(len(value) + OVERHEAD for value in rows[-1][3:] if value)
            if rows and (taken >= size or not more):
                yield put(book, rows, at, columns)
                at, rows, taken = at + len(rows), [], 0
        if rows:
            yield put(book, rows, at, columns)


def tail(reader: Any) -> str | None:
    """Return the cursor of the newest entry that matches, None when there is none."""
    reader.seek_tail()
    return str(reader._get_cursor()) if reader._previous() else None  # noqa: SLF001 - as in connect


def inside(reader: Any, window: Window) -> bool:
    """Is the entry under the reader inside the window? A clock that was set back makes times go down and up again."""
    if window.since is None and window.until is None:
        return True
    at = int(reader._get_realtime())  # noqa: SLF001 - as in connect
    return (window.since is None or at >= window.since) and (
        window.until is None or at <= window.until + LATE_US
    )


def row(reader: Any, columns: Sequence[str]) -> tuple[Any, ...]:
    """Return the entry under the reader: its stamps, then its fields."""
    found = reader._get_all()  # noqa: SLF001 - as in connect
    stamp = reader._get_monotonic()  # noqa: SLF001 - as in connect
    return (
        int(reader._get_realtime()),  # noqa: SLF001 - as in connect
        int(stamp[0]),
        bytes(stamp[1]).hex(),
        str(reader._get_cursor()),  # noqa: SLF001 - as in connect
        *(text(found.get(name)) for name in columns),
    )


def text(value: Any) -> str | None:
    """Return a value, or the first of several, as text."""
    first = value[0] if isinstance(value, list) else value
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else first


def put(book: Path | None, rows: list[tuple[Any, ...]], at: int, columns: Sequence[str]) -> pl.DataFrame:
    """Make a frame of rows, and note in the ledger where it begins."""
    if book is not None:
        with book.open("a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(Part(at, len(rows), rows[0][3]))) + "\n")
    return table(rows, columns)


def table(rows: list[tuple[Any, ...]], columns: Sequence[str]) -> pl.DataFrame:
    """Make a frame of rows, numbered from 1."""
    schema = {
        "__REALTIME_TIMESTAMP": pl.Int64(),
        "__MONOTONIC_TIMESTAMP": pl.Int64(),
        **dict.fromkeys(("_BOOT_ID", "__CURSOR", *columns), pl.String()),
    }
    return (
        pl.DataFrame(rows, schema=schema, orient="row")
        .with_row_index("ordinal", offset=1)
        .with_columns(pl.col("ordinal").cast(pl.UInt32))
    )


def again(
    data: bytes, fields: Sequence[str], ordinals: Collection[int] | None = None
) -> Iterator[pl.DataFrame]:
    """Yield what a ledger says was read, or the wanted ones of it, by cursor; ``ordinal`` counts through all frames.

    A frame whose first entry has been vacuumed since is left out.
    """
    lines = data.decode("utf-8").splitlines()
    if not lines:
        return
    said = json.loads(lines[0])
    asked = said["window"]
    wanted = Request(said["where"], Window(asked["since"], asked["until"], tuple(asked["units"])))
    columns = [name for name in dict.fromkeys(fields) if name not in STAMPS]
    with connect(wanted) as reader:
        for part in (Part(**json.loads(line)) for line in lines[1:]):
            here = range(part.ordinal, part.ordinal + part.count)
            cited = [at for at in here if ordinals is None or at in ordinals]
            reader.seek_cursor(part.cursor)
            if not cited or not reader._next() or not reader.test_cursor(part.cursor):  # noqa: SLF001 - as in connect
                continue
            found = list(rows_at(reader, wanted.window, here, set(cited), columns))
            places = pl.Series("ordinal", cited[: len(found)], dtype=pl.UInt32)
            yield table(found, columns).with_columns(places)


def rows_at(
    reader: Any, window: Window, here: range, cited: set[int], columns: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Yield the cited entries of one frame, whose first one is under the reader."""
    for at in here:
        if at in cited:
            yield row(reader, columns)
        while reader._next():  # noqa: SLF001 - as in connect
            if inside(reader, window):
                break
        else:
            return
