"""What monitors remember, value by value: other versions, other locales, damaged files."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from forensics import engine, formats, pipeline
from forensics.formats import psql
from forensics.formats.jsonl import head_values, known_as
from forensics.formats.state import decimal, result, times
from forensics.formats.sysstat import day_of
from forensics.ingest import plan
from forensics.model.errors import UnreadableError
from forensics.model.plug import Monitor
from forensics.model.source import Ref
from forensics.signatures import Matcher, load
from forensics.sources import streams
from forensics.sources.discovery import Input, discover

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forensics.model.plug import Parsed

FOLDER = Path(__file__).parents[2] / "fixtures" / "formats"
MONITORS = formats.all_monitors()


def at(text: str) -> int:
    """Return an instant in microseconds."""
    moment = dt.datetime.fromisoformat(text)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return (aware - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)


def sample(folder: Path, name: str) -> Path:
    """Unpack a fixture under its own name."""
    path = folder / Path(name).name
    path.write_bytes(gzip.decompress((FOLDER / f"{name}.gz").read_bytes()))
    return path


def parsed(tmp_path: Path, plug: str, content: str | bytes | Any, name: str = "x", **fields: str) -> Parsed:
    """Recognise a file by its content and read it with the plug that must have claimed it."""
    path = tmp_path / name
    data = (
        content
        if isinstance(content, bytes)
        else content.encode()
        if isinstance(content, str)
        else json.dumps(content).encode()
    )
    path.write_bytes(data)
    if not fields:
        chosen = plan.recognise(Input(path, name), 0)
        assert chosen.format_name == plug, chosen.choice
    return MONITORS[plug].parse(path, fields)


def rows(frame: pl.DataFrame | None, *names: str) -> list[tuple[Any, ...]]:
    """Return some columns of a frame as tuples."""
    assert frame is not None
    return frame.select(names).rows()


def database(path: Path, script: str) -> Path:
    """Make a SQLite database."""
    with closing(sqlite3.connect(path)) as made:
        made.executescript(script)
    return path


class TestTimes:
    """Times are read as they are written, and never guessed."""

    @pytest.mark.parametrize(
        ("text", "instant", "naive"),
        [
            ("2026-11-29T12:14:31Z", "2026-11-29T12:14:31", False),
            ("2026-11-29 12:14:31,5-03:00", "2026-11-29T15:14:31.5", False),
            ("2026-11-29 12:20:40.603028+00", "2026-11-29T12:20:40.603028", False),
            ("2026-11-29 12:14:31.123456789 +0000 UTC", "2026-11-29T12:14:31.123456", False),
            ("2026-11-29 12:14:31.1 +0100 CET m=+0.5", "2026-11-29T11:14:31.1", False),
            ("2026-11-29 12:14:31 UTC", "2026-11-29T12:14:31", False),
            ("2026-11-29T12:14Z", "2026-11-29T12:14:00", False),
            ("2026/11/29 12:14:31", "2026-11-29T12:14:31", True),
            ("2026-11-29 12:14:31.5", "2026-11-29T12:14:31.5", True),
            ("1795954471", "2026-11-29T12:14:31", False),
            ("1795954471.25", "2026-11-29T12:14:31.25", False),
            ("1795954471123", "2026-11-29T12:14:31.123", False),
            ("1795954471123456", "2026-11-29T12:14:31.123456", False),
            ("1795954471123456789", "2026-11-29T12:14:31.123456", False),
            ("Sun Nov 29 2026 12:14:31 GMT+0000 (Coordinated Universal Time)", "2026-11-29T12:14:31", False),
            ("Sun, 29 Nov 2026 12:14:31 GMT", "2026-11-29T12:14:31", False),
            ("Sun Nov 29 12:21:00 2026", "2026-11-29T12:21:00", True),
            ("29.11.2026 12:14:31", "2026-11-29T12:14:31", True),
            ("05.04.2026 12:14", "2026-04-05T12:14:00", True),
            ("29/11/26 12:14:31,5", "2026-11-29T12:14:31.5", True),
            ("11/29/2026, 12:14:31 PM", "2026-11-29T12:14:31", True),
            ("11/29/2026 12:14:31 AM", "2026-11-29T00:14:31", True),
            ("29/11/2026 12:14:31 -03:00", "2026-11-29T15:14:31", False),
        ],
    )
    def test_one(self, text: str, instant: str, naive: bool) -> None:
        """One time of each way of writing it; without a zone it is naive."""
        assert times(pl.Series([text])).frame.rows() == [(at(instant), naive)]

    @pytest.mark.parametrize(
        "text", ["", "0", "12:14:31", "n/a", "2026-13-01 00:00:00", "31/02/2026 00:00", None]
    )
    def test_none(self, text: str | None) -> None:
        """What is no time stays null."""
        assert times(pl.Series([text], dtype=pl.String)).frame["ts"].to_list() == [None]

    @pytest.mark.parametrize(
        ("texts", "first"),
        [
            (["03/04/2026 23:59:00", "04/04/2026 00:01:00"], "2026-04-03T23:59:00"),
            (["04/03/2026 23:59:00", "04/04/2026 00:01:00"], "2026-04-03T23:59:00"),
            (["03/04/2026 10:00:00", "13/04/2026 10:00:00"], "2026-04-03T10:00:00"),
            (["03/04/2026 10:00:00", "03/24/2026 10:00:00"], "2026-03-04T10:00:00"),
            (["04/04/2026 10:00:00"], "2026-04-04T10:00:00"),
        ],
    )
    def test_the_file_decides_between_day_and_month(self, texts: list[str], first: str) -> None:
        """A number above 12, or days that follow one another in one reading only, decide."""
        assert times(pl.Series(texts)).frame["ts"][0] == at(first)

    def test_nothing_decides(self) -> None:
        """Dates that can be read either way have no time, and the note says so."""
        read = times(pl.Series(["03/04/2026 10:00:00", "03/04/2026 10:01:00"]))

        assert read.frame["ts"].to_list() == [None, None]
        assert "2 rows have no time" in read.notes[0]

    def test_portuguese_names_suggest_day_first(self) -> None:
        """Field names in Portuguese are evidence, and the assumption is named."""
        read = times(pl.Series(["03/04/2026 10:00:00"]), ["data", "estado"])

        assert read.frame["ts"].to_list() == [at("2026-04-03T10:00:00")]
        assert "Portuguese" in read.notes[0]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("up", "up"), ("OK", "up"), ("true", "up"), ("1", "up"), ("200", "up"), ("204 No Content", "up"), ("degraded", "up"), ("no ar", "up"),
        ("down", "down"), ("False", "down"), ("0", "down"), ("000", "down"), ("503", "down"), ("HTTP 502", "down"), ("timeout", "down"), ("fora", "down"),
        ("crit", "down"), ("pending", "pending"), ("maintenance", "maintenance"), ("unknown", None), ("", None), ("12345", None), (None, None),
    ],
)  # fmt: skip
def test_words_of_results(word: str | None, said: str | None) -> None:
    """A word that states no result gives none: it is neither up nor down."""
    assert pl.DataFrame({"w": [word]}, schema={"w": pl.String}).select(
        result(pl.col("w"))
    ).to_series().to_list() == [said]


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", 1.5), ("1,5", 1.5), ("1.234,5", 1234.5), ("88 ms", 88.0), ("-2", -2.0), ("x", None)],
)
def test_decimals(text: str, value: float | None) -> None:
    """A decimal comma and a unit are read."""
    assert pl.DataFrame({"t": [text]}).select(decimal(pl.col("t"))).to_series().to_list() == [value]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Date-Time", "date_time"),
        ("checkedAt", "checked_at"),
        ("Duration (in mins.)", "duration_in_mins"),
        ("ts", "ts"),
    ],
)
def test_names(name: str, known: str) -> None:
    """Names are compared whatever their style."""
    assert known_as(name) == known


class TestUptimeKuma:
    """Both versions' databases, and what the page gives."""

    def test_recent_rows_are_in_the_log(self, tmp_path: Path) -> None:
        """The row that only kuma.db-wal holds is read, and nothing is left beside the evidence."""
        for name in ("kuma.db", "kuma.db-wal", "kuma.db-shm"):
            sample(tmp_path, f"monitors/{name}")
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        reading = engine.read_all(plan.make(discover([str(tmp_path)])), Matcher(load()), streams.SHARD_BYTES)
        beats = reading.digest["beats"]

        assert beats.height == 61
        assert beats["ts"].max() == at("2026-11-29T03:20:00")
        assert [fact.source.name for fact in reading.facts] == ["kuma.db"]
        assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def test_values(self, tmp_path: Path) -> None:
        """An outage begins at its first pending beat; statuses, codes and changes are those of the table."""
        said = MONITORS["uptime_kuma"].parse(sample(tmp_path, "monitors/kuma.db"), {})
        assert said.beats is not None
        outage = said.beats.filter(pl.col("line").is_between(12, 16))

        assert outage["status"].to_list() == ["up", "pending", "pending", "down", "down"]
        assert outage["error"].to_list()[:3] == [
            None,
            "timeout of 16000ms exceeded",
            "timeout of 16000ms exceeded",
        ]
        assert outage["http_status"].to_list() == [200, None, None, 503, 503]
        assert outage["period_s"].unique().to_list() == [20]
        assert said.beats.filter(pl.col("status") == "maintenance")["line"].to_list() == [41, 42, 43, 44]
        assert rows(said.alerts, "ts", "state") == [
            (at("2026-11-29T03:03:40.518"), "down"),
            (at("2026-11-29T03:05:40.740"), "up"),
            (at("2026-11-29T03:13:41.628"), "up"),
        ]
        assert said.notes == ()

    def test_version_2_prunes(self, tmp_path: Path) -> None:
        """What version 2 deleted is no hole: old changes are alerts, failed checks per hour are samples."""
        old = "insert into heartbeat values ({0}, 1, 1, {1}, '', '2026-11-20 10:0{2}:00.000', 5);"
        new = "insert into heartbeat values ({0}, 0, 1, 1, '200 - OK', '2026-11-29 10:0{1}:00.000', 5);"
        tables = """create table monitor (id integer primary key, name text, interval integer, type text, active integer);
            create table heartbeat (id integer primary key, important, monitor_id, status, msg, time, ping);
            create table stat_minutely (id, monitor_id, timestamp, up, down);
            create table stat_hourly (id integer primary key, monitor_id, timestamp, up, down);
            insert into monitor values (1, 'api', 60, 'http', 1), (2, 'all', 60, 'group', 1), (3, 'old', 60, 'http', 0);
            insert into stat_hourly values (1, 1, 1795168800, 50, 10);
            insert into heartbeat values (90, 0, 2, 1, '', '2026-11-29 10:00:00.000', null);
            insert into heartbeat values (91, 0, 3, 1, '', '2026-11-29 10:00:00.000', null);"""
        beats = [old.format(n, status, n) for n, status in ((1, 1), (2, 0), (3, 1))]
        beats += [new.format(10 + n, n) for n in range(5)]
        path = database(tmp_path / "kuma.db", "".join([tables, *beats]))
        said = MONITORS["uptime_kuma"].parse(path, {})

        assert said.beats is not None
        assert said.beats.filter(pl.col("monitor") == "api")["line"].to_list() == [10, 11, 12, 13, 14]
        assert rows(said.alerts, "line", "state") == [(2, "down"), (3, "up")]
        assert rows(said.samples, "series", "ts", "value") == [
            ("failed checks per hour: api", at("2026-11-20T10:00:00"), 10.0)
        ]
        assert "3 older ones are changes of status only" in said.notes[0]
        assert "1 beats of groups" in said.notes[1]
        assert said.notes[2] == "paused in Uptime Kuma when the file was copied: old"

    def test_version_1(self, tmp_path: Path) -> None:
        """A database without the columns of version 2 keeps every beat."""
        path = database(
            tmp_path / "kuma.db",
            """create table monitor (id integer primary key, name text, interval integer);
            create table heartbeat (id integer primary key, important, monitor_id, status, msg, time, ping, duration, down_count);
            insert into monitor values (1, 'api', 60);
            insert into heartbeat values (1, 1, 1, 1, '200 - OK', '2026-11-20 10:00:00.000', 5, 0, 0), (2, 1, 1, 0, x'ff00', '2026-11-20 10:01', null, 60, 1),
              (3, 'x', 7, 'odd', null, 'never', 'slow', 60, 1);""",
        )
        said = MONITORS["uptime_kuma"].parse(path, {})

        assert rows(said.beats, "monitor", "ts", "status") == [
            ("api", at("2026-11-20T10:00:00"), "up"),
            ("api", None, "down"),
            ("monitor 7", None, "unknown"),
        ]

    def test_schema_far_in_the_file(self, tmp_path: Path) -> None:
        """A database whose schema lies behind the first pages is recognised by asking SQLite."""
        path = tmp_path / "kuma.db"
        filler = "".join(
            f"create table filler_{n} (a text, b text, c text, d text, {', '.join(f'e{m} text' for m in range(300))});"
            for n in range(60)
        )
        database(
            path,
            filler
            + "create table monitor (id, name, interval); create table heartbeat (id, important, monitor_id, status, msg, time, ping);",
        )
        assert b"heartbeat" not in streams.head(path)

        assert plan.recognise(Input(path, "kuma.db"), 0).format_name == "uptime_kuma"

    def test_status_page(self, tmp_path: Path) -> None:
        """The beats of the status page API are those of the monitor whose number they stand under."""
        said = parsed(
            tmp_path,
            "uptime_kuma_json",
            {
                "heartbeatList": {
                    "3": [{"status": 0, "time": "2026-11-29 12:00:00.000", "msg": "", "ping": None}]
                },
                "uptimeList": {"3_24": 1},
            },
        )

        assert rows(said.beats, "monitor", "ts", "status") == [
            ("monitor 3", at("2026-11-29T12:00:00"), "down")
        ]
        assert "the last 100 beats" in said.notes[0]

    def test_backup_holds_no_beats(self, tmp_path: Path) -> None:
        """A backup of version 1 is declined with what to copy instead."""
        with pytest.raises(UnreadableError, match=r"holds its configuration and no beat; copy kuma\.db"):
            parsed(
                tmp_path,
                "uptime_kuma_json",
                {
                    "version": "1.23.1",
                    "notificationList": [],
                    "monitorList": [{"id": 1, "name": "api"}],
                    "proxyList": [],
                },
            )


def test_kener_fills_in(tmp_path: Path) -> None:
    """Filled rows and rows without data are no measurement; what the check said comes before its confirmation."""
    path = database(
        tmp_path / "kener.db",
        """create table monitoring_data (monitor_tag text, timestamp integer, status text, latency float, type text, raw_status text);
        insert into monitoring_data values ('api', 1795954440, 'UP', 41, 'realtime', 'DOWN'), ('api', 1795954500, 'UP', 0, 'default_status', null),
          ('api', 1795954560, 'DOWN', 0, 'manual', null), ('api', 1795954620, 'NO_DATA', 0, 'realtime', null), ('api', 1795954680, 'DEGRADED', 900, 'realtime', null);""",
    )
    said = MONITORS["kener"].parse(path, {})

    assert rows(said.beats, "line", "status", "error", "latency_ms") == [
        (1, "down", "realtime", None),
        (5, "up", "degraded", 900.0),
    ]
    assert said.notes[0].startswith("2 rows are filled in")
    assert said.notes[1] == "1 rows say that there was no data"


def test_gatus_values(tmp_path: Path) -> None:
    """Errors are joined, a status of 0 is no answer, and a check is placed where it began."""
    said = MONITORS["gatus"].parse(sample(tmp_path, "monitors/gatus.db"), {})

    assert rows(said.beats, "monitor", "ts", "status", "http_status", "latency_ms", "error") == [
        ("core/api", at("2026-11-29T12:14:31.082456"), "up", 200, 41.0, None),
        ("core/api", at("2026-11-29T12:15:21.1"), "down", None, 10000.0, "context deadline exceeded; x"),
    ]


def test_home_grown_table(tmp_path: Path) -> None:
    """A SQLite table with a time and a result is read by the names of its columns."""
    path = database(
        tmp_path / "state.db",
        "create table checks (id integer primary key, ts text, target text, status text, latency_ms real); insert into checks values (7, '2026-11-29 12:00:00', 'api', 'down', 2.5);",
    )
    assert plan.recognise(Input(path, "state.db"), 0).format_name == "sqlite_state"

    assert rows(
        MONITORS["sqlite_state"].parse(path, {}).beats,
        "line",
        "monitor",
        "ts",
        "naive",
        "status",
        "latency_ms",
    ) == [(7, "api", at("2026-11-29T12:00:00"), True, "down", 2.5)]


class TestHosted:
    """Exports of hosted monitors."""

    def test_uptimerobot(self, tmp_path: Path) -> None:
        """Events are alerts at local times."""
        said = MONITORS["uptimerobot_csv"].parse(sample(tmp_path, "monitors/uptimerobot.csv"), {})

        assert rows(said.alerts, "monitor", "ts", "naive", "state", "text", "line") == [
            ("api", at("2026-11-29T12:14:31"), True, "down", "HTTP 503", 2),
            ("api", at("2026-11-29T12:18:33"), True, "up", "OK", 3),
        ]

    def test_betterstack_page(self, tmp_path: Path) -> None:
        """An incident that is not resolved has no end; a page that is not the last says so."""
        content = {
            "data": [
                {
                    "type": "incident",
                    "attributes": {
                        "name": "api",
                        "cause": "Status 503",
                        "started_at": "2026-11-29T12:14:31.000Z",
                        "acknowledged_at": "2026-11-29T12:15:00Z",
                        "resolved_at": None,
                    },
                }
            ],
            "pagination": {"next": "https://…"},
        }
        said = parsed(tmp_path, "betterstack_json", content)

        assert rows(said.alerts, "ts", "state") == [
            (at("2026-11-29T12:14:31"), "down"),
            (at("2026-11-29T12:15:00"), "acknowledged"),
        ]
        assert "one page of several" in said.notes[-1]

    def test_pingdom(self, tmp_path: Path) -> None:
        """An unconfirmed failure is pending, an unknown result is none, a stated timeout is kept."""
        content = {
            "results": [
                {
                    "probeid": 1,
                    "time": 1795954471,
                    "status": "unconfirmed_down",
                    "statusdesc": "Timeout (> 30s)",
                },
                {"probeid": 2, "time": 1795954411, "status": "unknown"},
            ]
        }
        said = parsed(tmp_path, "pingdom_json", content)

        assert rows(said.beats, "status", "timeout_s") == [("pending", 30.0)]
        assert said.notes[-1].startswith("1 results are unknown")

    def test_healthchecks(self, tmp_path: Path) -> None:
        """A start or a log is no result; a job is placed where it began."""
        said = MONITORS["healthchecks_pings"].parse(sample(tmp_path, "monitors/healthchecks_pings.json"), {})

        assert rows(said.beats, "line", "status", "ts", "latency_ms") == [
            (1, "up", at("2026-11-29T12:14:28.213073"), 2900.0)
        ]

    def test_cloudflare(self, tmp_path: Path) -> None:
        """Regions are monitors of their own, the global sum is left out, a change is an alert too."""
        event = {
            "datetime": "2026-11-29T12:14:31Z",
            "healthCheckName": "api",
            "healthStatus": "Unhealthy",
            "failureReason": "HTTP timeout occurred",
            "region": "WEU",
            "healthChanged": 1,
            "rttMs": 0,
            "originResponseStatus": 0,
        }
        other = {
            **event,
            "datetime": "2026-11-29T12:15:31Z",
            "healthStatus": "Healthy",
            "healthChanged": 0,
            "rttMs": 12,
            "originResponseStatus": 200,
        }
        content = {
            "data": {
                "viewer": {
                    "zones": [{"healthCheckEventsAdaptive": [event, other, {**event, "region": "Global"}]}]
                }
            }
        }
        said = parsed(tmp_path, "cloudflare_health", content)

        assert rows(said.beats, "monitor", "status", "latency_ms", "http_status") == [
            ("api from WEU", "down", None, None),
            ("api from WEU", "up", 12.0, 200),
        ]
        assert rows(said.alerts, "ts", "state", "text") == [
            (at("2026-11-29T12:14:31"), "down", "HTTP timeout occurred")
        ]

    def test_worker(self, tmp_path: Path) -> None:
        """A result that the Worker logged is a beat, a run that failed is an alert about the Worker."""
        said = MONITORS["wrangler_tail"].parse(sample(tmp_path, "monitors/wrangler_tail.json"), {})

        assert rows(said.beats, "monitor", "ts", "status", "http_status") == [
            ("uptime", at("2026-11-29T12:14:31.123"), "down", 503)
        ]
        assert rows(said.alerts, "line", "state", "text") == [(2, "exception", "Error: boom")]


class TestHomeGrown:
    """Files of one's own prober."""

    def test_european_csv(self, tmp_path: Path) -> None:
        """Semicolons, a decimal comma, a header in Portuguese, a byte order mark, two columns of time."""
        content = '\ufeffdata;hora;servico;estado;latencia_ms;erro\r\n29/11/2026;12:14:31;api;ok;30,5;\r\n\r\n29/11/2026;12:15:31;api;fora;;"linha 1\nlinha 2"\r\n29/11/2026;12:16:31;api;?;;\r\n'
        said = parsed(tmp_path, "state_csv", content)

        assert rows(said.beats, "line", "ts", "naive", "monitor", "status", "latency_ms") == [
            (2, at("2026-11-29T12:14:31"), True, "api", "up", 30.5),
            (4, at("2026-11-29T12:15:31"), True, "api", "down", None),
        ]
        assert (said.in_records, said.blank, said.unparsed) == (5, 1, 0)
        assert said.notes == ("1 rows state no result ('?') and count neither as up nor as down",)

    def test_fields_of_the_case_file(self, tmp_path: Path) -> None:
        """Names that the case file gives come first."""
        said = parsed(
            tmp_path,
            "state_csv",
            "quando_foi,abertas,teto\n2026-11-29T12:00:00-03:00,88,100\n",
            time="quando_foi",
            value="abertas",
            limit="teto",
        )

        assert rows(said.samples, "ts", "value", "limit") == [(at("2026-11-29T15:00:00"), 88.0, 100.0)]

    def test_array_of_results(self, tmp_path: Path) -> None:
        """An array, newest first, with booleans and HTTP statuses."""
        content = [
            {"time": "2026-11-29T12:01:00Z", "success": False, "status_code": 503},
            {"time": "2026-11-29T12:00:00Z", "success": True, "status_code": 200},
        ]
        said = parsed(tmp_path, "state_json", content)

        assert rows(said.beats, "line", "status", "http_status") == [(1, "down", 503), (2, "up", 200)]

    def test_histories_of_several(self, tmp_path: Path) -> None:
        """Histories in one object are named by the key that they stand under."""
        content = {
            "api": {"history": [{"t": 1795954411000, "ok": True}]},
            "site": {"history": [{"t": 1795954411000, "ok": False}]},
        }
        said = parsed(tmp_path, "state_json", content)

        assert rows(said.beats, "monitor", "status") == [("api", "up"), ("site", "down")]

    def test_cut_array(self, tmp_path: Path) -> None:
        """Of a file that ends in the middle of a row the rows before are read, and the note says so."""
        content = json.dumps([{"time": f"2026-11-29T12:0{n}:00Z", "status": "up"} for n in range(5)])[:-20]
        said = parsed(tmp_path, "state_json", content)

        assert said.beats is not None
        assert said.beats.height == 4
        assert "ends in the middle" in said.notes[0]

    def test_gauge_lines(self, tmp_path: Path) -> None:
        """A gauge's line may have a local time and any of the usual names."""
        said = parsed(
            tmp_path,
            "samples_jsonl",
            '{"timestamp":"2026-11-29 12:14:00","state":"warn","inUse":9,"poolSize":10}\n' * 2 + "not json\n",
        )

        assert (
            rows(said.samples, "ts", "naive", "value", "limit", "level")
            == [(at("2026-11-29T12:14:00"), True, 9.0, 10.0, "warn")] * 2
        )
        assert (said.in_records, said.unparsed, said.first_unparsed) == (2, 1, 3)

    @pytest.mark.parametrize(
        "content",
        [
            '{"time":"2026-11-29T12:14:00Z","status":200,"host":"x","request":"GET / HTTP/1.1","remote_addr":"192.0.2.1"}\n',
            '{"level":30,"time":1795954471000,"msg":"cache","size":12,"count":3}\n',
            "time,level,message\n2026-11-29T12:14:00Z,info,hello\n",
        ],
    )
    def test_logs_are_no_monitors(self, content: str, tmp_path: Path) -> None:
        """The log of a gateway or a program is not taken for a monitor's state."""
        path = tmp_path / "x"
        path.write_text(content)

        assert plan.recognise(Input(path, "x"), 0).format_name not in MONITORS


class TestPrometheus:
    """Series become beats and samples."""

    def test_connections_are_summed_and_have_their_limit(self, tmp_path: Path) -> None:
        """Connections are summed over states; the limit that stands beside them is theirs; pools keep their name."""
        page = (
            'pg_stat_activity_count{instance="db",datname="shop",state="active"} 12 1795954471000\n'
            'pg_stat_activity_count{instance="db",datname="shop",state="idle"} 30 1795954471000\n'
            'pg_settings_max_connections{instance="db"} 100 1795954471000\n'
            'redis_connected_clients{instance="cache"} 7 1795954471000\nredis_config_maxclients{instance="cache"} 10000 1795954471000\n'
            'hikaricp_connections_active{instance="api",pool="main"} 10 1795954471000\nhikaricp_connections_max{instance="api",pool="main"} 10 1795954471000\n'
        )
        said = parsed(tmp_path, "prometheus_exposition", page)

        assert rows(said.samples, "series", "value", "limit", "line") == [
            ("postgres connections db", 42.0, 100.0, 1),
            ("redis clients cache", 7.0, 10000.0, 4),
            ("pool hikaricp in use main api", 10.0, 10.0, 6),
        ]

    def test_probe_with_its_parts(self, tmp_path: Path) -> None:
        """A probe's latency and HTTP status come from their own series of the same instant."""
        labels = {"instance": "https://shop.example", "job": "blackbox"}
        result_ = [
            {"metric": {"__name__": name, **labels}, "values": [[1795954440, first], [1795954455, second]]}
            for name, first, second in (
                ("probe_success", "1", "0"),
                ("probe_duration_seconds", "0.25", "9.5"),
                ("probe_http_status_code", "200", "0"),
            )
        ]
        said = parsed(
            tmp_path,
            "prometheus_json",
            {"status": "success", "data": {"resultType": "matrix", "result": result_}},
        )

        assert rows(said.beats, "monitor", "ts", "status", "latency_ms", "http_status", "error") == [
            (
                "probe_success blackbox https://shop.example",
                at("2026-11-29T12:14:00"),
                "up",
                250.0,
                200,
                None,
            ),
            (
                "probe_success blackbox https://shop.example",
                at("2026-11-29T12:14:15"),
                "down",
                9500.0,
                None,
                "the probe failed",
            ),
        ]

    def test_victoriametrics_export(self, tmp_path: Path) -> None:
        """A series a line, with its timestamps beside its values."""
        said = parsed(
            tmp_path,
            "prometheus_json",
            '{"metric":{"__name__":"up","job":"a"},"values":[1,0],"timestamps":[1795954440000,1795954455000]}\n'
            * 2,
        )

        assert said.beats is not None
        assert said.beats["status"].to_list() == ["up", "down", "up", "down"]

    def test_other_series_and_values_that_are_none(self, tmp_path: Path) -> None:
        """A series that someone asked for is told without a limit; NaN is nothing; a counter is no gauge."""
        result_ = [
            {"metric": {"__name__": "queue_depth", "q": "mail"}, "value": [1795954440, "17"]},
            {"metric": {}, "value": [1795954440, "NaN"]},
            {"metric": {"__name__": "http_requests_total"}, "value": [1795954440, "1e6"]},
        ]
        said = parsed(
            tmp_path,
            "prometheus_json",
            {"status": "success", "data": {"resultType": "vector", "result": result_}},
        )

        assert rows(said.samples, "series", "value", "limit") == [('queue_depth{q="mail"}', 17.0, None)]
        assert len(said.notes) == 2


class TestSysstat:
    """The host's figures."""

    def test_values(self, tmp_path: Path) -> None:
        """All outputs of one collection say the same."""
        found = {}
        for name, plug in (("sadf.json", "sadf_json"), ("sar.txt", "sar_text"), ("sadf-d.csv", "sadf_csv")):
            said = MONITORS[plug].parse(sample(tmp_path, f"sysstat/{name}"), {})
            assert said.samples is not None
            found[name] = {
                series: value
                for series, ts, value in rows(said.samples, "series", "ts", "value")
                if ts == at("2026-11-29T12:25:45")
            }

        assert found["sadf.json"] == found["sar.txt"]
        assert found["sar.txt"]["host vm cpu %user"] == 85.86
        assert found["sar.txt"]["host vm load, 1 min"] == 1.78
        assert found["sadf-d.csv"]["host vm cpu %idle"] == 0.0
        assert found["sadf-d.csv"]["host vm run queue"] == 2.0

    def test_restarts(self, tmp_path: Path) -> None:
        """A restart of the host is an alert."""
        said = parsed(
            tmp_path,
            "sadf_csv",
            "# hostname;interval;timestamp;runq-sz;plist-sz\nvm;600;2026-11-29 12:30:01 UTC;2;232\nvm;-1;2026-11-29 12:33:00 UTC;LINUX-RESTART\t(2 CPU)\nvm;1;2026-11-29 12:34:00 UTC;1\n",
        )

        assert rows(said.alerts, "ts", "state", "line") == [(at("2026-11-29T12:33:00"), "restart", 3)]
        assert (said.in_records, said.unparsed, said.first_unparsed) == (3, 1, 4)

    def test_midnight_and_twelve_hours(self, tmp_path: Path) -> None:
        """A block that passes midnight goes on in the next day; a 12-hour clock means month first."""
        said = parsed(
            tmp_path,
            "sar_text",
            "Linux 5.15.0 (vm) \t03/04/2026 \t_x86_64_\t(2 CPU)\n\n11:40:01 PM   runq-sz  plist-sz\n11:50:01 PM         2       200\n12:00:01 AM         3       200\nAverage:            2       200\n\n12:10:01 AM  LINUX RESTART\t(2 CPU)\n",
        )

        assert rows(said.samples, "ts", "naive", "value") == [
            (at("2026-03-04T23:50:01"), True, 2.0),
            (at("2026-03-05T00:00:01"), True, 3.0),
        ]
        assert rows(said.alerts, "ts") == [(at("2026-03-05T00:10:01"),)]

    @pytest.mark.parametrize(
        ("text", "day", "date"),
        [("2026-04-03", None, "2026-04-03"), ("03.04.2026", None, "2026-04-03"), ("11/29/26", None, "2026-11-29"), ("29/11/2026", None, "2026-11-29"), ("03/04/26", None, None), ("03/04/26", 4, "2026-03-04"), ("03/04/26", 3, "2026-04-03"), ("13/13/26", None, None)],
    )  # fmt: skip
    def test_header_dates(self, text: str, day: int | None, date: str | None) -> None:
        """A header's date is read where it is certain; the day in the file's name decides too."""
        assert day_of(text, day=day) == (dt.date.fromisoformat(date) if date else None)


class TestSessions:
    """Sessions of PostgreSQL in psql's shapes."""

    ROWS = (
        ("21353", "active", "client backend", "Lock"),
        ("21354", "idle", "client backend", None),
        ("77", None, "checkpointer", None),
    )

    def shapes(self) -> Iterable[tuple[str, str]]:
        """Yield one snapshot in each shape."""
        names = ("now", "pid", "state", "backend_type", "wait_event_type")
        now = "2026-11-29 12:20:40.5+00"
        cells = [[now, *[cell or "" for cell in row]] for row in self.ROWS]
        yield "csv", "\n".join(",".join(row) for row in (list(names), *cells))
        yield (
            "aligned",
            "\n".join(
                [
                    " " + " | ".join(names),
                    "----+-----+---+---+---",
                    *[" " + " | ".join(row) for row in cells],
                    "(3 Zeilen)",
                    "",
                ]
            ),
        )
        yield (
            "bordered",
            "\n".join(
                [
                    "+----+",
                    "| " + " | ".join(names) + " |",
                    "+----+-----+",
                    *["| " + " | ".join(row) + " |" for row in cells],
                    "+----+",
                    "(3 rows)",
                ]
            ),
        )
        yield (
            "unicode",
            "\n".join(
                [
                    " " + " │ ".join(names),
                    "────┼───────",
                    *[" " + " │ ".join(row) for row in cells],
                    "(3 linhas)",
                ]
            ),
        )
        yield "unaligned", "\n".join(["|".join(names), *["|".join(row) for row in cells], "(3 rows)"])
        yield (
            "expanded",
            "\n".join(
                line
                for n, row in enumerate(cells, 1)
                for line in (
                    f"-[ REGISTRO {n} ]---+----",
                    *[f"{name:16}| {cell}" for name, cell in zip(names, row, strict=True)],
                )
            ),
        )
        yield (
            "html",
            "<table border='1'><tr>"
            + "".join(f"<th>{name}</th>" for name in names)
            + "</tr>\n"
            + "".join(
                "<tr>" + "".join(f"<td>{cell or '&nbsp; '}</td>" for cell in row) + "</tr>\n" for row in cells
            )
            + "</table>",
        )
        yield "json", json.dumps([dict(zip(names, (now, *row), strict=True)) for row in self.ROWS])

    def test_every_shape_says_the_same(self, tmp_path: Path) -> None:
        """Client backends are counted, all and per state, whatever the shape; background processes are not."""
        for shape, page in self.shapes():
            said = parsed(tmp_path, "pg_stat_activity", page, shape)

            assert rows(said.samples, "series", "ts", "naive", "value", "limit") == [
                (series, at("2026-11-29T12:20:40.5"), False, value, None)
                for series, value in (
                    ("pg_stat_activity connections", 2.0),
                    ("pg_stat_activity active", 1.0),
                    ("pg_stat_activity idle", 1.0),
                    ("pg_stat_activity waiting for a lock", 1.0),
                )
            ], shape
            assert said.in_records + said.blank + said.unparsed == len(page.splitlines()), shape
            assert said.unparsed == 0, shape

    def test_watched_counts(self, tmp_path: Path) -> None:
        """A watched count has the local time of its stamp, and the limit that was asked for."""
        page = "".join(
            f"Sun Nov 29 12:2{n}:00 2026 (every 60s)\n\n count | max_connections \n-------+-----------------\n    {n}1 |             100\n(1 row)\n\n"
            for n in range(2)
        )
        said = parsed(tmp_path, "pg_stat_activity", page)

        assert rows(said.samples, "ts", "naive", "value", "limit", "line") == [
            (at("2026-11-29T12:20:00"), True, 1.0, 100.0, 3),
            (at("2026-11-29T12:21:00"), True, 11.0, 100.0, 10),
        ]

    def test_appended_csv(self, tmp_path: Path) -> None:
        """Snapshots that were appended with their header are told apart by their time."""
        one = "now,pid,state\n2026-11-29 12:2{0}:00+00,1,active\n2026-11-29 12:2{0}:00+00,2,idle\n"
        said = parsed(tmp_path, "pg_stat_activity", one.format(0) + one.format(1))

        assert said.samples is not None
        totals = said.samples.filter(pl.col("series") == "pg_stat_activity connections")
        assert totals.select("ts", "value").rows() == [
            (at("2026-11-29T12:20:00"), 2.0),
            (at("2026-11-29T12:21:00"), 2.0),
        ]

    def test_the_query_dates_its_own_snapshot(self, tmp_path: Path) -> None:
        """Without now(), the session that asks has just begun its query; without it too, the newest instant is a lower bound."""
        page = "pid,state,query_start,state_change,query\n1,idle,2026-11-29 12:00:00+00,2026-11-29 12:00:01+00,select 1\n2,active,2026-11-29 12:20:00+00,2026-11-29 12:20:00.1+00,{}\n"
        own = parsed(tmp_path, "pg_stat_activity", page.format("select * from pg_stat_activity"), "own.csv")
        others = parsed(tmp_path, "pg_stat_activity", page.format("select 2"), "others.csv")

        assert own.sessions is not None
        assert others.sessions is not None
        assert rows(own.sessions, "ts", "dated")[0] == (at("2026-11-29T12:20:00"), "now")
        assert rows(others.sessions, "ts", "dated")[0] == (at("2026-11-29T12:20:00.1"), "newest")

    def test_last_row_of_a_bordered_table(self) -> None:
        """The rule that closes a bordered table makes no header of the row above it, and the next table has its own."""
        table = "+-----+-------+\n| pid | state |\n+-----+-------+\n|   1 | idle  |\n|   2 | idle  |\n+-----+-------+\n"
        page = psql.read(f"{table}(2 rows)\n\n{table}")

        assert [[row["pid"] for _, row in one.rows] for one in page.tables] == [["1", "2"], ["1", "2"]]

    def test_bars_in_a_query(self) -> None:
        """A query with bars in it is one cell, not more than the table has."""
        page = psql.read(
            " pid | query        | state\n-----+--------------+-------\n   1 | select a||b  | active\n   2 | select 'a | b' | idle\n"
        )

        assert [(row["pid"], row["state"]) for _, row in page.tables[0].rows] == [
            ("1", "active"),
            ("2", "idle"),
        ]

    def test_stamp_over_a_wide_table(self) -> None:
        """A stamp of a watched query is found although it stands centred over a table of a thousand columns."""
        page = psql.read(
            f"{' ' * 900}Sun Nov 29 12:20:00 2026 (every 1s)\n\n pid | state\n-----+-------\n   1 | idle\n(1 row)\n"
        )

        assert [table.stamp for table in page.tables] == ["Sun Nov 29 12:20:00 2026"]

    def test_lines_of_another_kind(self) -> None:
        """What psql says around its tables belongs to them; anything else is unparsed."""
        page = psql.read(
            "Timing is on.\n pid | state\n-----+-------\n 1 | idle\n(1 row)\n\nTime: 0,5 ms\nsome other words\n"
        )

        assert (page.in_records, page.blank, page.unparsed, page.first_unparsed) == (6, 1, 1, 8)


def test_rows_without_lines_are_quoted(tmp_path: Path) -> None:
    """A report quotes the samples and alerts of JSON that was read whole, as it quotes the beats of a database."""
    for name in ("sysstat/sadf.json", "monitors/wrangler_tail.json"):
        sample(tmp_path, name)
    evidence = pipeline.survey([str(tmp_path)], pipeline.Options())

    assert pipeline.quote_rows(evidence, 0, [1])[Ref(0, 1)].text.startswith("host vm ")
    assert [quote.text for quote in pipeline.quote_rows(evidence, 1, [1, 2]).values()] == [
        "uptime exception Error: boom",
        "uptime down",
    ]


def test_values_of_a_cut_head() -> None:
    """Recognition sees what is whole of a value that the head cuts."""
    assert head_values(b'{"a": [{"b": 1}, {"b": 2}, {"b"') == [{"a": [{"b": 1}, {"b": 2}]}]
    assert head_values(b'[{"b": 1') == []
    assert head_values(b"plain text [1]") == []


DAMAGE = (
    lambda data: data[: len(data) // 2],
    lambda data: data[:-1],
    lambda data: data[: len(data) // 3] + b"\0\xff\xfe" + data[len(data) // 3 :],
    lambda data: data.replace(b"1", b"x"),
    lambda data: data.replace(b"2026", b"99999"),
    lambda data: data.replace(b":", b": [", 3),
    lambda data: data.decode("latin-1").encode("utf-16"),
    lambda data: data.replace(b"\n", b"\r\n"),
)
"""What happens to files on their way."""
SMALL = sorted(
    f"{path.parent.name}/{path.name.removesuffix('.gz')}"
    for name in ("monitors", "prometheus", "sysstat")
    for path in (FOLDER / name).glob("*.gz")
    if path.stat().st_size < 20_000
)


@pytest.mark.parametrize("name", SMALL)
def test_damaged_files_break_nothing(name: str, tmp_path: Path) -> None:
    """Whatever becomes of a file, it is read as far as it goes, declined with a reason, or not recognised."""
    path = sample(tmp_path, name)
    whole = path.read_bytes()
    own = plan.recognise(Input(path, path.name), 0)
    for damage in DAMAGE:
        path.write_bytes(damage(whole))
        for chosen in (own, plan.recognise(Input(path, path.name), 0)):
            if not isinstance(chosen.plug, Monitor):
                continue
            try:
                said = chosen.plug.parse(path, {})
            except UnreadableError:
                continue
            lines = said.in_records + said.blank + said.unparsed
            assert lines == 0 or not chosen.plug.binary
