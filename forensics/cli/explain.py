"""``forensics explain``: the raw lines behind a finding or evidence id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forensics.cli import masks
from forensics.cli.output import printable, show

if TYPE_CHECKING:
    from forensics.report.masking import Masker

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("explain")
@click.argument("report", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="REPORT.json")
@click.argument("name", metavar="ID")
@click.argument("inputs", nargs=-1, metavar="[INPUT...]")
@click.option("--case", type=FILE, help="The case.toml with which the report was made.")
@masks.no_redact
def command(report: Path, name: str, inputs: tuple[str, ...], case: Path | None, *, no_redact: bool) -> int:
    """Show what a finding (F1), an evidence id (E1) or a verdict (process_stalled) rests on.

    With INPUT the raw lines are read again from the inputs of the same SHA-256, and masked with the report's pseudonyms unless
    --no-redact is given; without, the text of the report is shown.
    """
    from forensics import pipeline
    from forensics.model.errors import UsageError

    try:
        document = json.loads(report.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(
            f"not a report.json ({error})", where=report.name, remedy="write one with forensics report --json"
        ) from None
    lines = pipeline.raw_lines(document, name, inputs)
    masker = None if no_redact else masker_of(document, case, inputs)
    if masker and document.get("masked") is None:
        document = masker.document(document)
        lines = pipeline.raw_lines(document, name, inputs)
    finding = next((item for item in document.get("findings", []) if item["id"] == name), None)
    if finding:
        show(f"{finding['id']} [{finding['grade']}] {printable(finding['text'])}")
        for label in ("formula", "method", "scope"):
            if finding[label]:
                show(f"  {label}: {printable(finding[label])}")
    verdict = next((item for item in document.get("hypotheses", []) if item["id"] == name), None)
    if verdict and (known := pipeline.basis(name)):
        show(f"{known.title} [{verdict['verdict']}] {printable(verdict.get('why') or '')}")
        show(f"  scope: {known.scope}")
        for label, texts in (
            ("supported by", known.supported_by),
            ("contradicted by", known.contradicted_by),
            ("ruled out only with", (known.coverage,)),
        ):
            show(f"  {label}: {'; '.join(texts)}")
        for need in verdict["needs"]:
            show(f"  would tell: {printable(need['input'])}\n    {printable(need['command'])}")
    for place, text in texts_of(lines, masker, document):
        show(f"{place}\n    {printable(text)}")
    return 0


def texts_of(
    lines: list[tuple[str, str, str | None]], masker: Masker | None, document: dict[str, Any]
) -> list[tuple[str, str]]:
    """Return the text to show for each place: the raw line where it was read again, with the pseudonyms of the report."""
    if masker is None:
        return [(place, said if raw is None else raw) for place, said, raw in lines]
    masker.counts.update(document.get("masked") or {})
    for _, said, raw in lines:
        masker.learn(raw or "", said)
    return [(place, said if raw is None else masker.text(raw)) for place, said, raw in lines]


def masker_of(document: dict[str, Any], case: Path | None, inputs: tuple[str, ...]) -> Masker:
    """Return what masks as the report does; the names that it masks have to be given again."""
    from forensics.model.errors import UsageError

    options = document.get("options")
    if inputs and case is None and isinstance(options, dict) and options.get("names"):
        raise UsageError(
            "the report masks names that its case file gives",
            where="--case",
            remedy="give the same case file, or --no-redact",
        )
    return masks.masker(case)
