"""What series of Prometheus mean: probe results become beats, connections and pools samples with their limit.

Everything that exports series (API, promtool, a dump, a /metrics page) brings them into one table of points first. A series that is
absent says nothing; ``up`` 0 says that the scrape failed. Counters are no gauges and are left out.

Reference: prometheus/blackbox_exporter, prometheus-community/postgres_exporter, oliver006/redis_exporter, brettwooldridge/HikariCP (metrics).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from forensics.formats.state import some
from forensics.model.plug import Parsed

POINTS: dict[str, pl.DataType] = {
    "line": pl.UInt32(),
    "name": pl.String(),
    "labels": pl.String(),
    "ts": pl.Int64(),
    "value": pl.Float64(),
}
"""One value of one series; ``labels`` are written ``instance="a", job="b"``, without the name."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """A resource whose use and limit are two metrics."""

    use: str
    limits: tuple[str, ...]
    series: str
    key: str = ""
    """Label that tells several of them on one instance apart; everything else is summed."""
    only: str = ""
    """Pattern that the labels must match."""


GAUGES = (
    Gauge("pg_stat_activity_count", ("pg_settings_max_connections",), "postgres connections"),
    Gauge("pg_stat_database_numbackends", ("pg_settings_max_connections",), "postgres backends"),
    Gauge("mysql_global_status_threads_connected", ("mysql_global_variables_max_connections",), "mysql connections"),
    Gauge("redis_connected_clients", ("redis_config_maxclients", "redis_maxclients"), "redis clients"),
    Gauge("redis_blocked_clients", (), "redis blocked clients"),
    Gauge("hikaricp_connections_active", ("hikaricp_connections_max",), "pool hikaricp in use", "pool"),
    Gauge("hikaricp_connections_pending", (), "pool hikaricp waiting", "pool"),
    Gauge("jdbc_connections_active", ("jdbc_connections_max",), "pool jdbc in use", "name"),
    Gauge("go_sql_in_use_connections", ("go_sql_max_open_connections",), "pool database/sql in use", "db_name"),
    Gauge("db_client_connections_usage", ("db_client_connections_max",), "pool in use", "pool_name", 'state="used"'),
    Gauge("pgbouncer_pools_client_active_connections", ("pgbouncer_config_max_client_connections",), "pool pgbouncer clients"),
    Gauge("pgbouncer_pools_client_waiting_connections", (), "pool pgbouncer waiting"),
    Gauge("tomcat_threads_busy_threads", ("tomcat_threads_config_max_threads",), "threads tomcat busy", "name"),
    Gauge("process_open_fds", ("process_max_fds",), "process file descriptors"),
    Gauge("node_load1", (), "host load, 1 min"),
    Gauge("nodejs_eventloop_lag_seconds", (), "process event loop lag, s"),
)  # fmt: skip
PROBES = {"probe_success": "the probe failed", "up": "the scrape failed"}
"""Series of 0 and 1, and what 0 means."""
PARTS = ("probe_duration_seconds", "probe_http_status_code")
COUNTER = r"(?:_total|_bucket|_sum|_count|_created|_info)$"
FEW = 24
"""Other series of a file that are told: so many were asked for, more are a dump of everything."""
STALE = "Prometheus repeats a value for up to 5 minutes after the last scrape in a range query and shows only its step: a shorter outage does not appear in it"


def label(name: str) -> pl.Expr:
    """Return the value of one label."""
    return pl.col("labels").str.extract(rf'(?:^|, ?){name}="((?:[^"\\]|\\.)*)"')


def told(points: pl.DataFrame) -> Parsed:
    """Return what the points of some series say; the counts of lines are the caller's."""
    points = points.with_columns(
        naive=pl.lit(value=False),
        place=pl.coalesce(label("instance"), label("target"), label("server"), pl.lit("")),
    )
    stale = int((~points["value"].is_finite()).sum())
    finite = points.filter(pl.col("value").is_finite())
    used = [
        *PROBES,
        *PARTS,
        *(gauge.use for gauge in GAUGES),
        *(name for gauge in GAUGES for name in gauge.limits),
    ]
    rest = finite.filter(~pl.col("name").is_in(used))
    counters = rest.filter(pl.col("name").str.contains(COUNTER))
    rest = rest.filter(~pl.col("name").str.contains(COUNTER))
    others = rest.select("name", "labels").unique().height
    parts = [part for gauge in GAUGES if (part := samples_of(finite, gauge)).height]
    notes = []
    if stale:
        notes.append(f"{stale} values are NaN or infinite and say nothing")
    if counters.height:
        notes.append(
            f"{counters['name'].n_unique()} counters and constants are no gauges and were left out: query rate(NAME[5m])"
        )
    if others > FEW:
        notes.append(f"{others} other series were left out: query the ones that matter")
    elif others:
        written = (
            pl.when(pl.col("labels") == "")
            .then("name")
            .otherwise(pl.concat_str("name", pl.lit("{"), "labels", pl.lit("}")))
        )
        parts.append(
            rest.select(
                "line",
                "naive",
                "ts",
                "value",
                series=written.replace("", "result of the query"),
                limit=pl.lit(None, dtype=pl.Float64),
            )
        )
    samples = pl.concat(parts) if parts else None
    return Parsed(beats=some(beats_of(finite)), samples=samples, notes=tuple(notes))


def beats_of(points: pl.DataFrame) -> pl.DataFrame:
    """Return probe results with their latency and HTTP status, where these were exported too."""
    rows = points.filter(pl.col("name").is_in(list(PROBES)) & pl.col("value").is_in([0.0, 1.0]))
    for name, column in zip(PARTS, ("seconds", "code"), strict=True):
        part = points.filter((pl.col("name") == name) & ~pl.col("labels").str.contains('phase="')).select(
            "labels", "ts", pl.col("value").alias(column)
        )
        rows = rows.join(
            part.unique(["labels", "ts"]), on=["labels", "ts"], how="left", maintain_order="left"
        )
    probe = pl.col("name") == "probe_success"
    return rows.select(
        "line",
        "naive",
        "ts",
        monitor=pl.concat_str(
            "name", label("job"), pl.col("place").replace("", None), separator=" ", ignore_nulls=True
        ),
        status=pl.when(pl.col("value") == 1).then(pl.lit("up")).otherwise(pl.lit("down")),
        latency_ms=pl.when(probe).then(pl.col("seconds") * 1000),
        http_status=pl.when(probe & (pl.col("code") > 0)).then("code").cast(pl.Int16, strict=False),
        error=pl.when(pl.col("value") == 0).then(
            pl.col("name").replace_strict(PROBES, default=None, return_dtype=pl.String)
        ),
    )


def samples_of(points: pl.DataFrame, gauge: Gauge) -> pl.DataFrame:
    """Return the use of one resource per instant, summed over all but its key, with the limit nearest in time."""
    key = label(gauge.key).fill_null("") if gauge.key else pl.lit("")
    keys = ["place", "key", "ts"]
    use = points.filter(
        (pl.col("name") == gauge.use) & pl.col("labels").str.contains(gauge.only or "")
    ).with_columns(key=key)
    made = (
        use.group_by(keys, maintain_order=True)
        .agg(pl.col("line").min(), pl.col("value").sum(), pl.col("naive").first())
        .sort("ts", "place", "key")
    )
    limit = points.filter(pl.col("name").is_in(list(gauge.limits))).with_columns(key=key)
    limits = limit.group_by(keys).agg(limit=pl.col("value").max()).sort("ts", "place", "key")
    if limits.height and limits["ts"].null_count() == made["ts"].null_count() == 0:
        made = made.join_asof(
            limits, on="ts", by=["place", "key"], strategy="nearest", check_sortedness=False
        )
    elif limits.height:
        single = limits.group_by("place", "key").agg(pl.col("limit").max())
        made = made.join(single, on=["place", "key"], how="left", maintain_order="left")
    else:
        made = made.with_columns(limit=pl.lit(None, dtype=pl.Float64))
    title = pl.concat_str(
        pl.lit(gauge.series),
        pl.col("key").replace("", None),
        pl.col("place").replace("", None),
        separator=" ",
        ignore_nulls=True,
    )
    return made.select(
        "line", "naive", "ts", "value", series=title, limit=pl.when(pl.col("limit") > 0).then("limit")
    )
