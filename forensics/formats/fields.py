"""Fields of a line found by name: JSON objects and logfmt, one record a line.

A definition names, for each group that a message format may have, the fields in which writers put it. The values are
joined with a separator in front of one generated pattern, so that such a format is a pattern like any other.

    [json]                                        [logfmt]
    level = ["level", "severity"]                 level = ["level", "lvl"]
    message = ["msg", "error/message"]            message = ["msg"]

``a/b`` is field ``b`` of the object in field ``a``, ``a/0`` the first of an array. ``request`` holds a request line (``GET /p HTTP/1.1``), which gives method
and path where these have no fields of their own; ``duration_us`` and ``duration_ns`` are converted.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import heads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SEPARATOR = "\x1f"
GROUPS = frozenset(
    [
        "level",
        "time",
        "zone",
        "pid",
        "logger",
        "context",
        "message",
        "method",
        "path",
        "request",
        "status",
        "client",
        "agent",
        "duration_ms",
        "duration_s",
        "duration_us",
        "duration_ns",
        "series",
        "value",
        "limit",
        "unit",
    ]
)
"""Groups that a definition may fill."""
BARE = frozenset(("time", "zone", "pid", "logger"))
"""Groups that an envelope gives too, or that nobody reads: decoding a field costs as much as the rest of a line."""
OBJECT = re.compile(r"^\{")
PAIRS = re.compile(r"^\S*=|\s\w\S*=")
"""How a line that may hold fields looks."""
REQUEST_LINE = {"method": r"^([A-Z]+) \S", "path": r"^[A-Z]+ (\S+)"}
"""What a request line says, first group."""
LEVELS = {
    **dict.fromkeys(
        [
            "emerg",
            "emergency",
            "alert",
            "crit",
            "critical",
            "fatal",
            "panic",
            "dpanic",
            "ftl",
            "pnc",
            "f",
            "60",
            "0",
            "1",
            "2",
        ],
        "critical",
    ),
    **dict.fromkeys(["err", "error", "severe", "fail", "failure", "e", "50", "3"], "error"),
    **dict.fromkeys(["warn", "warning", "wrn", "w", "40", "4"], "warning"),
    **dict.fromkeys(
        [
            "notice",
            "info",
            "information",
            "informational",
            "inf",
            "log",
            "success",
            "http",
            "default",
            "i",
            "n",
            "30",
            "5",
            "6",
        ],
        "info",
    ),
    **dict.fromkeys(
        [
            "debug",
            "verbose",
            "trace",
            "trce",
            "dbug",
            "dbg",
            "trc",
            "vrb",
            "fine",
            "finer",
            "finest",
            "silly",
            "d",
            "v",
            "t",
            "d1",
            "d2",
            "d3",
            "d4",
            "d5",
            "20",
            "10",
            "7",
        ],
        "debug",
    ),
}
"""Names of levels in lower case, and the numbers of pino, bunyan (10 to 60) and syslog (0 to 7)."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Where each group of a format is found."""

    kind: str
    """``json`` or ``logfmt``."""
    groups: Mapping[str, tuple[str, ...]]
    needs: tuple[str, ...] = ()
    """Groups without which a line is none of this format."""
    where: str | None = None
    """Pattern that the raw line must fit: looked for before anything is decoded."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Pattern of a group's value, where not any will do."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """What a field that is left out means, where the writer says so."""

    @property
    def order(self) -> list[str]:
        """Groups in the order in which their values are joined; the message, which may hold anything, is last."""
        names = dict.fromkeys([*self.groups, *(REQUEST_LINE if "request" in self.groups else ())])
        return [name for name in names if name not in ("message", "request")] + ["message"] * (
            "message" in self.groups
        )

    @property
    def pattern(self) -> str:
        """The pattern that reads the joined values."""
        return f"^{SEPARATOR_PATTERN.join(self.part(name) for name in self.order)}$"

    def part(self, name: str) -> str:
        """Return the pattern of one joined value; an empty one gives no group."""
        name = "duration_ms" if name in ("duration_us", "duration_ns") else name
        value = self.fixed.get(name) or ("(?s:.+)" if name == "message" else r"[^\x1f]+")
        if name in self.needs:
            return f"(?P<{name}>{value})"
        return rf"(?:(?P<{name}>{value})|[^\x1f]*)" if name in self.fixed else f"(?P<{name}>{value})?"

    def prepare(self, message: pl.Expr) -> pl.Expr:
        """Return the joined values of each line, null where it is not of this format; time and process are left out."""
        return message.map_batches(lambda lines: self.join(lines, without=BARE), return_dtype=pl.String)

    def prepare_dated(self, message: pl.Expr) -> pl.Expr:
        """Return the joined values with time and process."""
        return message.map_batches(self.join, return_dtype=pl.String)

    def of_head(self, line: str) -> bool:
        """Tell whether a line is of this format: a head has few lines, and a frame costs more than to decode them.

        It is where every group that the format needs has a value that its pattern takes; others may be absent.
        """
        looks = OBJECT if self.kind == "json" else PAIRS
        if not looks.search(line) or (self.where and not heads.finder(self.where)(line)):
            return False
        read = json_text if self.kind == "json" else logfmt_text
        return all(self.takes(name, self.value(line, name, read)) for name in self.needs)

    def value(self, line: str, name: str, read: Callable[[str, str], str | None]) -> str:
        """Return a group's value in one line, empty where it has none."""
        found = first_text(line, self.groups.get(name, ()), read)
        if found is None and name in REQUEST_LINE and "request" in self.groups:
            request = first_text(line, self.groups["request"], read) or ""
            part = re.search(REQUEST_LINE[name], request)
            found = part[1] if part else None
        return self.absent.get(name, "") if found is None else found

    def takes(self, name: str, value: str) -> bool:
        """Tell whether the pattern takes a value of a group that it needs."""
        if name == "time" and (instant := re.search(INSTANT, value)):
            value = f"{instant['seconds']}.{instant['nanos'].zfill(9)}"
        elif name == "level":
            value = value.lower()
        return bool(value and heads.finder(f"^{self.part(name)}$")(value.replace(SEPARATOR, " ")))

    def join(self, lines: pl.Series, without: frozenset[str] = frozenset()) -> pl.Series:
        """Join the values of each line that may be of this format."""
        fits = lines.str.contains(OBJECT.pattern if self.kind == "json" else PAIRS.pattern)
        if self.where:
            fits &= lines.str.contains(self.where)
        fits = fits.fill_null(value=False)
        rows = pl.DataFrame({"row": fits.arg_true(), "line": lines.filter(fits)})
        read = json_value if self.kind == "json" else logfmt_value
        for name in sorted(self.order, key=lambda name: name not in self.needs):
            if not rows.height:
                return pl.Series(lines.name, [None] * len(lines), dtype=pl.String)
            names = () if name in without - set(self.needs) else self.groups.get(name, ())
            value = first(rows["line"], names, read)
            if name in REQUEST_LINE and "request" in self.groups:
                line = first(rows["line"], self.groups["request"], read)
                value = value.fill_null(line.str.extract(REQUEST_LINE[name]))
            rows = rows.with_columns(value.fill_null(self.absent.get(name, "")).alias(name))
            if name in self.needs:
                rows = rows.filter(pl.col(name) != "")
        joined = rows.select(
            "row",
            joined=pl.concat_str(
                [cleaned(name, last=name == self.order[-1]) for name in self.order], separator=SEPARATOR
            ),
        )
        table = pl.DataFrame({"row": pl.int_range(len(lines), dtype=pl.UInt32, eager=True)})
        return table.join(joined, on="row", how="left", maintain_order="left")["joined"]


SEPARATOR_PATTERN = r"\x1f"
INSTANT = r'^\{"epochSecond":(?P<seconds>\d+),"nanoOfSecond":(?P<nanos>\d{1,9})\}$'
"""A time of log4j2's JSON layouts: the nanoseconds are a number, so that 41587000 means .041587."""


def cleaned(name: str, *, last: bool) -> pl.Expr:
    """Return a value as the pattern wants it: levels in lower case, an instant in seconds, durations in milliseconds, no separator inside."""
    value = pl.col(name)
    if name == "level":
        value = value.str.to_lowercase()
    elif name == "time":
        parts = value.str.extract_groups(INSTANT)
        seconds, nanos = (parts.struct.field(part) for part in ("seconds", "nanos"))
        value = pl.coalesce(pl.concat_str(seconds, pl.lit("."), nanos.str.zfill(9)), value)
    elif name in ("duration_us", "duration_ns"):
        scale = 1e3 if name == "duration_us" else 1e6
        value = (value.cast(pl.Float64, strict=False) / scale).cast(pl.String)
        value = value.fill_null("")
    return value if last else value.str.replace_all(SEPARATOR, " ", literal=True)


def first(lines: pl.Series, names: tuple[str, ...], read: Callable[[pl.Series, str], pl.Series]) -> pl.Series:
    """Return the first of several fields that is there; a line without the name is not decoded for it."""
    found = pl.Series(lines.name, [None] * len(lines), dtype=pl.String)
    for name in names:
        key = next(part for part in reversed(name.split("/")) if not part.isdigit())
        maybe = (found.is_null() & lines.str.contains(key, literal=True)).arg_true()
        if len(maybe):
            found = found.scatter(maybe, read(lines.gather(maybe), name))
    return found


def first_text(line: str, names: tuple[str, ...], read: Callable[[str, str], str | None]) -> str | None:
    """Return the first of several fields that one line has."""
    return next((value for name in names if (value := read(line, name)) is not None), None)


@lru_cache(maxsize=512)
def decoded(line: str) -> object:
    """Return the value of a line of JSON, None where it is none; every format asks for it."""
    try:
        return json.loads(line, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None


def refuse(constant: str) -> float:
    """Refuse NaN and Infinity, which are no JSON.

    Raises:
        ValueError: always.
    """
    raise ValueError(constant)


def json_text(line: str, name: str) -> str | None:
    """Return one field of a JSON object as :func:`json_value` does."""
    value = decoded(line)
    for part in name.split("/"):
        if isinstance(value, dict) and not part.isdigit():
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def logfmt_text(line: str, name: str) -> str | None:
    """Return one value of ``key=value`` text as :func:`logfmt_value` does."""
    found = re.search(logfmt_pattern(name), line)
    if found is None:
        return None
    quoted, bare = found.groups()
    return bare if quoted is None else re.sub(r'\\(["\\])', r"\1", quoted)


def logfmt_pattern(name: str) -> str:
    """Return the pattern of a key with its value, in quotes or bare."""
    return rf'(?:^|\s){re.escape(name)}=(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s"]*))'


def json_value(lines: pl.Series, name: str) -> pl.Series:
    """Return one field of JSON objects as text; null where it is absent, null, or the line is no JSON."""
    path = "$" + "".join(f"[{part}]" if part.isdigit() else f'["{part}"]' for part in name.split("/"))
    return lines.str.json_path_match(path)


def logfmt_value(lines: pl.Series, name: str) -> pl.Series:
    """Return one value of ``key=value`` text; a quoted one without its quotes and escapes."""
    groups = lines.str.extract_groups(logfmt_pattern(name))
    quoted = groups.struct.field("quoted")
    if quoted.str.contains("\\", literal=True).any():
        quoted = quoted.str.replace_all(r'\\(["\\])', "$1")
    return quoted.fill_null(groups.struct.field("bare"))
