"""A whole debug page of blackbox_exporter is read by its log; metrics and settings are no records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

LOG = """Logs for the probe:
ts=2026-04-18T06:32:52.213419998Z caller=main.go:181 module=http_2xx target=https://shop.example.test level=info msg="Beginning probe" probe=http timeout_seconds=5
ts=2026-04-18T06:32:52.700427616Z caller=main.go:181 module=http_2xx target=https://shop.example.test level=error msg="Probe failed" duration_seconds=0.48696471
"""
METRICS = """


Metrics that would have been returned:
# HELP probe_success Displays whether or not the probe was a success
# TYPE probe_success gauge
probe_success 0
probe_http_duration_seconds{phase="connect"} 0
"""
MODULE = """


Module configuration:
prober: http
timeout: 5s
http:
  valid_status_codes:
    - 200
  ip_protocol_fallback: true
"""


@pytest.mark.parametrize("page", [LOG, LOG + METRICS, LOG + METRICS + MODULE], ids=["log", "metrics", "all"])
def test_the_log_is_read_whatever_follows(tmp_path: Path, page: str) -> None:
    """Every line is accounted for and both lines of the log are dated, with their level."""
    (tmp_path / "probe.log").write_text(page, encoding="utf-8")
    evidence = pipeline.survey([str(tmp_path)], Options())
    (source,) = evidence.sources

    assert (source.transport, source.records, source.undated) == ("blackbox_debug", 2, 0)
    assert source.lines is not None
    assert source.lines.unparsed == 0
    assert evidence["seconds"]["first_us"].to_list() == [1776493972213419]
    assert evidence["templates"].sort("first_line")["level"].to_list() == ["info", "error"]
