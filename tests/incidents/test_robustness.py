"""What a report owes to other exports of the same incident: with an input missing, of another hour, in another format, cut.

Each law is held for every recording of a laboratory and the founding incident, over variants that are made of its inputs; one
test asks all of one variant, so that each is made once. A binary journal can be left out but not rewritten: where inputs are
rewritten, the report on the variant is compared with the one on the other inputs.
"""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import functools
import gzip
import io
import json
import math
import re
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import golden
import pytest

from forensics.report import document as telling

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from forensics.model.case import Case

NAMES = [name for name in golden.approved() if re.match(r"s\d|crm-", name)]
"""Fixtures that are varied."""
TROUBLED = [name for name in NAMES if name != "s10-quiet-day"]
"""Fixtures with an incident that can be cut."""
SHIFT = dt.timedelta(hours=3, minutes=7)
"""Whole minutes, since some stamps are of whole seconds and reports group by minutes; no fixture crosses midnight by it."""
YEAR = 2026
"""The year of all fixtures, for stamps that carry none."""

Document = dict[str, Any]

# --- inputs as text


def files(name: str) -> list[str]:
    """Name all inputs of a fixture."""
    return [path.name for path in golden.inputs(name)]


@functools.cache
def texts(name: str) -> dict[str, str]:
    """Return all inputs of a fixture that are text."""
    held = {}
    for path in golden.inputs(name):
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
        with contextlib.suppress(UnicodeDecodeError):  # a journal, or a database
            held[path.name] = raw.decode()
    return held


@functools.cache
def databases(name: str) -> dict[str, bytes]:
    """Return all inputs of a fixture that are SQLite databases."""
    held = {path.name: path.read_bytes() for path in golden.inputs(name)}
    return {file: raw for file, raw in held.items() if raw.startswith(b"SQLite format 3\0")}


def changed(raw: bytes, change: Callable[[sqlite3.Connection], None]) -> bytes:
    """Return a database after a change."""
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(raw)
        change(database)
        database.commit()
        return database.serialize()


@functools.cache
def zone(name: str) -> ZoneInfo:
    """Return the zone of a fixture: that of its report and of stamps without one."""
    return ZoneInfo(str(golden.report(name)[0]["case"]["timezone"]))


def document(found: Case) -> Document:
    """Return what the report on a case says, as its JSON holds it."""
    said: Document = json.loads(json.dumps(telling.build(found)))
    return said


def investigate(name: str, written: Mapping[str, str | bytes], case: str | None = None) -> Document:
    """Return the document of a fixture on other inputs, and maybe with another case file."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs"
        inputs.mkdir()
        for file, held in written.items():
            raw = held.encode() if isinstance(held, str) else held
            (inputs / file).write_bytes(gzip.compress(raw, 1) if file.endswith(".gz") else raw)
        changes = {}
        if case is not None:
            changes["case"] = Path(folder) / "case.toml"
            changes["case"].write_text(case, "utf-8")
        return document(golden.investigate(name, [inputs], **changes))


@functools.cache
def without(name: str, *gone: str) -> Document:
    """Return the document of a fixture without some of its inputs."""
    if not gone:
        whole: Document = golden.report(name)[0]
        return whole
    left = [path for path in golden.inputs(name) if path.name not in gone]
    return document(golden.investigate(name, left))


def rewritable(name: str) -> Document:
    """Return the document of a fixture without its binary journals."""
    return without(name, *sorted(set(files(name)) - set(texts(name)) - set(databases(name))))


def at(row: Document, key: str) -> dt.datetime:
    """Return an instant of a row."""
    return dt.datetime.fromisoformat(row[key])


def verdicts(said: Document) -> dict[str, str]:
    """Return the verdict of each hypothesis."""
    return {row["id"]: row["verdict"] for row in said["hypotheses"]}


def failures(said: Document) -> dict[tuple[str, str], tuple[int, int | None]]:
    """Return how many failures of each kind each service had: at least, at most."""
    return {(row["service"], row["id"]): (row["failures"], row["failures_max"]) for row in said["signatures"]}


def spans(said: Document, key: str) -> list[tuple[dt.datetime, dt.datetime]]:
    """Return when each row of one kind began and ended; what has not ended goes on to the end of the inputs."""
    last = max(at(source, "last") for source in said["sources"] if source["last"])
    return [(at(row, "start"), at(row, "end") if row["end"] else last) for row in said[key]]


# --- one input less

REMOVED = [(name, file) for name in NAMES for file in files(name)]
STRENGTH = {
    "confirmed": 3,
    "supported": 2,
    "suspected": 1,
    "not_determined": 0,
    "no_sign": -1,
    "ruled_out": -2,
}
"""How much a verdict claims: that it was so (above 0), that it was not (below), nothing (0)."""


def holds_less(whole: str, less: str) -> bool:
    """Does a verdict claim the same as another or less: never more, never the opposite, never anything of what was open?"""
    before, after = STRENGTH[whole], STRENGTH[less]
    return after == 0 or (before * after > 0 and abs(after) <= abs(before))


@pytest.mark.parametrize(
    ("whole", "less", "holds"),
    [
        ("confirmed", "suspected", True),
        ("ruled_out", "no_sign", True),
        ("ruled_out", "not_determined", True),
        ("suspected", "supported", False),
        ("no_sign", "ruled_out", False),
        ("confirmed", "no_sign", False),
        ("confirmed", "ruled_out", False),
        ("ruled_out", "suspected", False),
        ("not_determined", "suspected", False),
    ],
)
def test_what_it_is_to_claim_less(whole: str, less: str, holds: bool) -> None:
    assert holds_less(whole, less) is holds


def other_trouble(whole: Document, less: Document, key: str) -> list[tuple[str, str]]:
    """Return what one document tells of that lies beside all that the other tells of."""
    known = spans(whole, key)
    return [
        (str(lo), str(hi))
        for lo, hi in spans(less, key)
        if not any(start <= hi and lo <= end for start, end in known)
    ]


def more_failures(whole: Document, less: Document) -> dict[tuple[str, str], Any]:
    """Return the kinds of failures of which one document counts more than the other knows of."""
    known = failures(whole)
    return {
        key: (known.get(key), (least, most))
        for key, (least, most) in failures(less).items()
        if key not in known or least > known[key][0] or (most or math.inf) > (known[key][1] or math.inf)
    }


@pytest.mark.parametrize(("name", "gone"), REMOVED)
def test_one_input_less_claims_nothing_more(name: str, gone: str) -> None:
    """With less to read a verdict only weakens, no trouble appears elsewhere, and no failure is added."""
    whole, less = without(name), without(name, gone)
    before, after = verdicts(whole), verdicts(less)
    risen = {
        key: f"{before[key]} -> {after[key]}" for key in before if not holds_less(before[key], after[key])
    }
    kinds = ("incidents", "stalls", "blind_gaps")
    elsewhere = {key: found for key in kinds if (found := other_trouble(whole, less, key))}
    assert (risen, elsewhere, more_failures(whole, less)) == ({}, {}, {})


# --- another hour

MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
STAMPS = {
    "iso": r"(?<![\w.])20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?!\d)",
    "american": r"\d{1,2}/\d{1,2}/20\d\d, \d{1,2}:\d\d:\d\d [AP]M",
    "day_first": rf"\b\d\d (?:{MONTHS}) 20\d\d \d\d:\d\d",
    "common_log": rf"\d\d/(?:{MONTHS})/20\d\d:\d\d:\d\d",
    "yearless": rf"\b(?:{MONTHS}) [ \d]\d \d\d:\d\d",
    "epoch": r"(?<![\w.])1[78]\d{8}(?=(?:\d{3}|\d{6})(?![\w.]))",
    "cursor": r"(?<=;t=)[0-9a-f]{13}(?=;)",
    "clock": r"(?<![\d:+-])\d\d:\d\d(?!\d)",
}
"""Instants as far as they are rewritten: to the minute where they have one. A clock alone is one of a report's texts only."""
DATED = {kind: re.compile(pattern) for kind, pattern in STAMPS.items() if kind != "clock"}
ANY = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in STAMPS.items()))


def moved(text: str, pattern: str) -> dt.datetime:
    """Return an instant later by the shift, in the zone that it is written in."""
    return dt.datetime.strptime(text, pattern) + SHIFT  # noqa: DTZ007 - the offset is kept as it is written


def move(kind: str, text: str) -> str:
    """Write an instant later by the shift, in the form that it had."""
    match kind:
        case "epoch":
            return str(int(text) + SHIFT // dt.timedelta(seconds=1))
        case "cursor":
            return f"{int(text, 16) + SHIFT // dt.timedelta(microseconds=1):x}"
        case "american":
            when = moved(text, "%m/%d/%Y, %I:%M:%S %p")
            half = "PM" if when.hour >= 12 else "AM"
            return f"{when.month}/{when.day}/{when.year}, {when.hour % 12 or 12}:{when:%M:%S} {half}"
        case "yearless":
            return f"{moved(f'{YEAR} {text}', '%Y %b %d %H:%M'):%b %e %H:%M}"
        case "day_first":
            return f"{moved(text, '%d %b %Y %H:%M'):%d %b %Y %H:%M}"
        case "common_log":
            return f"{moved(text, '%d/%b/%Y:%H:%M'):%d/%b/%Y:%H:%M}"
        case "clock":
            return f"{moved(text, '%H:%M'):%H:%M}"
        case _:
            between = text[10]
            return f"{moved(text, f'%Y-%m-%d{between}%H:%M'):%Y-%m-%d{between}%H:%M}"


def shifted(text: str) -> str:
    """Return an input with all its instants later by the shift."""
    for kind, pattern in DATED.items():
        text = pattern.sub(lambda found, kind=kind: move(kind, found[0]), text)  # type: ignore[misc]
    return text


def shift_rows(database: sqlite3.Connection) -> None:
    """Move all instants of a database later by the shift."""
    database.create_function("shifted", 1, shifted)
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for _, column, *_ in database.execute(f"PRAGMA table_info({table})").fetchall():
            database.execute(
                f"UPDATE {table} SET {column} = shifted({column}) WHERE typeof({column}) = 'text'"  # noqa: S608 - the fixture's own names
            )


def told_later(value: Any) -> Any:
    """Return a part of a document with all instants later by the shift, those without a date too."""
    if isinstance(value, dict):
        return {key: told_later(item) for key, item in value.items()}
    if isinstance(value, list):
        return [told_later(item) for item in value]
    if isinstance(value, str):
        return ANY.sub(lambda found: move(found.lastgroup or "", found[0]), value)
    return value


def unhashed(value: Any) -> Any:
    """Return a part of a document without the hashes and sizes of inputs."""
    if isinstance(value, dict):
        return {key: unhashed(item) for key, item in value.items() if key not in ("sha256", "bytes")}
    return [unhashed(item) for item in value] if isinstance(value, list) else value


def differences(left: Any, right: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """Return where two parts of documents differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        return [
            found
            for key in left | right
            for found in differences(left.get(key), right.get(key), f"{path}.{key}")
        ]
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        return [
            found
            for index, (one, other) in enumerate(zip(left, right, strict=True))
            for found in differences(one, other, f"{path}[{index}]")
        ]
    return [] if left == right else [(path, left, right)]


@functools.cache
def later(name: str) -> Document:
    """Return the document of a fixture whose clocks all show a later hour."""
    case = golden.case_file(name)
    return investigate(
        name,
        {file: shifted(held) for file, held in texts(name).items()}
        | {file: changed(raw, shift_rows) for file, raw in databases(name).items()},
        shifted(case.read_text("utf-8")) if case else None,
    )


@pytest.mark.parametrize(
    ("stamp", "moved_"),
    [
        ("2026-11-29T12:47:12.680451255Z", "2026-11-29T15:54:12.680451255Z"),
        ("2026-11-29T09:47:11.984284-0300", "2026-11-29T12:54:11.984284-0300"),
        ("2026-11-29 18:14:00.434 IST", "2026-11-29 21:21:00.434 IST"),
        ("11/29/2026, 9:47:12 AM", "11/29/2026, 12:54:12 PM"),
        ("11680:C 29 Nov 2026 09:47:10.805 #", "11680:C 29 Nov 2026 12:54:10.805 #"),
        ("[29/Nov/2026:12:26:55 +0000]", "[29/Nov/2026:15:33:55 +0000]"),
        ("Nov 29 09:33:54.380822 srv", "Nov 29 12:40:54.380822 srv"),
        ("Sep  9 22:33:54 srv", "Sep 10 01:40:54 srv"),
        ('"__REALTIME_TIMESTAMP":"1795956423664836"', '"__REALTIME_TIMESTAMP":"1795967643664836"'),
        ('"time":1795955634146,', '"time":1795966854146,'),
        (";t=66169b0aa24c4;", ";t=6616c4d6dc1c4;"),
        ("5511900000029 __MONOTONIC_TIMESTAMP=2348539912", "5511900000029 __MONOTONIC_TIMESTAMP=2348539912"),
    ],
)
def test_the_shift_moves_every_kind_of_stamp(stamp: str, moved_: str) -> None:
    assert shifted(stamp) == moved_


@pytest.mark.parametrize("name", NAMES)
def test_another_hour_changes_nothing_but_instants(name: str) -> None:
    assert differences(told_later(unhashed(rewritable(name))), unhashed(later(name))) == []


# --- another format


def json_lines(text: str) -> list[dict[str, Any]]:
    """Return the objects of a text."""
    return [json.loads(line) for line in text.splitlines()]


def docker_logs(name: str, text: str) -> str:
    """Write a json-file as ``docker logs -t`` prints it: nine digits, and a stamp before each chunk of a long line."""
    del name
    return "".join(
        f"{stamp}.{fraction.ljust(9, '0')}Z {entry['log']}"
        for entry in json_lines(text)
        for stamp, _, fraction in [entry["time"].removesuffix("Z").partition(".")]
    )


def cri(name: str, text: str) -> str:
    """Write a json-file as containerd stores it: a chunk of a long line is marked P, its last one F."""
    del name
    return "".join(
        f"{entry['time']} {entry['stream']} {'F' if entry['log'].endswith(chr(10)) else 'P'} "
        f"{entry['log'].removesuffix(chr(10))}\n"
        for entry in json_lines(text)
    )


@functools.cache
def short_iso_precise(name: str, text: str) -> str:
    """Write journal entries as ``journalctl -o short-iso-precise`` does, which prefers the stamp of the program."""
    lines = []
    for entry in json_lines(text):
        micros = int(entry.get("_SOURCE_REALTIME_TIMESTAMP", entry["__REALTIME_TIMESTAMP"]))
        when = dt.datetime.fromtimestamp(micros // 1_000_000, zone(name)).replace(
            microsecond=micros % 1_000_000
        )
        lines.append(
            f"{when:%Y-%m-%dT%H:%M:%S.%f%z} {entry['_HOSTNAME']} {entry['SYSLOG_IDENTIFIER']}[{entry['_PID']}]: "
            f"{entry['MESSAGE']}\n"
        )
    return "".join(lines)


def comma_separated(name: str, text: str) -> str:
    """Write objects as rows with one head for all, an empty field for what is null or absent."""
    del name
    rows = json_lines(text)
    out = io.StringIO()
    head = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(out, head, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


FORMATS: dict[str, tuple[str, str, Callable[[str, str], str]]] = {
    "docker_timestamps": ("-json.log.gz", ".log", docker_logs),
    "cri": ("-json.log.gz", ".log", cri),
    "journald_short_iso_precise": (".journal.json.gz", ".txt", short_iso_precise),
    "state_csv": (".jsonl", ".csv", comma_separated),
}
"""Format to the suffix of inputs that are converted into it, their new suffix, and how."""
ROUNDS = (("docker_timestamps", "journald_short_iso_precise"), ("cri", "state_csv"))
"""Formats that are tried at once, since they are of different inputs."""
CONVERTED = [
    (name, kinds)
    for name in NAMES
    for formats in ROUNDS
    if (
        kinds := tuple(
            kind for kind in formats if any(file.endswith(FORMATS[kind][0]) for file in files(name))
        )
    )
]
LOST = {"journald_short_iso_precise": {"host_rebooted"}}
"""Hypotheses on which a format may leave a weaker verdict: journal text has no boot ids."""
SAME = (
    "probes",
    "stalls",
    "silences",
    "samples",
    "blind_gaps",
    "detectability",
    "daily",
    "impact",
    "background",
)
"""What else a conversion must leave as it was."""
CLOSE_S = 0.001
"""How far instants may move: where an entry has the journal's stamp and the program's, text shows one of them."""


def rewritten(name: str, file: str, kinds: tuple[str, ...]) -> tuple[str, str | None]:
    """Return what an input is called in other formats and which of them it is in, None where it stays as it is."""
    for kind in kinds:
        suffix, ending, _ = FORMATS[kind]
        if file.endswith(suffix) and file in texts(name):
            return file.removesuffix(suffix) + ending, kind
    return file, None


@functools.cache
def converted(name: str, kinds: tuple[str, ...]) -> Document:
    """Return the document of a fixture with some inputs in other formats."""
    written: dict[str, str | bytes] = dict(databases(name))
    for file, held in texts(name).items():
        called, kind = rewritten(name, file, kinds)
        written[called] = FORMATS[kind][2](name, held) if kind else held
    said = investigate(name, written)
    if "journald_short_iso_precise" in kinds:
        told: Document = renamed(said, names_lost(name))
        return told
    return said


def names_lost(name: str) -> dict[str, str]:
    """Return what journal text calls a service whose unit no line of it names: by the program's identifier."""
    lost: dict[str, str] = {}
    for file, held in texts(name).items():
        if file.endswith(".journal.json.gz"):
            text = short_iso_precise(name, held)
            units = {
                (entry["SYSLOG_IDENTIFIER"], entry["_SYSTEMD_UNIT"].removesuffix(".service"))
                for entry in json_lines(held)
            }
            lost |= {identifier: unit for identifier, unit in units if unit not in text}
    return lost


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Return a part of a document with other names of services."""
    if isinstance(value, dict):
        return {
            key: names.get(item, item) if key == "service" else renamed(item, names)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [names.get(item, item) if isinstance(item, str) else renamed(item, names) for item in value]
    return value


def instant(value: Any) -> dt.datetime | None:
    """Return the instant that a value is, None if it is none."""
    return dt.datetime.fromisoformat(value) if isinstance(value, str) and DATED["iso"].match(value) else None


def apart(left: Any, right: Any, seconds: float) -> list[tuple[str, Any, Any]]:
    """Return where two parts of documents differ by more than some seconds."""
    return [
        (path, one, other)
        for path, one, other in differences(left, right)
        if not ((a := instant(one)) and (b := instant(other)) and abs((a - b).total_seconds()) <= seconds)
        and not (path.endswith("_s") and abs(one - other) <= seconds)
        and ".evidence" not in path
    ]


def unparsed(source: Document) -> int | None:
    """Return how many lines of an input no record has room for; None where it has no lines."""
    return source["lines"] and int(source["lines"]["unparsed"])


def read_otherwise(name: str, kinds: tuple[str, ...]) -> dict[str, Any]:
    """Return the converted inputs that are not read as what they are now, or not in as many records as before."""
    now = {source["name"]: source for source in converted(name, kinds)["sources"]}
    wrong = {}
    for source in rewritable(name)["sources"]:
        called, kind = rewritten(name, source["name"], kinds)
        said = [now[called][key] for key in ("transport", "records")] + [unparsed(now[called])]
        if said != [kind or source["transport"], source["records"], unparsed(source)]:
            wrong[called] = said
    return wrong


@pytest.mark.parametrize(
    ("name", "kinds"), CONVERTED, ids=lambda value: value if isinstance(value, str) else "-".join(value)
)
def test_another_format_changes_nothing_but_what_it_loses(name: str, kinds: tuple[str, ...]) -> None:
    """The same failures, incidents within a second, verdicts and measures."""
    whole, now = rewritable(name), converted(name, kinds)
    assert read_otherwise(name, kinds) == {}
    assert failures(now) == failures(whole)
    troubles = [[row | {"findings": []} for row in said["incidents"]] for said in (whole, now)]
    assert apart(troubles[0], troubles[1], 1.0) == []
    before, after = verdicts(whole), verdicts(now)
    lost = {key for kind in kinds for key in LOST.get(kind, ())}
    assert {
        key: f"{before[key]} -> {after[key]}"
        for key in before
        if before[key] != after[key] and not (key in lost and holds_less(before[key], after[key]))
    } == {}
    assert {key: found for key in SAME if (found := apart(whole[key], now[key], CLOSE_S))} == {}


# --- cut in the middle of the incident

WRITTEN = (
    (re.compile(r'(?:__REALTIME_TIMESTAMP=|\{.*"__REALTIME_TIMESTAMP":")(\d+)'), "epoch"),
    (re.compile(r'(?:\{.*"(?:time|ts)": ?")?(20\d\d-\d\d-\d\d[T ][\d:.]+(?:Z|[+-]\d{4})?)'), "iso"),
    (re.compile(rf"\S+ \S+ \S+ \[(\d\d/(?:{MONTHS})/20\d\d:[\d:]+ [+-]\d{{4}})\]"), "common_log"),
    (re.compile(rf"((?:{MONTHS}) [ \d]\d [\d:.]+)"), "%b %d %H:%M:%S"),
    (re.compile(rf"\d+:\w (\d\d (?:{MONTHS})) {YEAR} ([\d:.]+)"), "%d %b %H:%M:%S"),
)
"""How lines of the fixtures say when they were written."""


def written_at(line: str, where: ZoneInfo) -> dt.datetime | None:
    """Return when a line was written, None where it does not say."""
    for pattern, how in WRITTEN:
        if found := pattern.match(line):
            if how == "common_log":
                return dt.datetime.strptime(found[1], "%d/%b/%Y:%H:%M:%S %z")
            if how == "epoch":
                return dt.datetime.fromtimestamp(int(found[1]) / 1e6, dt.UTC)
            text = " ".join(found.groups())
            if how == "iso":
                when = dt.datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))
            else:
                whole, _, part = text.partition(".")
                when = dt.datetime.strptime(f"{YEAR} {whole}", f"%Y {how}").replace(tzinfo=where)
                when += dt.timedelta(seconds=float(f"0.{part or 0}"))
            return when if when.tzinfo else when.replace(tzinfo=where)
    return None


def before(text: str, end: dt.datetime, where: ZoneInfo) -> str:
    """Return the records of a text that were written before an instant; a line without a stamp goes with the one before."""
    records = re.split(r"(?<=\n\n)", text) if text.startswith("__CURSOR") else text.splitlines(keepends=True)
    kept, on = [], True
    for record in records:
        stamp = next((found for line in record.splitlines() if (found := written_at(line, where))), None)
        on = stamp < end if stamp else on
        if on:
            kept.append(record)
    return "".join(kept)


def before_rows(end: dt.datetime) -> Callable[[sqlite3.Connection], None]:
    """Return the change that leaves a monitor's database as it was at an instant."""

    def cut_off(database: sqlite3.Connection) -> None:
        """Take out the later results."""
        database.execute(
            "DELETE FROM heartbeat WHERE time >= ?", [f"{end.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S.%f}"]
        )

    return cut_off


def halfway(name: str) -> dt.datetime:
    """Return the middle of the incident that the report on a fixture is about."""
    said = rewritable(name)
    number = next(number for number, row in enumerate(said["incidents"]) if row["primary"])
    start, end = spans(said, "incidents")[number]
    return start + (end - start) / 2


@functools.cache
def cut(name: str) -> Document:
    """Return the document of a fixture whose inputs all end in the middle of the incident."""
    end = halfway(name)
    left = {file: changed(raw, before_rows(end)) for file, raw in databases(name).items()}
    return investigate(
        name, left | {file: before(held, end, zone(name)) for file, held in texts(name).items()}
    )


def claims_of_recovery(said: Document, row: Document) -> list[Any]:
    """Return whatever a document says of the end of an incident."""
    claims = [
        (key, row[key])
        for key in ("end", "duration_s", "recovered_at", "mitigated_at")
        if row[key] is not None
    ]
    claims += [
        (moment["kind"], moment["at"])
        for moment in said["timeline"]
        if moment["kind"] == "recovered" and at(moment, "at") >= at(row, "start")
    ]
    if row["primary"] and row["id"] == "i1":  # before and after are told around the first incident
        claims += [
            (gauge["series"], gauge["after"]) for gauge in said["samples"] if gauge["after"] is not None
        ]
    return claims


@pytest.mark.parametrize("name", TROUBLED)
def test_what_is_cut_in_the_middle_of_the_incident_is_ongoing(name: str) -> None:
    """Nothing tells of its end, what was over before is as it was, and no verdict turns into its opposite."""
    whole, less, end = rewritable(name), cut(name), halfway(name)
    assert max(at(source, "last") for source in less["sources"]) < end
    row: Document = max(less["incidents"], key=lambda row: at(row, "start"))
    uncut = next(row for row in whole["incidents"] if row["primary"])
    assert at(uncut, "start") <= at(row, "start") < end
    assert (row["ongoing"], claims_of_recovery(less, row)) == (True, [])
    told = ("start", "start_bound", "end", "ongoing", "recovered_at", "duration_s", "services")
    over = [
        [[item[key] for key in told] for item in said["incidents"] if item["end"] and at(item, "end") < end]
        for said in (whole, less)
    ]
    assert over[0] == over[1]
    first, then = verdicts(whole), verdicts(less)
    assert {
        key: f"{first[key]} -> {then[key]}"
        for key in first
        if STRENGTH[first[key]] * STRENGTH[then[key]] <= -4
    } == {}
