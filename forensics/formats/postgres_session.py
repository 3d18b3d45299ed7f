r"""Whose session a line of PostgreSQL is about, as its prefix or its structured fields tell: user, database, application, address.

    2026-11-29 09:46:27.525 -03 [10804] crm@crm FATAL:  sorry, too many clients already      ->  crm@crm
    … [21751]: user=app,db=shop,app=web,client=203.0.113.9(51000) FATAL:  …                  ->  app@shop web 203.0.113.9

``log_line_prefix`` is free text: ``%u@%d`` and the names that manuals and log analysers ask for are read, other shapes name nobody.
A session that is refused has no application name yet. Reference: https://www.postgresql.org/docs/current/runtime-config-logging.html
(log_line_prefix), postgres/postgres src/backend/utils/error/elog.c.
"""

from __future__ import annotations

import polars as pl

from forensics.formats.postgres_words import TAG

PREFIX = rf"^(.*?)[ :>\])]?{TAG}"
"""What stands before the severity."""
NAME = r"([^\s,;:=@\[\]()]+)"
FIELDS = {
    "user": rf"(?i)\b(?:user|usr|u)={NAME}",
    "database": rf"(?i)\b(?:db|database|dbname|d)={NAME}",
    "application": rf"(?i)\b(?:app|application|application_name|a)={NAME}",
}
PAIR = rf"(?:^|[\s,:\[(]){NAME}@{NAME}"
HOST = r"(\d{1,3}(?:\.\d{1,3}){3})(?:[(: ,)]|$)|(?i)\b(?:client|host|remote|h|r)=([0-9a-f:.]+)(?:\(\d+\))?"
UNKNOWN = ("", "[unknown]", "[local]", "unknown")
"""What stands for a part that the server does not know, or that says nothing of who it is."""


def from_prefix(message: pl.Expr) -> pl.Expr:
    """Return whose session a line of the server log is about, null where its prefix names nobody."""
    prefix = message.str.extract(PREFIX)
    pair = prefix.str.extract_groups(PAIR)
    host = prefix.str.extract_groups(HOST)
    return label(
        pl.coalesce(prefix.str.extract(FIELDS["user"]), pair.struct.field("1")),
        pl.coalesce(prefix.str.extract(FIELDS["database"]), pair.struct.field("2")),
        prefix.str.extract(FIELDS["application"]),
        pl.coalesce(host.struct.field("1"), host.struct.field("2")),
    )


def label(user: pl.Expr, database: pl.Expr, application: pl.Expr, host: pl.Expr) -> pl.Expr:
    """Return ``user@database application address`` with what is known of it, null where nothing is."""
    who, where, program, address = (
        pl.when(~part.is_in(UNKNOWN)).then(part) for part in (user, database, application, host)
    )
    login = (
        pl.when(where.is_not_null()).then(pl.concat_str(who.fill_null(""), pl.lit("@"), where)).otherwise(who)
    )
    said = pl.concat_str(login, program, address, separator=" ", ignore_nulls=True)
    return pl.when(said != "").then(said)
