"""``forensics signatures``: the failure texts that are known, one of them in full, and what of them a file holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from forensics.cli import masks
from forensics.cli.output import printable, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from forensics.model.signature import Signature
    from forensics.pipeline import Options, Trial

F = TypeVar("F", bound="Callable[..., Any]")
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OWN = (
    click.option(
        "--signatures",
        "folders",
        type=FOLDER,
        multiple=True,
        help="Folder of signatures of your own (*.toml).",
    ),
    click.option("--case", type=FILE, help="case.toml with [[signature]] blocks."),
)
PLACES = 200
"""Places that are listed; the summary counts all."""
TEMPLATES = 20
"""Groups of unknown lines that are listed."""
WIDEST = 160
"""Characters shown of a line."""
MARKS = {
    "end": "the end of a wait",
    "start": "the start of what failed",
    "instant": "the instant at which it happened",
}
COUNTS = {
    "failure": "each is one failed operation",
    "event": "each is an event, not a failed operation",
    "context": "counts nothing, can only support",
    "success": "ends what failed before under the same name",
}


def own(command: F) -> F:
    """Add the options that bring along signatures of one's own."""
    for option in reversed(OWN):
        command = option(command)
    return command


@click.group("signatures", invoke_without_command=True)
@own
@click.pass_context
def command(ctx: click.Context, folders: tuple[Path, ...], case: Path | None) -> int:
    """List the failure texts; `show ID` explains one, `test FILE` says where a file has them."""
    ctx.obj = (folders, case)
    if ctx.invoked_subcommand is None:
        known = catalogue(options(folders, case))
        wide = max(len(one.id) for one in known)
        for one in known:
            mark = "" if one.verified else " [unverified]"
            show(f"{one.id:{wide}} {one.family:20} {one.title}{mark}")
        show(
            "\nforensics signatures show ID explains one; forensics signatures test FILE says where a file has them."
        )
    return 0


@command.command("show")
@click.argument("name", metavar="ID")
@own
@click.pass_obj
def show_one(
    before: tuple[tuple[Path, ...], Path | None], name: str, folders: tuple[Path, ...], case: Path | None
) -> int:
    """Explain a signature: what its line means and what it does not mean, its parameters and its samples."""
    from difflib import get_close_matches

    from forensics.model.errors import UsageError

    known = {one.id: one for one in catalogue(options((*before[0], *folders), case or before[1]))}
    if name not in known:
        near = [one for one in known if one.partition(".")[2] == name] or get_close_matches(name, known, n=1)
        raise UsageError(
            f"unknown signature {name!r}",
            where="forensics signatures show",
            remedy=f"did you mean {near[0]!r}?" if near else "forensics signatures lists all",
        )
    one = known[name]
    show(f"{name}: {one.title}{'' if one.verified else ' [unverified]'}")
    holds = [other.id for other in known.values() if name in other.inner_of]
    for label, text in facts(one, holds):
        show(f"  {label}: {text}")
    for label, lines in (("matches", one.hit), ("must not match", one.miss)):
        show(f"  {label}:")
        for line in lines:
            show(f"    {printable(line)}")
    return 0


def facts(one: Signature, holds: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what is known of a signature."""
    from forensics.model.signature import LIMITS

    yield "family", one.family
    yield "library", one.library
    yield "printed by", f"the {one.side}" if one.side != "kernel" else "the kernel or the system"
    yield "its time marks", MARKS[one.marks]
    if one.wait:
        yield "wait", f"parameter {one.wait}: the failure began that much earlier"
    yield "counts", COUNTS[one.counts]
    if one.limits:
        yield "limited", f"{LIMITS[one.limits]}; counts are lower bounds"
    units = {"text": "", "count": " (number)", "s": " (seconds)", "ms": " (milliseconds)"}
    if one.parameters:
        yield "parameters", ", ".join(f"{name}{units[unit]}" for name, unit in one.parameters.items())
    yield "means", one.means
    yield "does not mean", one.does_not_mean
    if one.inner_of:
        yield "not counted inside", ", ".join(one.inner_of)
    if holds:
        yield "counted instead of", ", ".join(holds)
    if not one.verified:
        yield "unverified", "known from documents only: it supports a hypothesis, and confirms none"
    yield "reference", one.reference
    yield "looked for", " or ".join(repr(anchor) for anchor in one.anchors)
    yield "pattern", one.pattern


@command.command("test")
@click.argument("file", type=FILE)
@click.option("--formats", type=FOLDER, multiple=True, help="Folder of formats of your own (*.toml).")
@own
@masks.no_redact
@click.pass_obj
def test(
    before: tuple[tuple[Path, ...], Path | None],
    file: Path,
    formats: tuple[Path, ...],
    folders: tuple[Path, ...],
    case: Path | None,
    *,
    no_redact: bool,
) -> int:
    """Say which signatures a file holds and where, and which lines look like failures but match none."""
    from forensics import pipeline

    found = pipeline.trials(str(file), options((*before[0], *folders), case or before[1], formats))
    masked = str if no_redact else masks.masker(case or before[1]).text
    for trial in found:
        tell(trial, masked)
    return 0 if any(trial.skipped is None or trial.hits.height for trial in found) else NOTHING_READ


NOTHING_READ = 3


def tell(trial: Trial, masked: Callable[[str], str]) -> None:
    """Print what the catalogue found in one input: the places, the summary, and what it does not know."""
    name = printable(masked(trial.name))
    if trial.skipped and not (trial.hits.height or trial.gaps.height):
        show(f"{name}: {printable(masked(trial.skipped))}")
        return
    if trial.skipped:
        show(f"{name}: {printable(masked(trial.skipped))}; matched as plain lines")
    rows = trial.hits.sort("line", "signature", maintain_order=True)
    for line, signature, said in rows.head(PLACES).iter_rows():
        show(f"{name}:{line} {signature}{parameters(said, masked)}")
    if rows.height > PLACES:
        show(f"… and {rows.height - PLACES} more places")
    show(f"{name}: {rows.height} matches, of {rows['signature'].n_unique()} signatures")
    counted = rows.group_by("signature").len().sort(["len", "signature"], descending=[True, False])
    for signature, n in counted.iter_rows():
        show(f"  {n:6} {signature}")
    total = int(trial.gaps["n"].sum())
    show(f"{name}: {total} lines look like failures and match nothing")
    for template, n, line, _ in trial.gaps.head(TEMPLATES).iter_rows():
        show(f"  {n:6} {printable(masked(template)[:WIDEST])}   (first in line {line})")
    if trial.gaps.height > TEMPLATES:
        show(f"  … and {trial.gaps.height - TEMPLATES} more kinds of line")


def parameters(said: str, masked: Callable[[str], str]) -> str:
    """Return the parameters of a match as words."""
    import json

    pairs = [
        f"{key}={printable(masked(value))}" for key, value in json.loads(said).items() if value is not None
    ]
    return "".join(f" {pair[:WIDEST]}" for pair in pairs)


def options(folders: tuple[Path, ...], case: Path | None, formats: tuple[Path, ...] = ()) -> Options:
    """Return the pipeline's options."""
    from forensics.pipeline import Options

    return Options(case=case, signatures=folders, formats=formats)


def catalogue(opts: Options) -> tuple[Signature, ...]:
    """Return the catalogue with the user's own."""
    from forensics import pipeline
    from forensics.sources import casefile

    return pipeline.signatures(opts, casefile.read(opts.case) if opts.case else casefile.CaseFile())
