"""The founding incident as a hand-written document of the shape of report.json, and an empty one."""

from __future__ import annotations

from typing import Any

DAY = "2026-09-09T"
DAY_BEFORE = "2026-09-08T"
SUPPRESSIONS = "journald suppressed at least 44 messages"
KERNEL = {
    "input": "kernel log of the host",
    "command": "journalctl -k --since '2026-09-09 09:30:00' --until '2026-09-09 10:00:00' -o export > kernel.export",
    "expires": "when the journal is vacuumed",
}
POSTGRES = {
    "input": "Postgres server log",
    "command": "sudo cat /var/log/postgresql/postgresql-16-main.log > postgres.log",
    "expires": "when logrotate deletes it",
}
QUEUEPOOL = "sqlalchemy.queuepool-timeout"
REDIS = "redis-py.connect-timeout"


def at(clock: str, day: str = DAY) -> str:
    """Return an instant of the case."""
    return f"{day}{clock}-03:00"


def evidence(number: int, source: str, line: int, clock: str, text: str, *, day: str = DAY) -> dict[str, Any]:
    """Return one quoted line."""
    row = {"id": f"E{number}", "source": source, "line": line, "cursor": None}
    return row | {"at": at(clock, day), "text": text}


def finding(number: int, section: str, grade: str, text: str, *ids: str, **more: Any) -> dict[str, Any]:
    """Return one finding."""
    rest: dict[str, Any] = {"method": "", "formula": None, "scope": None, "alternatives": [], "needs": []}
    head = {"id": f"F{number}", "section": section, "text": text, "grade": grade, "evidence": list(ids)}
    return head | rest | more


def incident(number: int, start: str, end: str, seconds: float, day: str, **more: Any) -> dict[str, Any]:
    """Return one incident."""
    return {
        "id": f"i{number}",
        "label": str(number),
        "start": at(start, day),
        "start_bound": "no_later_than",
        "end": at(end, day),
        "ongoing": False,
        "recovered_at": at(end, day),
        "detected_at": None,
        "acknowledged_at": None,
        "mitigated_at": None,
        "duration_s": seconds,
        "primary": False,
        "services": ["crm-api"],
        "findings": [],
    } | more


def hypothesis(slug: str, title: str, verdict: str, why: str, scope: str = "", *ids: str) -> dict[str, Any]:
    """Return one row of the differential diagnosis."""
    against = verdict == "ruled_out"
    sides = {"for": [] if against else list(ids), "against": list(ids) if against else []}
    return {"id": slug, "title": title, "verdict": verdict, "why": why, "scope": scope, "needs": []} | sides


def event(clock: str, kind: str, text: str, grade: str, *ids: str) -> dict[str, Any]:
    """Return one row of the timeline."""
    service = "wa-gateway" if "gateway" in text else "crm-api"
    row = {"at": at(clock), "kind": kind, "service": service, "text": text}
    return row | {"grade": grade, "evidence": list(ids)}


def daily(date: str, failures: int, *, partial: bool = False, bound: str = "exact") -> dict[str, Any]:
    """Return one day's count."""
    row = {"date": date, "service": "crm-api", "signature": QUEUEPOOL, "failures": failures}
    return row | {"lines": failures * 3, "partial": partial, "bound": bound}


def source(
    number: int, name: str, first: str | None, last: str | None, total: int | None, **more: Any
) -> dict[str, Any]:
    """Return one input."""
    lines = {"total": total, "in_records": total and total - 2, "blank": 2, "unparsed": 0}
    return {
        "id": f"s{number}",
        "name": name,
        "sha256": f"{number:x}" * 64,
        "bytes": 1_048_576,
        "transport": "plain",
        "message_formats": [],
        "zone": {"name": "America/Sao_Paulo", "rule": "stated"},
        "first": first,
        "last": last,
        "lines": lines if total else None,
        "records": total or 48_211,
        "copy_of": None,
        "limits": [],
        "skipped": None,
    } | more


def empty() -> dict[str, Any]:
    """Return a document in which nothing is known: every key present, every value null or empty."""
    lists = (
        "sources incidents signatures probes silences stalls samples blind_gaps detectability daily "
        "hypotheses background timeline findings not_determined evidence actions bars charts"
    )
    return {
        "schema": "forensics.report/1",
        "tool": {"version": None, "signatures_sha256": None},
        "options": {},
        "case": {"title": None, "timezone": None, "language": "en", "window": [None, None]},
        "impact": {"requests_failed": [], "clients": None},
        "summary": {"zone": None},
        "coverage_line": None,
        "unfilled": {},
    } | {name: [] for name in lists.split()}


def founding() -> dict[str, Any]:
    """Return the founding incident: two freezes on 8 September nobody was told of, and the one of the 9th."""
    return empty() | {
        "tool": {"version": "0.1.0", "signatures_sha256": "5f" * 32},
        "case": {
            "title": "CRM API stopped answering",
            "timezone": "America/Sao_Paulo",
            "language": "en",
            "window": ["2026-09-05T10:41:00-03:00", at("12:00:00")],
        },
        "summary": {"zone": "America/Sao_Paulo (UTC-03:00)"},
        "coverage_line": "4 of 5 inputs read; the API journal covers from 2026-09-05 10:41:00 -03:00; "
        "the Postgres log was unreadable",
        "sources": _sources(),
        "incidents": [
            incident(1, "11:53:04", "11:57:41", 277.0, DAY_BEFORE),
            incident(2, "16:59:12", "17:04:50", 338.0, DAY_BEFORE),
            incident(
                3,
                "09:42:26",
                "09:51:28",
                542.0,
                DAY,
                primary=True,
                detected_at=at("09:50:29"),
                findings=["F1"],
            ),
        ],
        "signatures": _signatures(),
        "probes": [_probe()],
        "blind_gaps": [
            {
                "monitor": "edge worker",
                "start": at("09:10:00", DAY_BEFORE),
                "end": at("17:40:00", DAY_BEFORE),
                "missing": 102,
                "others_alive": True,
                "kind": "blind",
                "incidents_inside": ["i1", "i2"],
                "incidents_overlapping": [],
            }
        ],
        "detectability": [{"monitor": "edge worker", "never_below_s": 308, "always_above_s": 608}],
        "samples": [
            {
                "series": "pg connections",
                "period_s": 120.0,
                "before": 34,
                "peak": 46,
                "after": 35,
                "limit": 100,
            }
        ],
        "daily": [
            daily("2026-09-05", 0, partial=True),
            daily("2026-09-06", 0),
            daily("2026-09-07", 0),
            daily("2026-09-08", 41, bound="at_least"),
            daily("2026-09-09", 66, partial=True),
        ],
        "days": [
            {"date": "2026-09-05", "partial": True},
            {"date": "2026-09-06", "partial": False},
            {"date": "2026-09-07", "partial": False},
            {"date": "2026-09-08", "partial": False},
            {"date": "2026-09-09", "partial": True},
        ],
        "hypotheses": _hypotheses(),
        "background": [
            {
                "template": "app.services.inbound_durable: Inbox <uuid> aguardando nova tentativa (RuntimeError)",
                "inside_per_hour": 60.1,
                "outside_per_hour": 59.7,
                "verdict": "pre_existing",
            }
        ],
        "impact": {"requests_failed": _failed(), "clients": 2},
        "timeline": _timeline(),
        "findings": _findings(),
        "not_determined": [
            {
                "question": "What held the 15 connections of the pool? Slow queries and locks are not excluded.",
                "reason": "unreadable",
                "hypothesis": "db_slow_or_locked",
                "needs": [POSTGRES],
            },
            {
                "question": "Was memory exhausted?",
                "reason": "not given",
                "hypothesis": "out_of_memory",
                "needs": [KERNEL],
            },
            {
                "question": "Did the host freeze or run out of a resource?",
                "reason": "not given",
                "hypothesis": "resource_exhausted",
                "needs": [KERNEL],
            },
        ],
        "evidence": _evidence(),
        "masked": {"email": 1, "client": 3},
        "actions": [
            {
                "text": "Keep the Postgres log of the next freeze readable to this tool",
                "findings": ["F9"],
                "value": 1,
            },
            {
                "text": "Watch the edge worker itself: it sent nothing for 30600 s",
                "findings": ["F12"],
                "value": 2,
            },
            {
                "text": "Compare what one request may wait for (30 s) with what the prober waits for (8 s)",
                "findings": ["F6", "F11"],
                "value": 3,
            },
        ],
        "bars": [
            {"label": f"09:{minute}", "count": n}
            for minute, n in zip(range(42, 52), (1, 9, 8, 7, 6, 8, 7, 8, 8, 4), strict=True)
        ],
        "charts": ["charts/failures.svg", "charts/connections.svg"],
    }


def _sources() -> list[dict[str, Any]]:
    first = "2026-09-05T10:41:00-03:00"
    utc = {"name": "UTC", "rule": "stated"}
    return [
        source(
            1,
            "api.journal",
            first,
            at("12:00:00"),
            None,
            limits=[f"{SUPPRESSIONS} at 2026-09-08 16:59:40 -03:00"],
            zone=utc,
        ),
        source(2, "gateway-json.log.gz", at("00:00:03"), at("11:59:58"), 10_402, zone=utc),
        source(
            3,
            "saturation.jsonl",
            at("00:00:00", DAY_BEFORE),
            at("12:00:00"),
            1_082,
            zone={"name": "America/Sao_Paulo", "rule": "given"},
        ),
        source(4, "prober.log", at("00:00:00", DAY_BEFORE), at("11:55:00"), 329),
        source(
            5,
            "postgresql-16-main.log",
            None,
            None,
            None,
            sha256=None,
            zone={"name": None, "rule": "unknown"},
            records=0,
            skipped="permission denied (mode 640)",
        ),
    ]


def _signatures() -> list[dict[str, Any]]:
    pool = {"id": QUEUEPOOL, "family": "pool_exhaustion", "service": "crm-api"}
    redis = {"id": REDIS, "family": "redis_timeout", "service": "crm-api"}
    return [
        pool
        | {
            "failures": 107,
            "failures_max": None,
            "lines": 321,
            "bound": "at_least",
            "first": at("11:53:34", DAY_BEFORE),
            "last": at("09:51:28"),
            "first_wait_began": at("11:53:04", DAY_BEFORE),
            "inside_incidents": 107,
            "parameters": {"size": 5, "overflow": 10, "timeout": 30.0},
        },
        redis
        | {
            "failures": 26,
            "failures_max": 27,
            "lines": 78,
            "bound": "exact",
            "first": at("09:43:10"),
            "last": at("09:51:27"),
            "first_wait_began": None,
            "inside_incidents": 26,
            "parameters": {},
        },
    ]


def _probe() -> dict[str, Any]:
    rival = {"due": at("09:45:00"), "delay_s": 388.0}
    late = {"due": at("09:50:00"), "answered": at("09:51:28"), "delay_s": 88.0, "rivals": [rival]}
    return {
        "series": "GET /health (client-3)",
        "seen_by": "service",
        "period_s": 300.0,
        "jitter_s": 0.6,
        "due": 12,
        "answered": 10,
        "late": [late],
        "missed": [at("09:45:00")],
        "failed": [],
        "in_blind_gap": 0,
        "not_known": 0,
    }


def _failed() -> list[dict[str, Any]]:
    rows = [
        ("GET", "/api/conversations/views", 29),
        ("GET", "/api/presence", 21),
        ("POST", "/api/presence/ping", 15),
        ("DELETE", "/api/messages/<id>", 1),
    ]
    return [{"service": "crm-api", "method": m, "route": r, "status": 500, "count": n} for m, r, n in rows]


def _hypotheses() -> list[dict[str, Any]]:
    row = hypothesis
    return [
        row(
            "app_pool_exhausted",
            "Application's pool exhausted",
            "confirmed",
            "66 waits of 30 s ended in the pool's own error",
            "crm-api",
            "E3",
            "E9",
        ),
        row(
            "process_stalled",
            "Process stalled",
            "supported",
            "silent minute, then a burst of 31 lines in one second",
            "crm-api",
            "E4",
            "E8",
        ),
        row(
            "db_slots_exhausted",
            "Database slots exhausted",
            "ruled_out",
            "peak 46 of 100 connections",
            "capacity only; one sample each 120 s",
            "E2",
            "E10",
        ),
        row(
            "db_slow_or_locked",
            "Database slow or locked",
            "not_determined",
            "the Postgres log was unreadable",
        ),
        row(
            "db_down",
            "Database down",
            "ruled_out",
            "inbound messages were written at 09:46 and 09:50",
            "whole window",
            "E5",
            "E6",
        ),
        row(
            "redis_failed",
            "Redis failed",
            "suspected",
            "26 to 27 timeouts, all inside; they fit a stalled event loop as well",
            "crm-api's client",
            "E4",
        ),
        row(
            "gateway_failed",
            "Gateway failed",
            "no_sign",
            "4 of 4 deliveries answered, none refused",
            "wa-gateway",
            "E5",
            "E6",
        ),
        row(
            "service_restarted",
            "Service restarted",
            "ruled_out",
            "one process id before and after; no start or stop line",
            "crm-api's unit",
            "E1",
            "E8",
        ),
        row("out_of_memory", "Out of memory", "not_determined", "no kernel line is in the export"),
        row(
            "host_rebooted",
            "Host rebooted",
            "ruled_out",
            "one boot id over the whole journal",
            "2026-09-05 to 2026-09-09",
            "E1",
            "E8",
        ),
        row(
            "host_frozen_or_clock_jump",
            "Host frozen or clock jumped",
            "ruled_out",
            "the saturation monitor kept its 120 s beat",
            "saturation.jsonl",
            "E2",
            "E10",
        ),
        row(
            "resource_exhausted", "Disk, files or conntrack exhausted", "not_determined", "no input covers it"
        ),
        row(
            "monitor_false_alarm",
            "Monitor's false alarm",
            "ruled_out",
            "2 consecutive probes were not answered in time",
            "edge worker",
            "E7",
            "E8",
        ),
        row(
            "monitor_blind",
            "Monitor blind",
            "confirmed",
            "102 probes missing while the API answered others",
            "2026-09-08",
            "E11",
            "E12",
        ),
        row(
            "log_loss",
            "Log lines lost",
            "confirmed",
            f"{SUPPRESSIONS} on 2026-09-08",
            "crm-api's unit",
            "E13",
        ),
    ]


def _timeline() -> list[dict[str, Any]]:
    return [
        event("09:40:00.412", "healthy", "/health answered 200", "verified", "E1"),
        event("09:42:00", "sample", "34 of 100 database connections", "verified", "E2"),
        event(
            "09:42:26",
            "wait",
            "first request that will fail begins to wait (30 s before E3)",
            "derived",
            "E3",
        ),
        event("09:42:56", "failures", "first of 66 pool timeouts", "verified", "E3"),
        event("09:43:10", "failures", "first Redis connect timeout", "verified", "E4"),
        event("09:45:00", "probe", "probe due, not answered in time", "derived", "E1"),
        event("09:46:12", "delivery", "3 messages from the gateway answered 200", "verified", "E5"),
        event("09:48:00", "sample", "46 of 100 database connections, the highest sample", "verified", "E10"),
        event("09:50:07", "delivery", "1 message from the gateway answered 200", "verified", "E6"),
        event("09:50:29", "alert", "edge worker alerts after 2 failures", "verified", "E7"),
        event(
            "09:51:28",
            "stall_end",
            "burst: webhook 200s and one /health 200; last pool timeout",
            "verified",
            "E8",
            "E9",
        ),
        event("09:52:00", "sample", "35 of 100 database connections", "verified", "E14"),
        event("09:55:00.398", "recovered", "/health answered 200", "verified", "E15"),
    ]


def _findings() -> list[dict[str, Any]]:
    return [
        finding(
            1,
            "summary",
            "derived",
            "No later than 2026-09-09 09:42:26 -03:00 to 09:51:28 (at least 542 s) crm-api answered late or with 500.",
            "E3",
            "E8",
        ),
        finding(
            2,
            "summary",
            "verified",
            "66 requests waited 30 s for one of the pool's 15 connections and failed.",
            "E3",
            "E9",
        ),
        finding(
            3,
            "summary",
            "verified",
            "2 operators saw 66 errors; 4 of 4 deliveries from the gateway were answered.",
            "E3",
            "E5",
            "E6",
        ),
        finding(
            4,
            "summary",
            "verified",
            "Two freezes on 2026-09-08 raised no alert: the monitor was blind.",
            "E11",
            "E12",
        ),
        finding(5, "summary", "not_determined", "What held the connections.", needs=[POSTGRES]),
        finding(
            6,
            "mechanism",
            "derived",
            "All 15 connections of the pool (size 5, overflow 10) were taken; each failure waited 30 s first, "
            "so the first began no later than 09:42:26.",
            "E3",
            formula="09:42:56 - 30 s = 09:42:26",
            alternatives=["earlier waits that got a connection within 30 s left no trace"],
        ),
        finding(
            7,
            "mechanism",
            "derived",
            "One loop fits 18 serial waits into the window; 66 failures mean that most waited side by side, in worker threads.",
            "E3",
            "E9",
            formula="542 s / 30 s = 18.07 < 66",
        ),
        finding(
            8,
            "mechanism",
            "inferred",
            "The rise in database connections is consistent with the pool filling up; no figure equals its capacity of 15.",
            "E2",
            "E10",
            "E14",
            formula="46 - 34 = 12; 46 - 35 = 11; 5 + 10 = 15",
            alternatives=["connections of other services", "a higher peak between two samples"],
        ),
        finding(
            9,
            "mechanism",
            "not_determined",
            "What occupied the connections.",
            needs=[POSTGRES],
        ),
        finding(
            10,
            "impact",
            "verified",
            "Not affected: 4 of 4 deliveries at the gateway were answered inside the window.",
            "E5",
            "E6",
            scope="deliveries logged by wa-gateway",
        ),
        finding(
            11,
            "alert",
            "verified",
            "Right: the rule (2 consecutive probes without an answer in 8 s) was met at the probes due 09:45:00 and 09:50:00.",
            "E7",
            "E8",
        ),
        finding(
            12,
            "alert",
            "verified",
            "Blind on 2026-09-08: no probe arrived for 30600 s while the API answered other clients; incidents 1 and 2 lie inside.",
            "E11",
            "E12",
        ),
        finding(
            13,
            "clues",
            "clue",
            "A delivery of photos at 2026-09-08 14:10:00 -03:00 (case.toml) lies between incidents 1 and 2.",
            "E12",
        ),
        finding(
            14,
            "recurrence",
            "derived",
            f"2026-09-08 is a lower bound: {SUPPRESSIONS} that day.",
            "E13",
        ),
        finding(
            15,
            "noise",
            "derived",
            "Inbox <uuid> aguardando nova tentativa (crm-api): 60.1 an hour inside, 59.7 outside: it was there before.",
            "E16",
        ),
    ]


def _evidence() -> list[dict[str, Any]]:
    pool = (
        "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00 "
        "(Background on this error at: https://sqlalche.me/e/20/3o7r)"
    )
    health = 'INFO:     client-3:0 - "GET /health HTTP/1.1" 200 OK'
    hook = '"POST /webhook HTTP/1.1" 200'
    return [
        evidence(1, "s1", 41_871, "09:40:00.412", health),
        evidence(
            2, "s3", 872, "09:42:00", '{"at": "2026-09-09T09:42:00", "conns": 34, "max": 100, "state": "ok"}'
        ),
        evidence(3, "s1", 41_902, "09:42:56", pool),
        evidence(4, "s1", 41_911, "09:43:10", "redis.exceptions.TimeoutError: Timeout connecting to server"),
        evidence(5, "s2", 8_120, "09:46:12", hook),
        evidence(6, "s2", 8_131, "09:50:07", hook),
        evidence(7, "s4", 301, "09:50:29", "ALERT crm-api /health: 2 consecutive failures (timeout 8 s)"),
        evidence(8, "s1", 42_377, "09:51:28", health),
        evidence(9, "s1", 42_380, "09:51:28", pool),
        evidence(
            10, "s3", 875, "09:48:00", '{"at": "2026-09-09T09:48:00", "conns": 46, "max": 100, "state": "ok"}'
        ),
        evidence(11, "s1", 30_112, "09:05:00.233", health, day=DAY_BEFORE),
        evidence(12, "s1", 37_754, "17:45:00.871", health, day=DAY_BEFORE),
        evidence(13, "s1", 36_020, "16:59:40", "Suppressed 44 messages from crm-api.service", day=DAY_BEFORE),
        evidence(
            14, "s3", 877, "09:52:00", '{"at": "2026-09-09T09:52:00", "conns": 35, "max": 100, "state": "ok"}'
        ),
        evidence(15, "s1", 42_401, "09:55:00.398", health),
        evidence(
            16,
            "s1",
            42_500,
            "09:56:00",
            "app.services.inbound_durable: Inbox <uuid> aguardando nova tentativa",
        ),
    ]
