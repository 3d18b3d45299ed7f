"""What else did PostgreSQL do: checkpoints, autovacuum, slow statements, deadlocks, during the incident and outside?

A checkpoint in the incident says nothing by itself, because checkpoints come by the clock: what tells is whether they came more often, or waited
longer for the disk, than outside. Each line marks the end of its work and says for how long it went on; what overlaps the incident counts as inside.
"""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Coverage, Deadlock, Facts, Frequent, Incidents, Locks, Upkeep, Upkeeps
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

SECOND = 1_000_000
HOUR = 3600 * SECOND
SLOW_S = 1.0
"""A statement is slow from here on: a page that asks several of them is then noticed."""
SHORTEST_US = 60 * SECOND
"""A log that covers less beside the incident has no rate."""
REFS = 4
CHECKPOINT, VACUUM, USAGE, DURATION = (
    "postgres.checkpoint-complete",
    "postgres.autovacuum",
    "postgres.vacuum-usage",
    "postgres.duration",
)
FREQUENT = "postgres.checkpoints-too-frequent"
DEADLOCK, EDGE = "postgres.deadlock", "postgres.deadlock-detail"
PLACE = ["service", "pid", "ts"]

Row = dict[str, Any]


def upkeeps(evidence: Evidence, known: Known, facts: Facts) -> Upkeeps:
    """Compare the server's work inside the primary incident with that outside; deadlocks are told all."""
    del known
    wanted = [CHECKPOINT, VACUUM, USAGE, DURATION, DEADLOCK, EDGE, FREQUENT]
    hits = (
        evidence["hits"]
        .filter(pl.col("signature").is_in(wanted) & pl.col("ts").is_not_null())
        .sort("ts", "source", "line")
    )
    primary = facts[Incidents].primary()
    window = (primary.start, primary.end or facts[Incidents].last or primary.start) if primary else None
    items: list[Upkeep] = []
    for kind, rows in (
        ("checkpoint", checkpoints(hits)),
        ("autovacuum", vacuums(hits)),
        ("statement", statements(hits)),
    ):
        items += [
            compared(kind, service, [row for row in rows if row["service"] == service], window, facts)
            for service in dict.fromkeys(row["service"] for row in rows)
        ]
    return Upkeeps(tuple(items), tuple(deadlocks(hits)), tuple(frequent(hits, window)))


def checkpoints(hits: pl.DataFrame) -> list[Row]:
    """Return checkpoints with their length and their longest wait for the disk."""
    return [
        {**row, "took_s": float(said["total_s"]), "sync_s": float(said["sync_s"]), "what": None}
        for row, said in told(hits.filter(pl.col("signature") == CHECKPOINT))
    ]


def vacuums(hits: pl.DataFrame) -> list[Row]:
    """Return tables that autovacuum finished, with the length that stands further down in the same entry."""
    usage = hits.filter(pl.col("signature") == USAGE).select(*PLACE, used="parameters")
    rows = hits.filter(pl.col("signature") == VACUUM).join(
        usage.unique(PLACE, keep="first", maintain_order=True),
        on=PLACE,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return [
        {
            **row,
            "took_s": float(json.loads(row["used"])["elapsed_s"]) if row["used"] else None,
            "sync_s": None,
            "what": said["table"],
        }
        for row, said in told(rows)
    ]


def statements(hits: pl.DataFrame) -> list[Row]:
    """Return statements of a second or more."""
    rows = hits.filter(pl.col("signature") == DURATION).with_columns(
        took_s=pl.col("parameters").str.json_path_match("$.ms").cast(pl.Float64, strict=False) / 1000
    )
    slow = rows.filter(pl.col("took_s") >= SLOW_S).to_dicts()
    return [{**row, "sync_s": None, "what": None} for row in slow]


def told(rows: pl.DataFrame) -> list[tuple[Row, dict[str, Any]]]:
    """Return rows with what their line says."""
    return [(row, json.loads(row["parameters"])) for row in rows.iter_rows(named=True)]


def compared(
    kind: str, service: str, rows: list[Row], window: tuple[int, int] | None, facts: Facts
) -> Upkeep:
    """Compare inside with outside; where nothing overlaps the incident, or there is none, the numbers are those outside."""
    lo, hi = window or (0, -1)
    inside: list[Row] = []
    outside: list[Row] = []
    for row in rows:
        overlaps = (
            window is not None and row["ts"] >= lo and row["ts"] - round((row["took_s"] or 0) * SECOND) <= hi
        )
        (inside if overlaps else outside).append(row)
    shown = inside or outside
    cover = facts[Coverage].of(service)
    covered = max(0, min(hi, cover.last) - max(lo, cover.first)) if cover else 0
    beside = cover.last - cover.first - covered if cover else 0
    syncs = [row["sync_s"] for row in shown if row["sync_s"] is not None]
    others = [row["sync_s"] for row in outside if row["sync_s"] is not None]
    longest = sorted(shown, key=lambda row: (-(row["took_s"] or 0), row["ts"]))
    pids = {row["pid"] for row in shown if row["pid"]} if kind == "autovacuum" else set()
    return Upkeep(
        service=service,
        kind=kind,
        inside=len(inside),
        outside=len(outside),
        per_hour_inside=round(len(inside) / max(hi - lo, SECOND) * HOUR, 1) if window else 0.0,
        per_hour_outside=round(len(outside) / beside * HOUR, 1) if beside >= SHORTEST_US else None,
        longest_s=None if longest[0]["took_s"] is None else round(longest[0]["took_s"], 3),
        sync_s=max(syncs, default=None),
        usual_sync_s=median(others) if others else None,
        what=longest[0]["what"],
        waiters=sum(len(one.waiters) for one in facts[Locks].groups if pids & held_by(one.holder)),
        refs=tuple(Ref(row["source"], row["line"]) for row in longest[:REFS]),
        first=min(row["ts"] for row in shown),
        last=max(row["ts"] for row in shown),
    )


def frequent(hits: pl.DataFrame, window: tuple[int, int] | None) -> list[Frequent]:
    """Return what servers say themselves of checkpoints that follow each other too quickly, inside and outside."""
    lo, hi = window or (0, -1)
    parts: dict[tuple[str, bool], list[tuple[Row, float]]] = {}
    for row, said in told(hits.filter(pl.col("signature") == FREQUENT)):
        inside = window is not None and lo <= row["ts"] <= hi
        parts.setdefault((row["service"], inside), []).append((row, float(said["seconds"])))
    return [
        Frequent(
            service=service,
            inside=inside,
            n=len(rows),
            closest_s=min(seconds for _, seconds in rows),
            first=rows[0][0]["ts"],
            last=rows[-1][0]["ts"],
            refs=tuple(Ref(row["source"], row["line"]) for row, _ in rows[:REFS]),
        )
        for (service, inside), rows in parts.items()
    ]


def held_by(holder: str | None) -> set[str]:
    """Return the process ids of a holder."""
    return {part.strip() for part in (holder or "").split(",") if part.strip()}


def deadlocks(hits: pl.DataFrame) -> list[Deadlock]:
    """Return deadlocks with the circle that their entry names."""
    edges: dict[tuple[Any, ...], list[tuple[str, str, str]]] = {}
    for row, said in told(hits.filter(pl.col("signature") == EDGE)):
        key = tuple(row[name] for name in PLACE)
        edges.setdefault(key, []).append(
            (said["waiter"], f"{said['mode']} on {said['object']}", said["holder"])
        )
    found = [
        Deadlock(row["service"], row["ts"], tuple(edges[key]), Ref(row["source"], row["line"]))
        for row in hits.filter(pl.col("signature") == DEADLOCK).iter_rows(named=True)
        if (key := tuple(row[name] for name in PLACE)) in edges
    ]
    return sorted(found, key=lambda one: (one.at, one.ref))


PLUG = Analysis(
    name="upkeeps",
    question="What else did PostgreSQL do, during the incident and outside?",
    gives=Upkeeps,
    run=upkeeps,
    needs=(Coverage, Incidents, Locks),
)
