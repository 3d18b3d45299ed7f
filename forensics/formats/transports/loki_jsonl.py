r"""``logcli query -o jsonl``: one object a line, newest first.

    {"labels":{"app":"api","env":"prod"},"line":"INFO ok","timestamp":"2026-11-29T12:14:31.123456789Z"}

The time is the entry's, as whoever sent it to Loki stamped it; it is written in the zone of the client, with its offset.
Reference: grafana/loki pkg/logcli/output/jsonl.go.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.envelopes import Envelope, json_transport, labelled
from forensics.sources import clock


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn entries into records."""
    return labelled(table, "labels", ts=clock.iso(pl.col("timestamp")), message="line_text")


PLUG = json_transport(
    "loki_jsonl",
    "Loki, logcli -o jsonl",
    "what the sender stamped (Loki's entry time)",
    Envelope(
        ("labels", "line", "timestamp"),
        lambda item: (
            isinstance(item.get("labels"), dict)
            and "line" in item
            and "timestamp" in item
            and "date" not in item
        ),
        records,
        caps={
            30: "logcli's default limit: export with --limit and --forward, or check that there is no more",
            5000: "Loki's default limit of a query: export shorter spans one after another",
        },
    ),
    (
        '{"labels":{"app":"api","env":"prod"},"line":"INFO:     203.0.113.21:0 - \\"GET /health HTTP/1.1\\" 200 OK","timestamp":"2026-11-29T12:14:31.123456789Z"}',
        '{"labels":{"container":"worker","pod":"worker-7c9f-abcde"},"line":"ERROR boom","timestamp":"2026-11-29T12:14:30.1+01:00"}',
    ),
    reference="grafana/loki pkg/logcli/output/jsonl.go",
)
