"""What PostgreSQL's structured logs have in common: the time with its zone, and the message as the server log words it."""

from __future__ import annotations

import polars as pl

from forensics.formats import postgres_session
from forensics.formats.postgres_words import LEVELS
from forensics.formats.text import is_offset, token_stamp
from forensics.model.schema import RECORDS, conform

FURTHER = {
    "detail": "DETAIL",
    "hint": "HINT",
    "internal_query": "QUERY",
    "context": "CONTEXT",
    "statement": "STATEMENT",
}
"""Fields that the server log prints as lines of their own, in its order, with their tags."""
WHOSE = ("user", "dbname", "application", "remote_host")
"""Fields that name whose session a message is about."""


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn fields into records; needs ``line``, ``timestamp``, ``severity``, ``message``, ``pid`` and those of :data:`FURTHER` and :data:`WHOSE`.

    The message is that of the server log (``FATAL:  text``), so that the same signatures find it; its parts follow on lines
    of their own.
    """
    stamp = pl.col("timestamp").str.extract_groups(r"^(?P<time>\S+ \S+) (?P<zone>\S+)$")
    parts = [
        pl.when(pl.col(name).str.len_bytes() > 0)
        .then(pl.concat_str(pl.lit(f"\n{tag}:  "), name))
        .fill_null("")
        for name, tag in FURTHER.items()
    ]
    named = table.with_columns(
        stamp.struct.field("time"),
        stamp.struct.field("zone"),
        said=pl.concat_str(
            pl.concat_str("severity", pl.lit(":  ")).fill_null(""), pl.col("message").fill_null(""), *parts
        ),
    )
    return conform(
        named.with_columns(
            ts=token_stamp("%Y-%m-%d %H:%M:%S%.f"),
            naive=~is_offset(pl.col("zone")),
            level=pl.col("severity").replace_strict(LEVELS, default=None, return_dtype=pl.String),
            service=pl.lit("postgres"),
            message=pl.col("said"),
            peer=postgres_session.label(*[pl.col(name) for name in WHOSE]),
        ),
        RECORDS,
    )
