"""Railway: ``railway logs --json`` and downloads, one object a line.

    {"message":"boom","timestamp":"2026-11-29T12:14:31.123456789Z","severity":"error","attributes":{"level":"error"},"tags":{"serviceId":"s"}}

The time is when the platform received the line, in nanoseconds. Without ``--json`` the command prints most messages without a
time. Reference: railwayapp/cli src/util/logs.rs, src/gql/subscriptions/strings/DeploymentLogs.graphql.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from forensics.formats.envelopes import Envelope, first_of, json_transport, label
from forensics.formats.inner import level
from forensics.sources import clock


def claims(item: dict[str, Any]) -> bool:
    """Hold for log lines of the platform, which carry tags or attributes."""
    tagged = isinstance(item.get("tags"), dict) and any(name.endswith("Id") for name in item["tags"])
    return (
        "message" in item
        and "timestamp" in item
        and (tagged or ("severity" in item and "attributes" in item))
    )


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn log lines into records."""
    tags, attributes = pl.col("tags"), pl.col("attributes")
    # Attributes are an object, or a list of keys and values.
    level_in_list = attributes.str.extract(r'"key":\s*"level",\s*"value":\s*"\\?"?(\w+)')
    return table.select(
        "line",
        ts=clock.iso(pl.col("timestamp")),
        naive=pl.lit(value=False),
        service=first_of(label(tags, ("serviceName", "service", "serviceId"))),
        pid=label(tags, ("deploymentInstanceId",)),
        level=pl.coalesce(
            level(label(attributes, ("level",))), level(level_in_list), level(pl.col("severity"))
        ),
        message="message",
    )


PLUG = json_transport(
    "railway_json",
    "Railway logs, JSON",
    "receipt of the line by the platform",
    Envelope(("message", "timestamp", "severity", "attributes", "tags"), claims, records),
    (
        '{"message":"boom","timestamp":"2026-11-29T12:14:31.123456789Z","severity":"error","attributes":{"level":"error"},"tags":{"serviceId":"s"}}',
    ),
    reference="railwayapp/cli src/util/logs.rs",
    unconfirmed=True,
)
