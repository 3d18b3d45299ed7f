"""A saturation sample printed as JSON by a monitor's own service, e.g. into the journal.

    {"ts": "2026-11-29T12:47:03Z", "level": "ok", "connections": 21, "max_connections": 100}

The time is that of the line.
"""

from __future__ import annotations

import polars as pl

from forensics.model.plug import MessageFormat

SEPARATOR = "\x1f"
VALUES = (
    "connections",
    "conns",
    "active",
    "used",
    "in_use",
    "inUse",
    "busy",
    "sessions",
    "numbackends",
    "checked_out",
    "conexoes",
)
LIMITS = (
    "max_connections",
    "maxConnections",
    "max",
    "limit",
    "total",
    "pool_size",
    "poolSize",
    "capacity",
    "maxclients",
    "limite",  # codespell:ignore limite
)
ANCHORS = tuple(f'"{name}"' for name in LIMITS)
LEVELS = ("level", "status", "state", "estado", "nivel")


def prepare(message: pl.Expr) -> pl.Expr:
    """Join level, value and limit, whatever their names, so that one pattern can read them."""
    text = pl.when(message.str.starts_with("{") & message.str.contains_any(list(ANCHORS))).then(message)
    level = pl.coalesce([text.str.json_path_match(f"$.{name}") for name in LEVELS]).fill_null("")
    value = pl.coalesce([text.str.json_path_match(f"$.{name}") for name in VALUES])
    limit = pl.coalesce([text.str.json_path_match(f"$.{name}") for name in LIMITS])
    return pl.concat_str([level, value, limit], separator=SEPARATOR)


PLUG = MessageFormat(
    name="gauge_json",
    title="saturation sample, JSON in a message",
    kind="sample",
    marks="when the sample was printed",
    anchors=ANCHORS,
    pattern=r"^(?P<level>[^\x1f]*)\x1f(?P<value>\d+(?:\.\d+)?)\x1f(?P<limit>\d+(?:\.\d+)?)$",
    prepare=prepare,
    samples=(
        '{"ts": "2026-11-29T12:47:03Z", "level": "ok", "connections": 21, "max_connections": 100, "pct": 21}',
        '{"status":"crit","inUse":10,"poolSize":10}',
    ),
)
