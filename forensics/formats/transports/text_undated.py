"""Text without times: read when nothing else fits, so that what it says can be counted though not placed.

    QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00

`docker logs` and `kubectl logs` print so unless asked for times.
"""

from __future__ import annotations

from forensics.formats import anything
from forensics.model.plug import Transport

PLUG = Transport(
    name="text_undated",
    title="text without times",
    marks="nothing: the lines carry no time",
    sniff=lambda head: 0.1 * bool(head.strip() and b"\0" not in head),
    parse=lambda data: anything.parse(data, dated=False),
    samples=("plain 1", "worker started"),
    safe_cut=anything.stands_alone,
)
