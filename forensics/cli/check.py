"""``forensics check``: does a report agree with its inputs?"""

from __future__ import annotations

from pathlib import Path

import click

from forensics.cli.options import FOLDER
from forensics.cli.output import printable, show
from forensics.cli.progress import progress

DISAGREES = 4
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
LISTED = 200
"""Mismatches that are listed; all are counted."""


@click.command("check")
@click.argument("report", type=FILE)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--case", type=FILE, help="The case.toml with which the report was made.")
@click.option(
    "--signatures", type=FOLDER, multiple=True, help="The folder of signatures with which it was made."
)
@click.option("--formats", type=FOLDER, multiple=True, help="The folder of formats with which it was made.")
@click.option(
    "--progress/--no-progress",
    "wanted",
    default=None,
    help="Show progress on standard error (default: on a terminal).",
)
def command(
    report: Path,
    inputs: tuple[str, ...],
    case: Path | None,
    signatures: tuple[Path, ...],
    formats: tuple[Path, ...],
    *,
    wanted: bool | None,
) -> int:
    """Compute every number of a report again, and read every quoted line again.

    REPORT is a report.json or the report as Markdown. Its inputs are found among those given by their SHA-256, so that
    they may have been moved or renamed. All other options are those that the report states.
    """
    from forensics import checking

    with progress(wanted) as tick:
        found = checking.check(report, inputs, checking.Own(case, signatures, formats, tick))
    for note in found.notes:
        click.echo(f"forensics: note: {printable(note)}", err=True)
    if not found.mismatches:
        show(f"{printable(report.name)} agrees with its inputs: {found.compared}")
        return 0
    number = len(found.mismatches)
    show(
        f"{printable(report.name)} does not agree with its inputs: {number} mismatch{'es' if number > 1 else ''} ({found.compared} compared)"
    )
    for mismatch in found.mismatches[:LISTED]:
        show(f"- {printable(str(mismatch))}")
    if number > LISTED:
        show(f"… and {number - LISTED} more")
    return DISAGREES
