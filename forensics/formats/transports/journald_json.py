"""``journalctl -o json``: one object an entry, keys in random order.

    {"__REALTIME_TIMESTAMP":"1795956484887544","_SYSTEMD_UNIT":"crm-api.service","MESSAGE":"…", …}

The time is receipt by journald; the sender's own (``_SOURCE_REALTIME_TIMESTAMP``) is what the text outputs print and
is used where present. A MESSAGE with control characters is an array of byte values; one of 4 KiB and more is null
unless the export was made with ``--all``. Reference: systemd docs/JOURNAL_EXPORT_FORMATS.md, src/shared/logs-show.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.formats.journald_fields import ENTRY_MARKS, between_entries, parse_objects, share_of_objects
from forensics.model.plug import Transport

if TYPE_CHECKING:
    from collections.abc import Sequence


def sniff(head: bytes) -> float:
    """Share of lines that are objects with journald's own fields."""
    return share_of_objects(head.split(b"\n")[:-1] or [head])


def safe_cut(before: Sequence[bytes], line: bytes) -> bool:
    """Cut between entries, but not where a long line was split shortly before."""
    return line.startswith(b"{") and between_entries(before)


PLUG = Transport(
    name="journald_json",
    title="journalctl -o json",
    marks=ENTRY_MARKS,
    sniff=sniff,
    parse=parse_objects,
    samples=(
        '{"__REALTIME_TIMESTAMP":"1795956484887544","__CURSOR":"s=5b;i=d8;b=8f;m=9a;t=66;x=b1","_SYSTEMD_UNIT":"crm-api.service","_PID":"81","_TRANSPORT":"stdout","PRIORITY":"6","MESSAGE":"INFO:     Started server process [81]"}',
        '{"MESSAGE":[27,91,51,50,109,111,107,27,91,48,109],"__REALTIME_TIMESTAMP":"1795956484887545","__CURSOR":"s=5b;i=d9","CONTAINER_NAME":"gateway","PRIORITY":"6"}',
    ),
    safe_cut=safe_cut,
    escaped=True,
)
