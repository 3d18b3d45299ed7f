"""Refusals for the limit of one role or database (CONNECTION LIMIT): the server answered, and whether it had slots left they do not say.

too many connections for role "app"         rolconnlimit of app is reached, whatever max_connections is
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from forensics.findings.signals import POSTGRES_LOGS
from forensics.model.finding import Finding, Grade

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from forensics.findings.signals import Signals

LIMITED = "postgres.role-or-database-limit"
"""PostgreSQL gives it the code of full slots, 53300, but only the text tells which limit was reached."""
CLIENT_TEXTS = ("libpq.connect-failed",)
"""What clients print of a connection that failed, for whatever reason."""
TEXT = r'too many connections for (role|database) \\*"([^"\\]+)'
"""The server's text as clients repeat it, in a parameter as JSON."""
NAMED = 4
"""Roles and databases that are named."""


def of_slots(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with a column ``signature`` without the refusals for the limit of a role or a database."""
    return rows.filter(pl.col("signature") != LIMITED)


def refusals(signals: Signals) -> pl.DataFrame:
    """Return the hits of such refusals in and around the window: those of the server's own log, else those that clients repeat."""
    quoted = signals.hits(*CLIENT_TEXTS).filter(pl.col("parameters").str.contains(TEXT))
    rows = pl.concat([signals.hits(LIMITED), quoted]).sort("ts", "source", "line")
    own = rows.filter(pl.col("service").is_in(signals.services_in(*POSTGRES_LOGS)))
    return own if own.height else rows


def values_of(signals: Signals, rows: pl.DataFrame) -> dict[str, Any]:
    """Return how many were refused, from when to when, and by the limit of which role or database, the most first."""
    said = pl.col("parameters")
    named = rows.select(
        pl.coalesce(said.str.extract(TEXT, 1), said.str.json_path_match("$.kind")),
        pl.coalesce(said.str.extract(TEXT, 2), said.str.json_path_match("$.name")).alias("name"),
    )
    names = [(str(kind), str(name)) for kind, name in named.iter_rows()]
    limits = sorted(
        ((*one, names.count(one)) for one in dict.fromkeys(names)), key=lambda one: (-one[2], one)
    )
    servers = signals.services_in(*POSTGRES_LOGS)
    return {
        "n": rows.height, "first": rows["ts"].min(), "last": rows["ts"].max(), "limits": limits[:NAMED],
        "further": max(0, len(limits) - NAMED), "by_server": rows["service"][0] in servers,
    }  # fmt: skip


def findings(signals: Signals) -> Iterator[Finding]:
    """Tell whose limit refused connections."""
    rows = refusals(signals)
    if rows.height:
        yield Finding(
            "mechanism.limited", "mechanism", Grade.VERIFIED, values_of(signals, rows), signals.refs(rows),
            scope="capacity only",
        )  # fmt: skip
