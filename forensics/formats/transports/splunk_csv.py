"""Splunk's search results as CSV.

    "_serial","_time",source,sourcetype,host,index,"splunk_server","_raw"
    0,"2026-11-29T13:14:31.000+0100","/var/log/syslog",syslog,"web-1",main,"idx1","Nov 29 12:14:31 web-1 api[1]: boom"

``_time`` is the event's time as Splunk read it from the line or took it from the receiver, with an offset, or in the zone of the user without one.
Newest first. ``_raw`` is the whole event with its newlines, often a syslog line again. Reference: Splunk Search manual, export search results.
"""

from __future__ import annotations

from forensics.formats.splunk import CAPS, FIELDS, rows
from forensics.formats.tables import Table, table_transport

PLUG = table_transport(
    "splunk_csv",
    "Splunk search results, CSV",
    "the event's time as Splunk read it",
    Table(lambda names: float("_raw" in names and "_time" in names), rows, FIELDS, caps=CAPS),
    (
        '"_serial","_time",source,sourcetype,host,index,"splunk_server","_raw"\n0,"2026-11-29T13:14:31.000+0100","/var/log/syslog",syslog,"web-1",main,"idx1","Nov 29 12:14:31 web-1 api[1]: boom"',
    ),
    reference="Splunk Search manual, export search results",
    unconfirmed=True,
)
