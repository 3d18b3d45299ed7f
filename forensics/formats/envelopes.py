"""Log lines inside JSON: one object a line, an array, an envelope, or objects one after another.

Shared by the platforms and aggregators. Objects become a frame of text columns, one for each field that a format
reads; whatever way they stood in the file. One object a line keeps the line's number and is counted; in any other
arrangement a record is named by its ordinal and the file is read whole. A file that was cut off gives what stands
before the cut, with a note.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.formats.inner import finished, level
from forensics.formats.jsonl import decoded
from forensics.formats.text import lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

SAMPLE = 200
"""Objects of a head that recognition looks at."""
WHOLE = "raw"
"""Field that stands for the whole object."""
TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)
FIRST = 20
"""Lines that are looked at to see how objects stand."""
CUT = "the file ends in the middle of a value: what lies before was used, export it again for the rest"
OBJECT = re.compile(rb"\s*\{")
LINE_START = re.compile(r"\n(?=[{\[])")
DECODER = json.JSONDecoder(parse_constant=str)
"""NaN and Infinity, which some exporters write, stay text."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """How the objects of a format look and what they say."""

    fields: tuple[str, ...]
    """Fields of the object that are read, as text: a value that is no text is its JSON. ``raw`` is the whole object; a
    field ``line`` is called ``line_text``, since ``line`` is the place."""
    claims: Callable[[dict[str, Any]], bool]
    """Is this object one of the format's?"""
    records: Callable[[pl.DataFrame], pl.DataFrame]
    """From ``line`` and :attr:`fields` to records: ts, service, level, message …"""
    unfold: Callable[[Any], Iterable[Any] | None] | None = None
    """The objects inside an envelope; None for a value that is none."""
    notes: Callable[[pl.DataFrame], Iterable[str]] | None = None
    """What the fields show about the export."""
    caps: Mapping[int, str] | None = None
    """Counts of records at which an export is cut, and what cuts it."""


def json_transport(
    name: str,
    title: str,
    marks: str,
    shape: Envelope,
    samples: tuple[str, ...],
    *,
    lines: bool = True,
    **more: Any,
) -> Transport:
    """Build the transport of a format; ``lines`` where its objects may stand one a line, which the head decides."""
    return Transport(
        name=name,
        title=title,
        marks=marks,
        sniff=lambda head: share(head, shape),
        parse=lambda data: parse(data, shape),
        samples=samples,
        safe_cut=safe_cut if lines else None,
        escaped=True,
        binary=not lines,
        whole=(lambda head: by_ordinal(head, shape)) if lines else None,
        **more,
    )


def safe_cut(before: Sequence[bytes], line: bytes) -> bool:
    """Cut before any object: only files with one a line are cut."""
    del before
    return OBJECT.match(line) is not None


def one_a_line(data: bytes, shape: Envelope | None = None) -> bool:
    """Does one of the first lines hold a whole object, and no envelope?"""
    data = data.removeprefix(codecs.BOM_UTF8)
    if data.lstrip()[:1] == b"[":
        return False
    first = [loaded(line) for line in data[: 1 << 20].split(b"\n", FIRST)[:FIRST] if OBJECT.match(line)]
    objects_ = [value for value in first if isinstance(value, dict)]
    if (
        shape is not None
        and shape.unfold is not None
        and any(shape.unfold(value) is not None for value in objects_)
    ):
        return False
    return bool(objects_)


def by_ordinal(head: bytes, shape: Envelope) -> bool:
    """Must the file be read whole, its records named by ordinal?

    A single line that is longer than a head is an object a line if it begins like one.
    """
    if one_a_line(head, shape):
        return False
    values, _, _ = values_of(head)
    first = next((value for value in values if value is not None), None)
    inside = shape.unfold(first) if shape.unfold and first is not None else None
    return isinstance(first, list) or inside is not None or b"\n" in head or len(values) > 1


def loaded(text: bytes | str) -> Any:
    """Return a JSON value, None where it is none (or null, which no format wants)."""
    try:
        return json.loads(
            text if isinstance(text, str) else text.decode("utf-8", "replace"), parse_constant=str
        )
    except (ValueError, RecursionError):
        return None


@lru_cache(maxsize=8)
def values_of(head: bytes) -> tuple[tuple[Any, ...], bool, bool]:
    """Return the values of a head (None for a line that holds none), whether it has one a line, and whether it was cut.

    Kept for the formats that look at the same head one after another.
    """
    if one_a_line(head):
        lines = [line for line in (head.split(b"\n")[:-1] or [head]) if line.strip()][:SAMPLE]
        return tuple(loaded(line) for line in lines), True, False
    if head.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0")[:1] not in (b"{", b"["):
        return (), False, False
    values, cut = stream(decoded(head))
    return tuple(values), False, cut


def stream(text: str) -> tuple[list[Any], bool]:
    """Return the values that stand one after another, and whether the last was cut off (its whole parts are kept)."""
    values: list[Any] = []
    at = 0
    while True:
        at = skipped(text, at)
        if at >= len(text):
            return values, False
        try:
            value, at = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            further = resumed(text, at)
            if further is None:
                saved = closed(text[at:]) if text[at] in "{[" else None
                return [*values, saved], True
            value, at = None, further
        values.append(value)


def resumed(text: str, at: int) -> int | None:
    """Return where the next whole value begins at the start of a line, behind something that is none."""
    for line in islice(LINE_START.finditer(text, at + 1), SAMPLE):
        try:
            DECODER.raw_decode(text, line.end())
        except (ValueError, RecursionError):
            continue
        return line.end()
    return None


def skipped(text: str, at: int) -> int:
    """Return the next place that is no white space, comma or record separator (RFC 7464)."""
    while at < len(text) and text[at] in " \t\r\n,\x1e\0":
        at += 1
    return at


def closed(text: str) -> Any:
    """Return a value that was cut off, closed after its last whole part; None where nothing is whole."""
    stack: list[str] = []
    good: tuple[int, str] | None = None
    for token in TOKENS.finditer(text):
        mark = token[0]
        if mark in ("{", "["):
            stack.append("}" if mark == "{" else "]")
        elif mark in ("}", "]"):
            if not stack or stack.pop() != mark:
                break
            good = (token.end(), "".join(reversed(stack)))
            if not stack:
                break
        elif mark == ",":
            good = (token.start(), "".join(reversed(stack)))
    return None if good is None else loaded(text[: good[0]] + good[1])


def inside(values: Iterable[Any], shape: Envelope) -> Iterator[Any]:
    """Yield the objects of values: out of an envelope, out of arrays, or the values themselves."""
    for value in values:
        found = shape.unfold(value) if shape.unfold else None
        if found is not None:
            yield from found
        elif isinstance(value, list):
            for item in value:
                more = shape.unfold(item) if shape.unfold else None
                yield from (item,) if more is None else more
        else:
            yield value


def share(head: bytes, shape: Envelope) -> float:
    """Share of the objects of a head that are the format's."""
    values, _, _ = values_of(head)
    try:
        items = list(islice(inside(values, shape), SAMPLE))
        fits = sum(isinstance(item, dict) and bool(shape.claims(item)) for item in items)
    except (TypeError, ValueError, AttributeError, KeyError, IndexError):
        return 0.0
    return fits / len(items) if items else 0.0


def parse(data: bytes, shape: Envelope) -> Parsed:
    """Turn a shard of lines, or a whole file, into records."""
    if one_a_line(data, shape):
        return parse_lines(data, shape)
    values, cut = stream(decoded(data)) if data.strip() else ([], False)
    try:
        items = list(inside(values, shape))
    except (TypeError, ValueError, AttributeError, KeyError, IndexError):
        items = values
    good = [(at, item) for at, item in enumerate(items, 1) if isinstance(item, dict) and fits(item, shape)]
    if not good:
        return nothing(data, cut=cut)
    texts = [json.dumps(item, ensure_ascii=False, separators=(",", ":")) for _, item in good]
    # A lone surrogate is no character: it can't be written.
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    raw = pl.DataFrame(
        {"line": [at for at, _ in good], "raw": texts}, schema={"line": pl.UInt32, "raw": pl.String}
    )
    lost = len(items) - len(good)
    first = next(
        (at for at, item in enumerate(items, 1) if not (isinstance(item, dict) and fits(item, shape))), None
    )
    found = made(raw, shape)
    notes = ((CUT,) if cut else ()) + ((f"{lost} values of the file are no log records",) if lost else ())
    return Parsed(
        records=conform(found.records, RECORDS),
        in_records=len(good),
        unparsed=lost,
        first_unparsed=first,
        notes=notes + found.notes,
    )


def nothing(data: bytes, *, cut: bool) -> Parsed:
    """Account for the lines of a file without any record."""
    lines = lines_of(data)
    filled = lines.str.contains(r"[^\s\x00]")
    return Parsed(
        records=pl.DataFrame(schema=RECORDS),
        blank=int((~filled).sum()),
        unparsed=int(filled.sum()),
        first_unparsed=least(pl.Series(range(1, len(lines) + 1), dtype=pl.UInt32).filter(filled)),
        notes=(CUT,) if cut else (),
    )


def fits(item: dict[str, Any], shape: Envelope) -> bool:
    """Is this object one of the format's, whatever the types of its values?"""
    try:
        return bool(shape.claims(item))
    except (TypeError, ValueError, AttributeError, KeyError, IndexError):
        return False


def parse_lines(data: bytes, shape: Envelope) -> Parsed:
    """Turn objects, one a line, into records; any other line is unparsed."""
    raw = pl.DataFrame({"raw": lines_of(data)}).with_row_index("line", offset=1)
    blank = pl.col("raw").str.strip_chars() == ""
    lines = raw.filter(~blank).with_columns(pl.col("raw").str.strip_chars("\x1e\r\t ,"))
    good = lines.filter(pl.col("raw").str.contains(r"^\{.*\}$"))
    found = made(good, shape)
    left = lines.join(found.good, on="line", how="anti")
    return Parsed(
        records=conform(found.records, RECORDS),
        in_records=found.good.height,
        blank=raw.height - lines.height,
        unparsed=left.height,
        first_unparsed=least(left["line"]),
        notes=found.notes,
    )


@dataclass(frozen=True, slots=True)
class Made:
    """Records, the lines that they came from, and notes."""

    records: pl.DataFrame
    good: pl.DataFrame
    notes: tuple[str, ...]


def made(raw: pl.DataFrame, shape: Envelope) -> Made:
    """Turn the text of objects into records."""
    table = objects(raw, shape.fields)
    records = finished(shape.records(table))
    notes = tuple(shape.notes(table)) if shape.notes else ()
    if shape.caps and records.height in shape.caps:
        notes += (f"exactly {records.height:,} records: {shape.caps[records.height]}",)
    return Made(records, table.select("line"), notes)


def objects(raw: pl.DataFrame, fields: Sequence[str]) -> pl.DataFrame:
    """Return ``line`` and the fields of objects; broken ones are left out.

    All at once where every object is whole, else each on its own.
    """
    wanted = [name for name in fields if name != WHOLE]
    schema = dict.fromkeys(wanted, pl.String)
    found = decoded_objects(raw, wanted, schema).rename({"line": "line_text"} if "line" in wanted else {})
    table = found.rename({"#": "line"})
    return table if WHOLE in fields else table.drop(WHOLE)


def decoded_objects(raw: pl.DataFrame, wanted: list[str], schema: dict[str, type[pl.String]]) -> pl.DataFrame:
    """Return the fields of objects beside ``#`` (the line) and ``raw`` (the object)."""
    kept = raw.select(pl.col("line").alias("#"), WHOLE)
    if not raw.height or not wanted:
        kept = kept.filter(is_object()) if raw.height else kept
        return kept.with_columns(pl.lit(None, pl.String).alias(name) for name in wanted)
    try:
        table = pl.read_ndjson(io.BytesIO("\n".join(raw[WHOLE]).encode()), schema=schema)
        if table.height == raw.height:
            return kept.hstack(table)
    except pl.exceptions.PolarsError:
        pass
    return kept.filter(is_object()).with_columns(at(pl.col(WHOLE), name).alias(name) for name in wanted)


def is_object() -> pl.Expr:
    """Hold where the text is a whole object."""
    return pl.col(WHOLE).str.json_path_match("$").str.starts_with("{").fill_null(value=False)


def at(column: pl.Expr, *path: str) -> pl.Expr:
    """Return the value of a path of field names as text."""
    return column.str.json_path_match("$" + "".join(f"['{name}']" for name in path))


def first_of(*values: pl.Expr) -> pl.Expr:
    """Return the first value that is there and not empty."""
    return pl.coalesce([pl.when(value != "").then(value) for value in values])


def text_of(value: object) -> str:
    """Return a JSON value as text: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


SERVICE = (
    "service", "service_name", "service.name", "container_name", "container", "k8s.container.name", "container.name", "kubernetes.container_name", "app",
    "app_kubernetes_io_name", "app.kubernetes.io/name", "k8s-app", "compose_service", "com.docker.compose.service", "docker_compose_service", "syslog_identifier",
    "unit", "systemd_unit", "_systemd_unit", "__journal__systemd_unit", "job", "pod", "pod_name", "k8s.pod.name",
)  # fmt: skip
"""Labels that name what wrote a line, the one that says it best first."""
POD = ("pod", "pod_name", "k8s.pod.name", "instance_id")
SEVERITY = ("level", "detected_level", "severity", "severity_text", "lvl", "loglevel", "log.level")


def anything(column: pl.Expr, names: Iterable[str]) -> pl.Expr:
    """Return the first of several fields of an object that is there; a dot in a name may also be a step into an object."""
    return first_of(*ways(column, names))


def label(column: pl.Expr, names: Iterable[str]) -> pl.Expr:
    """Return the first of several fields that is there and no object itself."""
    return first_of(*[pl.when(~one.str.contains(r"^[{\[]")).then(one) for one in ways(column, names)])


def ways(column: pl.Expr, names: Iterable[str]) -> list[pl.Expr]:
    """Return where each of several fields may stand, in the order of their names."""
    paths = [path for name in names for path in ([[name], name.split(".")] if "." in name else [[name]])]
    return [at(column, *path) for path in paths]


def service(column: pl.Expr) -> pl.Expr:
    """Return the service that the labels of an object name; one that nobody knew is none."""
    named = [
        pl.when(~one.str.contains(r"^unknown_service|^[{\[]")).then(one) for one in ways(column, SERVICE)
    ]
    return first_of(*named).str.strip_chars_start("/").str.strip_suffix(".service")


def told(table: pl.DataFrame, column: str, **said: pl.Expr) -> pl.DataFrame:
    """Add what the objects of a column say: each distinct object is read once, since labels repeat from line to line."""
    known = table.select(column).unique().with_columns(**said)
    return table.join(known, on=column, how="left", nulls_equal=True, maintain_order="left")


def labelled(table: pl.DataFrame, labels: str, *, ts: pl.Expr, message: str) -> pl.DataFrame:
    """Return records of entries whose labels name the service, the process and the severity."""
    column = pl.col(labels)
    said = told(
        table, labels, service=service(column), pid=label(column, POD), severity=label(column, SEVERITY)
    )
    return said.select(
        "line",
        ts=ts,
        naive=pl.lit(value=False),
        service="service",
        pid="pid",
        level=level(pl.col("severity")),
        message=pl.col(message),
    )
