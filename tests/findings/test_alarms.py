"""Each alert is judged at its own time, by what others say of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "analyses"))

from small_logs import NOON, Line, journal, probes, served

from forensics.model.finding import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forensics.model.case import Case


def kuma(seconds: Iterable[float], down: Iterable[float]) -> str:
    """Render the heartbeats of a monitor that alerts at once."""
    import datetime as dt

    failed, rows, before = set(down), [], 1
    for number, second in enumerate(seconds):
        status = 0 if second in failed else 1
        rows.append(
            {
                "id": number,
                "monitor_id": 1,
                "status": status,
                "important": int(status != before),
                "msg": "connect ETIMEDOUT" if not status else "200 - OK",
                "time": dt.datetime.fromtimestamp(NOON + second, dt.UTC).strftime("%Y-%m-%d %H:%M:%S.000"),
                "ping": None if not status else 20,
                "duration": 60,
            }
        )
        before = status
    return json.dumps(rows)


def case_of(folder: Path, lines: list[Line], down: list[int]) -> Case:
    """Run the pipeline on the log of a service and the results of its monitor over two hours."""
    from forensics import pipeline

    (folder / "api.json").write_text(journal(lines))
    (folder / "kuma-heartbeats.json").write_text(kuma(range(10, 7200, 60), down))
    return pipeline.investigate([str(folder)], pipeline.Options())


FALSE = list(range(4210, 4570, 60))
RIGHT = list(range(1210, 1450, 60))


def users(*, gone: bool) -> list[Line]:
    """Return requests all through, and probes that reach the service but for the false alarm; at the right one requests fail."""
    lines = [*served(0, 7200, step=4.2), *probes(s for s in range(10, 7200, 60) if s not in FALSE)]
    if gone:
        return [
            (at, text.replace("200 OK", "502 Bad Gateway") if 1200 <= at < 1440 else text)
            for at, text in lines
        ]
    return lines


def verdict_of(case: Case) -> tuple[Verdict, str]:
    """Return verdict and reason of the false alarm."""
    judged = next(one for one in case.diagnosis.judgements if one.id == "monitor_false_alarm")
    return judged.verdict, judged.why


def test_checks_that_fail_while_users_are_served_are_a_false_alarm(tmp_path: Path) -> None:
    """Nothing but the monitor's checks failed: the summary says that it was a false alarm, not that it was right."""
    case = case_of(tmp_path, users(gone=False), FALSE)
    assert verdict_of(case) == (Verdict.SUPPORTED, "alarm.false")
    told = {(one.section, one.key) for one in case.diagnosis.findings}
    assert {("summary", "alert.false"), ("alert", "alert.false")} <= told
    assert ("alert", "alert.right") not in told


def test_a_false_alarm_beside_a_right_one_is_told_with_its_incident(tmp_path: Path) -> None:
    """The alert on failed requests was right, the later one was false: each is told at its own time."""
    case = case_of(tmp_path, users(gone=True), [*RIGHT, *FALSE])
    assert verdict_of(case) == (Verdict.SUPPORTED, "alarm.false")
    found = {one.key: one.values for one in case.diagnosis.findings if one.section == "alert"}
    assert found["alert.right"]["at"] == (NOON + 1210) * 1_000_000
    alarm = found["alert.false"]["alarm"]
    assert (alarm.at, alarm.number, alarm.failed) == ((NOON + 4210) * 1_000_000, 2, 6)
    assert [row.values["false"] for row in case.diagnosis.timeline if row.kind == "incident"] == [True]
    assert not case.diagnosis.contradictions


def test_an_alert_that_others_bear_out_is_right(tmp_path: Path) -> None:
    """Requests failed at its time: the false alarm is ruled out."""
    case = case_of(tmp_path, users(gone=True), RIGHT)
    assert verdict_of(case) == (Verdict.RULED_OUT, "alarm.right")


def test_nobody_served_leaves_it_open(tmp_path: Path) -> None:
    """Without requests of users in those minutes nothing tells a false alarm from an outage."""
    lines = [(at, text) for at, text in users(gone=False) if not 4200 <= at < 4600]
    assert verdict_of(case_of(tmp_path, lines, FALSE))[1] != "alarm.false"
