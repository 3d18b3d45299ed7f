"""Inputs without any line of an application: what was read is said, and that no incident can be placed by it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from forensics import pipeline
from forensics.report import document, render

SAMPLE = '{"ts": "2026-11-29T12:34:04Z", "level": "ok", "connections": 1, "max_connections": 100, "pct": 1}\n'
ACTIVITY = Path(__file__).parents[2] / "fixtures" / "activity"


def summary(path: Path) -> list[tuple[str, list[str]]]:
    """Return what the summary says of one input, with its evidence."""
    said = document.build(pipeline.investigate([str(path)], pipeline.Options(tz="UTC")))
    return [(row["text"], row["evidence"]) for row in said["findings"] if row["section"] == "summary"]


def test_samples_alone(tmp_path: Path) -> None:
    (tmp_path / "saturation.jsonl").write_text(SAMPLE * 3)
    ((text, evidence),) = summary(tmp_path / "saturation.jsonl")

    assert text.startswith("3 records were read, but none is of an application")
    assert evidence


def test_a_snapshot_alone() -> None:
    """Nothing is said of an application; the snapshot is told, with what it is no proof of."""
    (text, evidence), (shown, place) = summary(ACTIVITY / "snapshots" / "aligned.txt")

    assert "none is of an application" in text
    assert evidence
    assert shown.startswith(
        "PostgreSQL's sessions at 2026-11-30 18:05:40 +00:00, an instant that proves nothing about any other: 15, "
    )
    assert place


def test_no_name_is_made_up_for_an_application_that_is_not_there(tmp_path: Path) -> None:
    """Where no application's log was given, no verdict speaks of one by a stand-in, and no chart shows its absence as zeros."""
    beats = [
        {"ts": f"2026-11-29T12:{n:02d}:00Z", "target": "https://shop.example/health", "ok": not 10 <= n < 14, "status": 200 if not 10 <= n < 14 else 503}
        for n in range(40)
    ]  # fmt: skip
    (tmp_path / "state.jsonl").write_text(
        "".join(f"{json.dumps(beat)}\n" for beat in beats), encoding="utf-8"
    )
    for lang in ("en", "pt-BR"):
        page = render.markdown(
            document.build(pipeline.investigate([str(tmp_path)], pipeline.Options(lang=lang)))
        )
        assert "SERVICE" not in page
        assert not re.search(r"^12:1\d +0$", page, re.MULTILINE)
