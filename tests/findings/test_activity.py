"""What a report says of a snapshot of a database's sessions: inside an incident a part of its mechanism, outside a clue."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from forensics import pipeline
from forensics.model.finding import Grade, Verdict
from forensics.report import document, render
from forensics.report.schema import schema

if TYPE_CHECKING:
    from forensics.model.case import Case

SNAPSHOTS = Path(__file__).parents[2] / "fixtures" / "activity" / "snapshots"
TAKEN = dt.datetime(2026, 11, 30, 18, 5, 47, tzinfo=dt.UTC)
"""When with_locks.txt was taken."""
POOL = "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"


def served(start: dt.datetime, seconds: int) -> list[str]:
    """Return requests that were answered, one every two seconds."""
    return [
        f'{start + dt.timedelta(seconds=at):%Y-%m-%dT%H:%M:%SZ} INFO: 192.0.2.4:5000 - "GET /items HTTP/1.1" 200 OK'
        for at in range(0, seconds, 2)
    ]


def failed(start: dt.datetime, seconds: int) -> list[str]:
    """Return waits for a connection that ran out, one every three seconds."""
    return [
        f"{start + dt.timedelta(seconds=at):%Y-%m-%dT%H:%M:%SZ} ERROR shop: sqlalchemy.exc.TimeoutError: {POOL}"
        for at in range(0, seconds, 3)
    ]


def investigated(folder: Path, start: dt.datetime, snapshot: str | None = "with_locks.txt") -> Case:
    """Return the case of a service whose pool runs out for two minutes from an instant on, with a snapshot beside its log."""
    lines = [
        *served(start - dt.timedelta(minutes=30), 1800),
        *failed(start, 120),
        *served(start + dt.timedelta(minutes=3), 900),
    ]
    (folder / "shop.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if snapshot:
        (folder / snapshot).write_bytes((SNAPSHOTS / snapshot).read_bytes())
    return pipeline.investigate([str(folder)], pipeline.Options(tz="UTC"))


def said(case: Case, key: str) -> list[tuple[str, Grade]]:
    """Return section and grade of the findings of one kind."""
    return [(one.section, one.grade) for one in case.diagnosis.findings if one.key == key]


def verdicts(case: Case) -> dict[str, Verdict]:
    """Return every hypothesis with its verdict."""
    return {one.id: one.verdict for one in case.diagnosis.judgements}


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Return a case whose snapshot lies in the incident."""
    return investigated(tmp_path_factory.mktemp("inside"), TAKEN - dt.timedelta(seconds=40))


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Return a case whose snapshot was taken an hour before."""
    return investigated(tmp_path_factory.mktemp("outside"), TAKEN + dt.timedelta(hours=1))


class TestInside:
    """A snapshot that was taken while the pool was exhausted."""

    def test_it_is_part_of_the_mechanism(self, inside: Case) -> None:
        """Sessions, the old idle transaction and the head of the queue are told with what a line says."""
        assert said(inside, "mechanism.sessions") == [("mechanism", Grade.VERIFIED)]
        assert said(inside, "mechanism.idle_in_transaction") == [("mechanism", Grade.DERIVED)]
        assert said(inside, "mechanism.blocker") == [("mechanism", Grade.VERIFIED)]
        assert said(inside, "summary.blocker") == [("summary", Grade.INFERRED)]

    def test_it_is_a_row_of_the_timeline(self, inside: Case) -> None:
        """The snapshot stands at its instant."""
        rows = [row for row in inside.diagnosis.timeline if row.kind == "snapshot"]

        assert [dt.datetime.fromtimestamp(row.at // 10**6, dt.UTC) for row in rows] == [TAKEN]

    def test_locks_are_supported_by_an_old_holder(self, inside: Case) -> None:
        """Three that wait behind a transaction of more than ten minutes support locks; nothing confirms them."""
        assert verdicts(inside)["db_slow_or_locked"] is Verdict.SUPPORTED

    def test_an_instant_rules_nothing_out(self, inside: Case) -> None:
        """15 of 40 slots in use at one instant tell neither that slots were free nor that the server was up all through."""
        assert verdicts(inside)["db_slots_exhausted"] is Verdict.NOT_DETERMINED
        assert verdicts(inside)["db_down"] is Verdict.NOT_DETERMINED

    def test_the_page_shows_them_by_application(self, inside: Case) -> None:
        """The mechanism has a table of applications and states; report.json has the snapshot, and fits its schema."""
        told = document.build(inside)
        page = render.whole(told)
        mechanism = page.partition("## Mechanism")[2].partition("## Ruled out")[0].replace(" ", "")

        assert "|shop-api|7|2|5|0|0|0|" in mechanism
        assert "|shop-jobs|1|0|0|0|1|0|" in mechanism
        assert [(one["told_in"], one["total"], one["max_connections"]) for one in told["sessions"]] == [
            ("mechanism", 15, 40)
        ]
        assert not list(Draft202012Validator(schema()).iter_errors(told))

    def test_the_idle_pool_is_not_named(self, inside: Case) -> None:
        """No finding points at a session that is plainly idle."""
        idle = [
            at
            for at, line in enumerate((SNAPSHOTS / "with_locks.txt").read_text().splitlines(), 1)
            if "| idle   " in line and "in transaction" not in line
        ]
        source = next(one.index for one in inside.evidence.sources if one.name.endswith("with_locks.txt"))
        named = {
            ref.line
            for one in inside.diagnosis.findings
            for ref in one.refs
            if ref.source == source and one.key != "mechanism.sessions"
        }

        assert len(idle) == 6
        assert not named & set(idle)


def test_outside_it_is_a_clue(outside: Case) -> None:
    """An hour before the incident a snapshot is no mechanism and supports nothing; summary and timeline have it with its distance and its instant."""
    assert said(outside, "mechanism.sessions") == [("clues", Grade.CLUE)]
    assert said(outside, "summary.blocker") == []
    assert verdicts(outside)["db_slow_or_locked"] is Verdict.NOT_DETERMINED
    rows = [row for row in outside.diagnosis.timeline if row.kind == "snapshot"]
    assert [dt.datetime.fromtimestamp(row.at // 10**6, dt.UTC) for row in rows] == [TAKEN]
    assert said(outside, "summary.snapshot") == [("summary", Grade.VERIFIED)]
    (told,) = (row["text"] for row in document.build(outside)["findings"] if row["key"] == "summary.snapshot")
    assert told.startswith(
        f"PostgreSQL's sessions at {TAKEN:%Y-%m-%d %H:%M:%S} +00:00, 3570 s (59 min 30 s) before the incident, an instant that proves nothing"
    )


def test_without_an_instant_it_is_a_clue(tmp_path: Path) -> None:
    """A snapshot that does not say when it was taken is told as that."""
    case = investigated(tmp_path, TAKEN - dt.timedelta(seconds=40), "undated.txt")
    values = next(one.values for one in case.diagnosis.findings if one.key == "mechanism.sessions")

    assert said(case, "mechanism.sessions") == [("clues", Grade.CLUE)]
    assert (values["snapshot"].at, values["apart"]) == (None, None)


def test_a_lower_bound_is_a_clue(tmp_path: Path) -> None:
    """A snapshot that was taken no earlier than an instant of the incident may have been taken after it."""
    start = dt.datetime(2026, 11, 30, 18, 5, tzinfo=dt.UTC)
    case = investigated(tmp_path, start, "newest.txt")

    assert said(case, "mechanism.sessions") == [("clues", Grade.CLUE)]


def test_a_watched_minute_speaks_for_itself(tmp_path: Path) -> None:
    """Samples all through the incident rule full slots out, as those of a monitor do."""
    start = TAKEN.replace(second=0)
    rows = [
        f"{start + dt.timedelta(seconds=at):%Y-%m-%d %H:%M:%S}+00,{n},client backend,idle,40"
        for at in range(-300, 600, 10)
        for n in range(3)
    ]
    (tmp_path / "sessions.csv").write_text(
        "\n".join(["now,pid,backend_type,state,max_connections", *rows]) + "\n"
    )

    assert verdicts(investigated(tmp_path, start, None))["db_slots_exhausted"] is Verdict.RULED_OUT


@pytest.mark.parametrize("name", ["with_locks.txt", "undated.txt"])
def test_without_an_incident_it_is_told_for_itself(tmp_path: Path, name: str) -> None:
    """A snapshot alone is told in the summary and in full, with its table; in the timeline where its instant is known."""
    (tmp_path / name).write_bytes((SNAPSHOTS / name).read_bytes())
    case = pipeline.investigate([str(tmp_path)], pipeline.Options(tz="UTC"))
    page = render.markdown(document.build(case))
    rows = [row.at // 10**6 for row in case.diagnosis.timeline if row.kind == "snapshot"]

    assert said(case, "mechanism.sessions") == [("mechanism", Grade.VERIFIED)]
    assert said(case, "summary.snapshot") == [("summary", Grade.VERIFIED)]
    assert rows == ([int(TAKEN.timestamp())] if name == "with_locks.txt" else [])
    assert "|shop-api|7|2|5|0|0|0|" in page.replace(" ", "")
    assert ("at an instant that is not known" in page) == (name == "undated.txt")


GROUPED = Path(__file__).parents[2] / "fixtures" / "activity" / "grouped"


@pytest.mark.parametrize(
    ("name", "said_in_text"),
    [
        ("with_limit.txt", "13 of 40, 6 active, 6 idle, 1 idle in transaction. By application: shop-api 7, shop-worker 3, unnamed 1, billing 1 (+1)"),
        ("undated.csv", "at an instant that is not known, an instant that proves nothing about any other: 13 (max_connections not shown)"),
        ("users.txt", "By user: app 13"),
        ("everything.txt", "processes of the server may be among them"),
    ],
)  # fmt: skip
def test_grouped_sessions_are_told_like_others(tmp_path: Path, name: str, said_in_text: str) -> None:
    """Sessions that a query counted in groups are a finding, a table and, where dated, a row of the timeline."""
    (tmp_path / name).write_bytes((GROUPED / name).read_bytes())
    case = pipeline.investigate([str(tmp_path)], pipeline.Options(tz="UTC"))
    told = document.build(case)
    (found,) = (row["text"] for row in told["findings"] if row["key"] == "mechanism.sessions")

    assert said_in_text in found
    assert len([row for row in told["timeline"] if row["kind"] == "snapshot"]) == (name != "undated.csv")
    assert sum(one["sessions"] for one in told["sessions"][0]["applications"]) == told["sessions"][0]["total"]
    assert not list(Draft202012Validator(schema()).iter_errors(told))
