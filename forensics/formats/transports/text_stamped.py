"""Lines of known programs before which something put a time of its own: ``ts``, a logger's layout, a console's capture.

    2026-11-29T12:14:31Z INFO:     203.0.113.15:0 - "GET /api/presence HTTP/1.1" 200 OK

Read so when nothing else fits and what follows the times is of known formats that have none.
"""

from __future__ import annotations

from functools import partial

from forensics.formats import anything
from forensics.model.plug import Transport

LAST = 0.36
"""Factor that puts this behind every format that fits, and behind dated text: only what follows the times decides for it."""

PLUG = Transport(
    name="text_stamped",
    title="lines of known formats behind times",
    marks="whatever wrote the time means by it: mostly when the line was printed or read",
    sniff=lambda head: LAST * anything.share(head),
    parse=partial(anything.parse, dated=True, bare=True),
    samples=(
        '2026-11-29T12:14:31Z INFO:     203.0.113.15:0 - "GET /api/presence HTTP/1.1" 200 OK',
        '2026/11/29 12:14:31.204 - INFO:     203.0.113.15:0 - "POST /login HTTP/1.1" 200 OK',
    ),
    safe_cut=anything.begins,
)
