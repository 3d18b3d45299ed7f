"""``redis-cli INFO``: what a Redis or Valkey server says of itself, once or again and again.

    # Server
    redis_version:7.0.15
    server_time_usec:1795954909535329
    # Clients
    connected_clients:1
    maxclients:2

``server_time_usec`` (6.2 and later) is when the server answered, UTC. Read are the clients against ``maxclients`` and the memory against
``maxmemory`` (0: no limit). An answer without that time can't be placed. Reference: redis/redis src/server.c genRedisInfoString.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.plug import Monitor, Parsed
from forensics.model.schema import FRAMES, conform
from forensics.sources import streams

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

VERSION = re.compile(rb"(?m)^(?:redis|valkey)_version:\d")
LINE = re.compile(rb"^[a-z][a-z0-9_]*:")
SERIES = {
    "redis connected clients": ("connected_clients", "maxclients"),
    "redis memory": ("used_memory", "maxmemory"),
}
"""Series to the fields of its value and limit."""
UNDATED = "an answer without server_time_usec (before Redis 6.2) says not when it was given: note the time with it (date -Is; redis-cli INFO)"


def sniff(head: bytes) -> float:
    """Share of lines of the form ``name:value``, where a version is among them."""
    if not VERSION.search(head):
        return 0.0
    lines = [line for line in head.split(b"\n") if line.strip() and not line.startswith(b"# ")]
    return sum(bool(LINE.match(line)) for line in lines) / len(lines)


def parse(path: Path, _fields: Mapping[str, str]) -> Parsed:
    """Read every answer of a file."""
    data = b"".join(streams.chunks(path))
    rows, undated = [], 0
    for number, answer in enumerate(answers(data), start=1):
        ts = whole(answer.get("server_time_usec"))
        undated += ts is None
        rows += [] if ts is None else list(samples(answer, ts, number))
    table = pl.DataFrame(
        rows,
        schema={
            "series": pl.String,
            "ts": pl.Int64,
            "naive": pl.Boolean,
            "value": pl.Float64,
            "limit": pl.Float64,
            "line": pl.UInt32,
        },
        orient="row",
    )
    return Parsed(
        samples=conform(table, FRAMES["samples"]),
        in_records=table.height,
        notes=(UNDATED,) if undated else (),
    )


def answers(data: bytes) -> Iterator[dict[str, str]]:
    """Yield the fields of each answer; a field that comes again begins another."""
    fields: dict[str, str] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        name, colon, value = line.strip().partition(":")
        if not colon or not name.isidentifier():
            continue
        if name in fields and name in ("redis_version", "server_time_usec", "connected_clients"):
            yield fields
            fields = {}
        fields[name] = value
    if fields:
        yield fields


def samples(
    answer: dict[str, str], ts: int, line: int
) -> Iterator[tuple[str, int, bool, float, float | None, int]]:
    """Yield the samples of one answer."""
    for series, (value, limit) in SERIES.items():
        used, most = whole(answer.get(value)), whole(answer.get(limit))
        if used is not None:
            yield series, ts, False, float(used), float(most) if most else None, line


def whole(text: str | None) -> int | None:
    """Return a number of at most 18 digits; None for anything else."""
    return int(text) if text is not None and re.fullmatch(r"\d{1,18}", text, re.ASCII) else None


PLUG = Monitor(
    name="redis_info",
    title="redis-cli INFO",
    marks="when the server answered",
    sniff=sniff,
    parse=parse,
    binary=True,
)
