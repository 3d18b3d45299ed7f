"""The debug page of blackbox_exporter (``/probe?debug=true``, ``/logs?id=N``): the log of one probe, then what it measured.

    Logs for the probe:
    ts=2026-04-18T06:32:52.213419998Z caller=main.go:181 module=http_2xx target=https://shop.example.test level=info msg="Beginning probe" probe=http

Metrics and the module's settings below it have no time of their own and are asides. Reference: prometheus/blackbox_exporter
prober/handler.go DebugOutput.
"""

from __future__ import annotations

from forensics.formats import heads
from forensics.formats.prefixed import STAMP, Prefix, prefixed_transport

LINE = rf"^(?P<message>(?:ts|time)=(?P<time>{STAMP}) .*\bmodule=\S+ target=\S+.*)$"
"""Whatever a probe logs names the module and the target."""
HEADINGS = r"^(?:Logs for the probe|Metrics that would have been returned|Module configuration):$"
METRIC = r"^[a-zA-Z_:][\w:]*(?:\{.*\})? [+-]?(?:\d|Inf|NaN)\S*$"
COMMENT = r"^# (?:HELP|TYPE) "
SETTING = r"^\s*(?:- )?[\w.\"'-]+:(?: .*)?$|^\s*- .*$|^\{\}$"


PLUG = prefixed_transport(
    "blackbox_debug",
    "log of a probe or debug page of blackbox_exporter",
    "when the prober wrote the line",
    Prefix(
        pattern=LINE,
        aside=f"{HEADINGS}|{METRIC}|{COMMENT}|{SETTING}",
        score=lambda lines: heads.share(lines, LINE),
    ),
    (
        'ts=2026-04-18T06:32:52.213419998Z caller=main.go:181 module=http_2xx target=https://shop.example.test level=info msg="Beginning probe" probe=http timeout_seconds=5',
        'time=2026-04-18T06:32:52.700Z level=ERROR source=handler.go:135 msg="Probe failed" module=http_2xx target=https://shop.example.test duration_seconds=0.486',
    ),
    reference="prometheus/blackbox_exporter prober/handler.go",
)
