"""What is one incident, what is none, and what still goes on."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import small_logs as logs

from forensics.model.facts import Incidents, Restarts, Samples

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.case import Case

FAILED = '"GET /api/presence HTTP/1.1" 500 Internal Server Error'


def pool(start: float, count: int, step: float = 1.0) -> list[logs.Line]:
    """Return pool timeouts, each printed 30 s after its wait began."""
    return [(start + n * step, logs.TRACEBACK[-1]) for n in range(count)]


def spans(case: Case) -> list[tuple[int, int | None]]:
    """Return (start, end) of the incidents in seconds after noon."""
    return [
        (round(item.start / 1e6 - logs.NOON), None if item.end is None else round(item.end / 1e6 - logs.NOON))
        for item in case.facts[Incidents].items
    ]


def test_quiet_day(think: Callable[..., Case]) -> None:
    """A steady input is silent."""
    assert spans(think(api=logs.journal(logs.served(0, 1800)))) == []


def test_lone_500(think: Callable[..., Case]) -> None:
    """One failed request is no incident."""
    assert (
        spans(
            think(api=logs.journal([*logs.served(0, 1800), (900.5, f"INFO:     203.0.113.1:0 - {FAILED}")]))
        )
        == []
    )


def test_lone_failure(think: Callable[..., Case]) -> None:
    """One timeout is no incident either."""
    assert spans(think(api=logs.journal([*logs.served(0, 1800), *pool(900.5, 1)]))) == []


def test_burst(think: Callable[..., Case]) -> None:
    """A burst of timeouts is one incident from where the first wait began to its last line, and the start is a bound."""
    case = think(api=logs.journal([*logs.served(0, 1800), *pool(900.5, 30)]))
    (incident,) = case.facts[Incidents].items

    assert spans(case) == [(870, 930)]
    assert (incident.start_bound, incident.start_wait_s, incident.ongoing) == ("no_later_than", 30.0, False)
    assert incident.services == ("crm-api",)


def test_recovery_of_a_busy_service(think: Callable[..., Case]) -> None:
    """A service that answered hundreds of requests after the last failure has recovered."""
    (incident,) = think(api=logs.journal([*logs.served(0, 1800), *pool(900.5, 30)])).facts[Incidents].items

    assert incident.recovered_at in (logs.us(930), logs.us(931))


def test_recovery_of_a_rarely_asked_service(think: Callable[..., Case]) -> None:
    """The first request that is served after the end dates the recovery."""
    (incident,) = think(api=logs.journal([*logs.served(0, 1800, 7), *pool(900.5, 30)])).facts[Incidents].items

    assert incident.recovered_at == logs.us(931)


def test_two_freezes_far_apart(think: Callable[..., Case]) -> None:
    """Two bursts a quarter of an hour apart are two incidents."""
    assert spans(think(api=logs.journal([*logs.served(0, 3600), *pool(900.5, 30), *pool(1800.5, 30)]))) == [
        (870, 930),
        (1770, 1830),
    ]


def test_two_bursts_close_together(think: Callable[..., Case]) -> None:
    """Two bursts whose waits nearly touch are one incident."""
    assert spans(think(api=logs.journal([*logs.served(0, 3600), *pool(900.5, 30), *pool(990.5, 30)]))) == [
        (870, 1020)
    ]


def test_ongoing(think: Callable[..., Case]) -> None:
    """Failures up to the last line of the input go on, as far as anyone can tell: no end is stated."""
    case = think(api=logs.journal([*logs.served(0, 1000), *pool(900.5, 100)]))
    (incident,) = case.facts[Incidents].items

    assert spans(case) == [(870, None)]
    assert (incident.ongoing, incident.recovered_at) == (True, None)


def failing(start: float, count: int, step: float) -> list[logs.Line]:
    """Return requests of people answered with 500, off any beat."""
    random_ = random.Random(count)  # noqa: S311 - any numbers will do
    return [
        (
            start + (n + 0.9 * random_.random()) * step,
            f"INFO:     203.0.113.{random_.randrange(200)}:0 - {FAILED}",
        )
        for n in range(count)
    ]


def test_steady_errors_are_background(think: Callable[..., Case]) -> None:
    """Requests that fail at an even rate all the time are the habit, not an incident."""
    assert spans(think(api=logs.journal([*logs.served(0, 3600), *failing(5.5, 359, 10)]))) == []


def test_burst_upon_a_habit(think: Callable[..., Case]) -> None:
    """A burst well above the habit is an incident although there are always some failures."""
    found = spans(
        think(api=logs.journal([*logs.served(0, 7200), *failing(30.5, 24, 300), *failing(3600.2, 120, 0.5)]))
    )

    ((start, end),) = found
    assert 3450 <= start <= 3601  # from the failure of the habit just before
    assert end is not None
    assert 3655 <= end <= 3900  # up to the next failure of the habit


def test_outage_by_crash(think: Callable[..., Case]) -> None:
    """A process that dies and is started again later is an incident without any failure text."""
    rows = [logs.printed(second, text) for second, text in logs.served(0, 1800) if not 900 < second < 960]
    rows += [
        logs.manager(900.3, "crm-api.service: Main process exited, code=killed, status=9/KILL"),
        logs.manager(900.4, "crm-api.service: Failed with result 'signal'."),
    ]
    rows += [logs.manager(959, "Started crm-api.service - CRM API (uvicorn).")]
    case = think(api=logs.entries(rows))
    (outage,) = case.facts[Restarts].outages

    assert outage.reason == "killed"
    assert spans(case) == [(900, 959)]


def test_people_say_when(think: Callable[..., Case]) -> None:
    """Events of the case file date detection, acknowledgement and mitigation."""
    events = "".join(
        f'[[event]]\nat = "2026-11-29T12:{minute}:00Z"\nkind = "{kind}"\n'
        for minute, kind in ((16, "detected"), (17, "acknowledged"), (18, "mitigated"))
    )
    (incident,) = (
        think(events, api=logs.journal([*logs.served(0, 1800), *pool(900.5, 30)])).facts[Incidents].items
    )

    assert [incident.detected_at, incident.acknowledged_at, incident.mitigated_at] == [
        logs.us(960),
        logs.us(1020),
        logs.us(1080),
    ]


def test_samples_around_the_incident(think: Callable[..., Case]) -> None:
    """Before, peak and after are samples, and the limit is told; nothing is interpolated."""
    values = {**dict.fromkeys(range(0, 900, 120), 34), 900: 34, 1020: 46, 1140: 46, 1260: 35, 1380: 35}
    text = "".join(
        f'{{"at": {logs.NOON + second}, "conns": {value}, "max": 100}}\n' for second, value in values.items()
    )
    case = think(api=logs.journal([*logs.served(0, 1800), *pool(940.5, 220)]), pg=text)
    (gauge,) = case.facts[Samples].series

    assert (gauge.before, gauge.peak, gauge.after, gauge.limit, gauge.period_s) == (34, 46, 35, 100, 120)
    assert gauge.plateau == (logs.us(1020), logs.us(1140), 2)
