"""Reading one journal file into a frame, or into frames of a bounded number of entries.

A frame has one row per entry. What could not be read is counted in notes; nothing is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from forensics.sources.journal.chain import Found, find_entries
from forensics.sources.journal.columns import Digits, hexadecimal, template_column, text_column
from forensics.sources.journal.entries import Table, read_entries
from forensics.sources.journal.header import COMPACT, Header, Image, parse_header
from forensics.sources.journal.objects import scan
from forensics.sources.journal.payloads import Payloads, read_payloads
from forensics.sources.journal.threads import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from forensics.sources.journal.header import Data, Flags, Index, Words
    from forensics.sources.journal.objects import Objects

FIXED = ("ordinal", "__REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP", "_BOOT_ID", "__SEQNUM", "__CURSOR")
"""Columns every frame has."""
PART = 1 << 16
"""Entries of which frames are made at a time: a tenth of a second of work, some 50 MB with 20 fields each."""
_MOST_FIELDS = 250
UNKNOWN = "?"
"""What stands in a span for a time that is not stated or that no calendar has."""
_HOUR, _MINUTE = 3_600_000_000, 60_000_000


@dataclass(frozen=True, slots=True)
class Journal:
    """One journal file.

    ``frame`` has one row per entry by sequence number: ``ordinal`` (UInt32, from 1), ``__REALTIME_TIMESTAMP``
    and ``__MONOTONIC_TIMESTAMP`` (Int64, microseconds), ``_BOOT_ID`` (32 hexadecimal digits), ``__SEQNUM``
    (UInt64), ``__CURSOR`` (as journalctl prints it; only when asked for), and the wanted fields as String. A
    value is null where the entry has no such field or it is damaged. The frame keeps the mapped file alive.
    """

    header: Header
    frame: pl.DataFrame
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way of reading the file, before any frame is made."""

    image: Image
    objects: Objects
    payloads: Payloads
    found: Found
    wanted: list[str]
    first: Table
    """The table of the first :data:`PART` entries, by which the way is judged."""

    def table(self, rows: slice) -> Table:
        """Items of some of the entries."""
        if rows.start == 0 and rows.stop == min(PART, len(self.found.entries)):
            return self.first
        return read_entries(
            self.image, self.objects, self.payloads, self.found.entries[rows], len(self.wanted) + 1
        )

    @property
    def damaged(self) -> int:
        return int((self.first.incomplete | self.first.wrong).sum())


class Opened:
    """A journal file whose entries and distinct values are known, and whose frames are made part by part."""

    def __init__(self, data: Data, fields: Sequence[str]) -> None:
        """Look through ``data`` (best a mapped file) for what :func:`read` says; it raises the same."""
        header = parse_header(data)
        wanted = [field for field in dict.fromkeys(fields) if field not in FIXED][:_MOST_FIELDS]
        reading = _read(Image(data, header), wanted)
        if reading.damaged * 2 > len(reading.first.wrong):
            flipped = _read(Image(data, replace(header, flags=header.flags ^ COMPACT)), wanted)
            if len(flipped.found.entries) - flipped.damaged > len(reading.found.entries) - reading.damaged:
                reading = flipped
        self.header = header
        self._reading = reading

    @property
    def entries(self) -> int:
        """How many entries there are, damaged ones among them."""
        return len(self._reading.found.entries)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of the file as a whole; the journals of its parts say the rest."""
        return tuple(_file_notes(self.header, self._reading))

    def part(self, start: int, stop: int, *, cursor: bool = True) -> Journal:
        """Make the frame of the entries from ``start`` up to ``stop``; ``ordinal`` counts from 1 in it."""
        return _journal(self.header, self._reading, slice(start, min(stop, self.entries)), cursor=cursor)

    def parts(self, *, cursor: bool = True) -> Iterator[Journal]:
        """Make the frames of all entries, :data:`PART` at a time, so that memory does not grow with the file."""
        for start in range(0, self.entries, PART):
            yield self.part(start, start + PART, cursor=cursor)


def read(data: Data, fields: Sequence[str], *, cursor: bool = True) -> Journal:
    """Read the entries of the journal file in ``data`` (best a mapped file) with the wanted ``fields``.

    ``cursor=False`` leaves ``__CURSOR`` out, the costliest column. Raises UnreadableError when ``data`` is no
    journal, ends inside the header or needs an unknown feature; any other damage costs only what it hit.
    """
    opened = Opened(data, fields)
    whole = opened.part(0, opened.entries, cursor=cursor)
    return replace(whole, notes=opened.notes + whole.notes)


def numbers(data: Data) -> Words:
    """Sequence numbers of the entries in ``data``, ascending; raises what :func:`read` raises."""
    image = Image(data, parse_header(data))
    found = find_entries(image, np.zeros(0, np.int64))
    if found.broken:
        found = find_entries(image, scan(image).entries)
    taken: Words = image.words[found.entries + 2]
    return taken


def _read(image: Image, wanted: list[str]) -> _Reading:
    objects = scan(image)
    payloads = read_payloads(image, objects, [*wanted, "_BOOT_ID"])
    found = find_entries(image, objects.entries)
    first = read_entries(image, objects, payloads, found.entries[:PART], len(wanted) + 1)
    return _Reading(image, objects, payloads, found, wanted, first)


def _journal(header: Header, reading: _Reading, rows: slice, *, cursor: bool) -> Journal:
    words, wanted = reading.image.words, reading.wanted
    entries, table = reading.found.entries[rows], reading.table(rows)
    around = reading.found.entries[max(rows.start - 1, 0) : rows.stop + 1]
    before = int(rows.start > 0)
    boot_codes, boots = _boots(words[around + 5], words[around + 6])
    times = _unlikely_times(words, around, boot_codes)[before : before + len(entries)]
    boot_codes = boot_codes[before : before + len(entries)]
    boot = pl.Series("_BOOT_ID", boots, dtype=pl.String).gather(boot_codes)
    keep = np.flatnonzero(~(table.wrong | times | _unlikely_boots(reading, table, boot_codes, boot)))
    kept = entries[keep]
    columns = {
        "ordinal": pl.Series(np.arange(1, len(kept) + 1, dtype=np.uint32)),
        "__REALTIME_TIMESTAMP": pl.Series(words[kept + 3].astype(np.int64)),
        "__MONOTONIC_TIMESTAMP": pl.Series(words[kept + 4].astype(np.int64)),
        "_BOOT_ID": boot.gather(keep),
        "__SEQNUM": pl.Series(words[kept + 2]),
    }
    if cursor:
        columns["__CURSOR"] = _cursor(header, words, kept, _boot_digits(boots, boot_codes[keep]))
    texts = spread(lambda number: _column(reading, table, wanted[number], number, keep), range(len(wanted)))
    columns |= dict(zip(wanted, texts, strict=True))
    return Journal(header, pl.DataFrame(columns), tuple(_part_notes(reading, entries, table, keep)))


def _column(reading: _Reading, table: Table, field: str, number: int, keep: Index) -> pl.Series:
    """Make the String column of field ``number`` for the entries ``keep``."""
    rows = table.values[number].take(keep)
    return text_column(field, reading.payloads.views, rows, reading.payloads.windows)


def _boots(low: Words, high: Words) -> tuple[Index, list[str]]:
    """Code per entry, and the boot id of each code."""
    if not len(low):
        return np.zeros(0, np.int64), []
    starts = np.flatnonzero(np.r_[True, (low[1:] != low[:-1]) | (high[1:] != high[:-1])])
    pairs = np.stack((low[starts], high[starts]), axis=1)
    boots, codes = np.unique(pairs, axis=0, return_inverse=True)
    runs = np.diff(np.r_[starts, len(low)])
    return np.repeat(codes.reshape(-1), runs), [pair.astype("<u8").tobytes().hex() for pair in boots]


def _boot_digits(boots: list[str], codes: Index) -> Digits:
    text = np.frombuffer("".join(boots).encode(), np.uint8).reshape(-1, 32)
    return Digits(text.take(codes, axis=0), np.full(len(codes), 32, np.int8))


def _cursor(header: Header, words: Words, entries: Index, boot: Digits) -> pl.Series:
    """The text of sd_journal_get_cursor: sequence number id and number, boot, times and hash."""
    if not len(entries):
        return pl.Series("__CURSOR", [], dtype=pl.String)
    i, m, t, x = (hexadecimal(words[entries + word]) for word in (2, 4, 3, 7))
    start = b"s=" + header.seqnum_id.encode() + b";i="
    return template_column("__CURSOR", (start, i, b";b=", boot, b";m=", m, b";t=", t, b";x=", x))


def _unlikely_times(words: Words, entries: Index, boot: Index) -> Flags:
    """Single entries whose clock is an hour off between two neighbours of the same boot that agree."""
    unlikely = np.zeros(len(entries), np.bool_)
    if len(entries) < 3:
        return unlikely
    offset = words[entries + 3].astype(np.int64) - words[entries + 4].astype(np.int64)
    before, here, after = offset[:-2], offset[1:-1], offset[2:]
    same = (boot[:-2] == boot[1:-1]) & (boot[2:] == boot[1:-1]) & (np.abs(after - before) < _MINUTE)
    unlikely[1:-1] = same & (np.abs(here - before) > _HOUR) & (np.abs(here - after) > _HOUR)
    return unlikely


def _unlikely_boots(reading: _Reading, table: Table, codes: Index, boot: pl.Series) -> Flags:
    """Entries that are alone with their boot id while their own ``_BOOT_ID`` field says another one."""
    unlikely = np.zeros(len(codes), np.bool_)
    alone = np.flatnonzero(np.bincount(codes)[codes] == 1) if len(codes) else np.zeros(0, np.int64)
    if len(alone):
        stated = _column(reading, table, "_BOOT_ID", -1, alone)
        unlikely[alone] = (boot.gather(alone) != stated).fill_null(value=False).to_numpy()
    return unlikely


def _file_notes(header: Header, reading: _Reading) -> list[str]:
    """What the file as a whole lacks, counted and placed in time."""
    image, found = reading.image, reading.found
    notes = []
    if header.size + header.arena > image.bytes:
        notes.append(f"the file is cut: {image.bytes:,} of {header.size + header.arena:,} bytes are there")
    if header.state == "online":
        notes.append("the file was copied while in use or never closed")
    if found.broken:
        notes.append(f"{found.broken}; entries were looked for in the whole file")
    if found.disordered:
        notes.append(f"{found.disordered} entries with impossible sequence numbers were left out")
    missing = header.n_entries - len(found.entries) - found.disordered
    if missing > 0:
        spans = _missing_spans(header, reading)
        notes.append(
            f"{missing} of {header.n_entries} entries were not found ({', '.join(spans)})"
            if spans
            else f"{missing} of {header.n_entries} entries were not found"
        )
    return notes


def _part_notes(reading: _Reading, entries: Index, table: Table, keep: Index) -> list[str]:
    """Which entries of a part are damaged, counted and placed in time."""
    notes = []
    times = reading.image.words[entries + 3].astype(np.int64)
    dropped = len(entries) - len(keep)
    if dropped:
        gone = np.ones(len(times), np.bool_)
        gone[keep] = False
        span = _span(times, gone)
        notes.append(
            f"{dropped} damaged entries were left out ({span})"
            if span
            else f"{dropped} damaged entries were left out, in the whole file"
        )
    if table.incomplete[keep].any():
        part = np.zeros(len(times), np.bool_)
        part[keep] = table.incomplete[keep]
        span = _span(times, part)
        notes.append(
            f"{int(part.sum())} entries lack a damaged field ({span})"
            if span
            else f"{int(part.sum())} entries lack a damaged field, in the whole file"
        )
    return notes


def _missing_spans(header: Header, reading: _Reading) -> list[str]:
    """Where the entries that were not found belong: before the first one, in holes of the numbers or after the last."""
    words, entries = reading.image.words, reading.found.entries
    if not len(entries):
        return [f"{_instant(header.head_realtime)} → {_instant(header.tail_realtime)}"]
    seqnum, times = words[entries + 2].astype(np.int64), words[entries + 3].astype(np.int64)
    spans = []
    if seqnum[0] > header.head_seqnum > 0:
        spans.append(f"… → {_instant(times[0])}")
    holes = np.flatnonzero(np.diff(seqnum) > 1)
    if len(holes):
        spans.append(f"{_instant(times[holes[0]])} → {_instant(times[holes[-1] + 1])}")
    if seqnum[-1] < header.tail_seqnum:
        spans.append(f"{_instant(times[-1])} → {_instant(header.tail_realtime)}")
    return spans


def _span(times: Index, at: Flags) -> str:
    """First and last instant of the neighbours of the entries ``at``, whose own times are not trusted; "" without any."""
    rows = np.flatnonzero(at)
    sound = np.flatnonzero(~at)
    if not len(sound):
        return ""
    left = sound[max(int(np.searchsorted(sound, rows[0])) - 1, 0)]
    right = sound[min(int(np.searchsorted(sound, rows[-1])), len(sound) - 1)]
    return f"{_instant(times[left])} → {_instant(times[right])}"


def _instant(microseconds: int | np.int64 | None) -> str:
    if microseconds is None:
        return UNKNOWN
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(microseconds))
    except OverflowError:
        return UNKNOWN
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")
