"""Failures are counted, not lines; each is placed where its wait began."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import small_logs as logs

from forensics.model.facts import Daily, Failures
from forensics.pipeline import Options, investigate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from forensics.model.case import Case
    from forensics.model.facts import FailureGroup

POOL = "sqlalchemy.queuepool-timeout"


def group(case: Case, signature: str = POOL) -> FailureGroup:
    """Return the only group of one signature."""
    (found,) = [item for item in case.facts[Failures].groups if item.signature == signature]
    return found


def count(think: Callable[..., Case], *lines: logs.Line) -> tuple[int, int | None, int]:
    """Return (failures, at most, lines) of pool timeouts among quiet traffic."""
    found = group(think(api=logs.journal([*logs.served(0, 200), *lines])))
    return found.failures, found.failures_max, found.lines


class TestCounting:
    """One failed operation is one failure, however many lines it prints."""

    def test_one_traceback(self, think) -> None:
        """A traceback is one failure; the source line that it echoes does not count."""
        assert count(think, *logs.at(60, *logs.TRACEBACK)) == (1, 1, 1)

    def test_one_traceback_in_one_entry(self, think) -> None:
        """The same traceback as one entry with newlines is one failure too."""
        assert count(think, (60, "\n".join(logs.TRACEBACK))) == (1, 1, 1)

    def test_chained_exceptions(self, think) -> None:
        """Two exceptions of one chain are one failure with two lines."""
        assert count(think, *logs.at(60, *logs.TRACEBACK, *logs.DURING, *logs.TRACEBACK)) == (1, 1, 2)

    def test_three_links_of_a_chain(self, think) -> None:
        """A longer chain is one failure still."""
        chain = [
            *logs.TRACEBACK,
            *logs.DURING,
            *logs.TRACEBACK,
            "",
            "The above exception was the direct cause of the following exception:",
            "",
            *logs.TRACEBACK,
        ]

        assert count(think, *logs.at(60, *chain)) == (1, 1, 3)

    def test_two_tracebacks_in_one_millisecond(self, think) -> None:
        """Two tracebacks without a chain mark between them are two failures, even in the same millisecond."""
        assert count(think, *logs.at(60, *logs.TRACEBACK, *logs.TRACEBACK)) == (2, 2, 2)

    def test_two_headed_tracebacks_in_one_millisecond(self, think) -> None:
        """Two tracebacks under a head line each are two failures."""
        head = "ERROR:    Exception in ASGI application"

        assert count(think, *logs.at(60, head, *logs.TRACEBACK, head, *logs.TRACEBACK)) == (2, 2, 2)

    def test_head_line_with_its_stack(self, think) -> None:
        """A log line that states the text and heads its own traceback is one failure."""
        assert count(think, *logs.at(60, f"ERROR:    checkout failed: {logs.POOL}", *logs.TRACEBACK)) == (
            1,
            1,
            2,
        )

    def test_message_and_its_own_traceback(self, think) -> None:
        """Where each one-line message is followed at once by a traceback of the same text, both are one failure."""
        lines = [
            line
            for n in range(5)
            for line in logs.at(
                60 + 3 * n,
                f"app.api: falha ao listar: {logs.POOL}",
                logs.served(0, 1)[0][1].replace("200 OK", "500 Internal Server Error"),
                "ERROR:    Exception in ASGI application",
                *logs.TRACEBACK,
            )
        ]

        assert count(think, *lines) == (5, 5, 10)

    def test_messages_apart_from_tracebacks(self, think) -> None:
        """One-line messages seconds away from the tracebacks are failures of their own."""
        lines = [
            line
            for n in range(5)
            for line in (
                *logs.at(60 + 6 * n, f"app.api: falha ao listar: {logs.POOL}"),
                *logs.at(63 + 6 * n, *logs.TRACEBACK),
            )
        ]

        assert count(think, *lines) == (10, 10, 10)

    def test_message_and_traceback_around_a_silence(self, think) -> None:
        """A traceback that may have been held back by a silence makes the count an interval."""
        lines = [line for line in logs.served(0, 200) if not 60 < line[0] < 90]
        extra = [(60.5, f"app.api: falha ao listar: {logs.POOL}"), *logs.at(90.5, *logs.TRACEBACK)]
        found = group(think(api=logs.journal([*lines, *extra])))

        assert (found.failures, found.failures_max, found.lines) == (1, 2, 2)

    def test_echoed_source_alone(self, think) -> None:
        """A traceback that only quotes the text in its source lines is no failure of it."""
        case = think(
            api=logs.journal(
                [*logs.served(0, 200), *logs.at(60, logs.TRACEBACK[0], *logs.FRAMES, "ValueError: other")]
            )
        )

        assert [item for item in case.facts[Failures].groups if item.signature == POOL] == []

    def test_two_processes_do_not_join(self, think) -> None:
        """Lines of two processes that interleave stay two failures."""
        rows = [logs.printed(second, text) for second, text in logs.served(0, 200)]
        for index, text in enumerate(logs.TRACEBACK):
            rows += [
                logs.printed(60 + index * 1e-4, text, pid=81),
                logs.printed(60 + index * 1e-4 + 5e-5, text, pid=82),
            ]
        found = group(think(api=logs.entries(rows)))

        assert (found.failures, found.lines) == (2, 2)

    def test_the_same_export_twice(self, think) -> None:
        """A log that is given twice counts once, and the copy is named."""
        text = logs.journal([*logs.served(0, 200), *logs.at(60, *logs.TRACEBACK)])
        case = think(a=text, b=text)

        assert (group(case).failures, group(case).lines) == (1, 1)
        assert [source.copy_of for source in case.evidence.sources] == [None, 0]

    def test_declared_loss_is_a_lower_bound(self, think) -> None:
        """Where journald dropped lines of the unit, the count is a lower bound that is open above."""
        rows = [
            logs.printed(second, text)
            for second, text in [*logs.served(0, 200), *logs.at(60, *logs.TRACEBACK)]
        ]
        rows.append(
            (
                90,
                {
                    "SYSLOG_IDENTIFIER": "systemd-journald",
                    "_COMM": "systemd-journal",
                    "_SYSTEMD_UNIT": "systemd-journald.service",
                    "_PID": "300",
                    "MESSAGE": "Suppressed 44 messages from crm-api.service",
                },
            )
        )
        found = group(think(api=logs.entries(rows)))

        assert (found.failures, found.failures_max, found.bound) == (1, None, "at_least")


class TestBackDating:
    """A timeout is placed where its wait began."""

    def test_stated_wait(self, think) -> None:
        """`timeout 30.00` printed at second 90 began at second 60; the size of the pool is told."""
        found = group(think(api=logs.journal([*logs.served(0, 200), *logs.at(90, logs.TRACEBACK[-1])])))

        assert (found.first, found.first_wait_began) == (logs.us(90), logs.us(60))
        assert found.parameters == {"size": 5, "overflow": 10, "timeout": 30.0}

    def test_milliseconds(self, think) -> None:
        """A wait that is stated in milliseconds is subtracted as such."""
        text = "[Gateway] 11445  - 11/29/2026, 12:01:30 PM    WARN [WebhookService] Webhook delivery failed event=messages.upsert id=3EB0 attempt=1/5 after 12500ms: timeout of 12500ms exceeded"
        found = group(
            think(gw=logs.journal([*logs.served(0, 200), (90, text)], unit="gateway")),
            "webhook.delivery-failed",
        )

        assert found.first_wait_began == logs.us(77.5)

    def test_no_wait_is_made_up(self, think) -> None:
        """A text that states no wait is placed where it was printed."""
        text = (
            "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out"
        )
        found = group(think(api=logs.journal([*logs.served(0, 200), (90, text)])))

        assert (found.first, found.first_wait_began) == (logs.us(90), None)


class TestDaily:
    """Failures per day of the case's zone, days that the inputs cut are partial."""

    HOUR = 3600

    def days(self, think: Callable[..., Case], tz: str) -> dict[str, tuple[int, bool]]:
        """Return failures and partiality by date: one failure at 02:30 UTC of 30 November, coverage from noon to noon two days later."""
        lines = [*logs.served(0, 48 * self.HOUR, 600), (14.5 * self.HOUR, logs.TRACEBACK[-1])]
        daily = think(api=logs.journal(lines), tz=tz).facts[Daily]
        failures = {day.date: day.failures for day in daily.items}
        return {date: (failures.get(date, 0), partial) for date, partial in daily.days}

    def test_utc(self, think) -> None:
        """In UTC the failure falls on 30 November, the only whole day."""
        assert self.days(think, "UTC") == {
            "2026-11-29": (0, True),
            "2026-11-30": (1, False),
            "2026-12-01": (0, True),
        }

    def test_west(self, think) -> None:
        """In São Paulo the same failure is one of 29 November."""
        assert self.days(think, "America/Sao_Paulo") == {
            "2026-11-29": (1, True),
            "2026-11-30": (0, False),
            "2026-12-01": (0, True),
        }

    def test_east(self, think) -> None:
        """In Auckland the coverage touches other days."""
        assert self.days(think, "Pacific/Auckland") == {
            "2026-11-30": (1, True),
            "2026-12-01": (0, False),
            "2026-12-02": (0, True),
        }

    @pytest.mark.parametrize("zone", ["America/New_York", "UTC"])
    def test_day_with_a_clock_change(self, think, zone: str) -> None:
        """A day of 25 hours is whole from its midnight to the next one, by its own zone's clock."""
        start = -28 * 24 * self.HOUR  # 2026-11-01T12:00Z, the day on which New York's clocks go back
        lines = logs.served(start - 20 * self.HOUR, start + 40 * self.HOUR, 600)
        daily = think(api=logs.journal(lines), tz=zone).facts[Daily]

        assert dict(daily.days)["2026-11-01"] is False


class TestLimitedTexts:
    """A text that is printed less often than what it tells of happens gives a lower bound."""

    def limited(self, limits: str) -> str:
        """Return a case file with a signature whose text is limited."""
        return f"""
            [[signature]]
            id = "case.full"
            family = "overload"
            title = "t"
            library = "l"
            side = "client"
            anchors = ["all workers busy"]
            pattern = "all workers busy"
            marks = "instant"
            counts = "failure"
            verified = true
            limits = "{limits}"
            reference = "r"
            means = "m"
            does_not_mean = "d"
            hit = ["all workers busy"]
            miss = []
        """

    @pytest.mark.parametrize(
        ("limits", "reason"),
        [
            ("once", "the program prints this text once, not at every failure"),
            ("rate", "the program prints this text at a limited rate"),
            ("merged", "one line stands for several failures of one kind"),
        ],
    )
    def test_count_is_a_lower_bound(self, think, limits: str, reason: str) -> None:
        """The group says at least so many and why, and has no upper bound."""
        lines = [*logs.served(0, 200), (60, "all workers busy"), (70, "all workers busy")]
        found = group(think(self.limited(limits), api=logs.journal(lines)), "case.full")

        assert (found.failures, found.failures_max, found.bound, found.why_bound) == (
            2,
            None,
            "at_least",
            reason,
        )


def test_a_peer_is_whom_the_url_addresses(tmp_path: Path) -> None:
    """Requests for two paths go to one upstream, which is told once and without them."""
    lines = [
        f'2026/11/29 12:00:{n:02} [error] 31#31: *{n} connect() failed (111: Connection refused) while connecting to upstream, client: 203.0.113.9, '
        f'server: shop.example, request: "GET /items/{n} HTTP/1.1", upstream: "http://{"172.18.0.5:3000" if n else "172.18.0.6:3000"}/items/{n}?a=b", host: "shop.example"\n'
        for n in range(6)
    ]  # fmt: skip
    (tmp_path / "error.log").write_text("".join(lines), encoding="utf-8")
    (group,) = investigate([str(tmp_path)], Options(tz="UTC")).facts[Failures].groups

    assert (group.failures, group.peers) == (6, ("http://172.18.0.5:3000", "http://172.18.0.6:3000"))
