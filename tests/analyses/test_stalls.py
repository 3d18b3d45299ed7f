"""Silences, and which of them are stalls: not a restart, not suppressed lines, not an idle service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import small_logs as logs

from forensics.model.facts import Incidents, Losses, Periodic, Restarts, Silences, Stalls

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.model.case import Case

BEAT = [float(60 * n) for n in range(1, 30)]
QUIET = (600.0, 690.0)
"""From when to when the service prints nothing."""


def outside(lines: list[logs.Line], quiet: tuple[float, float] = QUIET) -> list[logs.Line]:
    """Leave out what would be printed in a silence."""
    return [line for line in lines if not quiet[0] < line[0] < quiet[1]]


def burst(second: float, count: int = 40) -> list[logs.Line]:
    """Return the backlog that a process prints when it runs again."""
    return [
        (second + n * 0.01, f'INFO:     203.0.113.{n}:0 - "GET /api/views HTTP/1.1" 200 OK')
        for n in range(count)
    ]


def gateway(during: bool = True) -> str:
    """Render the calls of another service: short ones, and those that hung on the silence."""
    lines = [
        (
            2.0 * n,
            "[Gateway] 11445  - 11/29/2026, 12:00:00 PM     LOG [WebhookService] Webhook delivered event=messages.upsert id=3EB0 status=200 (22ms)",
        )
        for n in range(900)
        if not QUIET[0] < 2.0 * n < QUIET[1]
    ]
    if during:
        lines += [
            (
                691.0 + n,
                f"[Gateway] 11445  - 11/29/2026, 12:00:00 PM     LOG [WebhookService] Webhook delivered late event=messages.upsert id=3EB0 status=200 ({80_000 - 5000 * n}ms)",
            )
            for n in range(4)
        ]
    return logs.journal(lines, unit="gateway", pid=7)


def lines() -> list[logs.Line]:
    """Return half an hour of traffic and probes."""
    return [*logs.served(0.5, 1800, 1), *logs.probes(BEAT)]


def frozen() -> list[logs.Line]:
    """Return a service that stood still for 90 s and then printed its backlog."""
    return [*outside(lines()), *burst(690.0)]


def spans(items: Any) -> list[tuple[float, float | None]]:
    """Return (start, end) in seconds after noon, rounded."""
    return [
        (round(item.start / 1e6 - logs.NOON), None if item.end is None else round(item.end / 1e6 - logs.NOON))
        for item in items
    ]


class TestSilences:
    """A silence is measured against the service's own rate."""

    def test_found(self, think: Callable[..., Case]) -> None:
        """Ninety seconds without a line of a service that prints each second are one silence."""
        (silence,) = think(api=logs.journal(outside(lines()))).facts[Silences].items

        assert spans([silence]) == [(600, 690)]
        assert (silence.found, 80 < silence.expected < 100) == (0, True)

    def test_until_the_input_ends(self, think: Callable[..., Case]) -> None:
        """Silent until the input ends: no end is made up; other inputs tell that time went on."""
        text = logs.journal([line for line in lines() if line[0] <= 1500])
        found = [
            item for item in think(api=text, gw=gateway()).facts[Silences].items if item.service == "crm-api"
        ]

        assert spans(found) == [(1500, None)]

    def test_steady_service_has_none(self, think: Callable[..., Case]) -> None:
        """An even rate has no silence, and the end of the input is none."""
        assert think(api=logs.journal(lines())).facts[Silences].items == ()

    def test_rare_lines_have_none(self, think: Callable[..., Case]) -> None:
        """A service that prints every ten minutes has no rate of which a gap could stand out."""
        assert think(api=logs.journal(logs.served(0, 36_000, 600))).facts[Silences].items == ()


class TestStalls:
    """A silence becomes a stall only with independent witnesses."""

    def test_stall(self, think: Callable[..., Case]) -> None:
        """Unanswered probes, hung calls of others and a backlog: the process stood still."""
        case = think(api=logs.journal(frozen()), gw=gateway(), monitor=logs.beats(BEAT, down=(660.0,)))
        (stall,) = case.facts[Stalls].items

        assert (stall.service, spans([stall])) == ("crm-api", [(600, 690)])
        assert {"calls", "burst"} <= {witness.kind for witness in stall.witnesses}
        assert spans(case.facts[Incidents].items)[0][0] <= 600

    def test_restart_is_no_stall(self, think: Callable[..., Case]) -> None:
        """A process that was stopped and started again did not stand still."""
        rows = [logs.printed(second, text, pid=81 if second < 650 else 99) for second, text in frozen()]
        rows += [
            logs.manager(600.2, "Stopping crm-api.service - CRM API (uvicorn)..."),
            logs.manager(604, "Stopped crm-api.service - CRM API (uvicorn)."),
        ]
        rows += [logs.manager(688, "Started crm-api.service - CRM API (uvicorn).")]
        case = think(api=logs.entries(rows), gw=gateway(), monitor=logs.beats(BEAT, down=(660.0,)))
        (outage,) = case.facts[Restarts].outages

        assert case.facts[Stalls].items == ()
        assert (outage.reason, spans([outage])) == ("deploy", [(600, 688)])

    def test_suppressed_lines_are_no_stall(self, think: Callable[..., Case]) -> None:
        """Where journald says that it dropped lines of the unit, silence is no evidence."""
        rows = [logs.printed(second, text) for second, text in frozen()]
        rows.append(
            (
                690.5,
                {
                    "SYSLOG_IDENTIFIER": "systemd-journald",
                    "_COMM": "systemd-journal",
                    "_SYSTEMD_UNIT": "systemd-journald.service",
                    "_PID": "300",
                    "MESSAGE": "Suppressed 1400 messages from crm-api.service",
                },
            )
        )
        case = think(api=logs.entries(rows), gw=gateway())
        (loss,) = case.facts[Losses].items

        assert (loss.service, loss.n) == ("crm-api", 1400)
        assert case.facts[Stalls].items == ()

    def test_idle_service_is_no_stall(self, think: Callable[..., Case]) -> None:
        """A service that only its probes ask, and that answered them through the silence, was idle."""
        idle = [*outside(logs.served(0.5, 1800, 1)), *logs.probes(float(20 * n) for n in range(1, 90))]
        case = think(api=logs.journal(idle), monitor=logs.beats([float(20 * n) for n in range(1, 90)]))

        assert case.facts[Stalls].items == ()
        assert case.facts[Incidents].items == ()

    def test_silence_without_witness(self, think: Callable[..., Case]) -> None:
        """Silence alone is no stall."""
        case = think(api=logs.journal(outside(logs.served(0.5, 1800, 1))))

        assert len(case.facts[Silences].items) == 1
        assert case.facts[Stalls].items == ()

    def test_an_operation_that_is_always_slow_is_no_witness(self, think: Callable[..., Case]) -> None:
        """Calls that always take a minute tell nothing about a silence."""
        slow = [(30.0 * n, "nightly sync finished after 60000ms") for n in range(1, 60)]
        case = think(
            api=logs.journal(outside(logs.served(0.5, 1800, 1))), sync=logs.journal(slow, unit="sync")
        )

        assert case.facts[Stalls].items == ()


def timers(*texts: tuple[str, float]) -> list[logs.Line]:
    """Return what timers of the process print, each at its own beat."""
    return [(at, text) for text, step in texts for at in (3.3 + step * n for n in range(int(1790 / step)))]


class TestPeriodic:
    """Timers that print nothing tell an idle process from one that does not run."""

    LONG = (600.0, 800.0)
    TWO = (("INFO [metrics] flushed 12 series", 10.0), ("INFO [scheduler] tick", 30.0))

    def test_a_beat_is_found(self, think: Callable[..., Case]) -> None:
        """Two timers have beats; requests at uneven distances and a message of one half hour have none."""
        uneven = [(7.0 * n + (n * n % 11), f"INFO [jobs] sent mail {n}") for n in range(200)]
        rows = [*timers(*self.TWO), *uneven, *[(900.0 + 10 * n, "INFO [late] only now") for n in range(80)]]
        found = think(api=logs.journal(rows)).facts[Periodic].items

        assert [(one.service, one.template, one.per_minute) for one in found] == [
            ("crm-api", "INFO [metrics] flushed <n> series", 6.0),
            ("crm-api", "INFO [scheduler] tick", 2.0),
        ]

    def test_two_timers_and_a_backlog_are_a_stall(self, think: Callable[..., Case]) -> None:
        """No probe and no other service: what the process does by itself stopped with what it does for others."""
        rows = outside([*logs.served(0.5, 1800, 1), *timers(*self.TWO)], self.LONG)
        (stall,) = think(api=logs.journal([*rows, *burst(800.0)])).facts[Stalls].items
        (beat,) = [one for one in stall.witnesses if one.kind == "periodic"]

        assert spans([stall]) == [(600, 800)]
        assert (beat.n, beat.detail["templates"]) == (
            24,
            ["INFO [metrics] flushed <n> series", "INFO [scheduler] tick"],
        )
        assert len(beat.refs) == 2

    def test_one_timer_is_not_enough(self, think: Callable[..., Case]) -> None:
        """One message that stays away may be one timer that died."""
        rows = outside([*logs.served(0.5, 1800, 1), *timers(self.TWO[0])], self.LONG)

        assert think(api=logs.journal([*rows, *burst(800.0)])).facts[Stalls].items == ()

    def test_timers_that_go_on_witness_nothing(self, think: Callable[..., Case]) -> None:
        """A service without requests whose timers print is idle."""
        rows = [*outside(logs.served(0.5, 1800, 0.25), self.LONG), *timers(*self.TWO), *burst(800.0)]

        assert think(api=logs.journal(rows)).facts[Stalls].items == ()
