"""What several analyses ask of frames: aggregates as plain numbers, and which services pass requests on."""

from __future__ import annotations

from typing import cast

import polars as pl

PROXIES = (
    "nginx_access", "nginx_error", "apache_vhost", "caddy_access", "haproxy_http", "haproxy_clf", "traefik_clf", "traefik_json",
    "envoy_access", "aws_alb", "cloudfront", "kong_json", "heroku_router",
)  # fmt: skip
"""Formats of those who pass requests on: what they tell, the service behind them may tell too."""


def least(column: pl.Series) -> int | None:
    """Return the smallest whole number of a column, None when it is empty."""
    return cast("int | None", column.min())


def most(column: pl.Series) -> int | None:
    """Return the greatest whole number of a column, None when it is empty."""
    return cast("int | None", column.max())


def middle(column: pl.Series) -> float | None:
    """Return the median of a column, None when it is empty."""
    return cast("float | None", column.median())


def mean(column: pl.Series) -> float | None:
    """Return the mean of a column, None when it is empty."""
    return cast("float | None", column.mean())


DATABASE_LOGS = r"^(?:postgres|pgbouncer|mysql|mariadb|redis|mongodb)"
"""How the formats of database servers' own logs, and the signatures of their texts, are called."""


def passing(formats: pl.DataFrame) -> pl.Series:
    """Return the services that pass requests on, by the formats of their lines (a frame with service and format)."""
    return formats.filter(pl.col("format").is_in(list(PROXIES)))["service"].drop_nulls().unique()
