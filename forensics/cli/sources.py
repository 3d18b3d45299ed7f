"""``forensics sources``: what each input was recognised as."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from forensics.cli import masks, options
from forensics.cli.output import as_json, printable, show
from forensics.cli.progress import progress

if TYPE_CHECKING:
    from forensics.model.source import Source

NOTHING_READ = 3
STREAMS = 12
"""Streams of a file whose choice is shown."""
WIDE = 240
"""Columns where nobody looks at a terminal: no cell is broken."""


@click.command("sources")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("-v", "--verbose", is_flag=True, help="Say how each choice was made and what came next.")
@options.shared
def command(inputs: tuple[str, ...], format_: str, *, verbose: bool, no_redact: bool, **said: Any) -> int:
    """Say what each input is, its zone, what it covers and what could not be used."""
    from forensics import pipeline
    from forensics.report.document import list_sources

    if said["since"] or said["until"] or said["units"]:
        click.echo(
            "forensics: --since, --until and --unit change nothing here: sources shows whole inputs", err=True
        )
    with progress(said.pop("progress")) as tick:
        opts = options.build(tick=tick, **said)
        evidence = pipeline.survey(inputs, opts, explain=verbose)
        for where, text in (("--since", opts.since), ("--until", opts.until)):
            pipeline.edge(text, opts.tz or "UTC", evidence, where)
    rows = list_sources(evidence, opts.tz or "UTC")
    choices = [list(explained(source)) for source in evidence.sources] if verbose else None
    if not no_redact:
        masker = masks.masker(opts.case)
        rows, choices = masker.document(rows), masker.document(choices)
    if not rows:
        click.echo("forensics: no files in the given folders; give a folder that holds exports", err=True)
    if format_ == "json":
        show(as_json(rows))
    else:
        table(rows, choices)
    return 0 if any(row["skipped"] is None and row["records"] for row in rows) else NOTHING_READ


def explained(source: Source) -> tuple[str, ...]:
    """Say how a source and its streams were recognised, and how precise its times are."""
    unit = {"s": "seconds", "ms": "milliseconds", "us": "microseconds"}.get(source.precision)
    return (source.choice, *source.streams[:STREAMS], *((f"times in whole {unit}",) if unit else ()))


def table(rows: list[dict[str, Any]], choices: list[list[str]] | None) -> None:
    """Print the sources as a table, and below it what limits them."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)
    grid = Table(box=None, pad_edge=False)
    for name in ("source", "recognised as", "zone", "first", "last", "lines", "unparsed"):
        grid.add_column(name, overflow="fold", justify="right" if name in ("lines", "unparsed") else "left")
    for row in rows:
        lines = row["lines"] or {}
        what = ", ".join(filter(None, [row["transport"], *row["message_formats"][:2]])) or "not recognised"
        cells = (
            f"{row['id']} {row['name']}",
            what,
            f"{row['zone']['name'] or '?'} ({row['zone']['rule']})",
            row["first"] or "-",
            row["last"] or "-",
            str(lines.get("total", "-")),
            str(lines.get("unparsed", "-")),
        )
        grid.add_row(*[Text(printable(cell)) for cell in cells])
    console.print(grid)
    for index, row in enumerate(rows):
        notes = [
            *([f"copy of {row['copy_of']}"] if row["copy_of"] else []),
            *row["limits"],
            *([f"not read: {row['skipped']}"] if row["skipped"] else []),
        ]
        for note in [*notes, *(choices[index] if choices else ())]:
            console.print(Text(printable(f"{row['id']} {note}")))
