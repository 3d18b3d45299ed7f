"""``forensics explain``: the raw lines behind a finding or evidence id."""

from __future__ import annotations

import json
from pathlib import Path

import click

from forensics.cli.output import printable, show


@click.command("explain")
@click.argument("report", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="REPORT.json")
@click.argument("name", metavar="ID")
@click.argument("inputs", nargs=-1, metavar="[INPUT...]")
def command(report: Path, name: str, inputs: tuple[str, ...]) -> int:
    """Show what a finding (F1), an evidence id (E1) or a verdict (process_stalled) rests on.

    With INPUT the raw lines are read again from the inputs of the same SHA-256, unmasked; without, the masked text of the
    report is shown.
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
    for place, text in lines:
        show(f"{place}\n    {printable(text)}")
    return 0
