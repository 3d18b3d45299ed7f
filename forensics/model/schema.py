"""Column names and types of every frame that travels between the wings.

Instants are microseconds: since 1970 UTC where ``naive`` is false, of an unknown zone's wall clock where it is
true. Lines are 1-based and count from the start of their shard until the fold makes them absolute.
"""

from __future__ import annotations

import polars as pl

RECORDS: dict[str, pl.DataType] = {
    "line": pl.UInt32(),
    "ts": pl.Int64(),
    "naive": pl.Boolean(),
    "service": pl.String(),
    "pid": pl.String(),
    "stream": pl.String(),
    "level": pl.String(),
    "message": pl.String(),
    "cursor": pl.String(),
    "boot": pl.String(),
    "cont": pl.Boolean(),
    "ident": pl.String(),
    "seq_id": pl.String(),
    "seq": pl.Int64(),
    "mono_us": pl.Int64(),
    "receipt_us": pl.Int64(),
    "parts": pl.UInt32(),
    "peer": pl.String(),
}
"""One row per line that a transport understood; ``cont`` marks the further lines of a record.

``ident`` is the name under which a text export would show the process. A journal also has the sequence number and the id of
its numbering, the monotonic clock of the boot, and the receipt by the wall clock (both microseconds), and the entries that one record was made
of (``parts``; null: one). ``peer`` is whose session a database server's structured log says that the line is about.
"""

QUARTER = 900_000_000
"""Microseconds of a unit of ``quarter`` and ``usual``: zones differ by quarters of an hour, so what remains of a difference without a
zone is a delay."""

SUCCESSES_PER_MINUTE = 2000
"""Rows kept per signature and minute, for operations that succeeded: a backlog is worked off within seconds."""
ROWS_PER_MINUTE = 120
"""Rows kept per route or operation and minute, for requests that failed or were slow and calls that were slow."""
SLOW_MS = 1000.0
"""A request or an outgoing call is kept with its duration from this one on: who waits for longer notices (Nielsen, Response Times, 1993)."""

KEYS: dict[str, pl.DataType] = {"source": pl.UInt16(), "shard": pl.UInt32()}
"""Where a row of a digest came from."""

REQUEST: dict[str, pl.DataType] = {
    "service": pl.String(),
    "naive": pl.Boolean(),
    "ts": pl.Int64(),
    "method": pl.String(),
    "route": pl.String(),
    "status": pl.Int16(),
    "client": pl.String(),
    "duration_ms": pl.Float64(),
    "began": pl.Int64(),
    "ended": pl.Int64(),
    "own_us": pl.Int64(),
    "own_naive": pl.Boolean(),
    "arrived": pl.Int64(),
    "line": pl.UInt32(),
}
"""A request that is kept one by one."""

FRAMES: dict[str, dict[str, pl.DataType]] = {
    "shards": {
        "lines": pl.UInt32(),
        "records": pl.UInt32(),
        "in_records": pl.UInt32(),
        "blank": pl.UInt32(),
        "unparsed": pl.UInt32(),
        "undated": pl.UInt32(),
    },
    "seconds": {
        "service": pl.String(),
        "kind": pl.String(),
        "naive": pl.Boolean(),
        "second": pl.Int64(),
        "n": pl.UInt32(),
        "first_us": pl.Int64(),
        "last_us": pl.Int64(),
        "first_line": pl.UInt32(),
        "last_line": pl.UInt32(),
    },
    "formats": {"service": pl.String(), "format": pl.String(), "n": pl.UInt32()},
    "sketch": {
        "service": pl.String(),
        "ident": pl.String(),
        "naive": pl.Boolean(),
        "minute": pl.Int64(),
        "lane": pl.UInt8(),
        "n": pl.UInt32(),
        "hash": pl.UInt64(),
    },
    "chain": {
        "boot": pl.String(),
        "seq_id": pl.String(),
        "mono_minute": pl.Int64(),
        "n": pl.UInt32(),
        "first_seq": pl.Int64(),
        "last_seq": pl.Int64(),
        "first_mono": pl.Int64(),
        "last_mono": pl.Int64(),
        "first_offset": pl.Int64(),
        "last_offset": pl.Int64(),
        "first_at": pl.UInt32(),
        "last_at": pl.UInt32(),
    },
    "lags": {
        "service": pl.String(),
        "quarter": pl.Int64(),
        "n": pl.UInt32(),
        "least": pl.Int64(),
        "most": pl.Int64(),
        "most_line": pl.UInt32(),
    },
    "late": {
        "service": pl.String(),
        "usual": pl.Int64(),
        "n": pl.UInt32(),
        "least": pl.Int64(),
        "most": pl.Int64(),
        "most_line": pl.UInt32(),
    },
    "routes": {
        "service": pl.String(),
        "naive": pl.Boolean(),
        "minute": pl.Int64(),
        "method": pl.String(),
        "route": pl.String(),
        "status": pl.Int16(),
        "n": pl.UInt32(),
        "slowest_ms": pl.Float64(),
        "timed": pl.UInt32(),
        "slow": pl.UInt32(),
        "first_line": pl.UInt32(),
        "last_line": pl.UInt32(),
    },
    "templates": {
        "service": pl.String(),
        "naive": pl.Boolean(),
        "minute": pl.Int64(),
        "template": pl.String(),
        "trace": pl.Boolean(),
        "level": pl.String(),
        "key": pl.UInt64(),
        "n": pl.UInt32(),
        "first_line": pl.UInt32(),
        "last_line": pl.UInt32(),
    },
    "arrivals": {
        "service": pl.String(),
        "naive": pl.Boolean(),
        "method": pl.String(),
        "route": pl.String(),
        "client": pl.String(),
        "agent": pl.String(),
        "ts": pl.Int64(),
        "status": pl.Int16(),
        "line": pl.UInt32(),
    },
    "saturated": {
        "service": pl.String(),
        "method": pl.String(),
        "route": pl.String(),
        "client": pl.String(),
        "agent": pl.String(),
    },
    "failed": REQUEST,
    "slow": REQUEST,
    "calls": {
        "service": pl.String(),
        "naive": pl.Boolean(),
        "ts": pl.Int64(),
        "op": pl.String(),
        "duration_ms": pl.Float64(),
        "began": pl.Int64(),
        "ended": pl.Int64(),
        "level": pl.String(),
        "own_us": pl.Int64(),
        "own_naive": pl.Boolean(),
        "arrived": pl.Int64(),
        "line": pl.UInt32(),
    },
    "quick_calls": {
        "service": pl.String(),
        "naive": pl.Boolean(),
        "op": pl.String(),
        "ts": pl.Int64(),
        "line": pl.UInt32(),
    },
    "twice": {
        "service": pl.String(),
        "naive": pl.Boolean(),
        "of": pl.UInt16(),
        "what": pl.String(),
        "ts": pl.Int64(),
        "line": pl.UInt32(),
    },
    "hits": {
        "service": pl.String(),
        "pid": pl.String(),
        "stream": pl.String(),
        "naive": pl.Boolean(),
        "ts": pl.Int64(),
        "signature": pl.String(),
        "parameters": pl.String(),
        "ends_traceback": pl.Boolean(),
        "framed": pl.Boolean(),
        "head": pl.String(),
        "retry": pl.Boolean(),
        "operation": pl.String(),
        "peer": pl.String(),
        "times": pl.UInt32(),
        "fid": pl.UInt32(),
        "own_us": pl.Int64(),
        "own_naive": pl.Boolean(),
        "arrived": pl.Int64(),
        "line": pl.UInt32(),
    },
    "successes": {
        "service": pl.String(),
        "naive": pl.Boolean(),
        "ts": pl.Int64(),
        "signature": pl.String(),
        "name": pl.UInt64(),
        "line": pl.UInt32(),
    },
    "hit_counts": {
        "service": pl.String(),
        "naive": pl.Boolean(),
        "minute": pl.Int64(),
        "signature": pl.String(),
        "n": pl.UInt32(),
    },
    "edges": {
        "service": pl.String(),
        "pid": pl.String(),
        "stream": pl.String(),
        "starts": pl.UInt32(),
        "last_fid": pl.UInt32(),
        "last_mark": pl.String(),
        "last_head": pl.String(),
    },
    "edge_marks": {
        "service": pl.String(),
        "pid": pl.String(),
        "stream": pl.String(),
        "line": pl.UInt32(),
        "mark": pl.String(),
    },
    "processes": {
        "service": pl.String(),
        "naive": pl.Boolean(),
        "pid": pl.String(),
        "boot": pl.String(),
        "first_us": pl.Int64(),
        "last_us": pl.Int64(),
        "n": pl.UInt32(),
        "first_line": pl.UInt32(),
        "last_line": pl.UInt32(),
    },
    "beats": {
        "monitor": pl.String(),
        "naive": pl.Boolean(),
        "ts": pl.Int64(),
        "status": pl.String(),
        "latency_ms": pl.Float64(),
        "http_status": pl.Int16(),
        "error": pl.String(),
        "period_s": pl.Float64(),
        "timeout_s": pl.Float64(),
        "paused": pl.Boolean(),
        "line": pl.UInt32(),
    },
    "samples": {
        "series": pl.String(),
        "naive": pl.Boolean(),
        "ts": pl.Int64(),
        "value": pl.Float64(),
        "limit": pl.Float64(),
        "level": pl.String(),
        "line": pl.UInt32(),
    },
    "sessions": {
        "snapshot": pl.UInt32(),
        "naive": pl.Boolean(),
        "ts": pl.Int64(),
        "dated": pl.String(),
        "pid": pl.String(),
        "application": pl.String(),
        "client": pl.String(),
        "state": pl.String(),
        "wait_type": pl.String(),
        "wait": pl.String(),
        "background": pl.Boolean(),
        "xact_us": pl.Int64(),
        "change_us": pl.Int64(),
        "xact_s": pl.Float64(),
        "state_s": pl.Float64(),
        "blocked_by": pl.String(),
        "waits_for": pl.String(),
        "holds": pl.String(),
        "limit": pl.Float64(),
        "count": pl.UInt32(),
        "mixed": pl.Boolean(),
        "by": pl.String(),
        "group": pl.String(),
        "line": pl.UInt32(),
    },
    "poolers": {
        "snapshot": pl.UInt32(),
        "naive": pl.Boolean(),
        "ts": pl.Int64(),
        "dated": pl.String(),
        "pool": pl.String(),
        "mode": pl.String(),
        "clients_active": pl.UInt32(),
        "clients_waiting": pl.UInt32(),
        "servers_active": pl.UInt32(),
        "servers_idle": pl.UInt32(),
        "longest_wait_s": pl.Float64(),
        "size": pl.UInt32(),
        "line": pl.UInt32(),
    },
    "alerts": {
        "monitor": pl.String(),
        "naive": pl.Boolean(),
        "ts": pl.Int64(),
        "state": pl.String(),
        "text": pl.String(),
        "line": pl.UInt32(),
    },
}
"""The frames of a Digest; every one also has the columns of :data:`KEYS`.

``sessions`` has one row per session of a database in each ``snapshot`` (numbered within its source). ``dated`` says what its instant is
known by: ``now``, ``watch``, ``name`` (of the file), ``newest`` (a lower bound) or ``unknown``. ``background`` is null where only locks are
told of a process. Begin of the transaction and of the state: instants in UTC (``xact_us``, ``change_us``), or ages at the snapshot in seconds
(``xact_s``, ``state_s``). ``blocked_by`` has process ids with commas. A query that groups sessions gives a row for each group, without a process id:
``count`` is how many it stands for (null: one), ``mixed`` whether processes of the server may be among them. ``group`` is whose they
are ``by`` the first that was asked for of ``application``, ``user``, ``database`` and ``address``.

``routes`` counts requests: those whose line states a duration (``timed``), and of them those of :data:`SLOW_MS` or more (``slow``), which ``slow``
has one by one unless they failed.

``templates`` counts messages, and the lines that end a traceback (``trace``), which are no messages of their own.

``successes`` has the hash of the name of each operation that a line of a signature that counts as ``success`` ends.

``poolers`` has one row per pool (``database/user``) of a pooler in each snapshot: clients with a server and clients that wait for one, the longest
of these waits so far, servers at work and at rest, and the ``size`` that the pool may have.
"""


TOLD = {
    "arrivals": pl.concat_str(
        "method", "route", pl.col("status").cast(pl.String).fill_null("?"), separator=" "
    ),
    "hits": pl.concat_str("signature", pl.col("parameters").fill_null(""), separator=" "),
}
"""What a row tells, by frame: rows of two inputs that tell the same may be one."""


def empty(name: str) -> pl.DataFrame:
    """Return a frame of the Digest without rows."""
    return pl.DataFrame(schema={**KEYS, **FRAMES[name]})


def conform(frame: pl.DataFrame, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """Return exactly the columns of ``schema``, cast; columns that are missing become null."""
    held = frame.schema
    return frame.select(
        name
        if held.get(name) == dtype
        else (pl.col(name) if name in held else pl.lit(None)).cast(dtype, strict=False).alias(name)
        for name, dtype in schema.items()
    )
