"""A JSON object with a time and no level that a known writer would give it: the last resort for one object a line.

    {"ts":"2026-11-29T09:58:01.529","msg":"timeout exceeded when trying to connect"}
    {"log_time": 1795954471.984067, "log_level": {"name": "info"}, "log_format": "Generating"}

The time is the line's own, with or without a zone, or an epoch of any unit. Where no field is a message the whole object
is: what stands in it can still be found, and it is no part of the record above.
"""

from __future__ import annotations

import re

import polars as pl

from forensics.formats.fields import SEPARATOR, Fields
from forensics.formats.state import HTTP, LATENCY, LATENCY_S, LIMIT, STATUS, TARGET, VALUE
from forensics.model.plug import MessageFormat

TIME = (
    "@timestamp",
    "timestamp",
    "time",
    "ts",
    "Timestamp",
    "datetime",
    "date",
    "log_time",
    "logged_at",
    "created_at",
    "at",
    "t",
    "@t",
    "instant",
    "__REALTIME_TIMESTAMP",
)
MESSAGE = (
    "message",
    "msg",
    "Message",
    "MESSAGE",
    "short_message",
    "text",
    "log",
    "event",
    "log_message",
    "log_format",
)
WRITTEN = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*|\d{9,19}(?:[.,]\d+)?|\d\.\d+[eE]\+?\d\d?"
"""A time that says which instant or wall clock it means."""
FIELDS = Fields(
    kind="json",
    groups={"time": TIME, "message": MESSAGE},
    needs=("time",),
    fixed={"time": WRITTEN},
)
RESULT = (STATUS, (*TARGET, *LATENCY, *LATENCY_S, *HTTP))
"""Fields of a probe's result, one of each group, and those of a gauge's sample: objects of a monitor, and no log."""
GAUGE = (VALUE, LIMIT)


def has(line: pl.Expr, names: tuple[str, ...]) -> pl.Expr:
    """Hold where an object has one of some fields, in any way of writing their names."""
    spelled = {name.replace("_", part) for name in names for part in ("_", "-", "")}
    return line.str.contains_any([f'"{name}"' for name in sorted(spelled)], ascii_case_insensitive=True)


def prepare(line: pl.Expr) -> pl.Expr:
    """Join time and message; an object without a message stands for itself."""
    result, gauge = (has(line, one) & has(line, other) for one, other in (RESULT, GAUGE))
    log = pl.when(~result & ~gauge).then(line)
    joined = log.map_batches(FIELDS.join, return_dtype=pl.String)
    whole = joined.str.ends_with(SEPARATOR)
    return pl.when(whole).then(pl.concat_str(joined, line)).otherwise(joined)


def spelled(name: str) -> str:
    """Return the pattern of a field's name in any way of writing it."""
    return re.escape(name).replace("_", "[_-]?")


KINDS = {
    names: re.compile(f'"(?:{"|".join(spelled(name) for name in names)})"', re.IGNORECASE | re.ASCII)
    for names in (*RESULT, *GAUGE)
}


def of_head(line: str) -> bool:
    """Tell whether one line is a log's object with a time."""
    result, gauge = (all(KINDS[names].search(line) for names in pair) for pair in (RESULT, GAUGE))
    return not result and not gauge and FIELDS.of_head(line)


PLUG = MessageFormat(
    name="json_dated",
    title="one JSON object a line with a time",
    kind="log",
    marks="when the line was written",
    pattern=FIELDS.pattern,
    anchors=tuple(f'"{name}"' for name in TIME),
    starts=("brace",),
    time="any",
    zone="any",
    prepare=prepare,
    of_head=of_head,
    samples=(
        '{"ts":"2026-11-29T09:58:01.529","msg":"timeout exceeded when trying to connect"}',
        '{"log_time": 1795954471.984067, "log_level": {"name": "info"}, "log_format": "Generating"}',
        '{"time":"2026-11-29T09:58:01Z","job":"sweep","rows":12}',
        '{"time":1785745618500,"msg":"tick","status":200}',
        '{"time":"1785745619,25","msg":"tick"}',
    ),
)
