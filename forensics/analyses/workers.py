"""What became of workers that missed their heartbeat: who ended them, by which signal, and were they replaced?

    [2026-11-29 12:15:39 +0000] [7] [CRITICAL] WORKER TIMEOUT (pid:81)
    [2026-11-29 12:15:40 +0000] [7] [WARNING] Worker with pid 81 was terminated due to signal 6
    [2026-11-29 12:15:40 +0000] [92] [INFO] Booting worker with pid: 92

A master that hears nothing from a worker for its time limit ends it, first with a signal that can be caught. The end follows by
the process id within seconds; a worker that ends so was ended by its master, whatever the text of the end supposes.
Reference: benoitc/gunicorn gunicorn/arbiter.py murder_workers, reap_workers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Facts, Worker, Workers
from forensics.model.plug import Analysis
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

SECOND = 1_000_000
MISSED = {
    "gunicorn.worker-timeout": None,
    "puma.worker-timeout": "9",
    "unicorn.worker-timeout": "9",
}
"""Texts of a missed heartbeat, and the signal where the text itself says that the master sends it now."""
ENDED = (
    "gunicorn.worker-ended-20",
    "gunicorn.worker-ended",
    "gunicorn.worker-sigkill",
    "gunicorn.worker-exiting",
)
BEGUN = ("gunicorn.worker-boot",)
SIGNALS = {"ABRT": "6", "KILL": "9", "TERM": "15"}
"""Names of signals that newer versions print instead of numbers."""
SOON = 60 * SECOND
"""A worker that is told to end does so within this: the limit for a graceful end is 30 s by default."""


def workers(evidence: Evidence, known: Known, facts: Facts) -> Workers:
    """Return every worker that missed its heartbeat with its end, and the workers begun from then on."""
    del facts
    wanted = [name for name in (*MISSED, *ENDED, *BEGUN) if name in known.signatures]
    hits = evidence["hits"].filter(pl.col("signature").is_in(wanted) & pl.col("ts").is_not_null())
    rows = [
        {**row, "said": known.signatures[row["signature"]].typed(json.loads(row["parameters"] or "{}"))}
        for row in hits.sort("ts", "source", "line").iter_rows(named=True)
    ]
    found = tuple(ended(row, rows) for row in rows if row["signature"] in MISSED)
    begun = tuple(
        (str(row["service"]), row["ts"], str(row["said"].get("pid")), Ref(row["source"], row["line"]))
        for row in rows
        if row["signature"] in BEGUN
        and any(one.service == row["service"] and one.at <= row["ts"] <= (one.ended or one.at) + SOON for one in found)
    )  # fmt: skip
    return Workers(found, begun)


def ended(missed: dict[str, Any], rows: list[dict[str, Any]]) -> Worker:
    """Return one worker with the lines about its end."""
    pid = str(missed["said"].get("pid"))
    lines = [
        row
        for row in rows
        if row["signature"] in ENDED
        and row["service"] == missed["service"]
        and str(row["said"].get("pid")) == pid
        and 0 <= row["ts"] - missed["ts"] <= SOON
    ]
    signals = [name for row in lines if (name := signal(row))] or [
        name for name in (MISSED[missed["signature"]],) if name
    ]
    return Worker(
        str(missed["service"]), pid, missed["ts"], lines[0]["ts"] if lines else None, signals[-1] if signals else None,
        missed["said"].get("timeout"), tuple(Ref(row["source"], row["line"]) for row in (missed, *lines)),
    )  # fmt: skip


def signal(row: dict[str, Any]) -> str | None:
    """Return the number of the signal that a line names; None where a worker left by itself."""
    if row["signature"] == "gunicorn.worker-sigkill":
        return "9"
    said = str(row["said"].get("signal") or "").removeprefix("signal ").removeprefix("SIG")
    return SIGNALS.get(said, said) or None


PLUG = Analysis(
    name="workers",
    question="What became of workers that missed their heartbeat?",
    gives=Workers,
    run=workers,
)
