"""Binary ``.journal`` files of systemd, read without libsystemd.

The line of a record is the entry's ordinal in the file, its permanent name the cursor; a damaged or truncated file gives
every entry that is whole. Reference: systemd docs/JOURNAL_FILE_FORMAT.md (signature ``LPKSHHRH``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.journald_fields import ENTRY_MARKS, FIELDS, to_records
from forensics.model.errors import UnreadableError
from forensics.model.plug import Parsed, Span, Transport
from forensics.sources import journal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from mmap import mmap

WANTED = [name for name in FIELDS if name not in journal.FIXED]


def sniff(head: bytes) -> float:
    """1 where the file has the journal's signature."""
    return 1.0 if head.startswith(journal.SIGNATURE) else 0.0


def parts(data: mmap | bytes, held: Sequence[Span] = ()) -> Iterator[Parsed]:
    """Turn ranges of the entries into records; those whose sequence number is ``held`` by another file are left out."""
    opened = journal.Opened(data, WANTED)
    if not opened.entries:
        raise UnreadableError(
            "the journal holds no readable entry", remedy="export it on its host: journalctl -o export --all"
        )
    notes = opened.notes
    for part in opened.parts():
        yield parsed(part, notes, held)
        notes = ()


def parsed(part: journal.Journal, notes: tuple[str, ...], held: Sequence[Span]) -> Parsed:
    """Turn one range of entries into records."""
    table = part.frame.rename({"ordinal": "line"}).with_columns(
        pl.col("__REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP").cast(pl.String),
        __SEQNUM_ID=pl.lit(part.header.seqnum_id),
    )
    if held:
        table = table.filter(~inside(table["__SEQNUM"], held))
    empty = ("some entries have no MESSAGE",) if table["MESSAGE"].null_count() else ()
    return Parsed(
        records=to_records(table), in_records=part.frame.height, notes=(*notes, *part.notes, *empty)
    )


def inside(numbers: pl.Series, spans: Sequence[Span]) -> pl.Series:
    """Tell which numbers lie in one of the ascending spans."""
    firsts = pl.Series([first for first, _ in spans], dtype=pl.UInt64)
    lasts = pl.Series([last for _, last in spans], dtype=pl.UInt64)
    place = firsts.search_sorted(numbers, side="right").cast(pl.Int64) - 1
    return (place >= 0) & (numbers <= lasts.gather(place.clip(0)))


def parse(data: bytes) -> Parsed:
    """Turn a whole file into records at once."""
    pieces = list(parts(data))
    frames: list[pl.DataFrame] = []
    base = 0
    for piece in pieces:
        assert piece.records is not None
        frames.append(piece.records.with_columns(pl.col("line") + base))
        base += piece.in_records
    notes = dict.fromkeys(note for piece in pieces for note in piece.notes)
    return Parsed(records=pl.concat(frames), in_records=base, notes=tuple(notes))


PLUG = Transport(
    name="journal_file",
    title="systemd journal file (binary)",
    marks=ENTRY_MARKS,
    sniff=sniff,
    parse=parse,
    samples=(),
    binary=True,
    parts=parts,
)
