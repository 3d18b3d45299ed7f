"""Declared losses are told for the service that lost lines, with their span, and say nothing of another one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "analyses"))

from small_logs import POOL, entries, printed, served, us

from forensics.model.finding import Verdict

if TYPE_CHECKING:
    from forensics.model.case import Case


def case_of(folder: Path, *, full: bool, unit: str = "exporter") -> Case:
    """Let a pool run out while journald drops lines of a unit three times, on a disk that is full or not."""
    from forensics import pipeline

    rows = [printed(at, text) for at, text in served(0, 3600, step=2)]
    rows += [printed(600 + 5 * k, f"sqlalchemy.exc.TimeoutError: {POOL}") for k in range(20)]
    if full:
        rows += [
            printed(610 + k, "OSError: [Errno 28] No space left on device: '/var/lib/app/x'")
            for k in range(6)
        ]
    for at, n in ((605, 40), (640, 30), (670, 20)):
        text = f"Suppressed {n} messages from {unit}.service"
        rows.append(
            (
                at,
                {
                    "_PID": "200",
                    "SYSLOG_IDENTIFIER": "systemd-journald",
                    "_COMM": "systemd-journal",
                    "MESSAGE": text,
                },
            )
        )
        rows.append(printed(at + 0.1, "scraped", unit=unit, pid=99))
    (folder / "host.json").write_text(entries(rows))
    return pipeline.investigate([str(folder)], pipeline.Options())


def test_losses_of_one_service_are_summed_with_their_span(tmp_path: Path) -> None:
    """Three losses are 90 lines from the first to the last, not 90 before the first."""
    case = case_of(tmp_path, full=False)
    (lost,) = (one.values["lost"] for one in case.diagnosis.findings if one.key == "mechanism.loss")
    assert (lost.service, lost.n, lost.times) == ("exporter", 90, 3)
    assert (lost.first, lost.last) == (us(605), us(670))
    assert "act.rate_limit" in {one.key for one in case.diagnosis.actions}


def test_the_loss_of_another_service_leaves_the_silence_of_this_one_alone(tmp_path: Path) -> None:
    """Only its own lost lines take the coverage of a service away."""
    other, own = tmp_path / "other", tmp_path / "own"
    other.mkdir()
    own.mkdir()
    judged = {one.id: one for one in case_of(other, full=False).diagnosis.judgements}
    assert (judged["process_stalled"].verdict, judged["process_stalled"].why) == (
        Verdict.NO_SIGN,
        "stall.none",
    )
    judged = {one.id: one for one in case_of(own, full=False, unit="crm-api").diagnosis.judgements}
    assert (judged["process_stalled"].verdict, judged["process_stalled"].why) == (
        Verdict.NOT_DETERMINED,
        "stall.loss",
    )


def test_a_full_disk_is_no_reason_to_raise_the_rate_limit(tmp_path: Path) -> None:
    """More lines would fill it faster."""
    assert "act.rate_limit" not in {one.key for one in case_of(tmp_path, full=True).diagnosis.actions}
