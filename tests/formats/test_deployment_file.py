"""Settings among the inputs: known by what stands in them, read by the budget, and no log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.formats.transports.deployment_file import NO_LOG, PLUG
from forensics.ingest import plan
from forensics.sources.discovery import Input

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = {
    "compose.yaml": "# the shop\nservices:\n  api:\n    image: shop\n    environment:\n      DATABASE_URL: postgresql://db/shop?connection_limit=12\n      LEVEL: info\n    deploy:\n      replicas: 2\n",
    ".env": "# shop\nDATABASE_URL=postgresql://db/shop?connection_limit=12\nexport WEB_CONCURRENCY=2\n",
    "pgbouncer.ini": "[databases]\nshop = host=db dbname=shop\n\n[pgbouncer]\n;; pools\npool_mode = transaction\ndefault_pool_size = 20\n",
    "postgresql.conf": "# settings\nmax_connections = 100\t\t# (change requires restart)\n#superuser_reserved_connections = 3\ninclude_dir = 'conf.d'\n",
}
LOGS = (
    "LEVEL=info MSG=started\nLEVEL=error MSG=failed\n",
    "level=info msg=started\n",
    "services: starting\nservices:\nERROR boom at 12:00\nready to serve requests now\n",
    "max_connections = 100 was changed\n2026-11-29 12:00:00 UTC LOG: ready\n",
    "# only a remark\n",
)


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_recognised(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(SETTINGS[name], "utf-8")
    found = plan.recognise(Input(path, name), 0)

    assert (found.format_name, found.skipped) == (PLUG.name, None)


@pytest.mark.parametrize("text", LOGS)
def test_a_log_is_none(text: str) -> None:
    assert PLUG.sniff(text.encode()) == 0


def test_no_line_is_a_record(tmp_path: Path) -> None:
    """All lines are counted, none is a record, and the remark says what the file is for."""
    for name, text in SETTINGS.items():
        (tmp_path / name).write_text(text, "utf-8")
    evidence = pipeline.survey([str(tmp_path)], pipeline.Options())

    for source in evidence.sources:
        text = SETTINGS[source.name.rsplit("/", 1)[-1]]
        assert source.records == 0
        assert source.lines is not None
        assert (source.lines.total, source.lines.unparsed) == (text.count("\n"), 0)
        assert NO_LOG in source.limits
