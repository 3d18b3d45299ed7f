"""``fly logs``: provider, machine, region and level behind a stamp.

    2026-11-29T12:14:31Z app[148e21] ams [info] INFO:     203.0.113.4:0 - "GET / HTTP/1.1" 200 OK

The time is when the platform received the line, in seconds (milliseconds where the client prints them). Some versions print machine and
region before the stamp too, and no blank behind the level. ``app`` is the application, ``proxy``, ``runner``, ``machine`` and ``health`` are
the platform. Reference: superfly/flyctl internal/render/logs.go.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.continued import FURTHER
from forensics.formats.prefixed import STAMP, Prefix, prefixed_transport

PATTERN = rf"^(?:\S+(?:\[[0-9a-z]*\])? [a-z]{{3}} )?(?P<time>{STAMP}) (?:{STAMP} )?(?P<provider>[a-z][\w-]*)(?:\[(?P<pid>[0-9a-z]*)\])? (?P<region>[a-z]{{3}}) ?\[(?P<level>[a-z]+)\] ?(?P<message>.*)$"


def finish(table: pl.DataFrame) -> pl.DataFrame:
    """Leave the application to the file's name: only the platform's speakers are named."""
    return table.with_columns(
        service=pl.when(pl.col("provider") != "app").then("provider"),
        pid=pl.when(pl.col("pid") != "").then("pid"),
    )


PLUG = prefixed_transport(
    "fly",
    "fly logs",
    "receipt of the line by the platform",
    Prefix(pattern=PATTERN, continuation=FURTHER, finish=finish),
    (
        '2026-11-29T12:14:31Z app[148e21] ams [info] INFO:     203.0.113.4:0 - "GET / HTTP/1.1" 200 OK',
        "2026-11-29T12:14:32Z proxy[148e21] ams [error] could not find a good candidate within 90 attempts at load balancing",
        "app[148e21] ams 2026-11-29T12:14:33Z app[148e21] ams [info]ready",
    ),
    reference="superfly/flyctl internal/render/logs.go",
)
