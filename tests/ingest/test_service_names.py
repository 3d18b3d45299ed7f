"""All files of a rotated set are of one service."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.ingest.plan import Plan, service_of
from forensics.sources.discovery import Input


@pytest.mark.parametrize(
    ("service", "names"),
    [
        ("x", ["x.log", "x.log.1", "x.log.2.gz", "x.log-20261129.gz", "x.log-20261129", "x.log.2026-11-29", "x-20261129.log", "x.log#2"]),
        ("x", ["x-json.log", "x-json.log.1.gz", "x-json.log.2"]),
        ("api", ["api.2026-11-29.log", "api-2026-11-29.log.gz", "api_2026-11-29_12.log", "api-20261129T120000Z.log", "api-2026112912.log"]),
        ("postgresql", ["postgresql-2026-11-29_131500.log", "postgresql-2026-11-29.csv"]),
        ("access_log", ["access_log", "access_log.1", "access_log-20261129", "access_log.2026-11-29.txt"]),
        ("syslog", ["syslog", "syslog.1", "syslog.7.gz", "syslog-20261129.xz"]),
        ("api-1", ["api-1.log", "api-1.log.3.gz", "api-1-20261129.log"]),
        ("app-2024", ["app-2024.log"]),
        ("gateway", ["gateway/0.log", "gateway/1.log", "gateway/0.log.20261129-120000", "gateway/0.log.20261129-120000.gz"]),
    ],
)  # fmt: skip
def test_names(service: str, names: list[str]) -> None:
    """Rotation, dates, compression and json-file's ending are no part of a service's name."""
    found = {
        service_of(Path("in") / name, Plan(Input(Path(name), name), 0, None, None, "")) for name in names
    }
    assert found == {service}
