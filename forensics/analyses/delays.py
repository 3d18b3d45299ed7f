"""When a line shows when a message was written and when it was read: did the receiver stand still, or do clocks differ?

    Substantial drift from celery@web2 may mean clocks are out of sync.  Current drift is
    41 seconds.  [orig: 2026-11-29 12:58:29.241032 recv: 2026-11-29 12:57:48.550687]

Both times are printed by the receiver, in its own zone, so that their difference needs none. A host in another zone, or with
another clock, is off by the same amount in every message, and its messages come when they are sent; in zones that amount is a whole
number of quarter hours. A receiver that stood still reads many messages at once, whose ages differ as far as their sendings.
"""

from __future__ import annotations

import datetime as dt
import json
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from forensics.model.facts import Backlog, Delays, Facts, Skew
from forensics.model.plug import Analysis
from forensics.model.schema import QUARTER
from forensics.model.source import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.model.digest import Evidence
    from forensics.model.known import Known

SECOND = 1_000_000
TIMES = {"sent", "received"}
"""Parameters of a signature that shows both times of a message."""
QUARTER_S = QUARTER // SECOND
SAME_S = 2.0
"""Offsets of one host agree within this: the way of a message is in them."""
AT_ONCE = SECOND
"""Messages that are read within this of the one before were waiting together."""
FEWEST = 2
"""Messages from which something is told: one late message is an accident."""
SILENT = 0.8
"""Share of the oldest message's wait that its receiver must have been silent for to witness that it stood still."""
REFS = 6


class Message(NamedTuple):
    """One message that a line tells of: read at ``at``, ``lag`` microseconds after it was written by its sender's clock."""

    service: str
    peer: str
    at: int
    lag: int
    ref: Ref


def delays(evidence: Evidence, known: Known, facts: Facts) -> Delays:
    """Return backlogs that were read at once, and hosts whose times are off by the same amount each time."""
    del facts
    found = messages(evidence, known)
    skews: list[Skew] = []
    backlogs: list[Backlog] = []
    for service in sorted({one.service for one in found}):
        mine = [one for one in found if one.service == service]
        constant = [
            skew
            for peer in sorted({one.peer for one in mine})
            if (skew := skewed(service, peer, [one for one in mine if one.peer == peer]))
        ]
        left = [one for one in mine if one.peer not in {skew.peer for skew in constant}]
        skews += constant
        backlogs += [backlog(service, part, evidence) for part in together(left)]
    return Delays(tuple(backlogs), tuple(skews))


def messages(evidence: Evidence, known: Known) -> list[Message]:
    """Return what lines with both times say; who sent it stands in them or in another line of their record."""
    wanted = [name for name, one in known.signatures.items() if set(one.parameters) >= TIMES]
    hits = evidence["hits"].filter(pl.col("ts").is_not_null())
    rows = hits.filter(pl.col("signature").is_in(wanted)).sort("ts", "source", "line")
    record = ["source", "service", "fid"]
    same = hits.join(rows.select(record), on=record, how="semi", nulls_equal=True).sort("source", "line")
    peers = {
        (row["source"], row["service"], row["fid"]): host
        for row in same.iter_rows(named=True)
        if (host := json.loads(row["parameters"] or "{}").get("host"))
    }
    out = []
    for row in rows.iter_rows(named=True):
        said = json.loads(row["parameters"] or "{}")
        lag = apart(said)
        if lag is not None:
            peer = said.get("host") or peers.get((row["source"], row["service"], row["fid"]), "")
            out.append(Message(str(row["service"]), peer, row["ts"], lag, Ref(row["source"], row["line"])))
    return out


def apart(said: dict[str, Any]) -> int | None:
    """Return received minus sent in microseconds, None where one of them cannot be read."""
    try:
        sent, received = (dt.datetime.fromisoformat(said[name]) for name in ("sent", "received"))
        return (received - sent) // dt.timedelta(microseconds=1)
    except (KeyError, TypeError, ValueError):
        return None


def skewed(service: str, peer: str, mine: list[Message]) -> Skew | None:
    """Return by how much one host's times are always off, None where they are not off by the same amount."""
    lags = [one.lag / SECOND for one in mine]
    spread = max(lags) - min(lags)
    if len(mine) < FEWEST or spread > SAME_S or mine[-1].at - mine[0].at <= SAME_S * SECOND:
        return None
    offset = median(lags)
    quarters = round(offset / QUARTER_S)
    zone = quarters != 0 and all(abs(lag - quarters * QUARTER_S) <= SAME_S for lag in lags)
    refs = tuple(one.ref for one in mine[:REFS])
    exact = float(quarters * QUARTER_S) if zone else round(offset, 1)
    within = round(max(abs(lag - exact) for lag in lags), 2)
    return Skew(service, peer, len(mine), exact, within, zone, refs)


def together(messages: list[Message]) -> Iterator[list[Message]]:
    """Yield messages that were read at once although they were written one after another."""
    parts: list[list[Message]] = [messages[:1]] if messages else []
    for one, other in pairwise(messages):
        if other.at - one.at > AT_ONCE:
            parts.append([])
        parts[-1].append(other)
    for part in parts:
        sent = [one.at - one.lag for one in part]
        if (
            len(part) >= FEWEST
            and min(one.lag for one in part) > 0
            and max(sent) - min(sent) > max(SECOND, part[-1].at - part[0].at)
        ):
            yield part


def backlog(service: str, part: list[Message], evidence: Evidence) -> Backlog:
    """Describe messages that were read at once."""
    at, oldest = part[0].at, max(part, key=lambda one: one.lag)
    sent = sorted(one.at - one.lag for one in part)
    before = (
        evidence["seconds"].filter((pl.col("service") == service) & (pl.col("last_us") < at)).sort("last_us")
    )
    last = before.row(-1, named=True) if before.height else None
    silent = last is not None and at - last["last_us"] >= SILENT * oldest.lag
    refs = tuple(one.ref for one in part[:REFS])
    return Backlog(
        service=service, n=len(part), peers=tuple(sorted({one.peer for one in part if one.peer})), at=at, sent_first=sent[0], sent_last=sent[-1],
        oldest_s=round(oldest.lag / SECOND, 2), newest_s=round(min(one.lag for one in part) / SECOND, 2),
        silent_since=last["last_us"] if last and silent else None,
        refs=(*((Ref(last["source"], last["last_line"]),) if last and silent else ()), *refs),
    )  # fmt: skip


PLUG = Analysis(
    name="delays",
    question="Where a message shows when it was written and when it was read, did the receiver stand still, or do clocks differ?",
    gives=Delays,
    run=delays,
)
