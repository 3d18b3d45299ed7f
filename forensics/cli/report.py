"""``forensics report``: the main job."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forensics.cli import options
from forensics.cli.output import as_json, check_apart, check_outputs, printable, show, write_all
from forensics.cli.progress import progress

if TYPE_CHECKING:
    from forensics.model.case import Case

NOTHING_READ = 3
FOUND = 1


@click.command("report")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-o",
    "--output",
    type=options.FILE,
    help="Write the report here (default: standard output); the charts go beside it.",
)
@click.option(
    "--html",
    "html_file",
    type=options.FILE,
    help="Write the report as one page for a browser here: all of it, with a timeline to zoom and filter.",
)
@click.option("--json", "json_file", type=options.FILE, help="Write report.json here.")
@click.option(
    "--charts",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the charts, as SVG and PNG, light and dark (default: beside the report, light).",
)
@click.option(
    "--evidence",
    type=options.FILE,
    help="Write every cited line here (Markdown, or JSON lines if the name ends in .jsonl).",
)
@click.option(
    "--max-chars",
    type=click.IntRange(min=3000),
    metavar="N",
    help="Characters of the report (default: under 11,000; github and gitlab 65,536, jira 32,000, slack 39,000).",
)
@click.option(
    "--pseudonyms",
    type=options.FILE,
    help="Write which pseudonym stands for what here, for your eyes only: never into a folder of the report's files.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 when an incident was found.")
@options.shared
def command(
    inputs: tuple[str, ...],
    output: Path | None,
    html_file: Path | None,
    json_file: Path | None,
    charts: Path | None,
    evidence: Path | None,
    max_chars: int | None,
    pseudonyms: Path | None,
    *,
    no_redact: bool,
    exit_code: bool,
    **said: Any,
) -> int:
    """Recognise, correlate, diagnose and write the postmortem.

    INPUT is a file, a folder, a glob, or - for standard input.
    """
    from forensics import pipeline
    from forensics.report import document as telling
    from forensics.report.dialects import told
    from forensics.report.webpage import html

    check_outputs((output, html_file, json_file, evidence, pseudonyms), inputs)
    if pseudonyms:
        check_apart(
            pseudonyms,
            (output, html_file, json_file, evidence, charts and charts / "chart"),
            no_redact=no_redact,
        )
    with progress(said.pop("progress")) as tick:
        asked = replace(options.build(tick=tick, **said), context=telling.FETCHED if evidence else 0)
        case = pipeline.investigate(inputs, asked)
        masks = telling.masker(case)
        document = telling.build(case, redact=not no_redact, masks=masks)
        files = chart_files(
            document, charts or (output.parent if output else None), output, dark=bool(charts)
        )
        page = told(document, said["dialect"], max_chars)
    if output:
        files[output] = page
    if html_file:
        files[html_file] = html(document)
    if json_file:
        files[json_file] = as_json(document) + "\n"
    if evidence:
        around = telling.context(case, document, None if no_redact else masks)
        files[evidence] = annex(document, around, as_lines=evidence.suffix == ".jsonl")
    write_all(files, private={pseudonyms: masks.table()} if pseudonyms else {})
    if output is None:
        show(page)
    elif sys.stdout.isatty():
        tell(document, list(files), output)
    return verdict(case, exit_code=exit_code)


def verdict(case: Case, *, exit_code: bool) -> int:
    """Return the exit code."""
    from forensics import pipeline

    if pipeline.nothing_read(case):
        click.echo("forensics: nothing could be read or recognised; the report says why", err=True)
        return NOTHING_READ
    return FOUND if exit_code and pipeline.has_incidents(case) else 0


def chart_files(
    document: dict[str, Any], folder: Path | None, output: Path | None, *, dark: bool
) -> dict[Path, str | bytes]:
    """Draw the charts that have something to show, each as SVG and PNG, and name the SVGs in the document."""
    if folder is None:
        return {}
    from forensics.report import charts

    files: dict[Path, str | bytes] = {}
    stem = f"{output.stem}-" if output else ""
    for name in charts.charts():
        for theme, mark in {"light": "", **({"dark": "-dark"} if dark else {})}.items():
            if drawn := charts.svg(document, name, theme=theme):
                files[folder / f"{stem}{name}{mark}.svg"] = drawn
                files[folder / f"{stem}{name}{mark}.png"] = charts.raster(document, name, drawn)
    document["charts"] = [
        target.relative_to(output.parent).as_posix()
        if output and target.is_relative_to(output.parent)
        else target.name
        for target in files
        if target.suffix == ".svg" and not target.stem.endswith("-dark")
    ]
    return files


def annex(
    document: dict[str, Any], around: dict[str, list[tuple[int, str]]] | None = None, *, as_lines: bool
) -> str:
    """Return the report with nothing cut, and every cited line with the lines around it; or these lines alone, as JSON."""
    from forensics.report.markdown import fence, inline
    from forensics.report.render import whole
    from forensics.report.statements import catalogue

    names = {source["id"]: source["name"] for source in document["sources"]}
    beyond = around or {}
    if as_lines:
        return "".join(
            as_json(
                {**item, "source": names[item["source"]], **beside(item, beyond.get(item["id"], []))},
                indent=None,
            )
            + "\n"
            for item in document["evidence"]
        )
    parts = [
        f"### {item['id']} {inline(names[item['source']])}:{item['line']} {item['at'] or ''}\n\n{fence(numbered(item, beyond.get(item['id'], [])))}\n"
        for item in document["evidence"]
    ]
    words = catalogue(document["case"]["language"])["annex"]
    return "\n".join([whole(document), f"## {words['title']}", "", *parts])


def beside(item: dict[str, Any], lines: list[tuple[int, str]]) -> dict[str, list[str]]:
    """Return the texts before and behind a cited line."""
    return {
        "before": [text for line, text in lines if line < item["line"]],
        "after": [text for line, text in lines if line > item["line"]],
    }


def numbered(item: dict[str, Any], lines: list[tuple[int, str]]) -> list[str]:
    """Return a cited record and the lines around it with their numbers; ``>`` marks the record's own."""
    width = len(str(max((line for line, _ in lines), default=item["line"])))
    shown = []
    for line, text in lines or [(item["line"], item["text"])]:
        mark = ">" if line == item["line"] else " "
        first, *more = text.splitlines() or [""]
        shown.append(f"{mark} {line:>{width}}  {first}")
        shown += [f"{mark} {'':>{width}}  {part}" for part in (more if mark == ">" else ())]
    return shown


def tell(document: dict[str, Any], files: list[Path], output: Path) -> None:
    """Print what a tired person needs on a terminal: the summary, the files, the next command."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for finding in document["findings"]:
        if finding["section"] == "summary":
            console.print(Text(f"- {printable(finding['text'])} [{finding['grade'].replace('_', ' ')}]"))
    for path in files:
        console.print(Text(f"wrote {printable(str(path))}", style="dim"))
    console.print(Text(f"next: read {printable(str(output))}, then attach it to the ticket"))
