"""The order in which records were made, and the lines that were split on their way.

Shared by every transport: what is read newest first is turned round, and the parts of one line are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence


def oldest_first(records: pl.DataFrame) -> pl.DataFrame:
    """Put the records of a shard into the order in which they were made: by sequence number, or newest-first turned round.

    ``journalctl -r`` and most aggregators print the newest first; parts of a line would be joined the wrong way, and a traceback
    whose lines are records of their own would stand on its head. The further lines of a record stay behind it, and lines keep
    their place in the file. Never by time alone: clocks go back.
    """
    marks = records.select("ts", "seq", "seq_id", cont=pl.col("cont").fill_null(value=False))
    starts = marks.filter(~pl.col("cont"))
    if starts.height < 2:
        return records
    numbered = not starts["seq"].null_count() and starts["seq_id"].n_unique() == 1
    steps = starts["seq" if numbered else "ts"].drop_nulls().diff().drop_nulls()
    if int((steps < 0).sum()) <= int((steps > 0).sum()):
        return records
    key = pl.col("seq") if numbered else -(~pl.col("cont").fill_null(value=False)).cum_sum().cast(pl.Int64)
    return records.sort(key, maintain_order=True)


def join_chunks(
    table: pl.DataFrame, chunk: pl.Expr, keys: Sequence[str], text: str = "message"
) -> pl.DataFrame:
    """Join lines that were split: ``chunk`` holds for every part but the last, and ``keys`` tell whose line it is.

    The first part names the record; ``parts`` counts them. Rows without any key, and those without a text, stand alone.
    """
    split = (chunk & pl.col(text).is_not_null()).fill_null(value=False)
    if not table.select(split.any()).item():
        return table
    opens = ~split.shift(1, fill_value=False).over(keys) | pl.col(text).is_null()
    numbered = table.with_row_index("row").with_columns(group=opens.cum_sum().over(keys))
    nobody = pl.all_horizontal(pl.col(keys).is_null())
    numbered = numbered.with_columns(
        group=pl.when(nobody).then(-pl.col("row").cast(pl.Int64)).otherwise("group")
    )
    whole = pl.when(pl.col(text).is_not_null().any()).then(pl.col(text).str.join(""))
    others = [pl.col(name).first() for name in ("row", *table.columns) if name not in (*keys, text, "parts")]
    joined = numbered.group_by(*keys, "group", maintain_order=True).agg(
        *others, whole.alias(text), parts=pl.len()
    )
    return joined.sort("row").select(*(name for name in table.columns if name != "parts"), "parts")
