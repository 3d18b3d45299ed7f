"""What would tell: commands made of what was read, what the inputs say of whether it is still there, and its order."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from findings_evidence import FIRST, HI, LAST, LO, SECOND, Draft, draft_of, signals

from forensics.findings.hypotheses import beyond, load
from forensics.findings.needs import DAY_S, expiry, needs_of
from forensics.findings.places import FETCH, Place, Window, found_first, log_of, place_of
from forensics.findings.questions import greatest, questions
from forensics.findings.signals import NOBODY, Signals
from forensics.findings.weighing import judge_all
from forensics.formats.monitors.uptime_kuma import kept_days
from forensics.model.digest import Evidence
from forensics.model.facts import Continuity, Deletion
from forensics.model.finding import URGENCY, Store, Verdict
from forensics.model.source import Ref
from forensics.pipeline import Options, investigate
from forensics.report import document
from forensics.report.render import markdown

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.source import Source

WINDOW = Window(LO, HI)
JOURNAL = "--since '2026-11-29 12:10:00 UTC' --until '2026-11-29 12:15:00 UTC' "
DOCKER = "--since '2026-11-29T12:10:00Z' --until '2026-11-29T12:15:00Z' "


def of(transport: str, *pieces: str) -> Signals:
    """Return signals of an input that travelled in one way."""
    draft = draft_of(["log of the service", *pieces])
    draft.transport = transport
    return signals(draft)


def with_source(found: Signals, **changes: object) -> Signals:
    """Return signals whose input is described otherwise."""
    source: Source = replace(found.evidence.sources[0], **changes)  # type: ignore[arg-type]
    return Signals(Evidence((source,), found.evidence.digest), found.known, found.facts)


@pytest.mark.parametrize(
    ("transport", "command", "store"),
    [
        ("journald_export", f"journalctl -u api {JOURNAL}-o export > api.export", Store.JOURNAL),
        ("journal_file", f"journalctl -u api {JOURNAL}-o export > api.export", Store.JOURNAL),
        ("journald_short_iso", f"journalctl -t api {JOURNAL}-o export > api.export", Store.JOURNAL),
        (
            "compose",
            f"docker compose logs --no-color --timestamps {DOCKER}-- api > api.log",
            Store.CONTAINER_LOG,
        ),
    ],
)
def test_a_log_is_fetched_from_who_keeps_it(transport: str, command: str, store: Store) -> None:
    """A unit of a journal, an identifier that its text shows, a service of Compose."""
    found = log_of(place_of(of(transport), "api"), WINDOW)

    assert (found.command, found.store) == (command, store)


def test_replicas_of_compose_are_asked_of_their_service() -> None:
    """There is no unit or service worker-6."""
    assert log_of(Place("compose", "worker-6"), WINDOW).command.endswith(f"{DOCKER}-- worker > worker.log")


@pytest.mark.parametrize("transport", ["docker_json", "docker_timestamps"])
def test_a_container_is_found_by_its_name_first(transport: str) -> None:
    """The name that an export bears need not be that of the container."""
    command = log_of(place_of(of(transport), "api"), WINDOW).command

    assert command.startswith("docker ps -aq --filter name=api | ")
    assert f'docker logs --timestamps {DOCKER}"$id"' in command


@pytest.mark.parametrize("transport", ["cri", "kubectl_prefix", "stern"])
def test_pods_are_found_first(transport: str) -> None:
    """The name of a service is that of no pod."""
    command = log_of(place_of(of(transport), "api"), WINDOW).command

    assert command.startswith("kubectl get pods --all-namespaces --no-headers | grep -F -- api | ")
    assert "--since-time='2026-11-29T12:10:00Z'" in command


@pytest.mark.parametrize("transport", ["cri", "kubectl_events", "stern"])
def test_a_cluster_is_asked_for_what_it_tells_of_ends_and_starts(transport: str) -> None:
    """Neither systemd nor Docker is asked; what the process printed before it ended is in the log of the one before."""
    asked = of(transport)
    commands = [FETCH["manager"](asked, WINDOW), FETCH["service_log"](asked, WINDOW)]
    unknown = [log_of(place_of(asked, name), WINDOW) for name in (NOBODY, "other")]

    assert "kubectl get events" in commands[0].command
    assert "kubectl describe pod" in commands[0].command
    assert "kubectl logs" in commands[0].command
    assert "--previous" in commands[0].command
    assert commands[0].store is Store.EVENTS
    for fetch in (*commands, *unknown):
        assert "systemctl" not in fetch.command
        assert "docker" not in fetch.command
        assert fetch.command.startswith("kubectl ")


def test_what_nobody_names_is_listed() -> None:
    """No placeholder stands in a command, whatever is unknown."""
    nothing = signals(Draft())
    commands = [fetch(nothing, Window(0, 0)).command for fetch in FETCH.values()]
    asked = [need for one in (*load(), *beyond()) for need in needs_of(nothing, one.wanted)]

    assert found_first(Place("unknown", None)).startswith("{ systemctl list-units")
    for command in [*commands, *(need.command for need in asked)]:
        assert "CONTAINER" not in command
        assert "main.log" not in command
        assert NOBODY not in command
        assert "{since" not in command
        assert "{sar_day" not in command


def test_names_are_quoted() -> None:
    """A name from a log starts no command of its own."""
    command = log_of(Place("unit", "a; rm -rf /"), WINDOW).command

    assert command.startswith("journalctl -u 'a; rm -rf /' ")
    assert command.endswith("> 'a; rm -rf _'.export")


def test_the_server_is_asked_for_its_log() -> None:
    """Where PostgreSQL writes is its own to say; a log that the journal keeps is fetched there."""
    plain = FETCH["postgres_log"](of("text_dated"), WINDOW)
    kept = FETCH["postgres_log"](of("journald_export", "log of the server"), WINDOW)

    assert "pg_current_logfile()" in plain.command
    assert plain.store is Store.SERVER_LOG
    assert kept.command == f"journalctl -u postgres {JOURNAL}-o export > postgres.export"


def test_a_log_that_was_given_is_not_asked_for() -> None:
    """Where PostgreSQL's log covers the window only its settings can tell more."""
    wanted = next(one for one in load() if one.id == "db_slow_or_locked").wanted
    without = needs_of(of("text_dated"), wanted)
    given = needs_of(of("text_dated", "log of the server"), wanted)

    assert [need.expires.store for need in without] == [Store.SERVER_LOG, Store.FILES]
    assert [need.expires.store for need in given] == [Store.FILES]
    assert without[0].expires.values["settings"] is True


def test_a_journal_that_was_vacuumed_since_is_at_risk() -> None:
    """A deletion before the incident took nothing of it."""
    for at, state in ((LO + SECOND, "at_risk"), (LO - SECOND, "unknown")):
        found = of("journald_export")
        found.facts.put(Continuity((), (), (), (Deletion(at, "80M", Ref(0, 1)),)))
        assert expiry(found, Store.JOURNAL).state == state


def test_a_container_log_that_begins_too_late_is_partly_gone() -> None:
    """Its first line falls after the incident's start."""
    late = with_source(of("docker_json"), first_us=LO + 60 * SECOND)

    assert expiry(of("docker_json"), Store.CONTAINER_LOG).state == "unknown"
    assert (expiry(late, Store.CONTAINER_LOG).state, expiry(late, Store.CONTAINER_LOG).values["begins"]) == (
        "partly_gone", LO + 60 * SECOND,
    )  # fmt: skip
    assert expiry(with_source(late, transport="journald_export"), Store.CONTAINER_LOG).state == "unknown"


@pytest.mark.parametrize(("days", "state"), [(0, "kept"), (6, "kept"), (9, "at_risk"), (40, "gone")])
def test_the_age_of_sysstat_is_that_at_the_end_of_the_inputs(days: int, state: str) -> None:
    """Seven days on Debian, 28 on Red Hat; the clock of this machine says nothing."""
    found = with_source(of("text_dated"), last_us=LAST + days * DAY_S * SECOND)
    assert expiry(found, Store.SYSSTAT).state == state


@pytest.mark.parametrize(
    ("keeps", "days", "state"), [(None, 0, "unknown"), (180, 2, "kept"), (14, 30, "gone")]
)
def test_a_monitors_retention_is_that_of_its_settings(keeps: int | None, days: int, state: str) -> None:
    """Results are lost that many days after the incident."""
    found = with_source(of("text_dated"), keeps_days=keeps, last_us=LAST + days * DAY_S * SECOND)
    told = expiry(found, Store.MONITOR)

    assert told.state == state
    assert told.values["until"] == (LO + keeps * DAY_S * SECOND if keeps else None)


@pytest.mark.parametrize(
    ("value", "days"), [("180", 180), ('"30"', 30), ("0", None), ("-1", None), ("x", None), (None, None)]
)
def test_uptime_kuma_says_how_long_it_keeps(value: str | None, days: int | None) -> None:
    """Less than a day turns deletion off."""
    database = sqlite3.connect(":memory:")
    database.execute("create table setting (key text, value text)")
    if value is not None:
        database.execute("insert into setting values ('keepDataPeriodDays', ?)", (value,))

    assert kept_days(database) == days
    assert kept_days(sqlite3.connect(":memory:")) is None


def test_needs_and_questions_come_by_urgency() -> None:
    """What is lost at once is first, then the greatest unknown, then what is lost soonest."""
    found = of("compose", "pool text", "refused by the server")
    object.__setattr__(found, "primary", replace(found.primary, ongoing=True, end=None))  # type: ignore[type-var]
    judgements = judge_all(found)
    asked = questions(found, judgements)
    first = [min(URGENCY[need.expires.store] for need in one.needs) for one in asked]
    live = [rank == URGENCY[Store.LIVE] for rank in first]
    rest = [
        rank
        for one, rank in zip(asked, first, strict=True)
        if rank != URGENCY[Store.LIVE] and one is not greatest(asked)
    ]

    assert live == sorted(live, reverse=True)
    assert live[0]
    assert rest == sorted(rest)
    for one in (*asked, *judgements):
        ranks = [URGENCY[need.expires.store] for need in one.needs]
        assert ranks == sorted(ranks)


@pytest.mark.parametrize(
    ("pieces", "what"),
    [
        (["pool text"], "holder"),
        (["refused by the server", "log of the server"], "slots"),
        (["Redis timeouts"], "redis"),
        (["outage"], "out_of_memory"),
        ([], "process_stalled"),
    ],
)
def test_the_greatest_unknown_is_an_open_question_that_bears_on_what_was_found(
    pieces: list[str], what: str
) -> None:
    """A crash asks for memory; where nothing was found, for the mechanism."""
    found = signals(draft_of(pieces))
    asked = questions(found, judge_all(found))
    main = greatest(asked)

    assert main in asked
    assert main is not None
    assert (main.what, bool(main.needs)) == (what, True)


def test_a_stop_that_was_asked_for_asks_not_for_memory() -> None:
    """Nothing on the host has to explain it."""
    draft = draft_of(["outage"])
    outage = next(iter(draft.facts.values()))
    draft.facts[type(outage[0])] = [replace(outage[0], reason="deploy")]
    found = signals(draft)
    judgements = judge_all(found)
    main = greatest(questions(found, judgements))

    assert next(one for one in judgements if one.id == "out_of_memory").verdict is Verdict.NOT_DETERMINED
    assert main is not None
    assert main.what == "stop"


def test_an_incidents_window_has_room_on_both_sides() -> None:
    """Five minutes before and after; without an incident the command has no window."""
    wanted = next(one for one in load() if one.id == "out_of_memory").wanted
    (need,) = needs_of(signals(Draft()), wanted)

    assert "--since '2026-11-29 12:05:00 UTC' --until '2026-11-29 12:20:00 UTC'" in need.command
    assert FIRST < LO


def test_a_command_with_pseudonyms_says_so(tmp_path: Path) -> None:
    """Masked names have to be put back by hand: the page says at which command."""
    log = "".join(f'{{"__REALTIME_TIMESTAMP":"{(FIRST + at * SECOND)}","_SYSTEMD_UNIT":"acme-api.service","MESSAGE":"INFO: 203.0.113.7:0 - \\"GET / HTTP/1.1\\" 200 OK"}}\n' for at in range(90))  # fmt: skip
    (tmp_path / "api.json").write_text(log, encoding="utf-8")
    (tmp_path / "case.toml").write_text('[redact]\nnames = ["acme-api"]\n', encoding="utf-8")
    found = investigate([str(tmp_path / "api.json")], Options(case=tmp_path / "case.toml"))
    needs = [need for one in document.build(found)["hypotheses"] for need in one["needs"]]
    plain = [need for one in document.build(found, redact=False)["hypotheses"] for need in one["needs"]]

    assert any(need["masked"] for need in needs)
    assert all(
        need["masked"] is ("acme-api" in other["command"]) for need, other in zip(needs, plain, strict=True)
    )
    assert not any(need["masked"] for need in plain)
    page = markdown(document.build(found))
    assert "put the real names in place of the pseudonyms" in page
