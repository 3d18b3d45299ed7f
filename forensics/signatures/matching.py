"""Matching: one pass finds anchors, a pattern runs only where its anchor stands.

A line may carry several texts, one inside the other; where a signature declares what it is ``inner_of``, only the
outer one counts on that line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forensics.model.signature import Signature

STRONG = 9
"""Anchors shorter than this (``HTTP/``, ``] ``) stand in ordinary lines and do not drive the pass."""
HITS = {"row": pl.UInt32, "signature": pl.String, "parameters": pl.String}


class Matcher:
    """The catalogue, prepared for matching many messages."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        self.signatures = tuple(signatures)
        self.weak = tuple(
            item for item in self.signatures if any(len(anchor) < STRONG for anchor in item.anchors)
        )
        self.strong = tuple(item for item in self.signatures if item not in self.weak)
        self.anchors = sorted({anchor for signature in self.strong for anchor in signature.anchors})
        self.inner = pl.DataFrame(
            [(signature.id, outer) for signature in self.signatures for outer in signature.inner_of],
            schema={"signature": pl.String, "outer": pl.String},
            orient="row",
        )

    def match(self, messages: pl.Series) -> pl.DataFrame:
        """Return one row per (message, signature) that matches: ``row``, ``signature``, ``parameters`` (JSON)."""
        table = pl.DataFrame({"message": messages}).with_row_index("row")
        near = table.filter(pl.col("message").str.contains_any(self.anchors))
        jobs = [(near, signature) for signature in self.strong if near.height] + [
            (table, signature) for signature in self.weak
        ]
        found = [hits for rows, signature in jobs if (hits := self.apply(rows, signature)) is not None]
        hits = pl.concat(found) if found else pl.DataFrame(schema=HITS)
        if self.inner.height and hits.height:
            outer = hits.select("row", outer="signature")
            covered = hits.join(self.inner, on="signature").join(outer, on=["row", "outer"], how="semi")
            hits = hits.join(covered, on=["row", "signature"], how="anti")
        return hits.sort("row", "signature")

    def apply(self, table: pl.DataFrame, signature: Signature) -> pl.DataFrame | None:
        """Run one pattern on the messages that have its anchor."""
        near = table.filter(pl.col("message").str.contains_any(list(signature.anchors)))
        near = near.filter(pl.col("message").str.contains(signature.pattern)) if near.height else near
        if not near.height:
            return None
        groups = pl.col("message").str.extract_groups(signature.pattern)
        text = groups.struct.json_encode() if "(?P<" in signature.pattern else pl.lit("{}")
        return near.select("row", signature=pl.lit(signature.id), parameters=text)
