r"""``docker events --format json`` and ``podman events --format json``: one object a line.

    {"status":"die","id":"7c0a…","from":"bb:1","Type":"container","Action":"die","Actor":{"ID":"7c0a…","Attributes":{"exitCode":"0","name":"tty-1"}},"time":1795955624,"timeNano":1795955624836100205}

The time is when the engine did it. The message is the line that the same command prints as text. Podman writes
``Name``, ``Status`` and ``ContainerExitCode`` beside each other, its ``Time`` with an offset. Reference: moby/moby
api/types/events/events.go, containers/podman libpod/events/events.go.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from forensics.formats import docker_events as said
from forensics.formats.envelopes import Envelope, at, json_transport
from forensics.formats.inner import CUT_TO_MICROSECONDS
from forensics.sources import clock

FIELDS = ("Type", "Action", "Actor", "status", "id", "timeNano", "time", "Time", "Status", "Name", "ID", "Image", "Attributes", "ContainerExitCode")


def claims(item: dict[str, Any]) -> bool:
    """Hold for events of Docker and of podman."""
    docker = "Action" in item and "Actor" in item and ("timeNano" in item or "time" in item)
    return docker or ("Status" in item and "Type" in item and ("Time" in item or "timeNano" in item) and "ID" in item)


def attributes(text: str | None) -> str:
    """Return attributes as the text output prints them."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return ""
    pairs = sorted(value.items()) if isinstance(value, dict) else []
    return ", ".join(f"{name}={item}" for name, item in pairs)


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn events into the lines of the text output."""
    actor = pl.coalesce(at(pl.col("Actor"), "Attributes"), "Attributes")
    given = table.with_columns(
        attrs=actor,
        ident=pl.coalesce(at(pl.col("Actor"), "ID"), "id", "ID"),
        action=pl.coalesce("Action", "Status", "status"),
        ts=pl.coalesce(
            pl.col("timeNano").cast(pl.Int64, strict=False) // CUT_TO_MICROSECONDS,
            clock.iso(pl.col("Time")),
            clock.iso(pl.col("time")),
            clock.epoch_any(pl.col("time")),
        ),
    )
    code = pl.coalesce(at(pl.col("attrs"), "exitCode"), at(pl.col("attrs"), "containerExitCode"), "ContainerExitCode")
    name = pl.coalesce(at(pl.col("attrs"), "name"), "Name")
    given = given.with_columns(code=code, name=name, pairs=pl.Series([attributes(text) for text in given["attrs"]], dtype=pl.String))
    # Podman keeps name, image and exit code beside the attributes.
    beside = [
        pl.when(pl.col("Status").is_not_null() & column.is_not_null()).then(pl.concat_str(pl.lit(f"{key}="), column))
        for key, column in (("exitCode", pl.col("ContainerExitCode")), ("image", pl.col("Image")), ("name", pl.col("Name")))
    ]
    pairs = pl.concat_str(pl.when(pl.col("pairs") != "").then("pairs"), *beside, separator=", ", ignore_nulls=True)
    shown = pl.from_epoch(pl.col("ts"), time_unit="us").dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
    words = [shown, pl.col("Type"), pl.col("action"), pl.col("ident"), pl.concat_str(pl.lit("("), pairs, pl.lit(")"))]
    kind = pl.col("Type").str.to_lowercase()
    return given.select(
        "line",
        ts="ts",
        naive=pl.lit(value=False),
        service=said.service(kind, pl.col("name"), pl.col("ident")),
        level=said.level(pl.col("action"), pl.col("code")),
        message=pl.concat_str(words, separator=" ", ignore_nulls=True),
    )


PLUG = json_transport(
    "docker_events_json",
    "docker events or podman events, JSON",
    "when the engine did it",
    Envelope(
        FIELDS,
        claims,
        records,
        caps={256: "as many events as the engine remembers: earlier ones may be lost"},
    ),
    (
        '{"status":"die","id":"7c0a19d0b64b","from":"bb:1","Type":"container","Action":"die","Actor":{"ID":"7c0a19d0b64b","Attributes":{"exitCode":"137","image":"bb:1","name":"tty-1"}},"scope":"local","time":1795955624,"timeNano":1795955624836100205}',
        '{"Type":"network","Action":"connect","Actor":{"ID":"2fcb90f6f923","Attributes":{"container":"9638435b5796","name":"none","type":"null"}},"scope":"local","time":1795955624,"timeNano":1795955624387694525}',
        '{"ContainerExitCode":1,"ID":"0f9e6bc1a2b3","Image":"docker.io/library/api:1","Name":"api","Status":"died","Time":"2026-11-29T13:14:31.123456789+01:00","Type":"container","Attributes":null}',
    ),
    reference="moby/moby api/types/events/events.go",
)
