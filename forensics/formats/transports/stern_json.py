r"""``stern -o json`` (and ``extjson``): objects, one a line; a time only with ``--timestamps``, at the front of the message.

    {"message":"2026-11-29T12:14:31.123456789Z INFO ok\n","nodeName":"n1","namespace":"shop","podName":"api-7c9f-abcde","containerName":"api"}

The time is when the container runtime received the line. Reference: stern/stern README.md, cmd/cmd.go.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.envelopes import Envelope, json_transport
from forensics.formats.inner import finished, own_times
from forensics.formats.prefixed import STAMP
from forensics.model.schema import RECORDS, conform
from forensics.sources import clock


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn objects into records."""
    pod, box = (
        pl.coalesce(name, short) for name, short in (("podName", "pod"), ("containerName", "container"))
    )
    made = table.select(
        "line",
        ts=clock.iso(pl.col("message").str.extract(rf"^({STAMP})(?: |\n|$)")),
        naive=pl.lit(value=False),
        service=box,
        pid=pod,
        message=pl.col("message").str.replace(rf"^{STAMP}(?: |$)", ""),
    )
    return own_times(finished(conform(made, RECORDS)))


def notes(table: pl.DataFrame) -> list[str]:
    """Say how to get stamps where there are none."""
    bare = table.height - int(table["message"].str.contains(rf"^{STAMP}").sum())
    return [f"lines without a time: {bare}; export them with stern --timestamps"] if bare else []


PLUG = json_transport(
    "stern_json",
    "stern -o json",
    "receipt of the line by the container runtime",
    Envelope(
        ("message", "podName", "containerName", "pod", "container"),
        lambda item: (
            "message" in item
            and (
                ("podName" in item and "containerName" in item)
                or ("pod" in item and "container" in item and "namespace" in item)
            )
        ),
        records,
        notes=notes,
    ),
    (
        '{"message":"2026-11-29T12:14:31.123456789Z INFO ok\\n","nodeName":"n1","namespace":"shop","podName":"api-7c9f-abcde","containerName":"api"}',
    ),
    reference="stern/stern cmd/cmd.go",
)
