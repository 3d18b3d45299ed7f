"""``forensics formats``: the formats that are read, one of them in full, and how a file fits them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forensics.cli import masks
from forensics.cli.output import printable, show

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
own = click.option(
    "--formats", "folders", type=FOLDER, multiple=True, help="Folder of formats of your own (*.toml)."
)
WIDEST = 100
"""Characters shown of a line."""


@click.group("formats", invoke_without_command=True)
@own
@click.pass_context
def command(ctx: click.Context, folders: tuple[Path, ...]) -> int:
    """List the formats; `show NAME` explains one, `test FILE` says how a file fits."""
    ctx.obj = folders
    if ctx.invoked_subcommand is None:
        bring(folders)
        for name, kind, plug in everything():
            mark = " [unconfirmed]" if plug.unconfirmed else ""
            show(f"{name:28} {kind:10} {plug.title}{mark}")
        show("\nforensics formats show NAME explains one; forensics formats test FILE says how a file fits.")
    return 0


@command.command("show")
@click.argument("name")
@own
@click.pass_obj
def show_one(before: tuple[Path, ...], name: str, folders: tuple[Path, ...]) -> int:
    """Explain a format: what its time marks, its pattern and its samples."""
    from difflib import get_close_matches

    from forensics.model.errors import UsageError

    bring((*before, *folders))
    found = [(kind, plug) for known, kind, plug in everything() if known == name]
    if not found:
        near = get_close_matches(name, [known for known, _, _ in everything()], n=1)
        raise UsageError(
            f"unknown format {name!r}",
            where="forensics formats show",
            remedy=f"did you mean {near[0]!r}?" if near else "forensics formats lists all",
        )
    for kind, plug in found:
        show(f"{name}: {plug.title} ({kind})")
        for label, text in facts(plug):
            show(f"  {label}: {text}")
        for sample in plug.samples:
            show("  sample:")
            for line in sample.splitlines():
                show(f"    {printable(line)}")
    return 0


@command.command("test")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@own
@click.option(
    "--case",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="case.toml that says what to mask.",
)
@masks.no_redact
@click.pass_obj
def test(
    before: tuple[Path, ...], file: Path, folders: tuple[Path, ...], case: Path | None, *, no_redact: bool
) -> int:
    """Say how a file fits: the best formats, what its lines are, and lines that none knows."""
    from forensics import pipeline

    bring((*before, *folders))
    fit = pipeline.fit(str(file))
    masked = str if no_redact else masks.masker(case).text
    show(f"{masked(file.name)}: {fit.chosen or 'not recognised'}")
    if fit.skipped:
        show(f"  {masked(fit.skipped)}")
    for name, score in fit.scores:
        show(f"  {score:4.2f} {name}")
    if fit.messages:
        show("lines of its beginning, by format:")
    for known, lines in fit.messages:
        show(f"  {lines:6} {known or 'of no known format'}")
    for number, line in fit.unknown:
        show(f"  ? {number}: {printable(masked(line)[:WIDEST])}")
    if fit.joined:
        show(
            "lines without a head of their own that look like no part of the record above, which takes them:"
        )
    for number, line in fit.joined:
        show(f"  ? {number}: {printable(masked(line)[:WIDEST])}")
    return 0


def bring(folders: tuple[Path, ...]) -> None:
    """Use the user's formats."""
    from forensics import pipeline
    from forensics.sources.casefile import CaseFile

    pipeline.bring(pipeline.Options(formats=folders), CaseFile())


def everything() -> Iterator[tuple[str, str, Any]]:
    """Yield name, kind and plug of every format."""
    from forensics import formats

    for kind, plugs in (
        ("transport", formats.all_transports()),
        ("message", formats.all_messages()),
        ("monitor", formats.all_monitors()),
    ):
        for name, plug in plugs.items():
            yield name, kind, plug


def facts(plug: Any) -> Iterator[tuple[str, str]]:
    """Yield what is known of a format."""
    if plug.marks:
        yield "its time marks", plug.marks
    if getattr(plug, "declined", None):
        yield "not read", plug.declined
    if getattr(plug, "pattern", None):
        yield "pattern", plug.pattern
    if getattr(plug, "time", None):
        yield "time", f"{plug.time} (zone: {plug.zone})"
    if plug.unconfirmed:
        yield (
            "unconfirmed",
            "known from its documents or its source, not yet confirmed by a file of a running system; read leniently",
        )
    if plug.reference:
        yield "reference", plug.reference
