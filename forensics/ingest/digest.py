"""From understood lines to what remains of them: counts, and the few rows that may matter.

Everything here is a group-by or a filter over the rows of one shard; nothing depends on other shards. Caps keep
the smallest lines first, so that joining shards and capping again gives the same rows whatever the cut.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from forensics.formats import heads
from forensics.formats.postgres_session import from_prefix
from forensics.ingest.understand import route, template
from forensics.model.schema import FRAMES, QUARTER, ROWS_PER_MINUTE, SLOW_MS, SUCCESSES_PER_MINUTE

if TYPE_CHECKING:
    from forensics.signatures import Matcher

SECOND = 1_000_000
MINUTE = 60 * SECOND
ARRIVALS_PER_MINUTE = 12
"""A client that asks for one route more often than this within a minute is no probe."""
HITS_PER_MINUTE = 2000
"""Rows kept per signature and minute; counts stay exact beyond it."""
SERVER_LOGS = ("postgres", "postgres_epoch")
"""Formats whose prefix may name whose session a line is about."""
SERVER_ERROR = "http.server-error"
"""The signature of a request that was answered with 5xx."""
PROBE_METHODS = ("GET", "HEAD", "OPTIONS", "POST")
LANES = 4
KEPT_BYTES = 300
"""Lines up to this length are cut by no export, not even for the screen."""
MANGLED = r"[\x00-\x1f\x7f-\x{9f}\x{fffd}\x{2026}]|blob data\]$"
"""Control characters and bytes that are no UTF-8, which text exports replace, and what they put in their place."""
STREAM = ("service", "pid", "stream")
NO_ECHO = r"^\s*(?:\| ?\S|\[cause\]: |File \"|Caused by: |Process \d+ waits for |system usage: CPU)"
"""Indented lines that a traceback does not echo from a source: branches of a group, causes, frames; and those of PostgreSQL's own entries."""
FRAME = r"^\s+at \S"
"""A frame of a stack as JavaScript and Java print it below the message."""
IN_ONE_LINE = r"Traceback \(most recent call last\)|\\n\s+at "
"""A traceback that was put into one line, by a JSON logger."""
BRANCH = r"Exception ?Group"
BRANCHES = re.compile(r"\+-\+?-{4,} ?(?:\d+|\.\.\.) ?-{4,}")
"""What parts the branches of an ExceptionGroup (CPython Lib/traceback.py)."""
RETRY = r"(?i)\bretrying\b|\bwill (?:be )?retr(?:y|ied)\b|\bretry(?: attempt)? #?\d+(?:/| of )\d+"
"""What a program says when it tries again: an attempt has failed, the operation not yet."""
TEMPLATES = 20_000
"""Templates kept per shard: those with the smallest hash, so that capping after joining gives the same ones."""


def reduce(events: pl.DataFrame, matcher: Matcher) -> dict[str, pl.DataFrame]:
    """Reduce the rows of one shard to the frames of a Digest (lines still counted from the shard's start)."""
    events = events.with_columns(second=pl.col("ts") // SECOND, minute=pl.col("ts") // MINUTE)
    dated = events.filter(pl.col("ts").is_not_null())
    requests = dated.filter(pl.col("kind") == "request").with_columns(route=route(pl.col("path")))
    numbered = number(events)
    frames = {
        "seconds": seconds(dated),
        "formats": events.filter(pl.col("format").is_not_null())
        .group_by("service", "format")
        .agg(n=pl.len()),
        "sketch": sketch(dated),
        "chain": chain(events),
        "lags": lags(dated),
        "templates": templates(dated),
        "processes": processes(dated),
        "samples": dated.filter(pl.col("kind") == "sample").with_columns(
            pl.col("series").fill_null(pl.col("service"))
        ),
        **edges(numbered),
    }
    # A small file says little, and asking frames without rows takes as long as asking full ones.
    if requests.height:
        frames |= asked(requests)
    if dated["duration_ms"].null_count() < dated.height:
        frames |= {"calls": calls(dated), "quick_calls": quick_calls(dated)}
    found = matcher.match(numbered["message"])
    ended = pl.col("signature").is_in(list(matcher.successes))
    frames["successes"] = successes(numbered, found.filter(ended))
    return frames | failures(find_hits(numbered, matcher, found.filter(~ended)))


def asked(requests: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return what requests say: counts per route, those that failed or took long, and when seldom ones came."""
    failed = requests.filter(pl.col("status") >= 500)
    return {
        "routes": routes(requests),
        "failed": failed.filter(pl.int_range(pl.len()).over("service", "route", "minute") < ROWS_PER_MINUTE),
        "slow": slow(requests),
        **arrivals(requests),
    }


def failures(hits: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return hits up to a number per minute, and how many there were."""
    if not hits.height:
        return {}
    return {
        "hits": hits.filter(pl.int_range(pl.len()).over("service", "signature", "minute") < HITS_PER_MINUTE),
        "hit_counts": hits.filter(pl.col("ts").is_not_null())
        .group_by("service", "naive", "minute", "signature")
        .agg(n=pl.len()),
    }


def successes(events: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Keep the name of what succeeded, hashed: such lines may be most of a log, and few of them end anything that failed."""
    if not found.height:
        return pl.DataFrame()
    name = pl.col("parameters").str.extract(r'^\{"\w+":"((?:[^"\\]|\\.)*)"\}$').hash()
    rows = events.select("row", "service", "naive", "ts", "minute", "line").join(found, on="row")
    dated = rows.filter(pl.col("ts").is_not_null()).sort("row").with_columns(name=name)
    return dated.filter(pl.int_range(pl.len()).over("service", "signature", "minute") < SUCCESSES_PER_MINUTE)


def spans() -> list[pl.Expr]:
    """Return the first and last line of a group, and their number."""
    return [
        pl.len().alias("n"),
        pl.col("line").min().alias("first_line"),
        pl.col("line").max().alias("last_line"),
    ]


def seconds(dated: pl.DataFrame) -> pl.DataFrame:
    """Count lines per service, kind and second; requests answered with 5xx are a kind of their own."""
    kind = (
        pl.when((pl.col("kind") == "request") & (pl.col("status") >= 500))
        .then(pl.lit("failed"))
        .otherwise(pl.col("kind"))
        .alias("kind")
    )
    return (
        dated.with_columns(kind)
        .group_by("service", "kind", "naive", "second")
        .agg(*spans(), first_us=pl.col("ts").min(), last_us=pl.col("ts").max())
    )


def sketch(dated: pl.DataFrame) -> pl.DataFrame:
    """Sum message hashes per minute: equal sums in two sources mean that they hold the same lines.

    Only lines that every export keeps as they are take part; others are cut, masked or dropped by some. What one export lost
    all the same spoils one lane of its minute, not the minute: lanes divide the lines by their own hash.
    """
    kept = dated.select(
        "service", "ident", "naive", "minute", text=pl.col("message").str.strip_chars()
    ).filter(pl.col("text").str.len_bytes().is_between(1, KEPT_BYTES) & ~pl.col("text").str.contains(MANGLED))
    hashed = kept.with_columns(hash=pl.col("text").hash()).with_columns(
        lane=(pl.col("hash") % LANES).cast(pl.UInt8), hash=pl.col("hash") // (1 << 24)
    )
    return hashed.group_by("service", "ident", "naive", "minute", "lane").agg(
        n=pl.len(), hash=pl.col("hash").sum()
    )


def chain(events: pl.DataFrame) -> pl.DataFrame:
    """Say per minute of a boot's own clock which numbers a journal has, and how far the wall clock is ahead."""
    if events["mono_us"].null_count() == events.height:
        return pl.DataFrame(schema={name: FRAMES["chain"][name] for name in FRAMES["chain"]})
    known = events.filter(~pl.col("cont") & pl.col("mono_us").is_not_null() & pl.col("seq").is_not_null())
    offset = pl.col("receipt_us") - pl.col("mono_us")
    rows = known.select(
        "boot",
        "seq_id",
        "seq",
        parts=pl.col("parts").fill_null(1),
        mono="mono_us",
        offset=offset,
        at="line",
        mono_minute=pl.col("mono_us") // MINUTE,
    ).sort("mono", "seq", maintain_order=True)
    edges = {
        f"{edge}_{name}": getattr(pl.col(name), edge)()
        for edge in ("first", "last")
        for name in ("mono", "offset", "at")
    }
    return rows.group_by("boot", "seq_id", "mono_minute").agg(
        n=pl.col("parts").sum(), first_seq=pl.col("seq").min(), last_seq=pl.col("seq").max(), **edges
    )


def lags(dated: pl.DataFrame) -> pl.DataFrame:
    """Say per service how much later lines arrived than the program wrote them.

    A time without a zone tells it but for the quarters of an hour that zones differ by; those are kept apart.
    """
    both = dated.filter(pl.col("own_us").is_not_null() & (pl.col("own_naive") | ~pl.col("naive")))
    if not both.height:
        return pl.DataFrame(schema=FRAMES["lags"])
    lag = pl.col("ts") - pl.col("own_us")
    quarter = pl.when(pl.col("own_naive")).then((lag / QUARTER).round().cast(pl.Int64)).otherwise(0)
    rows = both.select("service", "line", quarter=quarter, lag=lag - quarter * QUARTER).sort("lag", "line")
    return rows.group_by("service", "quarter", maintain_order=True).agg(
        n=pl.len(),
        least=pl.col("lag").first(),
        most=pl.col("lag").last(),
        most_line=pl.col("line").filter(pl.col("lag") == pl.col("lag").last()).min(),
    )


def routes(requests: pl.DataFrame) -> pl.DataFrame:
    """Count requests per route, status and minute."""
    return requests.group_by("service", "naive", "minute", "method", "route", "status").agg(
        *spans(),
        slowest_ms=pl.col("duration_ms").max(),
        timed=pl.col("duration_ms").count(),
        slow=(pl.col("duration_ms") >= SLOW_MS).sum(),
    )


def slow(requests: pl.DataFrame) -> pl.DataFrame:
    """Keep requests that took long and did not fail, with their duration."""
    answered = (pl.col("status") < 500).fill_null(value=True)
    rows = requests.filter(answered & (pl.col("duration_ms") >= SLOW_MS))
    return rows.filter(pl.int_range(pl.len()).over("service", "route", "minute") < ROWS_PER_MINUTE)


def templates(dated: pl.DataFrame) -> pl.DataFrame:
    """Count log messages, and the exceptions that end tracebacks, per template and minute."""
    trace = (pl.col("kind") == "trace") & pl.col("ends")
    logs = dated.filter((pl.col("kind") == "log") | trace).with_columns(
        template=template(pl.col("body")), trace=trace
    )
    counted = (
        logs.group_by("service", "naive", "minute", "template", "trace", "level")
        .agg(*spans())
        .with_columns(key=pl.col("template").hash())
    )
    return smallest(counted)


def smallest(counted: pl.DataFrame) -> pl.DataFrame:
    """Keep the templates with the smallest hashes, all their minutes."""
    keys = counted["key"].unique().sort()
    return counted if len(keys) <= TEMPLATES else counted.filter(pl.col("key") <= keys[TEMPLATES - 1])


def calls(dated: pl.DataFrame) -> pl.DataFrame:
    """Keep outgoing operations that took long, with their duration."""
    slow = dated.filter((pl.col("kind") == "log") & (pl.col("duration_ms") >= SLOW_MS))
    slow = slow.with_columns(op=template(pl.col("body")))
    return slow.filter(pl.int_range(pl.len()).over("service", "op", "minute") < ROWS_PER_MINUTE)


def quick_calls(dated: pl.DataFrame) -> pl.DataFrame:
    """Keep some of the outgoing operations that took their usual time: when they ended tells how clocks stand."""
    quick = dated.filter((pl.col("kind") == "log") & (pl.col("duration_ms") < SLOW_MS))
    quick = quick.with_columns(op=template(pl.col("body")))
    return quick.filter(pl.int_range(pl.len()).over("service", "op", "minute") < ARRIVALS_PER_MINUTE)


def processes(dated: pl.DataFrame) -> pl.DataFrame:
    """Say from when to when each process of a service printed lines."""
    named = dated.filter(pl.col("pid").is_not_null() & (pl.col("kind") != "trace") & pl.col("unit").is_null())
    return named.group_by("service", "naive", "pid", "boot").agg(
        *spans(), first_us=pl.col("ts").min(), last_us=pl.col("ts").max()
    )


def arrivals(requests: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Keep when each client asked for each route while that is seldom; a frequent one saturates for good."""
    keys = ["service", "method", "route", "client", "agent"]
    named = requests.filter(pl.col("method").is_in(PROBE_METHODS)).with_columns(
        pl.col("client", "agent").fill_null("")
    )
    busy = (
        named.group_by(*keys, "minute")
        .len()
        .filter(pl.col("len") > ARRIVALS_PER_MINUTE)
        .select(keys)
        .unique()
    )
    return {"arrivals": named.join(busy, on=keys, how="anti"), "saturated": busy}


def find_hits(events: pl.DataFrame, matcher: Matcher, found: pl.DataFrame) -> pl.DataFrame:
    """Number the failures that lines belong to; ``events`` are numbered (:func:`number`), ``found`` is what the catalogue matches of them.

    Source text that a traceback echoes (an indented line) never counts; its frames, branches and causes do. ``fid`` grows with
    every record of a stream and with every exception that no chain mark ties to the one before it. ``head`` is how the record
    begins, ``retry`` says that the program tries again, ``operation`` names what failed where the text tells it, ``times`` counts
    the branches of a group that stands in one line, ``peer`` says whose session a database server's
    line is about, and ``framed`` that a stack stands below.
    """
    found = pl.concat([found, server_errors(events, found, matcher)])
    if not found.height:
        return events.head(0).join(found, on="row", how="inner")
    hits = events.join(found, on="row", how="inner", maintain_order="left")
    text = pl.col("message")
    echoed = text.str.contains(r"^\s") & ~text.str.contains(NO_ECHO) & (pl.col("kind") == "trace")
    hits = concluded(hits.filter(~echoed), events, matcher)
    starts = heading(events).select("sid", head_row="row", head=text)
    hits = hits.join_asof(
        starts, left_on="row", right_on="head_row", by="sid", strategy="backward", check_sortedness=False
    )
    return named(hits, matcher).with_columns(
        ends_traceback=pl.col("ends") | text.str.contains(IN_ONE_LINE),
        framed=pl.struct("sid", "fid").is_in(
            events.filter(pl.col("mark") == "F").select(pl.struct("sid", "fid")).to_series().implode()
        ),
        head=template(pl.col("head")),
        retry=text.str.contains(RETRY),
        peer=pl.coalesce("peer", pl.when(pl.col("format").is_in(SERVER_LOGS)).then(from_prefix(text))),
    )


def server_errors(events: pl.DataFrame, found: pl.DataFrame, matcher: Matcher) -> pl.DataFrame:
    """Return requests answered with 5xx of which no text of the catalogue tells: a log in JSON has the status in a field."""
    failed = events.filter((pl.col("kind") == "request") & pl.col("status").is_between(500, 599))
    if SERVER_ERROR not in matcher.signatures or not failed.height:
        return found.clear()
    told = failed.join(found, on="row", how="anti")
    said = pl.concat_str(pl.lit('{"status":"'), "status", pl.lit('"}'))
    return told.select(
        pl.col("row").cast(found.schema["row"]), signature=pl.lit(SERVER_ERROR), parameters=said
    )


def heading(events: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that begin records: a request's line stands between the lines of others, and heads no traceback."""
    return events.filter(pl.col("starts") & (pl.col("kind") != "request"))


def concluded(hits: pl.DataFrame, events: pl.DataFrame, matcher: Matcher) -> pl.DataFrame:
    """Leave out hits whose traceback ends with another exception than their signature says."""
    wanted = hits.filter(pl.col("signature").is_in(list(matcher.then)))
    if not wanted.height:
        return hits
    last = events.filter("ends").group_by("sid", "record").agg(last=pl.col("message").last())
    wanted = wanted.join(last, on=["sid", "record"], how="left", maintain_order="left")
    wrong = [
        (row, signature)
        for row, signature, text in wanted.select("row", "signature", "last").iter_rows()
        if text is None or not matcher.then[signature].search(text)
    ]
    table = pl.DataFrame(wrong, schema={"row": pl.UInt32, "signature": pl.String}, orient="row")
    return hits.join(table, on=["row", "signature"], how="anti")


def named(hits: pl.DataFrame, matcher: Matcher) -> pl.DataFrame:
    """Add the operation that a line names, and how often one line tells of its failure; few lines are of either kind."""
    operation: list[str | None] = [None] * hits.height
    times = [1] * hits.height
    grouped = hits["message"].str.contains(BRANCH) & hits["message"].str.contains("\\n", literal=True)
    known = hits["signature"].is_in(list(matcher.operation))
    for index in (grouped | known).fill_null(value=False).arg_true():
        signature, message = hits["signature"][index], hits["message"][index]
        if (pattern := matcher.operation.get(signature)) and (said := pattern.search(message)):
            operation[index] = said[1]
        if grouped[index]:
            find = heads.finder(matcher.signatures[signature].pattern)
            times[index] = max(1, sum(bool(find(branch)) for branch in BRANCHES.split(message)[1:]))
    return hits.with_columns(
        pl.Series("operation", operation, dtype=pl.String), pl.Series("times", times, dtype=pl.UInt32)
    )


def number(events: pl.DataFrame) -> pl.DataFrame:
    """Add ``sid`` (the stream), ``record`` and ``fid``: 0 before the first record start of a stream in this shard, then 1, 2, …

    ``mark`` is X for an exception, C for what chains one to the next and F for a frame of a stack; an exception after another one or
    after a stack is a failure of its own unless it is chained.
    Exceptions and chain marks are few, so that all but the running sums is asked of their rows alone.
    """
    marked = events.with_columns(sid=pl.struct(STREAM).hash()).with_columns(
        record=pl.col("starts").cum_sum().over("sid"),
        mark=pl.when(pl.col("ends"))
        .then(pl.lit("X"))
        .when(pl.col("chains"))
        .then(pl.lit("C"))
        .when((pl.col("kind") == "trace") & pl.col("message").str.contains(FRAME))
        .then(pl.lit("F")),
    )
    marks = marked.filter(pl.col("mark").is_not_null()).select("row", "sid", "record", "ends", "mark")
    before = pl.col("mark").shift(1).over("sid", "record")
    again = marks.filter(pl.col("ends") & before.is_in(["X", "F"]) & (pl.col("record") > 0))["row"]
    if not len(again):
        return marked.with_columns(fid=pl.col("record"))
    return marked.with_columns(
        fid=(pl.col("starts") | pl.col("row").is_in(again.implode())).cum_sum().over("sid")
    )


def edges(numbered: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Say how each stream begins and ends, so that the fold can number failures across the cut."""
    last = (
        numbered.filter(pl.col("mark").is_not_null())
        .group_by("sid", maintain_order=True)
        .agg(last_mark=pl.col("mark").last(), mark_record=pl.col("record").last())
    )
    state = numbered.group_by("sid", maintain_order=True).agg(
        pl.col(*STREAM).first(),
        starts=pl.col("starts").sum(),
        last_fid=pl.col("fid").max(),
        last_record=pl.col("record").max(),
    )
    headed = heading(numbered).group_by("sid").agg(last_head=template(pl.col("message").last()))
    joined = state.join(last, on="sid", how="left").join(headed, on="sid", how="left")
    current = pl.when(pl.col("mark_record") == pl.col("last_record")).then("last_mark")
    marks = numbered.filter((pl.col("record") == 0) & pl.col("mark").is_not_null())
    another = pl.col("mark") != pl.col("mark").shift(1).over("sid")
    marks = marks.filter(another.fill_null(value=True) | (pl.col("mark") != "F"))
    return {"edges": joined.with_columns(last_mark=current), "edge_marks": marks}
