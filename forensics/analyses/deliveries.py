"""What became of messages that failed to be delivered at first: delivered later, given up, or neither seen?

A sender that tries again prints a line for each attempt. Where the lines name the message, attempts and the delivery of one
message are joined by that name: the count of attempts is none of messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.model.facts import Deliveries, Delivery, Facts, Incidents
from forensics.model.plug import Analysis
from forensics.model.schema import SUCCESSES_PER_MINUTE
from forensics.model.source import Ref

if TYPE_CHECKING:
    from forensics.model.digest import Evidence
    from forensics.model.known import Known

SECOND = 1_000_000
MINUTE = 60 * SECOND
FAMILY = "webhook_delivery"
NAME = "message_id"


def deliveries(evidence: Evidence, known: Known, facts: Facts) -> Deliveries:
    """Follow each message of which an attempt failed in the primary incident."""
    primary = facts[Incidents].primary()
    tries = [
        name
        for name, one in known.signatures.items()
        if one.family == FAMILY and one.counts == "failure" and NAME in one.parameters
    ]
    rows = evidence["hits"].filter(pl.col("signature").is_in(tries) & pl.col("ts").is_not_null())
    if primary is None or not rows.height:
        return Deliveries(())
    tried = named(rows).sort("ts", "source", "line")
    end = primary.end or facts[Incidents].last or primary.start
    inside = tried.filter(pl.col("began").is_between(primary.start - MINUTE, end))
    done = evidence["successes"].filter(pl.col("name").is_in(tried["name"].implode()))
    last = done.sort("ts", "source", "line").group_by("name").agg(pl.col("ts", "source", "line").last())
    found = []
    for (service,), part in inside.group_by("service", maintain_order=True):
        told = tried.filter(pl.col("message").is_in(part["message"].drop_nulls().implode()))
        found.append(
            followed(
                str(service), told, last, int(part["message"].null_count()), capped(evidence["successes"])
            )
        )
    return Deliveries(
        tuple(sorted((one for one in found if one.messages), key=lambda one: (-one.messages, one.service)))
    )


def named(hits: pl.DataFrame) -> pl.DataFrame:
    """Add which message a line is about, which attempt it tells of, whether that is the last one, and when it began."""
    said = {
        name: pl.col("parameters").str.json_path_match(f"$.{name}")
        for name in (NAME, "attempt", "attempts", "after")
    }
    attempt, most = (said[name].cast(pl.Int64, strict=False) for name in ("attempt", "attempts"))
    after = said["after"].cast(pl.Int64, strict=False).fill_null(0)
    return hits.with_columns(
        message=said[NAME],
        name=said[NAME].hash(),
        final=(attempt >= most).fill_null(value=False),
        began=pl.col("ts") - after * 1000,
    )


def capped(done: pl.DataFrame) -> bool:
    """May there be more deliveries in a minute than are kept one by one?"""
    minutes = done.group_by("source", "service", "signature", pl.col("ts") // MINUTE).len()
    return bool((minutes["len"] >= SUCCESSES_PER_MINUTE).any())


def followed(service: str, told: pl.DataFrame, last: pl.DataFrame, unnamed: int, capped: bool) -> Delivery:
    """Say how the messages of one sender ended."""
    messages = (
        told.group_by("message", maintain_order=True)
        .agg(
            name=pl.col("name").first(),
            first=pl.col("began").min(), tried=pl.col("ts").last(), final=pl.col("final").last(),
            place=pl.struct("source", "line").last(), start=pl.struct("source", "line").first(),
        )
        .join(last.rename({"ts": "done"}), on="name", how="left", maintain_order="left")
        .with_columns(arrived=(pl.col("done") >= pl.col("tried")).fill_null(value=False))
    )  # fmt: skip
    arrived = messages.filter("arrived").sort("done", "source", "line")
    gone = messages.filter(pl.col("final") & ~pl.col("arrived"))
    places: list[dict[str, Any]] = [
        *gone["place"][-1:],
        *arrived.select("source", "line").tail(1).to_dicts(),
        *messages["start"][:1],
    ]
    longest = arrived.select((pl.col("done") - pl.col("first")).max()).item()
    return Delivery(
        service, messages.height, told.height, arrived.height, gone.height,
        longest_s=None if longest is None else round(longest / SECOND, 3), last_delivered=arrived["done"][-1] if arrived.height else None,
        unnamed=unnamed, capped=capped, refs=tuple(Ref(place["source"], place["line"]) for place in places),
    )  # fmt: skip


PLUG = Analysis(
    name="deliveries",
    question="What became of messages that failed to be delivered at first?",
    gives=Deliveries,
    run=deliveries,
    needs=(Incidents,),
)
