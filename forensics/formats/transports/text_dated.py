"""Text of no known format whose lines have a time near their beginning: read when nothing else fits.

    ### 2026-11-29 12:14:31.204 worker[3] job 81 failed: connection pool exhausted

The time is what stands first in the line; a line without one goes on with the record above.
"""

from __future__ import annotations

from forensics.formats import anything
from forensics.model.plug import Transport

LAST = 0.4
"""Factor that puts this behind every format that fits: no score of it is enough to be chosen by."""

PLUG = Transport(
    name="text_dated",
    title="text of no known format, with times",
    marks="whatever the first time in a line means to the program that wrote it",
    sniff=lambda head: LAST * anything.share(head),
    parse=lambda data: anything.parse(data, dated=True),
    samples=(
        "### 2026-11-29 12:14:31.204 worker[3] job 81 failed: connection pool exhausted",
        "<<29 Nov 2026 12:14:31>> [jobs] retry 2 of 5",
    ),
    safe_cut=anything.begins,
)
