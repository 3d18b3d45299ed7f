"""Binary ``.journal`` files of systemd, read without libsystemd.

The line of a record is the entry's ordinal in the file, its permanent name the cursor; a damaged or truncated file gives
every entry that is whole. Reference: systemd docs/JOURNAL_FILE_FORMAT.md (signature ``LPKSHHRH``).
"""

from __future__ import annotations

import polars as pl

from forensics.formats.journald_fields import ENTRY_MARKS, FIELDS, to_records
from forensics.model.errors import UnreadableError
from forensics.model.plug import Parsed, Transport
from forensics.sources import journal


def sniff(head: bytes) -> float:
    """1 where the file has the journal's signature."""
    return 1.0 if head.startswith(journal.SIGNATURE) else 0.0


def parse(data: bytes) -> Parsed:
    """Turn a whole file into records."""
    found = journal.read(data, [name for name in FIELDS if name not in journal.FIXED])
    table = found.frame.rename({"ordinal": "line"}).with_columns(
        pl.col("__REALTIME_TIMESTAMP").cast(pl.String)
    )
    nulls = int(table["MESSAGE"].null_count())
    if not table.height:
        raise UnreadableError(
            "the journal holds no readable entry", remedy="export it on its host: journalctl -o export --all"
        )
    notes = (*found.notes, *((f"{nulls} entries have no MESSAGE",) if nulls else ()))
    return Parsed(records=to_records(table), in_records=table.height, notes=notes)


PLUG = Transport(
    name="journal_file",
    title="systemd journal file (binary)",
    marks=ENTRY_MARKS,
    sniff=sniff,
    parse=parse,
    samples=(),
    binary=True,
)
