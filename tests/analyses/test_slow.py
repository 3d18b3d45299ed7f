"""Late answers are counted against what their routes usually take; failed requests of probes are told from those of users."""

from __future__ import annotations

import datetime as dt
import json
from statistics import median
from typing import TYPE_CHECKING

import pytest
import small_logs as logs

from forensics.analyses.background import ratio
from forensics.model.facts import Impact, Incidents, Probes, SlowRequests
from forensics.pipeline import Options, investigate

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case


def access(at: float, route: str, status: int, ms: float, client: str = "203.0.113.7") -> str:
    """Render a line of pino-http."""
    said = {
        "level": 30, "time": round((logs.NOON + at) * 1000), "pid": 81, "hostname": "a", "req": {"method": "GET", "url": route, "remoteAddress": client, "remotePort": 1},
        "res": {"statusCode": status}, "responseTime": ms, "msg": "request completed",
    }  # fmt: skip
    return json.dumps(said) + "\n"


def case(folder: Path, rows: list[tuple[float, str, int, float, str]]) -> Case:
    """Read requests as a service logs them."""
    (folder / "web.log").write_text("".join(access(*row) for row in sorted(rows)), encoding="utf-8")
    return investigate([str(folder)], Options())


def day(client: str = "203.0.113.7") -> list[tuple[float, str, int, float, str]]:
    """Return half an hour: pages in 40 ms, a stream of 30 s, a probe every 15 s; for three minutes pages take 2 s or more, and the rest fails."""
    rows: list[tuple[float, str, int, float, str]] = []
    for at in range(0, 1800, 3):
        bad = 900 <= at < 1080
        rows.append((at + 0.25, "/page", 200, 2000.0 + at - 900 if bad else 40.0, client))
        if at % 30 == 0:
            rows.append((at + 0.5, "/stream", 200, 30_000.0, client))
        if bad:
            rows.append((at + 0.75, "/buy", 500, 5000.0, client))
    rows += [
        (float(at), "/health", 500 if 900 <= at < 1080 else 200, 3.0, "198.51.100.9")
        for at in range(5, 1800, 15)
    ]
    return rows


def inside(found: Case, route: str) -> list[float]:
    """Return how long the requests of a route took in the incident of that half hour."""
    incident = found.facts[Incidents].primary()
    assert incident is not None
    assert incident.end is not None
    lo, hi = incident.start / 1e6 - logs.NOON, incident.end / 1e6 - logs.NOON + 5
    assert 890 < lo < hi < 1100
    return [ms for at, asked, _, ms, _ in day() if asked == route and lo <= at <= hi and ms >= 1000]


def test_late_answers_are_counted_where_their_route_answers_fast_else(tmp_path: Path) -> None:
    """The stream always takes that long, and failed requests are told as failed."""
    found = case(tmp_path, day())
    (one,) = found.facts[SlowRequests].items
    told = [finding for finding in found.diagnosis.findings if finding.key == "impact.slow"]

    pages = inside(found, "/page")

    assert len(pages) > 50
    assert found.facts[Impact].failed == len(inside(found, "/buy"))
    assert (one.n, one.routes, one.at_least) == (len(pages), 1, False)
    assert (one.slowest_s, one.median_s) == (
        max(pages) / 1000,
        pytest.approx(median(pages) / 1000, abs=0.002),
    )
    assert len(told) == 1
    assert told[0].refs == one.refs
    assert len(set(one.refs)) == 3


def test_without_durations_nothing_is_said_of_late_answers(tmp_path: Path) -> None:
    """Most access lines state none."""
    lines = [
        f'{at}.0 INFO:     203.0.113.7:0 - "GET /page HTTP/1.1" {500 if 90 <= at < 110 else 200} X'
        for at in range(200)
    ]
    text = "".join(
        f"2026-11-29T12:{int(float(line.split()[0])) // 60:02}:{int(float(line.split()[0])) % 60:02}Z {line.partition(' ')[2]}\n"
        for line in lines
    )
    (tmp_path / "web.log").write_text(text, encoding="utf-8")
    found = investigate([str(tmp_path)], Options())

    assert found.facts[SlowRequests].items == ()
    assert [finding.key for finding in found.diagnosis.findings if finding.key == "impact.slow"] == []


def test_probes_are_not_users(tmp_path: Path) -> None:
    """Twelve of the failed requests are those of a probe that asks every 15 s; the others are users'."""
    found = case(tmp_path, day())
    users = len(inside(found, "/buy"))
    impact = found.facts[Impact]
    by_key = {finding.key: finding.values for finding in found.diagnosis.findings}

    assert (impact.failed, impact.probes_failed, impact.clients) == (users, 12, ("203.0.113.7",))
    assert [(route.route, route.count, route.probe) for route in impact.routes] == [
        ("/buy", users, False),
        ("/health", 12, True),
    ]
    assert by_key["impact.failed"]["count"] == by_key["summary.window"]["failed"] == users
    assert (by_key["impact.probes_failed"]["n"], by_key["impact.probes_failed"]["routes"]) == (
        12,
        ["GET /health"],
    )


def test_what_a_page_asks_for_at_a_beat_is_a_users(tmp_path: Path) -> None:
    """An open page asks every 15 s as exactly as a probe, of a route that checks on nothing: its failures are its user's."""
    polled = [
        (at + 0.1, "/inbox", 500 if 900 <= at < 1080 else 200, 3.0, "203.0.113.8")
        for at in range(5, 1800, 15)
    ]
    found = case(tmp_path, [*day(), *polled])
    impact = found.facts[Impact]
    routes = {route.route: route for route in impact.routes}

    assert {series.asks: series.checks for series in found.facts[Probes].series}[("GET", "/inbox")] is False
    assert (routes["/inbox"].count, routes["/inbox"].probe) == (12, False)
    assert (routes["/health"].count, routes["/health"].probe) == (12, True)
    assert impact.failed == len(inside(found, "/buy")) + 12


@pytest.mark.parametrize(
    ("inside", "outside", "hours", "value", "says"),
    [
        (10, 100, (1.0, 10.0), 1.0, "alike"),
        (60, 100, (1.0, 10.0), 6.0, "more"),
        (0, 100, (1.0, 10.0), 0.0, "less"),
        (3, 1, (0.1, 10.0), 300.0, "more"),
        (1, 1, (1.0, 1.0), 1.0, "alike"),
        (5, 0, (1.0, 1.0), None, "more"),
    ],
)
def test_the_ratio_of_two_rates_has_an_interval(
    inside: int, outside: int, hours: tuple[float, float], value: float | None, says: str
) -> None:
    """It holds the ratio, is wide where lines are few, and says whether chance explains the difference."""
    found = ratio(inside, outside, *hours)

    assert found.value == value
    assert found.says == says
    assert value is None or (found.low <= value <= (found.high or value))
    assert (found.high is None) is (outside == 0)


def test_wilsons_interval_is_that_of_the_tables() -> None:
    """10 of 20: 0.299 to 0.701 (Newcombe, Statistics in Medicine 17, 1998), so that equal hours give 0.43 to 2.34."""
    found = ratio(10, 10, 1.0, 1.0)
    assert (found.low, found.high) == (pytest.approx(0.427, abs=0.005), pytest.approx(2.344, abs=0.01))


def proxied(at: float, route: str, status: int, ms: float) -> str:
    """Render a line of a proxy's access log with the time that the request took; stamps are cut to seconds."""
    stamp = dt.datetime.fromtimestamp(logs.NOON + at + ms / 1000, dt.UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    agent = "probe/1" if route == "/health" else "Mozilla/5.0"
    return f'{"198.51.100.9" if route == "/health" else "203.0.113.7"} - - [{stamp}] "GET {route} HTTP/1.1" {status} 12 "-" "{agent}" {ms / 1000:.3f}\n'


def test_what_a_proxy_and_its_service_both_tell_is_told_once(tmp_path: Path) -> None:
    """Late answers and answered checks are the service's, although the proxy logged the same requests."""
    rows = [(at, route, 200 if route == "/health" else status, ms) for at, route, status, ms, _ in day()]
    ended = sorted(rows, key=lambda row: row[0] + row[3] / 1000)
    (tmp_path / "access.log").write_text("".join(proxied(*row) for row in ended), encoding="utf-8")
    told = [(*row, "203.0.113.7" if row[1] != "/health" else "198.51.100.9") for row in rows]
    found = case(tmp_path, told)
    slow = [one for one in found.diagnosis.findings if one.key == "impact.slow"]
    green = [one for one in found.diagnosis.findings if one.key == "alert.green"]

    assert {series.service for series in found.facts[Probes].series} == {"access", "web"}
    assert {len(series.at("late", "missed")) for series in found.facts[Probes].series} == {0}
    assert len(slow) == 1
    told_of = sorted(
        (series.service, series.asks[1]) for one in green if (series := one.values["series"]).asks
    )
    assert told_of == [("web", "/health"), ("web", "/stream")]
