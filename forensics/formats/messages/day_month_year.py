"""A day, a month's name in any language, a year and a time of day: Java's and others' loggers under a locale.

    15-Mär-2026 18:54:42.585 INFO [pool-1-thread-1] Ausgabe 642 von 642
    02/fev/2026 10:00:00 ERROR pool esgotado
    28 août 2026 07:15:00 ERROR HikariPool-1 - Connection is not available, request timed out after 30000ms.

The time is local, without a zone. Names are glibc's and Java's short ones, with accents in one character or in two.
Tomcat's own lines in English name more parts and are ``tomcat``'s.
"""

from __future__ import annotations

import re

import polars as pl

from forensics.formats.text import MONTHS
from forensics.model.plug import MessageFormat

ENGLISH = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LOST = "\N{REPLACEMENT CHARACTER}"
WARNINGS = (
    "WARN",
    "WARNING",
    "WARNUNG",
    "AVERTISSEMENT",
    "ADVERTENCIA",
    "ADVERTÊNCIA",
    "AVISO",
    "AVVERTENZA",
)
INFOS = (
    "INFO", "CONFIG", "INFORMATION", "INFORMATIONEN", "INFOS", "INFORMACIÓN", "INFORMAÇÕES", "INFORMAZIONI", "KONFIGURATION", "CONFIGURACIÓN",
    "CONFIGURAÇÃO", "CONFIGURAZIONE",
)  # fmt: skip
SAID = {
    **dict.fromkeys(("SEVERE", "ERROR", "SCHWERWIEGEND", "GRAVE"), "error"),
    **dict.fromkeys(("FATAL", "CRITICAL"), "critical"),
    **dict.fromkeys(WARNINGS, "warning"),
    **dict.fromkeys(INFOS, "info"),
    **dict.fromkeys(("DEBUG", "TRACE", "FINE", "FINER", "FINEST"), "debug"),
}
LEVELS = SAID | {re.sub(r"[^\x00-\x7f]", LOST, name): level for name, level in SAID.items()}
"""Names of levels in the languages of java.util.logging, and as they are where an old encoding lost their accents."""
STAMP = r"^(\d{1,2})[ /-](\p{L}[\p{L}\p{M}\x{FFFD}]{1,9})\.?[ /-](\d{4} \d\d:\d\d:\d\d)"

BEGINNING = re.compile(r"\d{1,2}[ /-][^\W\d_]")
"""What every such stamp begins with."""


def spellings() -> dict[str, str]:
    """Return every name of a month in lower case with the English one; a letter that an old encoding lost may be any."""
    known = {name: ENGLISH[month] for month, names in enumerate(MONTHS) for name in names}
    damaged: dict[str, set[str]] = {}
    for name, english in known.items():
        damaged.setdefault(re.sub(r"[^\x00-\x7f]", LOST, name), set()).add(english)
    sure = {name: min(months) for name, months in damaged.items() if len(months) == 1 and LOST in name}
    return sure | known


ANY_CASE = spellings()


def prepare(message: pl.Expr) -> pl.Expr:
    """Write the month in English and the day with two digits; null where no month is named."""
    return message.map_batches(in_english, return_dtype=pl.String)


def in_english(lines: pl.Series) -> pl.Series:
    """Do so for a column."""
    text = pl.col("text")
    day, month, rest = (text.str.extract(STAMP, group) for group in (1, 2, 3))
    named = month.str.to_lowercase().replace_strict(ANY_CASE, default=None, return_dtype=pl.String)
    written = pl.concat_str(day.str.zfill(2), named, rest, separator="-")
    return (
        lines.str.normalize("NFC")
        .to_frame("text")
        .select(pl.concat_str(written, text.str.replace(STAMP, "")).alias(lines.name))
        .to_series()
    )


PATTERN = rf"^(?P<time>\d\d-[A-Z][a-z]{{2}}-\d{{4}} \d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?) (?:\[[^\]]*\] )?(?P<level>{'|'.join(LEVELS)})\b:? *(?P<message>.*)$"


def of_head(line: str) -> bool:
    """Tell whether one line is of this format; most of a head begin with no such stamp."""
    if not BEGINNING.match(line):
        return False
    return bool(pl.select(prepare(pl.lit(line)).str.contains(PATTERN)).item())


PLUG = MessageFormat(
    name="day_month_year",
    title="log lines that begin with a day, a month's name and a year",
    kind="log",
    marks="when the line was written; local time without a zone",
    pattern=PATTERN,
    starts=("digit",),
    time="%d-%b-%Y %H:%M:%S%.f",
    zone="none",
    levels=LEVELS,
    prepare=prepare,
    of_head=of_head,
    samples=(
        "15-Mär-2026 18:54:42.585 INFO [pool-1-thread-1] Ausgabe 642 von 642",
        "02/fev/2026 10:00:00 ERROR pool esgotado",
        "15-ene-2026 18:55:12.590 ADVERTENCIA [pool-1-thread-2] com.zaxxer.hikari.pool.HikariPool HikariPool-1 - Connection is not available, request timed out after 30000ms.",
        "15-fev.-2026 18:54:42.585 INFORMAÇÕES [main] O servidor foi iniciado em [3220] milissegundos",
        "15-févr.-2026 18:55:12.590 AVERTISSEMENT [main] Echec de la connexion",
        "28 août 2026 07:15:00 ERROR HikariPool-1 - Connection is not available, request timed out after 30000ms.",
    ),
    reference="apache/tomcat java/org/apache/juli/OneLineFormatter.java (its dates follow the JVM's locale), openjdk/jdk java.logging sun/util/logging/resources/logging_*.properties",
)
