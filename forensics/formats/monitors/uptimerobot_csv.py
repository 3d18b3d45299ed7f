"""UptimeRobot's export of events, CSV.

    "Event","Monitor","Monitor URL","Date-Time","Reason","Duration","Duration (in mins.)"
    "Down","api","https://shop.example/health","2026-11-29 12:14:31","HTTP 503","0 hrs, 4 mins","4"

Only changes are listed, no single check: the rows are alerts. The time is when UptimeRobot confirmed the change, in the zone of
the account, which the file does not state; newest or oldest first.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - part of the plug's signature
from pathlib import Path  # noqa: TC003 - part of the plug's signature

from forensics.formats.delimited import header, read
from forensics.formats.jsonl import first_of
from forensics.formats.state import column, some, times
from forensics.model.plug import Monitor, Parsed

COLUMNS = {"event", "monitor", "date_time"}
CHANGES = "UptimeRobot exports changes only, in the zone of the account: no single check is here"


def sniff(head: bytes) -> float:
    """1 where the header has the columns of the export."""
    names = set(header(head)[0])
    return 1.0 if names >= COLUMNS and names & {"reason", "duration_in_mins", "monitor_url"} else 0.0


def parse(path: Path, fields: Mapping[str, str]) -> Parsed:
    """Read every change."""
    del fields
    rows = read(path)
    read_ = times(column(rows.frame, first_of(rows.frame, ("date_time",))), rows.frame.columns)
    alerts = rows.frame.with_columns(read_.frame).with_columns(
        monitor=first_of(rows.frame, ("monitor", "monitor_url")),
        state=first_of(rows.frame, ("event",)).str.to_lowercase(),
        text=first_of(rows.frame, ("reason",)),
    )
    return Parsed(
        alerts=some(alerts),
        in_records=rows.in_records,
        blank=rows.blank,
        unparsed=rows.unparsed,
        first_unparsed=rows.first_unparsed,
        notes=(CHANGES, *read_.notes),
    )


PLUG = Monitor(
    name="uptimerobot_csv",
    title="UptimeRobot events, CSV",
    marks="when the change was confirmed, in the zone of the account",
    sniff=sniff,
    parse=parse,
    samples=(
        '"Event","Monitor","Monitor URL","Date-Time","Reason","Duration","Duration (in mins.)"\n"Down","api","https://shop.example/health","2026-11-29 12:14:31","HTTP 503","0 hrs, 4 mins","4"',
    ),
    reference="UptimeRobot's export of events: columns as public programs that read it name them",
    unconfirmed=True,
)
