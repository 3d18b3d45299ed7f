"""A start that is followed by an end at once brought nothing back; a job that ran to its end was no service that stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.model.facts import Incidents, Restarts

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case

STOPPED = (
    ("06:10:00.1", "Stopping api.service - API..."),
    ("06:10:00.9", "api.service: Deactivated successfully."),
    ("06:10:00.9", "Stopped api.service - API."),
)
LOUD = "Error: Cannot find module './config/payments.json'"


def failed(at: str, ended: str, n: int) -> tuple[tuple[str, str], ...]:
    """Return a start that failed after a second or two, and the restart that systemd plans."""
    return (
        (f"{at}.0", "Started api.service - API."),
        (f"{ended}.0", "api.service: Main process exited, code=exited, status=1/FAILURE"),
        (f"{ended}.1", "api.service: Failed with result 'exit-code'."),
        (f"{ended}.9", f"api.service: Scheduled restart job, restart counter is at {n}."),
    )


LOOP = (
    *failed("06:10:01", "06:10:02", 1),
    *failed("06:10:04", "06:10:05", 2),
    *failed("06:10:07", "06:10:09", 3),
)
GAVE_UP = (
    ("06:10:11.0", "api.service: Start request repeated too quickly."),
    ("06:10:11.1", "api.service: Failed with result 'exit-code'."),
    ("06:10:11.2", "Failed to start api.service - API."),
)
BACK = (("06:13:29.0", "Started api.service - API."),)


def read(folder: Path, said: tuple[tuple[str, str], ...], printed: tuple[tuple[str, str], ...] = ()) -> Case:
    """Read a journal's text: the manager's lines, and those of programs with their identifiers."""
    rows = [(at, f"systemd[1]: {text}") for at, text in said] + list(printed)
    text = "".join(
        f"2026-03-10T{at}00000+00:00 web-1 {line}\n" for at, line in sorted(rows, key=lambda row: row[0])
    )
    (folder / "journal.txt").write_text(text, encoding="utf-8")
    return pipeline.investigate([str(folder)], pipeline.Options(tz="UTC"))


def suggested(case: Case) -> set[str]:
    """Return the suggestions that answer what is told."""
    told = {one.key for one in case.diagnosis.findings}
    return {one.key for one in case.diagnosis.actions if told & set(one.answers)}


def clock(us: int | None) -> str | None:
    """Return an instant's time of day, in whole seconds."""
    return (
        None
        if us is None
        else f"{us // 1_000_000 % 86_400 // 3600:02}:{us // 60_000_000 % 60:02}:{us // 1_000_000 % 60:02}"
    )


@pytest.mark.parametrize(
    ("said", "reason", "start", "end", "starts", "gave_up"),
    [
        ((*STOPPED, *LOOP, *GAVE_UP, *BACK), "deploy_loop", "06:10:00", "06:13:29", 3, "06:10:11"),
        ((*LOOP, *BACK), "crash_loop", "06:10:02", "06:13:29", 2, None),
        ((*LOOP, *GAVE_UP), "crash_loop", "06:10:02", None, 2, "06:10:11"),
        ((*STOPPED, *BACK), "deploy", "06:10:00", "06:13:29", 0, None),
    ],
)
def test_all_ends_up_to_the_start_that_held_are_one_outage(
    tmp_path: Path,
    said: tuple[tuple[str, str], ...],
    reason: str,
    start: str,
    end: str,
    starts: int,
    gave_up: str,
) -> None:
    (outage,) = read(tmp_path, said).facts[Restarts].outages

    assert (outage.reason, clock(outage.start), clock(outage.end)) == (reason, start, end)
    assert (outage.failed, clock(outage.gave_up)) == (starts, gave_up)


def test_an_end_a_while_after_the_start_is_another_outage(tmp_path: Path) -> None:
    """Eleven seconds are longer than what Docker and systemd count as a failed start."""
    said = (*failed("06:10:01", "06:10:02", 1), *failed("06:10:04", "06:10:15", 2), *BACK)
    found = read(tmp_path, said).facts[Restarts].outages

    assert [(one.reason, clock(one.start), clock(one.end)) for one in found] == [
        ("crash", "06:10:02", "06:10:04"),
        ("crash", "06:10:15", "06:13:29"),
    ]


def test_a_start_that_never_came_up_failed(tmp_path: Path) -> None:
    """A unit that tells when it is ready is not started before."""
    starting = (
        ("06:10:01.0", "Starting api.service - API..."),
        ("06:10:55.0", "api.service: Main process exited, code=exited, status=1/FAILURE"),
        ("06:10:55.1", "Failed to start api.service - API."),
    )
    (outage,) = read(tmp_path, (*STOPPED, *starting, *BACK)).facts[Restarts].outages

    assert (outage.reason, outage.failed, clock(outage.end)) == ("deploy_loop", 1, "06:13:29")


def test_what_the_process_printed_before_its_ends_is_named_and_answered(tmp_path: Path) -> None:
    """The journal's text names the program, its manager the unit; another service goes on meanwhile."""
    printed = tuple(
        (f"06:10:{second}.8", f"node[{pid}]: {text}")
        for pid, second in ((2000, "01"), (2001, "04"), (2002, "08"))
        for text in (LOUD, "Require stack:", "- /srv/app/dist/main.js")
    )
    other = tuple((f"06:{minute:02}:05.0", "mailer[77]: INFO mail sent") for minute in range(30))
    case = read(tmp_path, (*STOPPED, *LOOP, *GAVE_UP, *BACK), (*printed, *other))
    found = {one.key: one for one in case.diagnosis.findings}

    assert found["mechanism.last_words"].values["text"] == LOUD
    assert (found["mechanism.last_words"].values["n"], found["mechanism.last_words"].values["by"]) == (
        3,
        "node",
    )
    assert suggested(case) & {"act.roll_back", "act.restart", "act.last_words"} == {"act.roll_back"}
    assert clock(case.facts[Incidents].items[0].start) == "06:10:00"


PANIC = "panic: required environment variable SIGNING_KEY is not set"
STACKS = (
    "",
    "goroutine 1 [running]:",
    "main.mustEnv({0x9c3f21, 0x13})",
    "\t/src/cmd/orders/config.go:28 +0x8f",
)
EVENTS = """LAST SEEN              TYPE      REASON      OBJECT                          MESSAGE
2026-03-10T08:30:09Z   Normal    Scheduled   pod/orders-7c9d8b6f5d-x2k4v     Successfully assigned shop/orders-7c9d8b6f5d-x2k4v to node-2
2026-03-10T08:31:50Z   Normal    Started     pod/orders-7c9d8b6f5d-x2k4v     Started container orders
2026-03-10T08:33:10Z   Warning   BackOff     pod/orders-7c9d8b6f5d-x2k4v     Back-off restarting failed container orders in pod orders-7c9d8b6f5d-x2k4v_shop(0d7c1f5e-2f9b-4e36-8b0f-1f2a3b4c5d6e)
2026-03-10T08:49:21Z   Normal    Started     pod/orders-6f5b9c7d44-p9z1q     Started container orders
"""


def cluster(folder: Path, *lines: tuple[str, str]) -> Case:
    """Read a container's log (clock and text) beside the events of its cluster."""
    text = "".join(f"2026-03-10T08:{at}.220000123Z stderr F {line}\n" for at, line in lines)
    (folder / "orders-7c9d8b6f5d-x2k4v_shop_orders.log").write_text(text, encoding="utf-8")
    (folder / "events.txt").write_text(EVENTS, encoding="utf-8")
    return pipeline.investigate([str(folder)], pipeline.Options(tz="UTC"))


def test_a_container_that_panics_after_each_start_is_down_until_another_one_stays(tmp_path: Path) -> None:
    """Its log and the events name one service, and a pause before the next start tells that the last one failed."""
    lines = [
        (at, line)
        for at in ("30:12", "30:24", "30:45", "31:27")
        for line in ("starting orders", PANIC, *STACKS)
    ]
    case = cluster(tmp_path, *lines)
    (outage,) = case.facts[Restarts].outages
    found = {one.key: one for one in case.diagnosis.findings}

    assert (outage.service, outage.reason, outage.ends) == ("orders", "crash_loop", 4)
    assert (clock(outage.start), clock(outage.end)) == ("08:30:12", "08:49:21")
    assert (found["mechanism.last_words"].values["text"], found["mechanism.last_words"].values["n"]) == (
        PANIC,
        4,
    )


def test_a_panic_without_stacks_ended_no_process(tmp_path: Path) -> None:
    case = cluster(tmp_path, ("30:12", "starting orders"), ("30:40", PANIC), ("31:00", "went on"))

    assert [one.kind for one in case.facts[Restarts].events] == ["started", "backoff", "started"]


DUMP = (
    ("03:00:00.2", "Starting dump.service - Nightly dump..."),
    ("03:24:51.0", "dump.service: Deactivated successfully."),
    ("03:24:51.1", "Finished dump.service - Nightly dump."),
)
JOB = (
    ("03:00:00.2", "Started dump.service - Nightly dump."),
    ("03:24:51.0", "dump.service: Deactivated successfully."),
)


@pytest.mark.parametrize("said", [DUMP, JOB, (*JOB, ("04:00:00.2", "Started dump.service - Nightly dump."))])
def test_a_job_that_ran_to_its_end_is_no_outage(tmp_path: Path, said: tuple[tuple[str, str], ...]) -> None:
    """Neither a unit of one shot nor a process that a timer started."""
    case = read(
        tmp_path,
        said,
        (("03:10:00.0", "worker[900]: INFO job done"), ("04:10:00.0", "worker[900]: INFO job done")),
    )
    verdict = next(one for one in case.diagnosis.judgements if one.id == "service_restarted")

    assert case.facts[Restarts].outages == ()
    assert verdict.verdict.value == "not_determined"


def test_a_clean_end_that_the_manager_answered_with_a_restart_is_told_as_such(tmp_path: Path) -> None:
    said = (
        ("06:10:00.0", "api.service: Deactivated successfully."),
        ("06:10:30.0", "api.service: Scheduled restart job, restart counter is at 1."),
        ("06:10:30.1", "Started api.service - API."),
    )
    (outage,) = read(tmp_path, said).facts[Restarts].outages

    assert (outage.reason, clock(outage.start), clock(outage.end)) == ("finished", "06:10:00", "06:10:30")


@pytest.mark.parametrize(("stopped", "slow"), [("06:10:00.9", False), ("06:10:12.9", True)])
def test_only_a_slow_stop_is_to_be_made_faster(tmp_path: Path, stopped: str, slow: bool) -> None:
    said = (
        ("06:10:00.1", "Stopping api.service - API..."),
        (stopped, "api.service: Deactivated successfully."),
        (stopped, "Stopped api.service - API."),
        ("06:10:20.0", "Started api.service - API."),
    )
    refused = tuple(
        (
            f"06:10:{second}.5",
            'gate[5]: 2026/03/10 06:10:13 [error] 22#22: *7 connect() failed (111: Connection refused) while connecting to upstream, client: 192.0.2.7, server: shop.example.com, request: "GET / HTTP/1.1", upstream: "http://127.0.0.1:3000/", host: "shop.example.com"',
        )
        for second in range(13, 20)
    )
    case = read(tmp_path, said, refused)

    assert ("act.restart" in suggested(case)) == slow


def test_why_a_process_ended_is_asked_only_where_it_did_not_say(tmp_path: Path) -> None:
    """The events alone tell of ends; the log of the container before them would tell why."""
    case = cluster(tmp_path, ("30:12", "starting orders"))
    question = next(one for one in case.diagnosis.open_questions if one.what == "ended")

    assert "kubectl logs" in question.needs[0].command
    assert "--previous" in question.needs[0].command

    lines = [(at, line) for at in ("30:12", "30:24") for line in ("starting orders", PANIC, *STACKS)]
    told = cluster(tmp_path, *lines)

    assert "ended" not in {one.what for one in told.diagnosis.open_questions}
