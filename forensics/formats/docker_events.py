"""What an event of a container engine says, whichever way it was printed."""

from __future__ import annotations

import polars as pl

EVENT = r"^(?P<time>\S+) (?P<type>[a-z]+) (?P<action>.+?) (?P<id>\S+)(?: \((?P<attrs>.*)\))?$"
"""A line of ``docker events``; an action may have blanks (``health_status: unhealthy``, ``exec_create: sh -c …``)."""


def service(kind: pl.Expr, name: pl.Expr, ident: pl.Expr) -> pl.Expr:
    """Name the container that an event is about; of networks, volumes and images the engine is the one who speaks."""
    return pl.when(kind == "container").then(pl.coalesce(name, ident.str.slice(0, 12))).otherwise(pl.lit("dockerd"))


def level(action: pl.Expr, code: pl.Expr) -> pl.Expr:
    """Return how bad an event is: a container that ran out of memory, ended with a code, is unhealthy or is killed."""
    failed = code.is_not_null() & (code != "0")
    return (
        pl.when(action == "oom")
        .then(pl.lit("critical"))
        .when(action.is_in(["die", "died"]) & failed)
        .then(pl.lit("error"))
        .when(action.str.contains("unhealthy", literal=True))
        .then(pl.lit("error"))
        .when(action.is_in(["kill", "restart", "stop", "pause"]) | (action.str.starts_with("exec_die") & failed))
        .then(pl.lit("warning"))
        .otherwise(pl.lit("info"))
    )
