"""Fluent Bit's file output, and its console output.

    docker.api: [1795954471.123456789, {"log":"INFO ok"}]
    [0] docker.api: [[1795954471.123456789, {}], {"log"=>"INFO ok"}]

The number is the record's time in seconds: the parser's where one read it from the line, else when the line was collected. The end of
the tag names the service where the record does not. Reference: fluent/fluent-bit plugins/out_file/file.c, plugins/out_stdout/stdout.c.
"""

from __future__ import annotations

from forensics.formats import tagged
from forensics.model.plug import Transport

PATTERN = r"^(?:\[\d+\] )?(?P<tag>[\w.*/-]+): \[\[?(?P<time>\d{9,10}(?:\.\d+)?)(?:, \{.*?\}\])?, (?P<object>\{.*\})\]$"

PLUG = Transport(
    name="fluentbit_file",
    title="Fluent Bit file output",
    marks="what the parser read in the line, else when the line was collected",
    sniff=tagged.sniffer(PATTERN),
    parse=lambda data: tagged.parse(data, PATTERN),
    samples=(
        'docker.api: [1795954471.123456789, {"log":"INFO ok"}]',
        '[0] docker.api: [[1795954471.123456789, {}], {"log"=>"INFO ok", "stream"=>"stdout"}]',
    ),
    safe_cut=tagged.cutter(PATTERN),
    escaped=True,
    reference="fluent/fluent-bit plugins/out_file/file.c",
    unconfirmed=True,
)
