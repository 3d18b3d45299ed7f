"""Days on which nothing was wrong: cut out of the recordings, or written by a generator with a fixed seed."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import random
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import golden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

Line = tuple[float, str]
"""Seconds since the epoch, and what is printed."""
Span = tuple[float, float]

DAY = 86_400.0
HOUR = 3_600.0
BEGIN = dt.datetime(2026, 11, 29, tzinfo=dt.UTC).timestamp()
"""Midnight of a Sunday."""
BERLIN = ZoneInfo("Europe/Berlin")
SAO_PAULO = ZoneInfo("America/Sao_Paulo")
PATHS = ("/cart", "/login", "/search?q=tea", "/pay", "/orders/17", "/api/views", "/img/logo.png")

# --- the quiet parts of the recordings

BEFORE_S = 5.0
"""A part ends so long before what comes next: the report dates a start "no later than"."""
AFTER_S = 10.0
"""A part begins so long after trouble: the last waits are over then."""
SHORTEST_S = 20.0
STAMP = re.compile(
    r"""(?P<us>(?<=__REALTIME_TIMESTAMP":")\d{16})
    |(?P<iso>(?:(?<=^)|(?<="ts":\ ")|(?<="time":"))\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d))
    |^(?P<postgres>\d{4}-\d\d-\d\d\ \d\d:\d\d:\d\d\.\d{3}\ [+-]\d\d)\ \[
    |^(?P<short>[A-Z][a-z]{2}\ \d\d\ \d\d:\d\d:\d\d(?:\.\d+)?)\ \S+\ \S+\[
    |^\d+:[A-Z]\ (?P<redis>\d\d\ [A-Z][a-z]{2}\ \d{4}\ \d\d:\d\d:\d\d\.\d{3})""",
    re.VERBOSE,
)
"""The time of a line in each of the formats that are cut."""
NANOS = re.compile(r"(?<=\.\d{6})\d+")
UNCUT = (".journal.gz", ".export.gz")
"""Formats whose entries are no lines."""


def instant(line: str, zone: ZoneInfo, year: int) -> float | None:
    """Return when a line was written, None where it continues the one before."""
    if not (match := STAMP.search(line)):
        return None
    kind, text = str(match.lastgroup), str(match[str(match.lastgroup)])
    if kind == "us":
        return int(text) / 1e6
    if kind in ("iso", "postgres"):
        return dt.datetime.fromisoformat(NANOS.sub("", text).replace(" -", "-")).timestamp()
    shape = "%Y %b %d %H:%M:%S" if kind == "short" else "%d %b %Y %H:%M:%S"
    if kind == "short":
        text = f"{year} {text}"
    if "." in text:
        shape += ".%f"
    return dt.datetime.strptime(text, shape).replace(tzinfo=zone).timestamp()


@cache
def parts(name: str) -> tuple[Span, ...]:
    """Return from when to when nothing was wrong in a recording: what its approved report leaves between its findings."""
    report = json.loads(golden.expected(name)["report.json"])
    when: Callable[[str], float] = lambda text: dt.datetime.fromisoformat(text).timestamp()  # noqa: E731
    trouble = sorted(
        (when(item["start"]), max(when(item[key]) for key in ("end", "recovered_at") if item.get(key)))
        for item in (*report["incidents"], *report["blind_gaps"])
    )
    reach = [
        (when(item["first"]), when(item["last"]))
        for item in report["sources"]
        if item["first"] and item["last"]
    ]
    lo, hi = min(start for start, _ in reach), max(end for _, end in reach)
    free: list[Span] = []
    at = lo
    for start, end in trouble:
        free.append((at, start - BEFORE_S))
        at = max(at, end + AFTER_S)
    free.append((at, hi + 1))
    return tuple((start, end) for start, end in free if end - start >= SHORTEST_S)


def cut(name: str, span: Span, folder: Path) -> list[Path]:
    """Write what the inputs of a recording say in a span; return the files."""
    zone = ZoneInfo(golden.table(name).get("options", {}).get("tz", "America/Sao_Paulo"))
    year = dt.datetime.fromtimestamp(span[0], zone).year
    made = []
    for path in golden.inputs(name):
        if path.name.endswith(UNCUT):
            continue
        packed = path.suffix == ".gz"
        text = (gzip.decompress(path.read_bytes()) if packed else path.read_bytes()).decode()
        inside, kept = False, []
        for line in text.splitlines(keepends=True):
            at = instant(line, zone, year)
            inside = inside if at is None else span[0] <= at < span[1]
            if inside:
                kept.append(line)
        if kept:
            target = folder / path.name.removesuffix(".gz")
            target.write_text("".join(kept), encoding="utf-8")
            made.append(target)
    return made


# --- what the generated days are made of


def arrivals(
    rng: random.Random, start: float, end: float, rate: Callable[[float], float], most: float
) -> list[float]:
    """Return the instants of a Poisson process whose rate (per second) changes with time and is `most` at most."""
    found = []
    at = start
    while (at := at + rng.expovariate(most)) < end:
        if rng.random() * most < rate(at):
            found.append(at)
    return found


def evenly(rng: random.Random, start: float, end: float, rate: float) -> list[float]:
    """Return the instants of a Poisson process."""
    return arrivals(rng, start, end, lambda _: rate, rate)


def daylight(
    day: float, night: float, *, from_hour: float = 7, to_hour: float = 23
) -> Callable[[float], float]:
    """Return a rate that falls at night."""
    return lambda at: day if from_hour <= at % DAY / HOUR < to_hour else night


def beat(
    rng: random.Random,
    start: float,
    end: float,
    *,
    period: float = 60,
    jitter: float = 0.4,
    lost: Iterable[int] = (),
) -> list[float]:
    """Return when a monitor probes; `lost` are the numbers of the beats that it left out."""
    gone = set(lost)
    many = int((end - start) / period)
    return [
        start + number * period + rng.uniform(-jitter, jitter)
        for number in range(1, many)
        if number not in gone
    ]


def cron(
    rng: random.Random, start: float, end: float, say: Callable[[int], str], *, hour: float = 3
) -> list[Line]:
    """Return the lines of a job that prints hundreds of them within two seconds, each day."""
    first = start - start % DAY + hour * HOUR
    return [
        (first + day * DAY + rng.uniform(0, 2), say(number))
        for day in range(int((end - first) // DAY) + 1)
        for number in range(rng.randint(200, 500))
    ]


def utc(at: float) -> dt.datetime:
    """Return an instant as a date."""
    return dt.datetime.fromtimestamp(at, dt.UTC)


def journal(lines: Iterable[tuple[float, dict[str, str]]]) -> str:
    """Write entries as journalctl -o json does."""
    return "".join(
        json.dumps(
            {
                "__CURSOR": f"s=5b5a;i={number:x};b=8fdb",
                "__REALTIME_TIMESTAMP": str(round(at * 1e6)),
                "_BOOT_ID": "8fdb04f830484472915dfb79b3a1c2d4",
                "_HOSTNAME": "srv-1",
                "PRIORITY": "6",
                **fields,
            }
        )
        + "\n"
        for number, (at, fields) in enumerate(sorted(lines, key=lambda entry: entry[0]))
    )


def printed(at: float, text: str, unit: str, pid: int = 81) -> tuple[float, dict[str, str]]:
    """Return a line of a unit's standard output."""
    said = {
        "_SYSTEMD_UNIT": f"{unit}.service",
        "SYSLOG_IDENTIFIER": unit,
        "_PID": str(pid),
        "_TRANSPORT": "stdout",
    }
    return at, {**said, "MESSAGE": text}


def managed(at: float, text: str, unit: str) -> tuple[float, dict[str, str]]:
    """Return a line of systemd about a unit."""
    said = {"_PID": "1", "_COMM": "systemd", "SYSLOG_IDENTIFIER": "systemd", "UNIT": f"{unit}.service"}
    return at, {**said, "_TRANSPORT": "journal", "MESSAGE": text}


def docker_json(lines: Iterable[Line]) -> str:
    """Write lines as Docker's json-file driver does."""
    return "".join(
        json.dumps(
            {"log": f"{text}\n", "stream": "stdout", "time": f"{utc(at):%Y-%m-%dT%H:%M:%S.%f}123Z"},
            separators=(",", ":"),
        )
        + "\n"
        for at, text in sorted(lines)
    )


def docker_timestamps(lines: Iterable[Line]) -> str:
    """Write lines as docker logs -t does."""
    return "".join(f"{utc(at):%Y-%m-%dT%H:%M:%S.%f}456Z {text}\n" for at, text in sorted(lines))


def cri(lines: Iterable[Line]) -> str:
    """Write lines as containerd does."""
    return "".join(f"{utc(at):%Y-%m-%dT%H:%M:%S.%f}789Z stdout F {text}\n" for at, text in sorted(lines))


def local(lines: Iterable[Line], zone: ZoneInfo) -> str:
    """Write lines of Python's logging, in local time and without a zone."""
    made = []
    for at, text in sorted(lines):
        here = utc(at).astimezone(zone)
        made.append(f"{here:%Y-%m-%d %H:%M:%S},{here.microsecond // 1000:03d} {text}\n")
    return "".join(made)


def nginx(requests: Iterable[tuple[float, str, int, str]]) -> str:
    """Write (when, path, status, client) as nginx' combined format does."""
    return "".join(
        f'{client} - - [{utc(at):%d/%b/%Y:%H:%M:%S} +0000] "GET {path} HTTP/1.1" {status} {len(path) * 91} "-" "Mozilla/5.0 (X11; Linux x86_64)"\n'
        for at, path, status, client in sorted(requests)
    )


def uvicorn(path: str, client: str, status: str = "200 OK") -> str:
    """Write uvicorn's access line."""
    return f'INFO:     {client}:0 - "GET {path} HTTP/1.1" {status}'


def someone(rng: random.Random) -> str:
    """Return the address of one of many clients."""
    return f"203.0.113.{rng.randint(20, 240)}"


def visits(rng: random.Random, times: Iterable[float]) -> list[tuple[float, str, int, str]]:
    """Return ordinary requests; one in thirty is for something that is not there."""
    return [(at, rng.choice(PATHS), 404 if rng.random() < 1 / 30 else 200, someone(rng)) for at in times]


def scan(rng: random.Random, at: float) -> list[tuple[float, str, int, str]]:
    """Return what a scanner asks for: some two hundred pages that are not there, in twenty seconds."""
    return [
        (
            at + rng.uniform(0, 20),
            f"/{rng.choice(['wp-login', 'phpmyadmin', '.env'])}{n}.php",
            404,
            "198.51.100.7",
        )
        for n in range(200)
    ]


def probe_lines(rng: random.Random, times: Iterable[float], target: str) -> str:
    """Write a prober's own results."""
    return "".join(
        json.dumps(
            {
                "ts": f"{utc(at):%Y-%m-%dT%H:%M:%S}.{utc(at).microsecond // 1000:03d}Z",
                "target": target,
                "status": "up",
                "latency_ms": rng.randint(4, 60),
                "http_status": 200,
                "error": None,
            }
        )
        + "\n"
        for at in times
    )


def kuma_lines(rng: random.Random, times: Iterable[float], number: int) -> str:
    """Write beats as Uptime Kuma sends them, one a line."""
    return "".join(
        json.dumps(
            {
                "monitorID": number,
                "status": 1,
                "time": f"{utc(at):%Y-%m-%d %H:%M:%S}.{utc(at).microsecond // 1000:03d}",
                "msg": "200 - OK",
                "ping": rng.randint(20, 90),
                "important": False,
                "duration": 60,
            }
        )
        + "\n"
        for at in times
    )


# --- the generated days


@dataclass(frozen=True, slots=True)
class Quiet:
    """Files of days on which nothing was wrong, and the zone in which to read them."""

    files: dict[str, str | bytes] = field(default_factory=dict)
    tz: str | None = None

    def write(self, folder: Path) -> None:
        """Write the files."""
        for name, content in self.files.items():
            data = content.encode() if isinstance(content, str) else content
            (folder / name).write_bytes(gzip.compress(data, 1, mtime=0) if name.endswith(".gz") else data)


def slow_worker(rng: random.Random) -> Quiet:
    """One line a minute for four days, and a job at three each night (journald JSON)."""
    end = BEGIN + 4 * DAY
    lines = [
        printed(at, f"synced {rng.randint(1, 90)} contacts", "syncer")
        for at in evenly(rng, BEGIN, end, 1 / 60)
    ]
    lines += [
        printed(at, text, "syncer")
        for at, text in cron(rng, BEGIN, end, lambda number: f"purged mailbox {number}")
    ]
    return Quiet({"syncer.journal.json": journal(lines)})


def fast_edge(rng: random.Random) -> Quiet:
    """A thousand lines a second for three minutes (nginx), some of them 404."""
    return Quiet({"access.log": nginx(visits(rng, evenly(rng, BEGIN, BEGIN + 180, 1000)))})


def night_lull(rng: random.Random) -> Quiet:
    """Two days of a shop that has a fiftieth of its visitors at night (Docker's json-file), with a job at three."""
    start, end = BEGIN, BEGIN + 2 * DAY
    lines = [
        (at, uvicorn(rng.choice(PATHS), someone(rng)))
        for at in arrivals(rng, start, end, daylight(0.25, 0.005), 0.25)
    ]
    lines += cron(rng, start, end, lambda number: f"INFO:     mailed invoice {number}")
    name = "9638435b57969753f89a821fbe4d51f05e8c24e23322845b85d04180500173b6"
    return Quiet({f"{name}-json.log": docker_json(lines)})


def rotated(rng: random.Random) -> Quiet:
    """Three days of one log that is rotated at midnight: app.log, app.log.1, app.log.2.gz (Python's logging)."""
    days = [
        local(
            [
                (at, f"INFO app.jobs: job {rng.randint(1, 999)} done in {rng.randint(3, 80)} ms")
                for at in arrivals(rng, start, start + DAY, daylight(0.1, 0.01), 0.1)
            ]
            + cron(rng, start, start + DAY - 1, lambda number: f"INFO app.cron: table {number} vacuumed"),
            ZoneInfo("UTC"),
        )
        for start in (BEGIN, BEGIN + DAY, BEGIN + 2 * DAY)
    ]
    return Quiet({"app.log.2.gz": days[0], "app.log.1": days[1], "app.log": days[2]})


def clocks_back(rng: random.Random) -> Quiet:
    """The day on which Berlin's clocks went back at three: an hour of local times twice, without a zone."""
    start = dt.datetime(2026, 10, 25, tzinfo=BERLIN).timestamp()
    end = dt.datetime(2026, 10, 26, tzinfo=BERLIN).timestamp()
    times = arrivals(rng, start, end, daylight(0.2, 0.05, from_hour=5, to_hour=21), 0.2)
    return Quiet(
        {"app.log": local([(at, f"INFO app.web: page {rng.randint(1, 40)} served") for at in times], BERLIN)},
        "Europe/Berlin",
    )


def clocks_forward(rng: random.Random) -> Quiet:
    """The day on which Sao Paulo's clocks went forward at midnight: an hour of local times that never was."""
    start = dt.datetime(2018, 11, 3, 12, tzinfo=SAO_PAULO).timestamp()
    end = dt.datetime(2018, 11, 4, 12, tzinfo=SAO_PAULO).timestamp()
    lines = [(at, f"INFO app.web: page {rng.randint(1, 40)} served") for at in evenly(rng, start, end, 0.2)]
    return Quiet({"app.log": local(lines, SAO_PAULO)}, "America/Sao_Paulo")


def probed(rng: random.Random) -> Quiet:
    """A monitor that probes each minute, a little early or late, and once not at all (its JSONL, docker logs -t)."""
    start, end = BEGIN + 8 * HOUR, BEGIN + 20 * HOUR
    sent = beat(rng, start, end, lost=[rng.randint(100, 600)])
    lines = [(at, uvicorn(rng.choice(PATHS), someone(rng))) for at in evenly(rng, start, end, 0.2)]
    lines += [(at + rng.uniform(0.005, 0.05), uvicorn("/health", "198.51.100.4")) for at in sent]
    return Quiet(
        {
            "web.log": docker_timestamps(lines),
            "monitor-state.jsonl": probe_lines(rng, sent, "https://shop.example.net/health"),
        }
    )


def idle(rng: random.Random) -> Quiet:
    """A service that answers its probes and nothing else all day (CRI), and the monitor that asks (Uptime Kuma)."""
    sent = beat(rng, BEGIN, BEGIN + DAY, jitter=0.2)
    lines = [(at + rng.uniform(0.005, 0.05), uvicorn("/healthz", "10.42.0.1")) for at in sent]
    return Quiet({"idle-0.log": cri(lines), "kuma-beats.jsonl": kuma_lines(rng, sent[-100:], 3)})


def weekly(rng: random.Random) -> Quiet:
    """Two weeks of a service that says little, and a job that says much each Sunday at four (journald JSON)."""
    end = BEGIN + 14 * DAY
    lines = [
        printed(at, f"checked {rng.randint(1, 9)} feeds", "feeds") for at in evenly(rng, BEGIN, end, 1 / 300)
    ]
    for sunday in (BEGIN, BEGIN + 7 * DAY):
        lines += [
            printed(sunday + 4 * HOUR + rng.uniform(0, 600), f"reindexed shard {number}", "feeds")
            for number in range(1500)
        ]
    return Quiet({"feeds.journal.json": journal(lines)})


def deployed(rng: random.Random) -> Quiet:
    """A service that is restarted twice, once slowly, while a monitor asks each minute (journald JSON)."""
    start, end = BEGIN + 9 * HOUR, BEGIN + 15 * HOUR
    restarts = [(start + 1.5 * HOUR + 20, 2.0), (start + 4 * HOUR + 15, 9.0)]
    gone = [(at, at + took + 2.5) for at, took in restarts]
    up: Callable[[float], bool] = lambda at: not any(lo <= at <= hi for lo, hi in gone)  # noqa: E731
    pid: Callable[[float], int] = lambda at: 81 + 100 * sum(at > hi for _, hi in gone)  # noqa: E731
    sent = beat(rng, start, end)
    asked = [(at, uvicorn(rng.choice(PATHS), someone(rng))) for at in evenly(rng, start, end, 0.5)]
    asked += [(at + 0.02, uvicorn("/health", "198.51.100.4")) for at in sent]
    lines = [printed(at, text, "shop", pid(at)) for at, text in asked if up(at)]
    for (stop, took), (_, ready) in zip(restarts, gone, strict=True):
        old, new = pid(stop), pid(ready + 1)
        lines += [
            managed(stop, "Stopping shop.service - Shop (uvicorn)...", "shop"),
            printed(stop + 0.1, "INFO:     Shutting down", "shop", old),
            printed(stop + 0.2, "INFO:     Application shutdown complete.", "shop", old),
            printed(stop + 0.3, f"INFO:     Finished server process [{old}]", "shop", old),
            managed(stop + took, "shop.service: Deactivated successfully.", "shop"),
            managed(stop + took + 0.01, "Stopped shop.service - Shop (uvicorn).", "shop"),
            managed(stop + took + 0.05, "Starting shop.service - Shop (uvicorn)...", "shop"),
            managed(stop + took + 0.06, "Started shop.service - Shop (uvicorn).", "shop"),
            printed(ready - 0.2, f"INFO:     Started server process [{new}]", "shop", new),
            printed(ready - 0.1, "INFO:     Waiting for application startup.", "shop", new),
            printed(ready, "INFO:     Application startup complete.", "shop", new),
        ]
    return Quiet(
        {
            "shop.journal.json": journal(lines),
            "monitor-state.jsonl": probe_lines(rng, sent, "https://shop.example.net/health"),
        }
    )


def scanned(rng: random.Random) -> Quiet:
    """A day of a shop (nginx) with ordinary 404s, three scanners, and one request that failed for itself."""
    end = BEGIN + DAY
    requests = visits(rng, arrivals(rng, BEGIN, end, daylight(0.3, 0.006), 0.3))
    for _ in range(3):
        requests += scan(rng, rng.uniform(BEGIN, end - 60))
    requests.append((rng.uniform(BEGIN + 9 * HOUR, BEGIN + 20 * HOUR), "/report/4711", 500, "203.0.113.77"))
    return Quiet({"access.log": nginx(requests)})


def deployed_together(rng: random.Random) -> Quiet:
    """Two services of one deployment that are stopped for eight seconds at the same time (journald JSON)."""
    start, end = BEGIN + 9 * HOUR, BEGIN + 12 * HOUR
    lines = []
    for unit in ("shop", "worker"):
        stop = start + 5000 + rng.uniform(0, 1)
        lines += [
            printed(at, uvicorn(rng.choice(PATHS), someone(rng)), unit, 81 if at < stop else 99)
            for at in evenly(rng, start, end, 0.5)
            if not stop <= at <= stop + 9
        ]
        lines += [
            managed(stop, f"Stopping {unit}.service - Shop {unit}...", unit),
            managed(stop + 8, f"{unit}.service: Deactivated successfully.", unit),
            managed(stop + 8.01, f"Stopped {unit}.service - Shop {unit}.", unit),
            managed(stop + 8.05, f"Starting {unit}.service - Shop {unit}...", unit),
            managed(stop + 8.06, f"Started {unit}.service - Shop {unit}.", unit),
        ]
    return Quiet({"host.journal.json": journal(lines)})


def timers(rng: random.Random) -> Quiet:
    """Three days of a host whose timers start jobs that end by themselves, and on which someone logs in (journald JSON)."""
    end = BEGIN + 3 * DAY
    lines = [
        printed(at, uvicorn(rng.choice(PATHS), someone(rng)), "shop") for at in evenly(rng, BEGIN, end, 0.02)
    ]
    for day in range(3):
        for unit, hour in (("report", 0.01), ("backup", 3.0), ("cleanup", 6.2), ("refresh", 13.4)):
            at = BEGIN + day * DAY + hour * HOUR
            lines += [
                managed(at, f"Started {unit}.service - The {unit} job.", unit),
                managed(at + 4, f"{unit}.service: Deactivated successfully.", unit),
            ]
        for hour in (9.1, 14.3):
            at, unit = BEGIN + day * DAY + hour * HOUR, "user@1000"
            lines += [
                managed(at, f"Starting {unit}.service - User Manager for UID 1000...", unit),
                managed(at + 0.2, f"Started {unit}.service - User Manager for UID 1000.", unit),
                managed(at + 1810, f"Stopping {unit}.service - User Manager for UID 1000...", unit),
                managed(at + 1810.2, f"{unit}.service: Deactivated successfully.", unit),
                managed(at + 1810.3, f"Stopped {unit}.service - User Manager for UID 1000.", unit),
            ]
    return Quiet({"host.journal.json": journal(lines)})


def interval_set_anew(rng: random.Random) -> Quiet:
    """A monitor that asks each minute until noon and every five minutes from then on (its JSONL)."""
    noon = BEGIN + 12 * HOUR
    sent = beat(rng, BEGIN, noon) + beat(rng, noon, BEGIN + DAY, period=300)
    return Quiet({"monitor-state.jsonl": probe_lines(rng, sent, "https://shop.example.net/health")})


def two_places(rng: random.Random) -> Quiet:
    """A monitor that asks from two places, ten seconds apart, each minute (its JSONL)."""
    sent = beat(rng, BEGIN, BEGIN + DAY) + [at + 10 for at in beat(rng, BEGIN, BEGIN + DAY)]
    return Quiet({"monitor-state.jsonl": probe_lines(rng, sorted(sent), "https://shop.example.net/health")})


def open_tab(rng: random.Random) -> Quiet:
    """A page that someone leaves open, which asks for news every 30 s except while its computer sleeps at noon."""
    start, end, noon = BEGIN + 8 * HOUR, BEGIN + 18 * HOUR, BEGIN + 12 * HOUR
    lines = [(at, uvicorn(rng.choice(PATHS), someone(rng))) for at in evenly(rng, start, end, 0.1)]
    lines += [
        (at, uvicorn("/api/notifications", "203.0.113.9"))
        for at in beat(rng, start, end, period=30, jitter=0.05)
        if not noon < at < noon + HOUR
    ]
    return Quiet({"web.log": docker_timestamps(lines)})


def now_and_then(rng: random.Random) -> Quiet:
    """A day on which one request fails every five minutes or so, as on every other day (nginx)."""
    requests = visits(rng, evenly(rng, BEGIN, BEGIN + DAY, 0.5))
    requests += [(at, "/report", 500, someone(rng)) for at in evenly(rng, BEGIN, BEGIN + DAY, 1 / 300)]
    return Quiet({"access.log": nginx(requests)})


DAYS: dict[str, Callable[[random.Random], Quiet]] = {
    made.__name__: made
    for made in (
        slow_worker,
        fast_edge,
        night_lull,
        rotated,
        clocks_back,
        clocks_forward,
        probed,
        idle,
        weekly,
        deployed,
        scanned,
        deployed_together,
        timers,
        interval_set_anew,
        two_places,
        open_tab,
        now_and_then,
    )
}
"""The generated days by name."""


def days(name: str, seed: int) -> Quiet:
    """Return one of the generated days."""
    return DAYS[name](random.Random(seed))  # noqa: S311 - made-up traffic
