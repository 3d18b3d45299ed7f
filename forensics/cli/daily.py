"""``forensics daily``: error counts per day, service and signature."""

from __future__ import annotations

import csv
import io
from typing import Any

import click

from forensics.cli import options
from forensics.cli.output import as_json, show
from forensics.cli.progress import progress

NOTHING_READ = 3
FORMULA = tuple(
    "=+-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
"""What a spreadsheet takes for the beginning of a formula (https://owasp.org/www-community/attacks/CSV_Injection)."""
COLUMNS = ("date", "service", "signature", "failures", "lines", "partial", "bound")


@click.command("daily")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "--format", "format_", type=click.Choice(["md", "csv", "json"]), default="md", show_default=True
)
@options.shared
def command(inputs: tuple[str, ...], format_: str, *, no_redact: bool, **said: Any) -> int:
    """Count failures per day of the report's zone; days that the inputs cover in part are marked."""
    from forensics import pipeline
    from forensics.report import document as telling

    with progress(said.pop("progress")) as tick:
        case = pipeline.investigate(inputs, options.build(tick=tick, **said))
    document = telling.build(case, redact=not no_redact)
    rows = document["daily"]
    days = telling.covered_days(case)
    show({"md": page, "csv": sheet, "json": dump}[format_](rows, days, document))
    if pipeline.nothing_read(case):
        click.echo("forensics: nothing could be read or recognised", err=True)
        return NOTHING_READ
    return 0


def page(rows: list[dict[str, Any]], days: list[dict[str, Any]], document: dict[str, Any]) -> str:
    """Return the counts as Markdown."""
    from forensics.report.markdown import cell

    window = document["case"]["window"] or ["-", "-"]
    head = f"# Failures per day\n\nZone {document['summary']['zone']}; inputs cover {window[0]} to {window[1]}.\n\n"
    lines = ["| date | service | signature | failures | lines |", "| --- | --- | --- | --- | --- |"]
    for day in days:
        mine = [row for row in rows if row["date"] == day["date"]]
        mark = " (partial)" if day["partial"] else ""
        if not mine:
            lines.append(f"| {day['date']}{mark} | - | none | 0 | 0 |")
        lines.extend(
            f"| {row['date']}{mark} | {cell(row['service'])} | {cell(row['signature'])} | {'≥ ' if row['bound'] == 'at_least' else ''}{row['failures']} | {row['lines']} |"
            for row in mine
        )
    return head + "\n".join(lines) + "\n"


def sheet(rows: list[dict[str, Any]], days: list[dict[str, Any]], document: dict[str, Any]) -> str:
    """Return the counts as CSV; a cell that a spreadsheet would run as a formula is quoted with an apostrophe."""
    del days, document
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([harmless(row[name]) for name in COLUMNS])
    return out.getvalue()


def harmless(value: object) -> object:
    """Disarm text that begins like a formula, behind blanks or in full width too, and write hidden characters out."""
    from forensics.report.markdown import visible

    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.lstrip()[:1] in FORMULA else text


def dump(rows: list[dict[str, Any]], days: list[dict[str, Any]], document: dict[str, Any]) -> str:
    """Return the counts as JSON with the coverage."""
    return as_json(
        {
            "window": document["case"]["window"],
            "timezone": document["case"]["timezone"],
            "days": days,
            "daily": rows,
        }
    )
