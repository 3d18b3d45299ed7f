"""Settings of a deployment among the inputs: a Compose file, an environment file, pgbouncer.ini or postgresql.conf.

They are no log. The connection budget reads them by their names (:mod:`forensics.sources.deployment`); here they are
known by what stands in them, so that none is taken for undated text. References: compose-spec/compose-spec
spec.md; pgbouncer doc/config.md; postgres src/backend/utils/misc/postgresql.conf.sample.
"""

from __future__ import annotations

import re

import polars as pl

from forensics.formats import heads
from forensics.formats.text import lines_of
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform

COMPOSE = re.compile(r"^services:\s*(?:#.*)?$")
YAML = r"^\s*(?:#.*|-(?: .*)?|[\"']?[\w.$/{}-]+[\"']?:(?: .*)?|[\]}],?)$"
VARIABLE = r"^(?:#.*|(?:export )?[A-Z][A-Z0-9_]*=(?:\"[^\"]*\"|'[^']*'|\S*)(?: +#.*)?)$"
"""A variable; one whose bare value has blanks may be a log of pairs."""
INI = re.compile(r"^\[(?:pgbouncer|databases)\]\s*$")
SETTING = r"^(?:[;#].*|\[\w+\]|\w[\w.]*\s*=.*|include\w* .*)$"
SERVER = re.compile(
    r"^#?(?:max_connections|shared_buffers|listen_addresses|superuser_reserved_connections)\s*=\s*\S"
)
MOST = 0.8
"""Share of the lines that must be settings."""
NO_LOG = "settings of the deployment and no log: the connection budget reads them"


def sniff(head: bytes) -> float:
    """1 for a file of settings of one of these kinds."""
    lines = heads.lines(head)
    if any(COMPOSE.match(line) for line in lines):
        return float(heads.share(lines, YAML) >= MOST)
    if any(INI.match(line) for line in lines) or any(SERVER.match(line) for line in lines):
        return float(heads.share(lines, SETTING) >= MOST)
    return float(heads.share(lines, VARIABLE) == 1 and not all(line.startswith("#") for line in lines))


def parse(data: bytes) -> Parsed:
    """Count the lines; none is a record."""
    lines = lines_of(data)
    blank = int((lines.str.strip_chars() == "").sum())
    return Parsed(
        records=conform(pl.DataFrame(schema=RECORDS), RECORDS),
        in_records=len(lines) - blank,
        blank=blank,
        notes=(NO_LOG,),
    )


PLUG = Transport(
    name="deployment_file",
    title="settings of a deployment (Compose, .env, pgbouncer.ini, postgresql.conf)",
    marks="nothing: no record",
    sniff=sniff,
    parse=parse,
    samples=(),
    reference="compose-spec/compose-spec spec.md; pgbouncer doc/config.md",
)
