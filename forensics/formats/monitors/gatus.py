"""Gatus' SQLite database: tables ``endpoints`` and ``endpoint_results``.

    endpoint_results(endpoint_id, success, errors, status, duration, timestamp)
    (1, 0, 'context deadline exceeded|~|x', 0, 10000000000, '2026-11-29 12:15:31.1 +0000 UTC')

``timestamp`` is taken when the check has ended, in UTC as Go's ``time.String`` writes it; ``duration`` is nanoseconds, and the
check is placed where it began, at the one less the other; ``status`` 0 means that no answer came; errors are joined by ``|~|``. By default the last 100
results of an endpoint are kept, so that the first row is not the begin of the watch.

Reference: TwiN/gatus storage/store/sql/sql.go, storage/config.go, core/endpoint.go (EvaluateHealth).
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

import polars as pl

from forensics.formats.state import some, times
from forensics.model.errors import UnreadableError
from forensics.model.plug import Monitor, Parsed
from forensics.sources import sqlite

QUERY = """
select r.endpoint_result_id as line, r.success, r.errors as error, r.status as http_status, r.duration, r.timestamp,
       case when coalesce(e.endpoint_group, '') = '' then e.endpoint_name else e.endpoint_group || '/' || e.endpoint_name end as monitor
from endpoint_results r left join endpoints e on e.endpoint_id = r.endpoint_id order by r.endpoint_id, r.endpoint_result_id
"""
KEPT = "Gatus keeps the last 100 results of an endpoint unless configured otherwise: what is older is not here, and that is no blindness"


def sniff(head: bytes) -> float:
    """1 for a SQLite file whose first pages name both tables."""
    return (
        1.0 if head.startswith(sqlite.MAGIC) and b"endpoint_results" in head and b"endpoints" in head else 0.0
    )


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every result."""
    del fields
    with sqlite.copy(path) as database:
        if not sqlite.columns(database, "endpoint_results") or not sqlite.columns(database, "endpoints"):
            raise UnreadableError(
                "it has no tables endpoints and endpoint_results", remedy="copy it again with its -wal file"
            )
        table = sqlite.frame(database, QUERY)
    read = times(table["timestamp"].cast(pl.String)) if table.height else None
    duration = pl.col("duration").cast(pl.Int64, strict=False)
    code = pl.col("http_status").cast(pl.Int16, strict=False)
    rows = table.with_columns(
        ts=(read.frame["ts"] if read else pl.lit(None, dtype=pl.Int64)) - (duration // 1000).fill_null(0),
        naive=pl.lit(value=False),
        monitor=pl.col("monitor").cast(pl.String).fill_null("endpoint that was removed"),
        status=pl.when(pl.col("success").cast(pl.Int64, strict=False) == 1)
        .then(pl.lit("up"))
        .otherwise(pl.lit("down")),
        latency_ms=duration / 1e6,
        http_status=pl.when(code > 0).then(code),
        error=pl.col("error").cast(pl.String).replace("", None).str.replace_all("|~|", "; ", literal=True),
    ).filter(pl.col("success").cast(pl.Int64, strict=False).is_in([0, 1]))
    return Parsed(beats=some(rows), notes=(KEPT,))


PLUG = Monitor(
    name="gatus",
    title="Gatus database",
    marks="start of the check: its recorded end less its duration",
    sniff=sniff,
    parse=parse,
    binary=True,
    reference="TwiN/gatus storage/store/sql/sql.go",
)
