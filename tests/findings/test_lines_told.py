"""What lines explain by themselves: who was late with a reply, what blocked a thread, what outlasted its trigger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics import pipeline
from forensics.pipeline import Options

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case
    from forensics.model.finding import Finding

REDIS = (
    "StackExchange.Redis.RedisTimeoutException: Timeout performing {cmd} ({ms}ms), next: GET, inst: 0, qu: 0, qs: {qs}, aw: False, rs: ReadAsync, ws: Idle, "
    "in: {unread}, serverEndpoint: {server}:6379, clientName: api-7, IOCP: (Busy=0,Free=1000,Min=4,Max=1000), WORKER: (Busy={busy},Free=32000,Min={least},Max=32767), v: 2.8.0"
)


def stamped(lines: list[tuple[float, str]]) -> str:
    """Write lines at seconds after 12:00 UTC."""
    return "".join(
        f"2026-11-29T12:{int(at) // 60:02}:{at % 60:06.3f}Z {text}\n" for at, text in sorted(lines)
    )


def case(folder: Path, **files: str) -> Case:
    """Read files by their names; an underscore stands for the dot."""
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return pipeline.investigate([str(folder)], Options())


def told(found: Case, *keys: str) -> list[Finding]:
    """Return the findings of some keys, without those that the summary repeats."""
    return [
        finding
        for finding in found.diagnosis.findings
        if finding.key in keys and finding.section != "summary"
    ]


def redis(at: float, server: str, unread: int, busy: int, least: int = 16) -> tuple[float, str]:
    """Return a timeout after 2.5 s."""
    return at, REDIS.format(cmd="HMGET", ms=2500, qs=41, unread=unread, server=server, busy=busy, least=least)


def test_each_event_is_told_with_who_was_late(tmp_path: Path) -> None:
    """First no reply had come; half a minute later replies of three servers lay unread while all threads were busy."""
    lines = [
        redis(10.0, "eu-1", 0, 3),
        redis(11.0, "eu-1", 0, 4),
        *[redis(45.0 + n / 10, f"eu-{n}", 6500 + n, 90 + n) for n in range(3)],
    ]
    one, other = told(
        case(tmp_path, api_log=stamped(lines)), "mechanism.redis_unanswered", "mechanism.redis_starved"
    )

    assert (one.key, one.values["n"], one.values["busy"], one.values["sent"]) == (
        "mechanism.redis_unanswered", 2, 4, 41,
    )  # fmt: skip
    assert (other.key, other.values["n"], other.values["servers"], other.values["unread"]) == (
        "mechanism.redis_starved", 3, 3, [6500, 6501, 6502],
    )  # fmt: skip
    assert other.values["first"] - other.values["began"] == 2_500_000


def test_counters_that_tell_neither_are_not_told(tmp_path: Path) -> None:
    """Replies had come and threads were free: nobody is named."""
    assert told(
        case(tmp_path, api_log=stamped([redis(5.0, "eu-1", 900, 3)])),
        "mechanism.redis_unanswered",
        "mechanism.redis_starved",
    ) == []  # fmt: skip


BLOCKED = "WARN  io.vertx.core.impl.BlockedThreadChecker - Thread Thread[executor-thread-{t},5,main] has been blocked for {ms} ms, time limit is 60000 ms"
JEDIS = "redis.clients.jedis.exceptions.JedisConnectionException: java.net.SocketTimeoutException: connect timed out"


def test_a_block_is_told_with_what_failed_as_it_ended(tmp_path: Path) -> None:
    """What failed long before or after came out of something else."""
    lines = [
        (3.0, f"ERROR a.b.Cart - {JEDIS}"),
        (70.0, BLOCKED.format(t=4, ms=61_250)),
        (71.0, BLOCKED.format(t=4, ms=62_251)),
        (71.6, f"ERROR a.b.Cart - {JEDIS}"),
        (200.0, BLOCKED.format(t=9, ms=60_010)),
        (240.0, f"ERROR a.b.Cart - {JEDIS}"),
    ]
    longest, other = told(case(tmp_path, api_log=stamped(lines)), "mechanism.blocked")

    assert (longest.values["span"].lines, longest.values["span"].lasted_s) == (2, 62.251)
    assert longest.values["failed"]["most_ms"] == pytest.approx(62_851, abs=2)
    assert other.values["failed"] is None


def outage(up: float | None, last: int) -> dict[str, str]:
    """Return a relay whose server is out of reach from 12:05:00 on, and a pool that fails every 20 s to the last."""
    relay = [(300.0, "lb-1 haproxy[8]: Server db/b2 is DOWN, reason: Layer4 timeout, check duration: 2001ms. 1 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.")]  # fmt: skip
    if up:
        relay.append((up, "lb-1 haproxy[8]: Server db/b2 is UP, reason: Layer7 check passed, code: 200, check duration: 3ms. 2 active and 0 backup servers online. 0 sessions requeued, 0 total in queue."))  # fmt: skip
    app = [(float(at), f'INFO:     203.0.113.7:0 - "GET /x{at % 7} HTTP/1.1" 200 OK') for at in range(0, 1500, 5)]  # fmt: skip
    app += [(at + 0.5, "error: timeout exceeded when trying to connect") for at in range(310, last + 1, 20)]
    return {"relay_log": stamped(relay), "shop_log": stamped(app)}


def test_failures_that_go_on_after_their_trigger_are_told(tmp_path: Path) -> None:
    """The server was away for 45 s, the pool failed for 245 s after that."""
    (one,) = told(case(tmp_path, **outage(345.0, 590)), "mechanism.outlasted")

    assert one.values["name"] == "db/b2"
    assert one.values["longer"] is True
    assert (one.values["last"] - one.values["span"].over) / 1_000_000 == pytest.approx(245.5)


@pytest.mark.parametrize(("up", "last"), [(None, 590), (600.0, 590), (1200.0, 590)])
def test_nothing_outlasts_what_is_not_over(tmp_path: Path, up: float | None, last: int) -> None:
    """Failures end with the outage, or no line says that it ended."""
    assert told(case(tmp_path, **outage(up, last)), "mechanism.outlasted") == []


def test_a_server_that_was_told_to_stop_says_until_when(tmp_path: Path) -> None:
    """From the request to the line that it accepts again: 12.5 s, in which it took no new connection."""
    lines = [
        (1.0, "UTC [9] FATAL:  sorry, too many clients already"),
        (2.0, "UTC [9] FATAL:  sorry, too many clients already"),
        (5.25, "UTC [1] LOG:  received fast shutdown request"),
        (17.75, "UTC [1] LOG:  database system is ready to accept connections"),
    ]
    text = "".join(f"2026-11-29 12:00:{at:06.3f} {said}\n" for at, said in lines)
    found = case(tmp_path, postgresql_log=text)
    judged = next(item for item in found.diagnosis.judgements if item.id == "db_down")

    assert judged.why == "db_down.lifecycle"
    assert (judged.values["closed"][1] - judged.values["closed"][0]) / 1_000_000 == 12.5
    assert found.diagnosis.contradictions == ()


def test_a_container_is_told_with_how_long_it_had_run(tmp_path: Path) -> None:
    """Started at 12:10:05, ended by the orchestrator at 12:31:45."""
    rows = [("10:05", "Started", "Started container api"), ("31:45", "Killing", "Container api failed liveness probe, will be restarted"), ("32:10", "Started", "Started container api")]  # fmt: skip
    table = f"{'LAST SEEN':<23}{'REASON':<12}MESSAGE\n" + "".join(
        f"{f'2026-11-29T12:{at}Z':<23}{reason:<12}{text}\n" for at, reason, text in rows
    )
    judged = next(
        item for item in case(tmp_path, events_txt=table).diagnosis.judgements if item.id == "service_restarted"
    )  # fmt: skip
    outage = judged.values["outage"]

    assert judged.why == "restart.unhealthy"
    assert (outage.start - outage.since) / 1_000_000 == 1300
    assert (outage.end - outage.start) / 1_000_000 == 25


HIKARI = "com.zaxxer.hikari.pool.HikariPool - HikariPool-3 - Timeout failure stats (total={t}, active={a}, idle={i}, waiting={w})"
GONE = "ERROR a.b.Mail - java.sql.SQLTransientConnectionException: HikariPool-3 - Connection is not available, request timed out after {ms}ms."


def test_waits_that_overlap_are_one_span(tmp_path: Path) -> None:
    """Four waits of 20 s, begun within 90 ms: one burst; in three of four lines of counters no connection was idle."""
    lines = []
    for n in range(4):
        lines += [
            (40.0 + n * 0.03, f"DEBUG {HIKARI.format(t=6, a=6 - n // 3, i=n // 3, w=30 - n)}"),
            (40.001 + n * 0.03, GONE.format(ms=20_000)),
        ]
    found = case(tmp_path, mail_log=stamped(lines))
    (one,) = told(found, "mechanism.overlap")
    (counted,) = told(found, "mechanism.counters")

    assert (one.values["n"], one.values["within_ms"]) == (4, 90.0)
    assert (one.values["last"] - one.values["first"]) / 1_000_000 == pytest.approx(20.09)
    assert (counted.values["empty"], counted.values["lines"]) == (3, 4)


def test_waits_one_after_another_do_not_overlap(tmp_path: Path) -> None:
    """Each begins after the one before has ended."""
    lines = [(10.0 + 8 * n, GONE.format(ms=5_000)) for n in range(5)]

    assert told(case(tmp_path, mail_log=stamped(lines)), "mechanism.overlap") == []


def probe(at: float, text: str) -> str:
    """Return a line of a prober's log."""
    return f"ts=2026-11-29T12:00:{at:09.6f}Z caller=http.go:1 module=http_2xx target=https://pay.example.test {text}\n"  # fmt: skip


def test_a_failed_probe_is_told_phase_by_phase(tmp_path: Path) -> None:
    """The name was found in 31 ms and TLS done in 24 ms; the response did not begin before the limit of 9.5 s."""
    inner = "2026-11-29T09:00:{:09.6f}-03:00".format
    text = (
        probe(1.0, 'level=info msg="Beginning probe" probe=http timeout_seconds=9.5')
        + probe(1.001, 'level=info msg="Resolving target address" target=pay.example.test ip_protocol=ip4')
        + probe(1.032, 'level=info msg="Resolved target address" target=pay.example.test ip=192.0.2.7')
        + probe(10.5, f'level=info msg="Response timings for roundtrip" roundtrip=0 start={inner(1.033)} dnsDone={inner(1.033)} connectDone={inner(1.041)} gotConn={inner(1.066)} responseStart=0001-01-01T00:00:00Z tlsStart={inner(1.041)} tlsDone={inner(1.065)} end=0001-01-01T00:00:00Z')
        + probe(10.501, 'level=error msg="Probe failed" duration_seconds=9.501')
    )  # fmt: skip
    (one,) = told(case(tmp_path, prober_log=text), "mechanism.phases")

    assert one.values["spent"] == {"dns": 31.0, "connect": 8.0, "tls": 24.0}
    assert one.values["never"] == ["response"]
