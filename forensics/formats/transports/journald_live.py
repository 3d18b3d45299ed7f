"""``journal:``: the journal of this host, or a folder or file of journals, read by libsystemd.

The input is a question to libsystemd, no file with a content to recognise: it is no ``PLUG``, and nothing but the
prefix chooses it. Its file is the ledger of what was read, by which cited entries are fetched again by cursor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.journald_fields import ENTRY_MARKS, FIELDS, to_records
from forensics.model.errors import UnreadableError
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS
from forensics.sources import live

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from forensics.sources.live_request import Request

QUOTED = ("MESSAGE", "_SOURCE_REALTIME_TIMESTAMP")


def parts(wanted: Request, book: Path, size: int = live.FRAME_BYTES) -> Iterator[Parsed]:
    """Yield the journal piece by piece; the line of a record is its ordinal in the piece."""
    empty = True
    for frame in live.frames(wanted, FIELDS, size, book):
        empty = False
        yield parsed(frame)
    if empty:
        raise UnreadableError(
            "the journal shows no entries in the window and of the units asked for, or none to this user",
            remedy="run it with sudo or as a member of the group systemd-journal, or give journal:/var/log/journal",
        )


def parsed(frame: pl.DataFrame) -> Parsed:
    """Turn one frame of the live journal into records."""
    absent = [pl.lit(None, pl.String).alias(name) for name in FIELDS if name not in frame.columns]
    table = frame.rename({"ordinal": "line"}).with_columns(
        *absent, pl.col("__REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP").cast(pl.String)
    )
    nulls = int(table["MESSAGE"].null_count())
    notes = ("some entries have no MESSAGE",) if nulls else ()
    return Parsed(records=to_records(table), in_records=table.height, notes=notes)


def parse(data: bytes, lines: Collection[int] | None = None) -> Parsed:
    """Read again what a ledger says was read, or the wanted ``lines`` of it: the text, the times and the cursor."""
    found = [parsed(frame) for frame in live.again(data, QUOTED, lines)]
    records = [one.records for one in found if one.records is not None]
    return Parsed(
        records=pl.concat(records) if records else pl.DataFrame(schema=RECORDS),
        in_records=sum(one.in_records for one in found),
    )


LIVE = Transport(
    name="journald_live",
    title="live systemd journal",
    marks=ENTRY_MARKS,
    sniff=lambda _head: 0.0,
    parse=parse,
    samples=(),
    binary=True,
)
