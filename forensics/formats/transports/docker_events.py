"""``docker events``: what the engine did with containers, networks, volumes and images.

    2026-11-29T12:33:44.836100205Z container die 7c0a19d0b64b… (exitCode=0, image=bb:1, name=tty-1)

The time is when the engine did it, in the zone of the client with its offset. The engine remembers the last 256
events and gives no others later. The name in the attributes is the service. Reference: docker/cli
cli/command/system/events.go, moby/moby daemon/events.
"""

from __future__ import annotations

import polars as pl

from forensics.formats import docker_events as said
from forensics.formats.prefixed import STAMP, Prefix, prefixed_transport

PATTERN = rf"^(?P<message>(?P<time>{STAMP}) (?P<type>container|image|network|volume|plugin|daemon|service|node|secret|config|builder|pod|system) (?P<action>[a-z_]+(?:: .+?)?) (?P<id>\S+)(?: \((?P<attrs>.*)\))?)$"


def finish(table: pl.DataFrame) -> pl.DataFrame:
    """Name the container and say how bad the event is; the message stays the line as it was printed."""
    name, code = (pl.col("attrs").str.extract(rf"(?:^|, ){key}=([^,)]+)") for key in ("name", "exitCode"))
    return table.with_columns(
        service=said.service(pl.col("type"), name, pl.col("id")), level=said.level(pl.col("action"), code)
    )


PLUG = prefixed_transport(
    "docker_events",
    "docker events",
    "when the engine did it",
    Prefix(pattern=PATTERN, finish=finish, caps={256: "as many events as the engine remembers: earlier ones may be lost"}),
    (
        "2026-11-29T12:33:44.836100205Z container die 7c0a19d0b64bc5420913c342e16e5f23b1c116da177de271a2e4e82e29a58389 (exitCode=137, image=bb:1, name=tty-1)",
        "2026-11-29T12:33:44.387694525Z network connect 2fcb90f6f923744a45e95d22e88ace7d4c06f42b88332207a14259b6c74c57c5 (container=7c0a19d0b64b, name=none, type=null)",
        "2026-03-02T10:02:00.123456789-03:00 container health_status: unhealthy 4f1ad3c29b7e (image=shop/api:1.4, name=api)",
    ),
    reference="docker/cli cli/command/system/events.go",
)
