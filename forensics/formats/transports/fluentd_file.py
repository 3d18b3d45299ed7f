r"""Fluentd's file output: time, tag and record, separated by tabs (or blanks, or commas).

    2026-11-29T12:14:31+00:00	docker.api	{"log":"INFO ok","source":"stdout"}

The time is the record's: the parser's where one read it from the line, else when the line was collected. Its default has seconds
and an offset. The end of the tag names the service where the record does not. Reference: fluent/fluentd lib/fluent/plugin/formatter_out_file.rb.
"""

from __future__ import annotations

from forensics.formats import tagged
from forensics.model.plug import Transport

PATTERN = r"^(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)? ?(?:Z|[+-]\d\d:?\d\d))[\t ,](?P<tag>[\w.*/-]+)[\t ,](?P<object>\{.*\})$"

PLUG = Transport(
    name="fluentd_file",
    title="Fluentd file output",
    marks="what the parser read in the line, else when the line was collected",
    sniff=tagged.sniffer(PATTERN),
    parse=lambda data: tagged.parse(data, PATTERN),
    samples=(
        '2026-11-29T12:14:31+00:00\tdocker.api\t{"log":"INFO ok","source":"stdout"}',
        '2026-11-29T13:14:31.123+01:00\tdocker.web\t{"log":"boom","container_name":"/web-1"}',
    ),
    safe_cut=tagged.cutter(PATTERN),
    escaped=True,
    reference="fluent/fluentd lib/fluent/plugin/formatter_out_file.rb",
    unconfirmed=True,
)
