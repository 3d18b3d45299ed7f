"""``railway logs``: a line is stamped only if it has attributes beside its level.

    2026-11-29T12:14:31.123456789Z [ERRO] boom status=500

The time is when the platform received the line. Lines without attributes are printed bare and can't be placed. Reference:
railwayapp/cli src/util/logs.rs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.prefixed import Prefix, prefixed_transport

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT = {"ERRO": "error", "DBUG": "debug"}


def finish(table: pl.DataFrame) -> pl.DataFrame:
    """Read the short names of levels too."""
    short = (
        pl.col("full")
        .str.extract(r" \[(ERRO|DBUG)\] ")
        .replace_strict(SHORT, default=None, return_dtype=pl.String)
    )
    return table.with_columns(level=pl.coalesce("level", short))


def notes(records: pl.DataFrame, asides: pl.Series) -> Iterator[str]:
    """Say how to get all lines with their times."""
    del records, asides
    yield "railway logs stamps only lines with attributes: export with railway logs --json"


PLUG = prefixed_transport(
    "railway_text",
    "railway logs",
    "receipt of the line by the platform",
    Prefix(
        pattern=r"^(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7,9}Z) \[(?P<level>INFO|ERRO|WARN|DBUG|[a-z]+)\] (?P<message>.*)$",
        finish=finish,
        notes=notes,
    ),
    (
        "2026-11-29T12:14:31.123456789Z [ERRO] boom status=500",
        "2026-11-29T12:14:32.500000001Z [INFO] ready port=8000",
    ),
    reference="railwayapp/cli src/util/logs.rs",
)
