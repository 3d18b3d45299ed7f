"""A quiet day gives no incident, no stall and no blind gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import golden
import pytest
import quiet_logs as quiet

from forensics import pipeline
from forensics.model.facts import Incidents, Probes, Stalls, Watch
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case

READ: dict[str, tuple[set[str | None], int]] = {
    "slow_worker": ({"journald_json"}, 0),
    "fast_edge": ({"plain"}, 0),
    "night_lull": ({"docker_json"}, 0),
    "rotated": ({"plain"}, 0),
    "clocks_back": ({"plain"}, 0),
    "clocks_forward": ({"plain"}, 0),
    "probed": ({"docker_timestamps", "probe_jsonl"}, 2),
    "idle": ({"cri", "uptime_kuma_json"}, 2),
    "weekly": ({"journald_json"}, 0),
    "deployed": ({"journald_json", "probe_jsonl"}, 2),
    "scanned": ({"plain"}, 0),
    "deployed_together": ({"journald_json"}, 0),
    "timers": ({"journald_json"}, 0),
    "interval_set_anew": ({"probe_jsonl"}, 1),
    "two_places": ({"probe_jsonl"}, 1),
    "open_tab": ({"docker_timestamps"}, 1),
    "now_and_then": ({"plain"}, 0),
}
"""Transports of a day's files, and its series of probes: what is not understood raises no alarm either."""
PARTS = [(name, number) for name in golden.varied() for number in range(len(quiet.parts(name)))]


def alarms(case: Case) -> tuple[tuple[object, ...], ...]:
    """Return what must be empty on a quiet day: incidents, stalls, blind gaps."""
    return (case.facts[Incidents].items, case.facts[Stalls].items, case.facts[Watch].gaps)


def test_every_recording_has_a_quiet_part() -> None:
    assert {name for name, _ in PARTS} == set(golden.varied())


@pytest.mark.parametrize(("name", "number"), PARTS)
def test_the_quiet_parts_of_the_recordings(name: str, number: int, tmp_path: Path) -> None:
    """What the recordings say before their incidents, between and after them."""
    files = quiet.cut(name, quiet.parts(name)[number], tmp_path)
    case = golden.investigate(name, files)

    assert [source.name for source in case.evidence.sources if source.records == 0 and source.lines] == []
    assert alarms(case) == ((), (), ())


@pytest.mark.parametrize("name", quiet.DAYS)
def test_generated_days(name: str, tmp_path: Path) -> None:
    """What services print on ordinary days: lulls, jobs, rotations, clock changes, restarts, scanners."""
    made = quiet.days(name, 1)
    made.write(tmp_path)
    case = pipeline.investigate([str(tmp_path)], Options(tz=made.tz))

    sources = case.evidence.sources
    assert ({source.transport for source in sources}, len(case.facts[Probes].series)) == READ[name]
    assert [source.name for source in sources if source.undated or source.skipped] == []
    assert alarms(case) == ((), (), ())
