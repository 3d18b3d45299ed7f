"""``docker ps``: states ages (``7 seconds ago``) at an unknown instant, so that nothing in it can be placed.

    CONTAINER ID   IMAGE     COMMAND      CREATED         STATUS                     PORTS     NAMES
    228d8eab09a1   bb:1      "sh /s.sh"   8 seconds ago   Exited (0) 7 seconds ago             shop_web_1

One record a container, undated, of the container that its last column names. Reference: docker/cli
cli/command/formatter/container.go.
"""

from __future__ import annotations

import re

import polars as pl

from forensics.formats.text import lines_of
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform

HEADER = re.compile(rb"^(?:\xef\xbb\xbf)?CONTAINER ID +IMAGE +COMMAND +CREATED +")
ROW = r"^[0-9a-f]{12,64} .* (?P<service>\S+)\s*$"
AGES = "it states ages, not instants, so that nothing in it can be placed; docker inspect $(docker ps -aq) says what happened when"


def sniff(head: bytes) -> float:
    """1 for the table's header."""
    return 1.0 if HEADER.match(head) else 0.0


def parse(data: bytes) -> Parsed:
    """Turn rows into undated records; a further header is part of the table."""
    table = pl.DataFrame({"message": lines_of(data)}).with_row_index("line", offset=1)
    blank = table.filter(pl.col("message").str.strip_chars() == "").height
    rows = table.with_columns(service=pl.col("message").str.extract(ROW))
    rows = rows.filter(pl.col("service").is_not_null())
    headers = int(table["message"].str.contains("^CONTAINER ID ").sum())
    return Parsed(
        records=conform(rows.with_columns(naive=pl.lit(value=False)), RECORDS),
        in_records=rows.height + headers,
        blank=blank,
        unparsed=table.height - rows.height - headers - blank,
        notes=(AGES,),
    )


PLUG = Transport(
    name="docker_ps",
    title="docker ps",
    marks="nothing: ages only",
    sniff=sniff,
    parse=parse,
    samples=(
        'CONTAINER ID   IMAGE   COMMAND      CREATED         STATUS                     NAMES\n228d8eab09a1   bb:1    "sh /s.sh"   8 seconds ago   Exited (0) 7 seconds ago   shop_web_1',
    ),
    reference="docker/cli cli/command/formatter/container.go",
)
