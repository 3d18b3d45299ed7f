"""What a field of a monitor's record means, told by its name and its value: shared by the home-grown formats.

Times: ISO with or without a zone, an epoch of any magnitude, or a local date whose order of day and month the file itself
decides. Results: words, booleans or HTTP statuses. A word that states no result gives none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats.jsonl import CLOCK, TIME, first_of
from forensics.model.frames import most
from forensics.model.plug import Parsed
from forensics.model.schema import FRAMES, conform
from forensics.sources import clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

STATUS = (
    "status", "state", "ok", "up", "result", "success", "healthy", "is_up", "alive", "outcome", "last_status",
    "estado", "situacao", "situação", "resultado", "zustand",
)  # fmt: skip
UP = (
    "up", "ok", "okay", "true", "1", "healthy", "success", "successful", "succeeded", "pass", "passed", "passing",
    "online", "alive", "operational", "reachable", "available", "good", "green", "normal", "active",
    "ativo", "no ar", "disponível", "disponivel", "sucesso", "saudável", "sim", "yes",
)  # fmt: skip
SLOW = ("degraded", "warn", "warning", "slow", "alerta", "aviso", "lento", "degradado", "yellow")
"""The service answered, less well than it should: no failure."""
DOWN = (
    "down", "fail", "failed", "failure", "failing", "error", "err", "false", "0", "crit", "critical", "unhealthy", "offline",
    "timeout", "timed out", "timedout", "unreachable", "dead", "outage", "red", "unavailable", "no", "exception",
    "erro", "falha", "fora", "fora do ar", "indisponível", "indisponivel", "caiu", "caído", "caido", "crítico", "critico", "não", "nao",
)  # fmt: skip
PENDING = ("pending", "retry", "retrying", "unconfirmed_down", "pendente")
PAUSED = ("maintenance", "paused", "manutenção", "manutencao", "pausado", "disabled")
TARGET = (
    "target", "url", "monitor", "name", "check", "host", "endpoint", "service", "site", "alvo", "servico", "serviço", "monitor_name", "probe", "path", "route", "monitor_tag",
    "target_name", "check_name", "endpoint_name", "probe_name", "instance",
)  # fmt: skip
AFTER = ("after_failures", "failures", "failure_count", "consecutive_failures", "falhas", "retries")
"""How many failed checks in a row made an alert."""
LATENCY = (
    "latency_ms", "duration_ms", "ping", "response_time_ms", "latency", "ms", "elapsed_ms", "rtt_ms", "response_ms", "took_ms",
    "responsetime", "response_time", "latencia_ms", "latência_ms", "tempo_ms", "tempo_resposta_ms", "latencia", "latência", "dauer_ms", "rtt",
)  # fmt: skip
LATENCY_S = (
    "latency_s", "duration_s", "response_time_s", "elapsed_s", "seconds", "time_total", "latencia_s", "tempo_s",
    "duration_seconds", "response_time_seconds", "latency_seconds", "time_s",
)  # fmt: skip
"""Names whose values are seconds, also where only the name of curl's variable says so."""
HTTP = (
    "http_status",
    "status_code",
    "code",
    "http_code",
    "httpcode",
    "statuscode",
    "codigo",
    "codigo_http",
    "response_code",
)
ERROR = (
    "error",
    "err",
    "reason",
    "message",
    "msg",
    "erro",
    "motivo",
    "mensagem",
    "detail",
    "details",
    "grund",
)
EVENT = ("event", "evento")
VALUE = (
    "connections", "conns", "active", "used", "in_use", "sessions", "numbackends", "conexoes", "conexões", "conn", "current", "busy",
    "open", "checked_out", "active_connections", "num_connections", "usado", "em_uso", "total_connections", "value", "count", "valor", "qtd",
)  # fmt: skip
LIMIT = (
    "max_connections", "max", "limit", "capacity", "size", "maximum", "max_conn", "max_conns", "pool_size", "limite", "maximo", "máximo",  # codespell:ignore limite
    "maxclients", "total",
)  # fmt: skip
LEVEL = ("level", "status", "state", "nivel", "nível", "estado", "severity")
SERIES = ("series", "metric", "pool", "resource", "db", "datname", "database", "name", "metrica", "recurso")
FOREIGN = frozenset(
    {
        "connections", "max_connections", "log", "cursor", "request", "remote_addr", "client_ip", "remote_ip", "user_agent",
        "http_user_agent", "method", "request_method", "logger", "msgid", "insert_id", "trace_id", "span_id",
    }
)  # fmt: skip
"""Fields that no probe's result has: they mark the log of a program, of a gateway, or a gauge."""

LOGGED = frozenset({"log", "cursor", "target", "url", "msg", "message", "logger", "method"})
"""Fields that no gauge has."""

OFFSET = r"(?:[Zz]|[+-]\d\d(?::?\d\d)?)$"
ISO_LOCAL = r"^\d{4}[-/]\d\d?[-/]\d\d?[T ]\d\d?:\d\d"
WRITTEN = r"^(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})[/.-](?P<year>\d{4}|\d\d)(?:,? +|T)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<fraction>[.,]\d+)?)?(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d))?$"
NAMED = (
    "%a %b %d %Y %H:%M:%S GMT%z",  # JavaScript's Date.toString
    "%a, %d %b %Y %H:%M:%S %z",  # RFC 2822, HTTP
    "%a %b %d %H:%M:%S %z %Y",
    "%d/%b/%Y:%H:%M:%S %z",  # combined log
    "%a %d %b %Y %I:%M:%S %p %z",  # date(1) of glibc
)
NAMED_LOCAL = (
    "%a %b %d %H:%M:%S %Y",
    "%a %d %b %Y %I:%M:%S %p",
    "%a %d %b %Y %H:%M:%S",
    "%d %b %Y %H:%M:%S",
    "%b %d, %Y %H:%M:%S",
)
EITHER_ORDER = "its dates can be read day first or month first and nothing in the file decides: {n} rows have no time; export ISO dates"
DAY_US = 86_400_000_000
CLOSE_DAYS, FAR_DAYS = 2, 20
"""A file whose days follow one another in one reading and lie weeks apart in the other is read in the first."""
PORTUGUESE = frozenset(
    {"data", "hora", "estado", "situacao", "situação", "latencia_ms", "latencia", "valor", "limite", "servico", "serviço", "conexoes", "conexões", "erro", "data_hora", "horario"}  # codespell:ignore limite
)  # fmt: skip
"""Names of fields that show that people who write the day first made the file."""


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a column: ``ts`` in microseconds, ``naive`` where it is a wall clock, and what was assumed."""

    frame: pl.DataFrame
    notes: tuple[str, ...]


def times(written: pl.Series, names: Iterable[str] = ()) -> Times:
    """Read a column of times; ``names`` are the fields beside it, whose language tells the order of day and month."""
    text = pl.col("text")
    tidy = (
        text.str.strip_chars()
        .str.replace(r" m=[+-][\d.]+$", "")
        .str.replace(r"([+-]\d\d:?\d\d) (?:UTC|[A-Z]{3,5}|[+-]\d\d(?:\d\d)?)$", "$1")
        .str.replace(r" ?(?:UTC|GMT)$", "Z")
        .str.replace(r" ([+-]\d\d:?\d\d)$", "$1")
        .str.replace(r"^(\d{4})/(\d\d?)/(\d\d?)", "$1-$2-$3")
        .str.replace(r"^(\d{4}-\d\d?-\d\d?[T ]\d\d?:\d\d)([Zz]|[+-]\d\d:?\d\d)?$", "$1:00$2")
    )
    frame = pl.DataFrame({"text": written.cast(pl.String)}).with_columns(text=tidy)
    number = text.str.contains(r"^\d{9,19}(?:[.,]\d+)?$")
    local = (
        pl.when(text.str.contains(ISO_LOCAL) & ~text.str.contains(rf"\d{OFFSET}"))
        .then(text.str.replace("T", " ", literal=True).str.replace(",", ".", literal=True))
        .str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
        .dt.epoch("us")
    )
    spelled = text.str.replace(r" \([^)]*\)$", "").str.replace(r"Z$", " +0000").str.replace(r"GMT \+", "GMT+")
    named = [
        spelled.str.to_datetime(pattern, time_unit="us", strict=False).dt.epoch("us") for pattern in NAMED
    ]
    plain = [
        text.str.to_datetime(pattern, time_unit="us", strict=False).dt.epoch("us") for pattern in NAMED_LOCAL
    ]
    zoned = clock.abbreviated(text.str.replace(" ", "T", literal=True).str.replace(",", ".", literal=True))
    frame = frame.with_columns(
        stated=pl.coalesce(
            pl.when(number).then(clock.epoch_any(text)), pl.when(~number).then(clock.iso(text)), zoned, *named
        ),
        wall=pl.coalesce(local, *plain),
    )
    left = frame["stated"].is_null() & frame["wall"].is_null() & frame["text"].str.contains(WRITTEN)
    notes: tuple[str, ...] = ()
    if left.any():
        ordered, said = day_or_month(frame["text"], {name.lower() for name in names})
        notes = (said,) if said else ()
        frame = frame.with_columns(ordered)
        frame = frame.with_columns(
            stated=pl.coalesce("stated", "written"), wall=pl.coalesce("wall", "written_wall")
        )
    return Times(
        frame.select(
            ts=pl.coalesce("stated", "wall"), naive=pl.col("stated").is_null() & pl.col("wall").is_not_null()
        ),
        notes,
    )


def day_or_month(texts: pl.Series, names: set[str]) -> tuple[pl.DataFrame, str | None]:
    """Read dates written as 03/04/2026 in the order that the file proves: (columns ``written`` and ``written_wall``, a note).

    Points mean day first. A number above 12, or days that follow one another in one reading only, decide; then the
    language of the fields. Where nothing does, the times stay null.
    """
    parts = pl.DataFrame({"t": texts}).select(pl.col("t").str.extract_groups(WRITTEN)).unnest("t")
    if texts.is_not_null().sum() and parts["a"].is_null().all():
        parts = parts.with_columns(pl.all().cast(pl.String))
    day_first, month_first = (built(parts, day, month) for day, month in (("a", "b"), ("b", "a")))
    first, second = parts["a"].cast(pl.Int64), parts["b"].cast(pl.Int64)
    read = parts["a"].is_not_null()
    said: str | None = None
    chosen: pl.Series | None = None
    if (parts["sep"] == ".").any() or ((first > 12).any() and not (second > 12).any()):
        chosen = day_first
    elif (second > 12).any() and not (first > 12).any():
        chosen = month_first
    elif not (first > 12).any():
        by_day, by_month = (leap(reading) for reading in (day_first, month_first))
        if (first == second).filter(read).all() or (by_day <= CLOSE_DAYS and by_month > FAR_DAYS):
            chosen = day_first
        elif by_month <= CLOSE_DAYS and by_day > FAR_DAYS:
            chosen = month_first
        elif names & PORTUGUESE:
            chosen, said = day_first, "its dates are taken day first, as its Portuguese field names suggest"
    if chosen is None:
        said, chosen = EITHER_ORDER.format(n=int(read.sum())), pl.Series([None] * len(texts), dtype=pl.Int64)
    zone = parts["zone"].fill_null("")
    sign = zone.str.starts_with("-").cast(pl.Int64) * -2 + 1
    hours = zone.str.extract(r"^[+-](\d\d)").cast(pl.Int64).fill_null(0)
    minutes = zone.str.extract(r"^[+-]\d\d:?(\d\d)").cast(pl.Int64).fill_null(0)
    stated = (zone != "").rename("stated")
    utc = chosen - sign * (hours * 3600 + minutes * 60) * 1_000_000
    frame = pl.DataFrame({"chosen": chosen, "utc": utc, "stated": stated})
    return frame.select(
        written=pl.when("stated").then("utc"), written_wall=pl.when(~pl.col("stated")).then("chosen")
    ), said


def built(parts: pl.DataFrame, day: str, month: str) -> pl.Series:
    """Return the wall clock of dates whose day and month are these groups."""
    whole = {
        name: pl.col(name).cast(pl.Int32, strict=False)
        for name in ("hour", "minute", "second", "year", day, month)
    }
    half = pl.col("half").str.to_lowercase()
    hour = (
        pl.when(half.is_null())
        .then(whole["hour"])
        .otherwise(whole["hour"] % 12 + 12 * (half == "p").cast(pl.Int32))
    )
    year = pl.when(whole["year"] < 100).then(whole["year"] + 2000).otherwise(whole["year"])
    written = pl.concat_str(
        year.cast(pl.String),
        *[
            part.cast(pl.String).str.zfill(2)
            for part in (whole[month], whole[day], hour, whole["minute"], whole["second"].fill_null(0))
        ],
        separator="-",
    )
    fraction = (
        pl.concat_str(pl.lit("0."), pl.col("fraction").str.slice(1)).cast(pl.Float64, strict=False) * 1e6
    ).round()
    stamp = written.str.to_datetime("%Y-%m-%d-%H-%M-%S", time_unit="us", strict=False).dt.epoch("us")
    return parts.select(stamp + fraction.cast(pl.Int64).fill_null(0)).to_series()


def leap(reading: pl.Series) -> float:
    """Return the longest step between two neighbouring times, in days; unreadable ones are infinitely far."""
    if reading.null_count():
        return float("inf")
    steps = reading.sort().diff().drop_nulls()
    return (most(steps) or 0) / DAY_US


def column(frame: pl.DataFrame, expression: pl.Expr) -> pl.Series:
    """Return an expression as a column of the frame's height, also where it is a constant."""
    return frame.with_columns(expression.alias("it")).get_column("it")


def time_columns(frame: pl.DataFrame, given: str | None = None) -> Times:
    """Read the times of a table of strings: one field, or a date and a time of day beside it."""
    moment = column(frame, first_of(frame, TIME, given))
    names = [name for name in frame.columns if name != "line"]
    of_day = [name for name in CLOCK if name in frame.columns]
    bare = moment.str.strip_chars().str.contains(r"^\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}$").fill_null(value=False)
    if of_day and bare.any():
        dates = column(frame, first_of(frame, [name for name in TIME if name != of_day[0]]))
        moment = dates.str.strip_chars() + " " + frame[of_day[0]].str.strip_chars()
    elif not of_day and "time" in frame.columns and "date" in frame.columns:
        moment = frame["date"] + " " + frame["time"]
    return times(moment, names)


def result(status: pl.Expr) -> pl.Expr:
    """Return up, down, pending or maintenance for what a field says; null where it states no result."""
    word = status.str.strip_chars().str.to_lowercase()
    code = word.str.extract(r"^(?:http[ /]?)?([1-9]\d\d)(?: .*)?$").cast(pl.Int32, strict=False)
    return (
        pl.when(word.is_in([*UP, *SLOW]))
        .then(pl.lit("up"))
        .when(word.is_in([*DOWN, "000"]))
        .then(pl.lit("down"))
        .when(word.is_in(PENDING))
        .then(pl.lit("pending"))
        .when(word.is_in(PAUSED))
        .then(pl.lit("maintenance"))
        .when(code.is_between(100, 399))
        .then(pl.lit("up"))
        .when(code.is_between(400, 599))
        .then(pl.lit("down"))
    )


def decimal(written: pl.Expr) -> pl.Expr:
    """Return a number written with a decimal point or comma, with or without a unit behind it."""
    bare = written.str.strip_chars().str.replace(r" ?(?:ms|s|%)$", "")
    return (
        pl.when(bare.str.contains(r"^-?\d{1,3}(?:\.\d{3})+,\d+$"))
        .then(bare.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True))
        .when(bare.str.contains(r"^-?\d+,\d+$"))
        .then(bare.str.replace(",", ".", literal=True))
        .otherwise(bare)
        .cast(pl.Float64, strict=False)
    )


def probes(table: pl.DataFrame, fields: Mapping[str, str], monitor: str = "probe") -> Parsed:
    """Read results and alerts of a table of strings whose fields are found by name.

    ``fields`` are the names that the case file gives; ``monitor`` names rows without a target.
    """
    read = time_columns(table, fields.get("time"))
    status = first_of(table, STATUS, fields.get("status"))
    code = decimal(first_of(table, HTTP, fields.get("http_status")))
    in_status = status.str.extract(r"^ *([1-5]\d\d)\b").cast(pl.Float64, strict=False)
    milliseconds = decimal(first_of(table, LATENCY, fields.get("latency_ms")))
    seconds = decimal(first_of(table, LATENCY_S))
    rows = table.with_columns(read.frame).with_columns(
        monitor=first_of(table, TARGET, fields.get("target")).fill_null(monitor),
        event=first_of(table, EVENT),
        state=status.str.strip_chars().str.to_lowercase(),
        status=pl.coalesce(result(status), result(code.cast(pl.Int64, strict=False).cast(pl.String))),
        latency_ms=pl.coalesce(milliseconds, seconds * 1000),
        http_status=pl.coalesce(code, in_status).cast(pl.Int16, strict=False),
        error=first_of(table, ERROR, fields.get("error")),
    )
    slow = pl.col("state").is_in(SLOW) & (pl.col("status") == "up")
    rows = rows.with_columns(error=pl.when(slow).then(pl.coalesce("error", "state")).otherwise("error"))
    beats = rows.filter(pl.col("event").is_null() & pl.col("status").is_not_null())
    silent = rows.filter(pl.col("event").is_null() & pl.col("status").is_null())
    many = first_of(table, AFTER, None).cast(pl.Float64, strict=False).cast(pl.Int64, strict=False)
    said = pl.concat_str(pl.lit("after "), pl.col("many"), pl.lit(" failures"))
    alerts = rows.with_columns(many=many).filter(pl.col("event").is_not_null())
    alerts = alerts.with_columns(text=pl.when(pl.col("many") > 0).then(said).otherwise("event"))
    return Parsed(
        beats=some(beats),
        alerts=some(alerts),
        notes=(*read.notes, *no_result(silent["state"])),
        in_records=rows.height,
    )


def no_result(words: pl.Series) -> tuple[str, ...]:
    """Say how many rows state no result and what they say instead."""
    if not len(words):
        return ()
    said = words.drop_nulls().unique().sort().head(3).to_list()
    shown = ", ".join(repr(str(word)[:40]) for word in said)
    return (
        f"{len(words)} rows state no result ({shown}) and count neither as up nor as down"
        if shown
        else f"{len(words)} rows state no result and count neither as up nor as down",
    )


def gauges(table: pl.DataFrame, fields: Mapping[str, str], series: str = "connections") -> Parsed:
    """Read the samples of a table of strings whose fields are found by name."""
    read = time_columns(table, fields.get("time"))
    rows = table.with_columns(read.frame).with_columns(
        series=first_of(table, SERIES, fields.get("series")).fill_null(series),
        value=decimal(first_of(table, VALUE, fields.get("value"))),
        limit=decimal(first_of(table, LIMIT, fields.get("limit"))),
        level=first_of(table, LEVEL, fields.get("level")),
    )
    empty = int(rows["value"].null_count())
    notes = (f"{empty} rows have no readable value",) if empty else ()
    return Parsed(samples=some(rows), in_records=rows.height, notes=(*read.notes, *notes))


def some(frame: pl.DataFrame) -> pl.DataFrame | None:
    """Return a frame, None where it has no rows."""
    return frame if frame.height else None


def kind_of(names: Iterable[str], fields: Mapping[str, str] | None = None) -> str | None:
    """Tell what rows with these fields are: ``gauges``, ``probes`` or neither."""
    have = set(names)
    given = set(fields or {})
    gauge = have & set(VALUE) and have & set(LIMIT) - {"total"} and not have & LOGGED
    if "value" in given or gauge:
        return "gauges"
    dated = bool(have & set(TIME)) or "time" in given
    if dated and ("status" in given or have & {*STATUS, *HTTP}) and not have & FOREIGN:
        return "probes"
    return None


def rows_of(table: pl.DataFrame, fields: Mapping[str, str], name: str) -> Parsed:
    """Read a table as what its fields say it is."""
    if kind_of(table.columns, fields) == "gauges":
        return gauges(table, fields, name if "value" in fields else "connections")
    return probes(table, fields, name)


def framed(name: str, rows: Sequence[Mapping[str, object]]) -> pl.DataFrame | None:
    """Return rows as a frame of the digest (``beats``, ``samples`` or ``alerts``); None where there are none.

    A row that does not say otherwise is not naive.
    """
    if not rows:
        return None
    full = [{"naive": False, **row} for row in rows]
    return pl.DataFrame(full, schema=FRAMES[name], strict=False)


def joined(parts: Sequence[Parsed], notes: Iterable[str] = ()) -> Parsed:
    """Return what several lists of one file say together."""
    kinds = ("beats", "samples", "alerts")
    have = {kind: [found for part in parts if (found := getattr(part, kind)) is not None] for kind in kinds}
    beats, samples, alerts = (
        pl.concat([conform(frame, FRAMES[kind]) for frame in have[kind]]) if have[kind] else None
        for kind in kinds
    )
    said = dict.fromkeys([*notes, *(note for part in parts for note in part.notes)])
    return Parsed(beats=beats, samples=samples, alerts=alerts, notes=tuple(said))


def moments(texts: Sequence[str | None]) -> list[int | None]:
    """Return stated instants of a few texts in microseconds UTC; a time without a zone is taken as it stands."""
    return times(pl.Series(texts, dtype=pl.String)).frame["ts"].to_list()
