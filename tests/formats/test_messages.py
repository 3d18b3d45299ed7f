"""What message formats say of a line: which format has it, what it reads, and what bare files of several formats become."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forensics import formats
from forensics.formats import bare, definition, postgres_words
from forensics.formats.starts import STARTS, start
from forensics.formats.text import any_stamp
from forensics.ingest import plan
from forensics.ingest.understand import understand
from forensics.model.errors import DefinitionError
from forensics.model.schema import RECORDS, conform
from forensics.sources.discovery import Input

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.plug import MessageFormat, Parsed

MESSAGES = formats.all_messages()
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
WEAKER = {
    "apache_vhost": {"nginx_access"},
    "caddy_access": {"json_log", "access_json"},
    "caddy_console": {"zap_console"},
    "celery": {"python_logging"},
    "dotnet_console": {"winston_simple"},
    "haproxy_clf": {"nginx_access"},
    "haproxy_notice": {"bracketed_level"},
    "hypercorn_access": {"gunicorn_error"},
    "log4j": {"python_logging"},
    "loguru": {"bar_separated"},
    "log4j_level_first": {"python_logging"},
    "lograge": {"ruby_logger"},
    "nest_json": {"json_log"},
    "nginx_error": {"go_log"},
    "pino": {"json_log"},
    "pino_http": {"json_log", "pino"},
    "pool_gauge": {"bracketed_level"},
    "postgres_bare": {"uvicorn_log"},
    "python_json": {"json_log"},
    "ruby_logger": {"sidekiq"},
    "serilog_json": {"json_log"},
    "tomcat": {"day_month_year"},
    "traefik_clf": {"nginx_access"},
    "uvicorn_access": {"uvicorn_log"},
    "uvicorn_access_logged": {"python_logging"},
}
"""Formats that would read lines of another one as well, if that did not come first: it names more parts of the line."""
LAST = "json_dated"
"""Any JSON object with a time is this format's, if no other knows it."""


def read(*lines: str) -> pl.DataFrame:
    """Understand lines."""
    table = pl.DataFrame({"line": range(1, len(lines) + 1), "message": lines, "cont": [False] * len(lines)})
    return understand(conform(table, RECORDS), MESSAGES)


def row(line: str) -> dict[str, Any]:
    """Understand one line."""
    return read(line).row(0, named=True)


def written(tmp_path: Path, text: str | bytes) -> Input:
    """Write a file whose name says nothing."""
    path = tmp_path / "x"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Input(path, "x")


def parsed(tmp_path: Path, text: str) -> tuple[plan.Plan, Parsed]:
    """Recognise and read a bare file."""
    found = plan.recognise(written(tmp_path, text), 0)
    assert found.plug is not None, found.skipped
    return found, found.plug.parse(text.encode())  # type: ignore[union-attr, call-arg, arg-type]


def instant(us: int | None) -> str | None:
    """Write microseconds as a time."""
    return None if us is None else (EPOCH + dt.timedelta(microseconds=us)).isoformat().removesuffix("+00:00")


@pytest.mark.parametrize("fmt", MESSAGES.values(), ids=MESSAGES.keys())
class TestCollisions:
    """Each sample against each format."""

    def test_only_known_others_would_read_its_samples(self, fmt: MessageFormat) -> None:
        """A sample fits its own format, and otherwise only weaker ones that are listed."""
        others = {
            other.name
            for other in MESSAGES.values()
            if other is not fmt and any(bare.fits(fmt.samples, other))
        }

        assert all(bare.fits(fmt.samples, fmt))
        assert others - {LAST} <= WEAKER.get(fmt.name, set())

    def test_the_first_to_read_a_sample_is_its_own(self, fmt: MessageFormat) -> None:
        """The order of formats gives every sample to its own format."""
        for sample in fmt.samples:
            first = next(f for f in bare.order(MESSAGES) if bare.fits([sample], f)[0])
            assert first is fmt

    def test_samples_begin_as_it_says(self, fmt: MessageFormat) -> None:
        """The beginnings that a format names are those of its samples."""
        found = set(pl.DataFrame({"m": fmt.samples}).select(start(pl.col("m"))).to_series())

        assert set(fmt.starts) <= set(STARTS)
        assert not fmt.starts or found <= set(fmt.starts)


PYTHON_TOO = {
    name: fmt
    for name, fmt in MESSAGES.items()
    if fmt.starts and fmt.prepare is None and r"\p{" not in fmt.pattern and "(?s:" not in fmt.pattern
}


@pytest.mark.parametrize("fmt", PYTHON_TOO.values(), ids=PYTHON_TOO.keys())
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_fits_a_pattern_begins_as_it_says(fmt: MessageFormat, data: st.DataObject) -> None:
    """No line that a pattern reads is kept from it by its beginning."""
    line = data.draw(st.from_regex(re.compile(fmt.pattern, re.ASCII), fullmatch=True)).rstrip("\n")
    if "\n" in line or not pl.Series([line]).str.contains(fmt.pattern)[0]:
        return
    assert pl.DataFrame({"m": [line]}).select(start(pl.col("m"))).item() in fmt.starts


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("INFO:     Started server process [81]", "uvicorn_log"),
        ("WARNING:  Invalid HTTP request received.", "uvicorn_log"),
        ("LOG:  database system is ready to accept connections", "postgres_bare"),
        ("pid   | 123", None),
        (" 812 | crm | active", None),
        ("web-1  | hello", None),
        ("process 42", None),
        ("info: Microsoft.Hosting.Lifetime[14]", "dotnet_console"),
        ("info: started", "winston_simple"),
        ('{"a": 1}', None),
        ('{"level": "info"', None),
        ("level=info", None),
        ("see status=200 in the log", None),
        ("12:14 lunch", None),
        ("[note] nothing", None),
    ],
)
def test_lookalikes(line: str, name: str | None) -> None:
    """Lines that look alike go to the right format, and lines of no format to none."""
    assert row(line)["format"] == name


REQUESTS = [
    ('127.0.0.1 - - [29/Nov/2026:12:22:54 +0000] "GET /slow HTTP/1.1" 504 167 "-" "curl/8" "-" rt=0.300 uct="0.001" uht="-" urt="0.301"', "nginx_access", ("GET", "/slow", 504, "127.0.0.1", "curl/8", 300.0)),
    ('2001:db8::7 - bob smith [29/Nov/2026:12:22:54 +0000] "POST /a?b=c HTTP/2.0" 201 5 "https://x/" "a \\"q\\" b" 0.012', "nginx_access", ("POST", "/a?b=c", 201, "2001:db8::7", 'a \\"q\\" b', 12.0)),
    ('192.0.2.1, 198.51.100.2 - - [29/Nov/2026:12:22:54 +0000] "GET / HTTP/1.1" 200 5 "-" "x" 412 0.003 [default-web-80] [] 10.0.0.9:80 5 0.003 200 5f1c', "nginx_access", ("GET", "/", 200, "192.0.2.1", "x", 3.0)),
    ('127.0.0.1 - - [29/Nov/2026:12:22:54 +0000] "-" 408 0 "-" "-"', "nginx_access", (None, None, 408, "127.0.0.1", "-", None)),
    ('127.0.0.1 - - [29/Nov/2026:12:22:54 +0000] "GET / HTTP/1.1" 200 5 "-" "x" 4021', "nginx_access", ("GET", "/", 200, "127.0.0.1", "x", None)),
    ('127.0.0.1 - - [29/Nov/2026:12:22:54 +0000] "GET / HTTP/1.1" 200 12 0.0123', "nginx_access", ("GET", "/", 200, "127.0.0.1", None, 12.3)),
    ('shop:80 192.0.2.1 - - [29/Nov/2026:12:23:47 +0000] "GET /h HTTP/1.1" 200 136 "-" "curl"', "apache_vhost", ("GET", "/h", 200, "192.0.2.1", "curl", None)),
    ('192.0.2.1 - - [29/Nov/2026:12:14:31 +0000] "GET /h HTTP/1.1" 200 2 "-" "curl/8" 42 "api@docker" "http://172.18.0.5:8080" 5ms', "traefik_clf", ("GET", "/h", 200, "192.0.2.1", "curl/8", 5.0)),
    ('{"ClientHost":"192.0.2.1","DownstreamStatus":499,"Duration":5123456,"RequestMethod":"GET","RequestPath":"/h","StartUTC":"2026-11-29T12:14:31.1Z","level":"info"}', "traefik_json", ("GET", "/h", 499, "192.0.2.1", None, 5.123456)),
    ('{"level":"error","ts":1795955025.3,"logger":"http.log.access","msg":"handled request","request":{"client_ip":"192.0.2.1","remote_ip":"10.0.0.1","method":"PUT","uri":"/s","headers":{"User-Agent":["curl"]}},"duration":1.5e-05,"status":502}', "caddy_access", ("PUT", "/s", 502, "192.0.2.1", "curl", 0.015)),
    ('192.0.2.1:56424 [29/Nov/2026:12:23:35.897] fe be/app1 0/0/0/-1/503 504 198 - - sH-- 1/1/0/0/0 0/0 {a|curl} "GET /slow HTTP/1.1"', "haproxy_http", ("GET", "/slow", 504, "192.0.2.1", None, 503.0)),
    ('2001:db8::7:56424 [29/Nov/2026:12:23:35.897] fe~ be/app1 0/0/0/2/+503 200 +198 - - ---- 1/1/0/0/0 0/0 {a} {b} "GET / HTTP/2.0"', "haproxy_http", ("GET", "/", 200, "2001:db8::7", None, 503.0)),
    ('192.0.2.1:1 [29/Nov/2026:12:23:35.897] fe fe/<NOSRV> -1/-1/-1/-1/0 400 0 - - PR-- 1/1/0/0/0 0/0 "<BADREQ>"', "haproxy_http", (None, None, 400, "192.0.2.1", None, 0.0)),
    ('[2026-11-29T12:14:32.000Z] "GET /o HTTP/1.1" 503 UO 0 81 7 - "192.0.2.1,10.0.0.1" "curl/8" "d4" "shop" "-"', "envoy_access", ("GET", "/o", 503, "192.0.2.1", "curl/8", 7.0)),
    ('https 2026-11-29T12:14:31.186641Z app/lb/50 192.0.2.1:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://shop:443/h?a=1 HTTP/1.1" "curl/8" -', "aws_alb", ("GET", "/h?a=1", 200, "192.0.2.1", "curl/8", 171.0)),
    ('https 2026-11-29T12:14:31.186641Z app/lb/50 192.0.2.1:2817 - -1 -1 -1 503 - 0 57 "GET https://shop:443/h HTTP/1.1" "curl/8" -', "aws_alb", ("GET", "/h", 503, "192.0.2.1", "curl/8", None)),
    ("2026-11-29\t12:14:31\tFRA2\t392\t192.0.2.1\tGET\td1.cloudfront.net\t/h\t000", "cloudfront", ("GET", "/h", 0, "192.0.2.1", None, None)),
    ('INFO:     192.0.2.1:0 - "GET /h?a=b HTTP/1.1" 200 OK', "uvicorn_access", ("GET", "/h?a=b", 200, "192.0.2.1", None, None)),
    ('192.0.2.1:51000 - "POST /x HTTP/1.1" 201', "uvicorn_access", ("POST", "/x", 201, "192.0.2.1", None, None)),
    ('[2026-11-29 12:22:51 +0000] 192.0.2.1 - "GET /h HTTP/1.1" 200 85.290', "granian_access", ("GET", "/h", 200, "192.0.2.1", None, 85.29)),
    ('[2026-11-29 12:23:32 +0000] [22285] [INFO] 192.0.2.1:55350 - - [29/Nov/2026:12:23:32 +0000] "GET /b 1.1" 500 21 "-" "curl"', "hypercorn_access", ("GET", "/b", 500, "192.0.2.1", "curl", None)),
    ("GET /health 200 14.805 ms - 2", "morgan", ("GET", "/health", 200, None, None, 14.805)),
    ("192.0.2.1 - GET /h HTTP/1.1 - - - - ms", "morgan", ("GET", "/h", None, "192.0.2.1", None, None)),
    ('192.0.2.1 - - [29/Nov/2026 12:22:54] "GET /h HTTP/1.1" 500 -', "werkzeug_access", ("GET", "/h", 500, "192.0.2.1", None, None)),
    ('[GIN] 2026/11/29 - 12:22:55 | 504 |   30.001s |  192.0.2.1 | POST     "/o"', "gin_access", ("POST", "/o", 504, "192.0.2.1", None, 30001.0)),
    ('[GIN] 2026/11/29 - 12:22:55 | 200 |   1.25ms |  192.0.2.1 | GET     "/o"', "gin_access", ("GET", "/o", 200, "192.0.2.1", None, 1.25)),
    ('[GIN] 2026/11/29 - 12:22:55 | 200 |   84.1µs |  192.0.2.1 | GET     "/o"', "gin_access", ("GET", "/o", 200, "192.0.2.1", None, None)),
    ('{"level":30,"time":1,"req":{"method":"GET","url":"/h","remoteAddress":"192.0.2.1"},"res":{"statusCode":503},"responseTime":12.5,"msg":"request errored"}', "pino_http", ("GET", "/h", 503, "192.0.2.1", None, 12.5)),
    ('{"time":"x","remote_addr":"192.0.2.1","request":"GET /slow HTTP/1.1","status":504,"rt":0.300,"ua":"q"}', "access_json", ("GET", "/slow", 504, "192.0.2.1", "q", 300.0)),
    ('{"client_ip":"192.0.2.1","request_method":"POST","request_uri":"/o?x","request":"ignored","status":"201","request_time":"-"}', "access_json", ("POST", "/o?x", 201, "192.0.2.1", None, None)),
    ('method=GET path=/o format=json controller=C action=a status=500 error="x" duration=58.33 view=0.00', "lograge", ("GET", "/o", 500, None, None, 58.33)),
    ('at=error code=H12 desc="Request timeout" method=GET path="/o" host=h request_id=8 fwd="192.0.2.1" dyno=web.1 connect=1ms service=30001ms status=503 bytes=0', "heroku_router", ("GET", "/o", 503, "192.0.2.1", None, 30001.0)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "name", "said"), REQUESTS, ids=[f"{r[1]}-{i}" for i, r in enumerate(REQUESTS)]
)
def test_requests(line: str, name: str, said: tuple[Any, ...]) -> None:
    """Method, path, status, client, agent and milliseconds are read; what a line does not state is not there."""
    found = row(line)

    assert found["format"] == name
    assert tuple(found[k] for k in ("method", "path", "status", "client", "agent")) == said[:5]
    assert found["duration_ms"] == (pytest.approx(said[5]) if said[5] is not None else None)


LOGS = [
    ("2026-11-29 12:24:36,300 - shop.db - WARNING - pool 34/100", "python_logging", "warning", " - pool 34/100"),
    ("2026-11-29 12:24:36,300 INFO [shop.db] started", "python_logging", "info", " [shop.db] started"),
    ("2026-11-29 12:24:36,300 [812] shop.db: nothing INFO here", "python_logging", None, " [812] shop.db: nothing INFO here"),
    ("2026-11-29 12:24:38.811 | SUCCESS  | a.b:<lambda>:23 - yes", "loguru", "info", "yes"),
    ("2026-11-29 12:24:37 [exception] oops", "structlog_console", "error", "oops"),
    ('{"event": "oops", "level": "critical", "timestamp": 1}', "structlog_json", "critical", "oops"),
    ('{"asctime": "x", "levelname": "ERROR", "name": "shop", "message": "a\\nb"}', "python_json", "error", "a\nb"),
    ('{"level":60,"time":1795955634146,"msg":"down"}', "pino", "critical", "down"),
    ('{"v":0,"level":50,"name":"x","hostname":"h","pid":1,"time":"2026-11-29T12:25:02.880Z","msg":"down"}', "pino", "error", "down"),
    ('{"level":"verbose","pid":1,"timestamp":1795955107044,"message":"y","context":"O"}', "nest_json", "debug", "y"),
    ('{"message":"m","level":"warn"}', "json_log", "warning", "m"),
    ('{"level":"INFO","msg":{"not":"text"}}', "json_log", "info", '{"not":"text"}'),
    ('{"severity":"NOTICE","textPayload":1,"message":"m"}', "json_log", "info", "m"),
    ('{"version":"1.1","host":"h","short_message":"m","timestamp":1795955107.04,"level":3}', "json_log", "error", "m"),
    ('{"@t":"2026-11-29T12:25:02Z","@mt":"m"}', "serilog_json", "info", "m"),
    ('{"t":{"$date":"2026-11-29T12:14:31.123+00:00"},"s":"E","c":"NETWORK","id":1,"ctx":"l","msg":"m"}', "mongodb", "error", "m"),
    ('ts=x level=warn msg="a \\"b\\" c" n=1', "logfmt", "warning", 'a "b" c'),
    ("time=x level=ERROR msg=down", "logfmt", "error", "down"),
    ("2026-11-29 12:14:31.123  WARN 1 --- [t] c.z.H : slow", "spring_boot", "warning", "slow"),
    ("2026-11-29 12:14:31,123 [main] FATAL c.e.Shop - down", "log4j", "critical", "down"),
    ("29-Nov-2026 12:14:31.123 SEVERE [main] o.a.C.x down", "tomcat", "error", "down"),
    ("2026-11-29T12:14:31.123Z\tDPANIC\tapp/main.go:10\tdown", "zap_console", "critical", "down"),
    ("2026-11-29T12:14:31.123456Z  WARN shop::db: slow k=1", "rust_tracing", "warning", "slow k=1"),
    ("[2026-11-29T12:14:31Z ERROR shop] down", "env_logger", "error", "down"),
    ("[2026-11-29 12:14:31,123: CRITICAL/MainProcess] down", "celery", "critical", "down"),
    ("2026-11-29T12:14:31.123Z pid=8 tid=a class=W jid=1 elapsed=30.012 INFO: fail", "sidekiq", "info", "fail"),
    ("2026-11-29T12:14:31.123Z 8 TID-abc W JID-1 INFO: start", "sidekiq", "info", "start"),
    ("F, [2026-11-29T12:14:31.123456 #8] FATAL -- : down", "ruby_logger", "critical", "down"),
    ("[2026-11-29 12:14:31] production.EMERGENCY: down", "monolog", "critical", "down"),
    ("[29-Nov-2026 12:14:31 Europe/Berlin] PHP Warning:  slow", "php_error", "warning", "slow"),
    ("W1129 12:14:31.123456       1 a.go:1] slow", "klog", "warning", "slow"),
    ("2026-11-29 12:14:31 0 [ERROR] InnoDB: down", "mysql_error", "error", "InnoDB: down"),
    ("crit: Shop.Db[1]", "dotnet_console", "critical", ""),
    ("[12:14:31 FTL] down", "serilog_console", "critical", "down"),
    ("2026-11-29 12:14:31.123 +01:00 [VRB] x", "serilog_file", "debug", "x"),
    ("2026-11-29T12:14:31Z PNC down", "zerolog_console", "critical", "down"),
    ("2026/11/29 12:14:31 listening", "go_log", None, "listening"),
    ("2026/11/29 12:22:54 [crit] 8#9: *1 down", "nginx_error", "critical", "down"),
    ("[Sun Nov 29 12:23:48.003588 2026] [ssl:warn] [pid 8] AH1: x", "apache_error", "warning", "AH1: x"),
    ("[2026-11-29 12:14:31.123][1][critical][main] [a.cc:1] down", "envoy_log", "critical", "down"),
    ("Server be/app1 is DOWN, reason: x", "haproxy_event", "warning", "Server be/app1 is DOWN, reason: x"),
    ("backend dead has no server available!", "haproxy_event", None, "backend dead has no server available!"),
    ("[ALERT]    (22636) : down", "haproxy_notice", "critical", "down"),
    ("1:M 29 Nov 2026 09:26:47.140 # down", "redis", "warning", "down"),
    ("[4018] 14 Nov 07:01:22.119 * ok", "redis_yearless", "info", "ok"),
    ("1:S 2026-11-29T12:21:45.286+01:00 * ok", "valkey_iso", "info", "ok"),
    ("2026-11-29 12:37:11.709 UTC [2] WARNING C-0x5: db/u@ip:1 pooler error: x", "pgbouncer", "warning", "C-0x5: db/u@ip:1 pooler error: x"),
    ("[Nest] 81  - 11/29/2026, 12:53:01 PM   FATAL [W] down", "nest", "critical", "down"),
    ("[12:25:02.221] ERROR (shop/8 on vm): failed", "pino_pretty", "error", "failed"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "name", "level", "body"), LOGS, ids=[f"{r[1]}-{i}" for i, r in enumerate(LOGS)]
)
def test_logs(line: str, name: str, level: str | None, body: str) -> None:
    """Level and message are read; a level that a line does not state is not there."""
    found = row(line)

    assert (found["format"], found["level"], found["body"]) == (name, level, body)


STAMPS = [
    ("2026-11-29T12:24:36.300Z", "2026-11-29T12:24:36.300000", False),
    ("2026-11-29T12:24:36.123456789Z", "2026-11-29T12:24:36.123456", False),
    ("2026-11-29 12:24:36,300", "2026-11-29T12:24:36.300000", True),
    ("2026-11-29 12:24:36", "2026-11-29T12:24:36", True),
    ("2026-11-29 13:24:36 +0100", "2026-11-29T12:24:36", False),
    ("2026-11-29 13:24:36.5 +01:00", "2026-11-29T12:24:36.500000", False),
    ("2026-11-29 12:24:36 UTC", "2026-11-29T12:24:36", False),
    ("2026/11/29 12:24:36.300", "2026-11-29T12:24:36.300000", True),
    ("2026-11-29 12:24:36.123 +0000 UTC m=+0.000012", "2026-11-29T12:24:36.123000", False),
    ("29/Nov/2026:12:24:36 +0000", "2026-11-29T12:24:36", False),
    ("1795955076", "2026-11-29T12:24:36", False),
    ("1795955076.3", "2026-11-29T12:24:36.300000", False),
    ("1795955076300", "2026-11-29T12:24:36.300000", False),
    ("1795955076300000000", "2026-11-29T12:24:36.300000", False),
    ("2026-11-31T12:24:36Z", None, False),
    ("yesterday", None, False),
    ("0", None, False),
    ("", None, False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said", "naive"), STAMPS)
def test_stamps_of_any_kind(text: str, said: str | None, naive: bool) -> None:
    """A stamp is what it says, its zone is known or not, and what is none stays null."""
    ts, local = any_stamp(pl.col("t"))
    found = pl.DataFrame({"t": [text]}).select(ts=ts, naive=local).row(0)

    assert (instant(found[0]), found[1]) == (said, naive)


class TestPostgres:
    """PostgreSQL's server log."""

    @pytest.mark.parametrize(
        "line",
        [
            "2026-11-29 13:21:32 UTC [8]: user=app,db=s,app=web,client=[local] FATAL:  x",
            "2026-11-29 13:21:32.111 UTC [8-1] app@s FATAL:  x",
            "2026-11-29 13:21:32 UTC:[local]:app@s:[8]:FATAL:  x",
            "< 2026-11-29 13:21:32.111 UTC [8]>FATAL:  x",
            "2026-11-29 13:21:32.111 UTC client backend[8] 3/52 0 0 FATAL:  x",
            "2026-11-29 13:21:32.111 UTC not initialized[8]  0 0 FATAL:  x",
            "2026-11-29 13:21:32 +00 [8] FATAL:  x",
            "1795958492.000 [8] app FATAL:  x",
            "1795958492.000 8 22012 app FATAL:  x",
        ],
    )
    def test_any_prefix(self, line: str, tmp_path: Path) -> None:
        """The severity, the process and the time are found whatever stands between them."""
        _, said = parsed(tmp_path, f"{line}\n")
        found = row(line)
        assert said.records is not None

        assert (found["level"], found["body"]) == ("error", "x")
        assert said.records["pid"].to_list() == ["8"]
        assert str(instant(said.records["ts"][0])).startswith("2026-11-29T13:21:32")
        assert said.records["naive"].to_list() == [False]

    @pytest.mark.parametrize(
        ("tag", "level"),
        [
            ("FEHLER:  ", "error"),
            ("WARNUNG:  ", "warning"),
            ("HINWEIS:  ", "info"),
            ("PANIK:  ", "critical"),
            ("ERREUR:  ", "error"),
            ("ATTENTION:  ", "warning"),
            ("ERRO:  ", "error"),
            ("AVISO:  ", "warning"),
            ("ERRORE:  ", "error"),
            ("ОШИБКА:  ", "error"),
            ("ВАЖНО:  ", "error"),
            ("错误:  ", "error"),
            ("경고:  ", "warning"),
            ("FEL:  ", "error"),
            ("VIRHE:  ", None),
        ],
    )
    def test_translated_severities(self, tag: str, level: str | None) -> None:
        """A translated severity is read; one of a language that is not known is a record without a level."""
        found = row(f"2026-11-29 13:21:44.933 UTC [8] {tag}x")

        assert (found["format"], found["level"], found["body"]) == ("postgres", level, "x")

    @pytest.mark.parametrize(
        "tag",
        ["DETAIL:  ", "ANWEISUNG:  ", "ASTUCE :  ", "INSTRUCTION :  ", "DICA:  ", "ОПЕРАТОР:  ", "文:  "],
    )
    def test_further_lines_belong_to_the_record_above(self, tag: str) -> None:
        """DETAIL and its like, in any language, are no records of their own."""
        events = read(
            "2026-11-29 13:21:44.933 UTC [8] ERROR:  x",
            f"2026-11-29 13:21:44.933 UTC [8] {tag}sorry",
        )

        assert events["starts"].to_list() == [True, False]
        assert events["kind"].to_list() == ["log", "trace"]

    def test_no_word_has_two_meanings(self) -> None:
        """A tag is a severity or a further part, not both."""
        assert not set(postgres_words.LEVELS) & set(postgres_words.FURTHER)

    def test_tabbed_lines_and_details_in_a_file(self, tmp_path: Path) -> None:
        """A statement over several lines and its details are one record; nothing is unparsed."""
        found, said = parsed(
            tmp_path,
            "2026-11-29 13:21:44.933 CST [8] ERROR:  x\n"
            "2026-11-29 13:21:44.933 CST [8] STATEMENT:  select\n\t1/0\n\n"
            "2026-11-29 13:21:45.000 CST [9] LOG:  y\n",
        )
        assert said.records is not None

        assert found.first_format == "postgres"
        assert (said.in_records, said.blank, said.unparsed) == (4, 1, 0)
        assert said.records["cont"].to_list() == [False, True, True, False]
        assert said.records["naive"].to_list() == [True] * 4
        assert [note[:26] for note in said.notes] == ["stamps say CST, which stan"]


class TestBareFiles:
    """Files without a transport."""

    def test_a_server_log_with_its_access_lines(self, tmp_path: Path) -> None:
        """Lines of a second format in a file are read with their own time; a traceback belongs to the record above."""
        found, said = parsed(
            tmp_path,
            "[2026-11-29 12:22:51 +0000] [22274] [ERROR] Error handling request GET /boom\n"
            "Traceback (most recent call last):\n"
            '  File "wsgi.py", line 2, in app\n'
            "ValueError: x\n"
            '127.0.0.1 - - [29/Nov/2026:13:22:52 +0100] "GET /boom HTTP/1.1" 500 0 "-" "-"\n'
            "[2026-11-29 12:22:53 +0000] [22274] [INFO] Worker exiting (pid: 22274)\n",
        )
        assert said.records is not None
        starts = said.records.filter(~pl.col("cont"))

        assert found.first_format == "gunicorn_error"
        assert starts["line"].to_list() == [1, 5, 6]
        assert [instant(ts) for ts in starts["ts"]] == [f"2026-11-29T12:22:5{n}" for n in (1, 2, 3)]
        assert said.records["ts"].to_list()[:4] == [starts["ts"][0]] * 4

    def test_undated_lines_among_dated_ones_have_no_time(self, tmp_path: Path) -> None:
        """A request between two dated lines is a record without a time: none is made up."""
        _, said = parsed(
            tmp_path,
            "[2026-11-29 12:22:51 +0000] [1] [INFO] a\n"
            '127.0.0.1:38520 - "GET /health HTTP/1.1" 200\n'
            "[2026-11-29 12:22:53 +0000] [1] [INFO] b\n",
        )
        assert said.records is not None

        assert said.records["ts"].is_null().to_list() == [False, True, False]
        assert said.notes == ()

    def test_unknown_lines_stay_with_the_record_above(self, tmp_path: Path) -> None:
        """A line without a stamp and of no known shape belongs to the record above it, and the source says so."""
        _, said = parsed(
            tmp_path, "2026-11-29 12:24:36,300 ERROR a\nsecond line\n2026-11-29 12:24:37,300 ERROR b\n"
        )
        assert said.records is not None

        assert said.records["cont"].to_list() == [False, True, False]
        assert said.notes == (bare.ATTACHED,)
        assert said.unparsed == 0

    def test_lines_before_the_first_record_are_unparsed(self, tmp_path: Path) -> None:
        """What stands above the first record belongs to none."""
        text = "second half of a line\n  and more\n" + "2026-11-29 12:24:36,300 ERROR a\n" * 3
        _, said = parsed(tmp_path, text)

        assert (said.in_records, said.unparsed, said.first_unparsed) == (3, 2, 1)

    def test_a_file_without_times_is_read_and_says_so(self, tmp_path: Path) -> None:
        """The log of uvicorn has no times: its records are undated, and the source says what to export."""
        found, said = parsed(
            tmp_path,
            "\x1b[32mINFO\x1b[0m:     Started server process [\x1b[36m81\x1b[0m]\n"
            '\x1b[32mINFO\x1b[0m:     127.0.0.1:1 - "\x1b[1mGET /h HTTP/1.1\x1b[0m" \x1b[32m200 OK\x1b[0m\n',
        )
        assert said.records is not None

        assert found.format_name == "plain"
        assert said.records["ts"].to_list() == [None, None]
        assert said.records["message"][1] == 'INFO:     127.0.0.1:1 - "GET /h HTTP/1.1" 200 OK'
        assert bare.UNDATED in said.notes

    def test_several_formats_together_are_enough(self, tmp_path: Path) -> None:
        """A file of which no format has half the lines is read where all of them together know it."""
        found, said = parsed(
            tmp_path,
            '192.0.2.1:1 [29/Nov/2026:12:23:35.879] fe be/a 0/0/0/2/2 200 1 - - ---- 1/1/0/0/0 0/0 "GET / HTTP/1.1"\n'
            "Server be/a is DOWN, reason: x\n"
            "[WARNING]  (8) : Server be/a is DOWN, reason: x\n",
        )
        assert said.records is not None

        assert found.first_format == "haproxy_http"
        assert said.records["ts"].is_null().to_list() == [False, True, True]

    def test_heads_of_w3c_logs_are_no_records(self, tmp_path: Path) -> None:
        """The lines that name the columns are counted, and are part of no record."""
        _, said = parsed(
            tmp_path,
            "#Version: 1.0\n#Fields: date time x-edge-location\n"
            "2026-11-29\t12:14:31\tFRA2\t392\t192.0.2.1\tGET\td1\t/h\t200\n",
        )
        assert said.records is not None

        assert (said.records.height, said.in_records, said.unparsed) == (1, 3, 0)

    def test_a_shard_never_begins_with_a_further_line(self) -> None:
        """A cut between a message and its DETAIL would part them."""
        plug = plan.plain_transport("postgres")
        assert plug.safe_cut is not None

        assert plug.safe_cut([], b"2026-11-29 13:21:44.933 CET [8] ERROR:  x")
        assert not plug.safe_cut([], b"2026-11-29 13:21:44.933 CET [8] DETAIL:  x")
        assert not plug.safe_cut([], b"\tselect")

    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def test_nothing_is_lost(self, data: st.DataObject) -> None:
        """Whatever stands between the samples of a format, every line is in a record, blank or unparsed."""
        fmt = MESSAGES[data.draw(st.sampled_from(sorted(MESSAGES)))]
        pieces = data.draw(st.lists(st.one_of(st.binary(max_size=30), st.sampled_from([s.encode() for s in fmt.samples])), max_size=8))  # fmt: skip
        text = b"".join(piece.replace(b"\n", b"") + b"\n" for piece in pieces)
        said = plan.plain_transport(fmt.name).parse(text)
        assert said.records is not None

        assert said.in_records + said.blank + said.unparsed == text.count(b"\n")
        assert dict(said.records.schema) == RECORDS


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_lines_are_no_error(data: st.DataObject) -> None:
    """A line that is cut anywhere, or has anything put into it, is understood or not, without an error."""
    fmt = MESSAGES[data.draw(st.sampled_from(sorted(MESSAGES)))]
    sample = data.draw(st.sampled_from(fmt.samples))
    at = data.draw(st.integers(0, len(sample)))
    noise = data.draw(st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=5))
    events = read(sample[:at], sample[:at] + noise + sample[at:], sample[at:], noise)

    assert events.height == 4


@pytest.mark.parametrize(
    "line",
    [
        '{"level":{"a":1},"time":[],"msg":null}',
        '{"level":[30],"msg":"x"}',
        '{"level":1e999,"msg":"x"}',
        '{"level":30,"msg":"a\\u001fb\\u001fc","time":"\\u001f"}',
        '{"level":30,"msg":"\\ud800"}',
        '{"level":30,"msg":"x"} trailing',
        '{"level":30,"msg":"x"',
        "{" * 3000,
        '{"status":"200 OK","request":"GET"}',
        '{"status":99999999999,"request":"GET / HTTP/1.1"}',
        '{"DownstreamStatus":200,"Duration":"much"}',
    ],
)
def test_odd_objects(line: str) -> None:
    """Wrong types, numbers out of range, separators inside and cut objects never shift one field into another."""
    found = row(line)

    assert found["status"] in (None, 200)
    assert found["body"] is None or "\x1f" not in found["body"] or found["body"] == "a\x1fb\x1fc"


def test_a_definition_names_fields_instead_of_a_pattern(tmp_path: Path) -> None:
    """JSON of one's own needs no code: groups, the fields of each, and what must be there."""
    path = tmp_path / "shop.toml"
    path.write_text(
        'title = "shop"\nkind = "log"\ntime = "any"\nzone = "any"\n'
        'samples = [\'{"lv":"W","text":"slow","meta":{"at":1795955076}}\']\n'
        '[json]\nneeds = ["level"]\nlevel = ["lv"]\nmessage = ["text"]\ntime = ["meta/at"]\n'
    )
    fmt = definition.message_format(path)
    claim = bare.claims(
        pl.DataFrame({"line": [1], "raw": fmt.samples}, schema={"line": pl.UInt32, "raw": pl.String}), fmt
    )

    assert instant(claim["ts"][0]) == "2026-11-29T12:24:36"
    assert fmt.levels["w"] == "warning"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("level = [", "level_ = ["), "shop.toml: unknown key 'level_'; did you mean 'level'?"),
        (('kind = "log"', 'kind = "log"\nstarts = ["braces"]'), "shop.toml: unknown start 'braces'"),
        (("[json]", "[nothing]"), "shop.toml: unknown key 'nothing'"),
        (('{"lv"', '{"vl"'), "shop.toml: does not match its own sample"),
    ],
)
def test_bad_fields_are_refused(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    """A definition of fields that is wrong says where and why."""
    path = tmp_path / "shop.toml"
    good = 'title = "shop"\nkind = "log"\nsamples = [\'{"lv":"W","text":"slow"}\']\n[json]\nneeds = ["level"]\nlevel = ["lv"]\nmessage = ["text"]\n'
    path.write_text(good.replace(*change))

    with pytest.raises(DefinitionError) as refused:
        definition.message_format(path)

    assert str(refused.value).startswith(said)


def test_a_group_of_the_reader_s_own_names_is_refused(tmp_path: Path) -> None:
    """A group called ``row`` would stand in the way of the reader's own column."""
    path = tmp_path / "shop.toml"
    path.write_text(
        'title = "s"\nkind = "log"\npattern = \'^(?P<row>x)(?P<message>.*)$\'\nsamples = ["xy"]\n'
    )

    with pytest.raises(DefinitionError, match="the group 'row'"):
        definition.message_format(path)


class TestSyslog:
    """Files of syslog daemons and the kernel's ring buffer."""

    def test_day_padded_with_a_blank_is_a_syslog_daemon_s(self, tmp_path: Path) -> None:
        """The journal pads the day with a zero, a syslog daemon with a blank."""
        mine = plan.recognise(written(tmp_path, "Nov  9 12:25:41 vm api[77]: a\n"), 0)
        journal = plan.recognise(written(tmp_path, "Nov 09 12:25:41 vm api[77]: a\n"), 0)

        assert (mine.format_name, journal.format_name) == ("syslog_3164", "journald_short")

    def test_escapes_priorities_and_lines_without_a_tag(self) -> None:
        """Octal escapes are undone, the priority gives the level, a line without a tag is a record."""
        said = formats.all_transports()["syslog_3164"].parse(
            b"<11>Nov 29 12:25:42 vm py[5]: multi#012line#011tab #033[31mred\n"
            b"Nov 29 12:25:42 vm last message repeated 3 times\n"
            b"<38>Nov 29 12:25:43 vm su: 'su root' failed\n"
        )
        assert said.records is not None

        assert said.records["message"].to_list() == [
            "multi\nline\ttab red",
            "last message repeated 3 times",
            "'su root' failed",
        ]
        assert said.records["level"].to_list() == ["error", None, "info"]
        assert said.records["service"].to_list() == ["py", None, "su"]
        assert len(said.notes) == 1

    def test_5424(self) -> None:
        """Structured data is skipped with its quotes, nil is nothing, a byte order mark and a byte count are taken off."""
        said = formats.all_transports()["syslog_5424"].parse(
            '131 <165>1 2026-11-29T12:25:41.003Z web shop - ID47 [a@1 k="v\\"]"][b] \ufeffthe message\n'
            "<34>1 - - - - - - no names\n".encode()
        )
        assert said.records is not None

        assert said.records["message"].to_list() == ["the message", "no names"]
        assert said.records["service"].to_list() == ["shop", None]
        assert said.records["level"].to_list() == ["info", "critical"]
        assert [instant(ts) for ts in said.records["ts"]] == ["2026-11-29T12:25:41.003000", None]

    def test_dmesg_has_levels_and_no_instants(self) -> None:
        """Seconds since the start place nothing; ``-x`` gives levels."""
        said = formats.all_transports()["dmesg"].parse(
            b"kern  :err   : [ 2118.000001] Out of memory: Killed process 4021 (node)\n"
            b"[ 2118.000001 <    0.128031>] x\n[Nov29 22:57] y\n[  +1.000004] z\n"
        )
        assert said.records is not None

        assert said.records["ts"].null_count() == said.records.height == 4
        assert said.records["level"].to_list() == ["error", None, None, None]
        assert said.records["message"].to_list()[1:] == ["x", "y", "z"]

    @pytest.mark.parametrize("cut", range(0, 150, 7))
    def test_dmesg_json_cut_anywhere(self, cut: int) -> None:
        """A document that ends early gives the entries before its end, or says that it is damaged."""
        whole = b'{"dmesg": [{"pri": 3, "time": 1.5, "msg": "a"},{"pri": "info", "time": 2.5, "msg": "b"}]}'
        plug = formats.all_transports()["dmesg_json"]
        try:
            said = plug.parse(whole[:cut])
        except Exception as error:  # noqa: BLE001 - only one kind may leave a reader
            assert type(error).__name__ == "UnreadableError"  # noqa: PT017 - the kind is the point
            return
        assert said.records is not None

        assert said.records["level"].to_list() == ["error", "info"][: said.records.height]


class TestPostgresRecords:
    """csvlog and jsonlog."""

    ROW = '2026-11-29 13:20:39.493 UTC,"app","shop",8,"[local]",6b0c.5359,3,"SELECT",2026-11-29 13:20:39 UTC,3/4,0,{tag},22012,"{message}","det","hin",,,,"select\n1/0",15,{rest}'

    @pytest.mark.parametrize(
        ("rest", "columns"),
        [(',"psql"', 23), (',"psql","client backend"', 24), (',"psql","client backend",,0', 26)],
    )
    def test_columns_of_every_version(self, rest: str, columns: int) -> None:
        """Rows of 23, 24 and 26 columns are read, over as many lines as they take."""
        text = self.ROW.format(tag="FEHLER", message='a ""quoted""\nword', rest=rest)
        said = formats.all_transports()["postgres_csvlog"].parse(f"{text}\n{text}\n".encode())
        assert said.records is not None

        assert text.replace('a ""', "").count(",") == columns - 1
        assert said.records["line"].to_list() == [1, 4]
        assert said.records["level"].to_list() == ["error", "error"]
        assert said.records["pid"].to_list() == ["8", "8"]
        assert said.records["message"][0] == (
            'FEHLER:  a "quoted"\nword\nDETAIL:  det\nHINT:  hin\nSTATEMENT:  select\n1/0'
        )
        assert (said.in_records, said.unparsed) == (6, 0)

    def test_begins_and_ends_inside_a_row(self) -> None:
        """A file cut at both ends loses the rows at its ends alone, and says so."""
        text = self.ROW.format(tag="LOG", message="x", rest=',"psql"')
        said = formats.all_transports()["postgres_csvlog"].parse(
            f'of a statement",,,"psql"\n{text}\n{text[:70]}'.encode()
        )
        assert said.records is not None

        assert (said.unparsed, said.first_unparsed, said.in_records) == (1, 1, 3)
        assert said.records["message"][0].startswith("LOG:  x\n")
        assert said.records["level"].to_list() == ["info", None]

    def test_jsonlog(self) -> None:
        """The message is that of the server log; a broken object is unparsed."""
        said = formats.all_transports()["postgres_jsonlog"].parse(
            b'{"timestamp":"2026-11-29 13:20:39.493 CET","pid":8,"error_severity":"FATAL","message":"sorry, too many clients already"}\n'
            b'{"timestamp":"2026-11-29 13:20:39.493 CET","pid":8\n'
        )
        assert said.records is not None

        assert said.records["message"].to_list() == ["FATAL:  sorry, too many clients already"]
        assert said.records["naive"].to_list() == [False]
        assert instant(said.records["ts"][0]) == "2026-11-29T12:20:39.493000"
        assert (said.in_records, said.unparsed, said.first_unparsed) == (1, 1, 2)


def test_redis_info(tmp_path: Path) -> None:
    """Clients and memory against their limits, once for each answer; an answer without a time says so."""
    text = "# Server\r\nredis_version:7.0.15\r\nserver_time_usec:1795954909535329\r\nconnected_clients:34\r\nmaxclients:100\r\nused_memory:5\r\nmaxmemory:0\r\n"
    item = written(tmp_path, text * 2 + "redis_version:3.2\r\nconnected_clients:1\r\n")
    said = formats.all_monitors()["redis_info"].parse(item.path, {})
    assert said.samples is not None

    assert plan.recognise(item, 0).format_name == "redis_info"
    assert said.samples.select("series", "value", "limit", "line").rows() == [
        ("redis connected clients", 34.0, 100.0, 1),
        ("redis memory", 5.0, None, 1),
        ("redis connected clients", 34.0, 100.0, 2),
        ("redis memory", 5.0, None, 2),
    ]
    assert instant(said.samples["ts"][0]) == "2026-11-29T12:21:49.535329"
    assert len(said.notes) == 1
