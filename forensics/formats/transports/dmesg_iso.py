"""``dmesg --time-format iso``: the kernel's ring buffer with instants, the fraction set off by a comma.

    2026-11-29T12:40:10,871970+00:00 Out of memory: Killed process 4021 (node)

As with ``-T``, lines from before a suspend are off by its length. Reference: util-linux/util-linux sys-utils/dmesg.1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.formats import kernel
from forensics.formats.text import TextShape, text_transport

if TYPE_CHECKING:
    from forensics.model.plug import Parsed

SHAPE = TextShape(
    pattern=kernel.PREFIX + r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{6}[+-]\d\d:\d\d) ?(?P<message>.*)$",
    time="iso",
    zone="offset",
    continuation=r"^[ \t]",
    container=False,
)


def parse(data: bytes) -> Parsed:
    """Turn a shard into records."""
    return kernel.named(TEXT.parse(data))


TEXT = text_transport(
    "dmesg_iso",
    "dmesg --time-format iso",
    "when the kernel wrote the line, by today's clock: off after a suspend",
    SHAPE,
    (
        "2026-11-29T12:40:10,871970+00:00 Out of memory: Killed process 4021 (node)",
        "kern  :err   : 2026-11-29T12:40:10,871970+01:00 Out of memory: Killed process 4021 (node)",
    ),
)
PLUG = replace(TEXT, parse=parse)
