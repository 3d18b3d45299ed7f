"""Azure Log Analytics: results exported as CSV from the portal.

    "TimeGenerated [UTC]",Computer,SeverityLevel,SyslogMessage
    "11/29/2026, 12:14:31.123 PM",web-1,err,boom

The header states the zone of the times: ``[UTC]``, ``[Local Time]`` or that of the user, which leaves them without one. ``TimeGenerated``
is the event's time. Day and month stand as the user's language has them: which is first is taken from dates that leave no doubt, and without any
it is month first, as the portal's own language has it, and said so. Reference: MicrosoftDocs/azure-docs azure-monitor/logs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.azure import FIELDS, rows
from forensics.formats.tables import Table, table_transport
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Iterator

TIME = r"^TimeGenerated(?: \[(.+)\])?$"
ORDER = r"^(\d{1,2})[/.](\d{1,2})[/.](\d{4})"
CLOCKS = ("%I:%M:%S%.f %p", "%H:%M:%S%.f")
UTC = ("UTC", "Etc/UTC", "GMT")


def named(table: pl.DataFrame) -> tuple[str, str | None]:
    """Return the column of the time and the zone that it states."""
    name = next(name for name in table.columns if name.startswith("TimeGenerated"))
    said = re.match(TIME, name)
    return name, said[1] if said else None


def parts(table: pl.DataFrame) -> pl.DataFrame:
    """Return the first two numbers of every date."""
    name, _ = named(table)
    found = table[name].str.extract_groups(ORDER).struct.unnest()
    return found.select(pl.all().cast(pl.Int32, strict=False))


def day_first(table: pl.DataFrame) -> bool | None:
    """Does the day stand before the month? None where no date tells."""
    found = parts(table)
    if int((found["1"] > 12).sum()):
        return True
    return False if int((found["2"] > 12).sum()) else None


def records(table: pl.DataFrame) -> pl.DataFrame:
    """Turn rows into records."""
    name, zone = named(table)
    text = pl.col(name).str.replace_all("[\u202f\u00a0]", " ").str.replace(",", "", literal=True)
    date = "%d/%m/%Y" if day_first(table) else "%m/%d/%Y"
    slashed = text.str.replace_all(r"^(\d+)\.(\d+)\.", "${1}/${2}/")
    ways = [
        slashed.str.to_datetime(f"{date} {one}", time_unit="us", strict=False).dt.epoch("us")
        for one in CLOCKS
    ]
    stated = clock.iso(pl.col(name))
    local = pl.coalesce(ways)
    naive = pl.lit(zone not in UTC) & stated.is_null() & local.is_not_null()
    return rows(table, pl.coalesce(stated, local)).with_columns(
        naive=table.select(naive.alias("naive"))["naive"]
    )


def notes(table: pl.DataFrame) -> Iterator[str]:
    """Say where the order of day and month was assumed."""
    found = parts(table).drop_nulls()
    if found.height and day_first(table) is None and int((found["1"] != found["2"]).sum()):
        yield "no date tells whether its day or its month is first: month first is assumed, as the portal in English writes it"


def claims(names: tuple[str, ...]) -> float:
    """Score columns for the time of a log table."""
    return float(any(name == "TimeGenerated" or name.startswith("TimeGenerated [") for name in names))


PLUG = table_transport(
    "azure_csv",
    "Azure Log Analytics, CSV",
    "when the event happened, as its sender says",
    Table(
        claims,
        records,
        FIELDS,
        notes=notes,
        caps={
            10000: "the old limit of the portal: export shorter spans",
            30000: "the most that the portal gives: export shorter spans",
        },
    ),
    (
        '"TimeGenerated [UTC]",Computer,SeverityLevel,SyslogMessage\n"11/29/2026, 12:14:31.123 PM",web-1,err,boom',
    ),
    reference="MicrosoftDocs/azure-docs azure-monitor/logs",
    unconfirmed=True,
)
