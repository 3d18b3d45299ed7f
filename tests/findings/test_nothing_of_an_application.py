"""Inputs without any line of an application: what was read is said, and that no incident can be placed by it."""

from __future__ import annotations

from pathlib import Path

from forensics import pipeline
from forensics.report import document

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
