"""Which lines do the sources themselves declare as lost?

journald's "Suppressed n messages" is printed with the unit's next message, so the loss lies before it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from forensics.model.facts import Facts, Loss, Losses
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

DECLARED = ("journald.suppressed", "journald.missed-kernel")


def losses(evidence: Evidence, known: Known, facts: Facts) -> Losses:
    """Return every declared loss once, however many exports show it."""
    del known, facts
    found: dict[tuple[str, int | None, int], Loss] = {}
    for row in (
        evidence["hits"]
        .filter(pl.col("signature").is_in(DECLARED) & pl.col("ts").is_not_null())
        .sort("source", "line")
        .iter_rows(named=True)
    ):
        said = json.loads(row["parameters"])
        service = (said.get("unit") or row["service"] or "kernel").removesuffix(".service")
        n = int(said["n"]) if said.get("n") else None
        loss = Loss(
            service=service, at=row["ts"], n=n, what=row["signature"], ref=Ref(row["source"], row["line"])
        )
        found.setdefault((service, n, row["ts"] // 2_000_000), loss)
    return Losses(tuple(sorted(found.values(), key=lambda item: (item.at, item.service))))


PLUG = Analysis(
    name="losses", question="Which lines do the sources declare as lost?", gives=Losses, run=losses
)
