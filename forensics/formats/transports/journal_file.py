"""Binary ``.journal`` files: recognised; reading them natively is not done yet.

Reference: systemd docs/JOURNAL_FILE_FORMAT.md (signature ``LPKSHHRH``).
"""

from __future__ import annotations

from forensics.model.errors import UnreadableError
from forensics.model.plug import Parsed, Transport

MAGIC = b"LPKSHHRH"


def sniff(head: bytes) -> float:
    """1 where the file has the journal's signature."""
    return 1.0 if head.startswith(MAGIC) else 0.0


def parse(data: bytes) -> Parsed:
    """Refuse with the remedy."""
    del data
    raise UnreadableError(
        "binary journal files can't be read yet",
        remedy="export it: journalctl --file FILE -o json --all > FILE.json",
    )


PLUG = Transport(
    name="journal_file",
    title="systemd journal file (binary)",
    marks="receipt by journald",
    sniff=sniff,
    parse=parse,
    samples=(),
)
