"""``forensics budget``: what services may ask of a database server, against what it has."""

from __future__ import annotations

from typing import Any

import click

from forensics.cli import masks, options
from forensics.cli.output import as_json, show
from forensics.cli.progress import progress

OVER = 1
LARGEST = 10**9


@click.command("budget")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="SERVICE.TERM=N",
    help="State or change a term: replicas, surge (new replicas beside old ones during an update), processes, pool, overflow, worker_pool, cpus or library "
    "of a service; default_pool_size, "
    "pool_mode … of pooler; reserved, extra … of database. With files, before and after are shown.",
)
@click.option(
    "--max-connections",
    type=click.IntRange(1, LARGEST),
    metavar="N",
    help="The server's max_connections.",
)
@click.option("--url", "urls", multiple=True, metavar="[SERVICE=]URL", help="Connection URL of a service.")
@click.option(
    "--server",
    "servers",
    multiple=True,
    metavar="NAME",
    help="The database server that the budget is about, where services connect to several.",
)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options.shared
def command(
    files: tuple[str, ...],
    sets: tuple[str, ...],
    max_connections: int | None,
    urls: tuple[str, ...],
    servers: tuple[str, ...],
    format_: str,
    *,
    no_redact: bool,
    **said: Any,
) -> int:
    """Add up the connections that services may open, and hold them against max_connections.

    FILE is a Compose file, a .env or .properties file, pgbouncer.ini, postgresql.conf, a folder that holds some of them, or a log that
    tells sizes of pools. Every term shows where it came from; a missing one is named. Exits with 1 when over budget.
    """
    from forensics import budgeting
    from forensics.report import budget as telling

    with progress(said.pop("progress")) as tick:
        asked = budgeting.Asked(files, urls, sets, max_connections, servers)
        answer = budgeting.answer(asked, options.build(tick=tick, **said))
    document = telling.document(answer, None if no_redact else masks.masker(said["case"]))
    show(as_json(document) if format_ == "json" else telling.text(document))
    return OVER if answer.after.over else 0
