"""From inputs to outputs: whatever a log says, it is text, in Markdown, HTML, CSV, JSON, pictures and on a terminal."""

from __future__ import annotations

import copy
import csv
import functools
import io
import json
import tempfile
import unicodedata
from pathlib import Path
from typing import Any

import hostile
import jsonschema
import pytest
from anatomy import HEADINGS
from test_dialects import headings as headings_of
from test_render import PARSER, headings, structure
from test_webpage import Reader
from test_webpage import structure as elements

from forensics import pipeline
from forensics.cli import daily as daily_command
from forensics.cli import report as report_command
from forensics.report import charts, dialects, render, webpage
from forensics.report import document as telling
from forensics.report.schema import schema

ALONE = ("fence",)
"""Payloads that are tried by themselves too; the others act in the one that joins them all."""
NAMES = [pytest.param(name, marks=pytest.mark.xdist_group(f"hostile-{name}")) for name in (*ALONE, "all")]
INSIDE = {"em_open", "em_close", "strong_open", "strong_close", "link_open", "link_close", "softbreak"}
"""What a report's own words may be, besides text and code."""


def reported(payload: str) -> dict[str, Any]:
    """Return the document of the fixture with a payload, a copy of its own: charts are named in it where they are drawn."""
    return copy.deepcopy(investigated(payload))


@functools.cache
def investigated(payload: str) -> dict[str, Any]:
    """Return the document of the fixture with a payload, made once."""
    with tempfile.TemporaryDirectory() as folder:
        inputs, case = hostile.place(Path(folder), payload)
        found = pipeline.investigate([str(inputs)], pipeline.Options(case=case))
        document: dict[str, Any] = json.loads(json.dumps(telling.build(found)))
        return document


@functools.cache
def browsed(payload: str) -> str:
    """Return the page for a browser of the fixture with a payload."""
    return webpage.html(reported(payload))


def hidden(text: str) -> set[str]:
    """Return the characters of a text that no reader sees, and that terminals and renderers obey."""
    return {
        char for char in text if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and char != "\n"
    }


@pytest.fixture
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every page show everything, so that only a text that acts changes a structure."""
    wide = render.Limits(
        text=100_000, why=100_000, line=100_000, refs=99, findings=999, timeline=999, rows=999, evidence=999
    )
    monkeypatch.setattr(render, "LEVELS", (wide,))
    monkeypatch.setattr(render, "ROOMY", wide)
    monkeypatch.setattr(render, "LONGEST", 10**9)
    monkeypatch.setattr(render, "SUMMARY_WORDS", 10**9)
    monkeypatch.setattr(render, "NAME", 100_000)


@pytest.mark.parametrize("name", NAMES)
class TestOnePayload:
    """Each payload in every place."""

    def test_is_understood_like_any_text(self, name: str) -> None:
        """The payload changes no claim: the same formats, incidents, verdicts and counts as for the letter x."""
        plain, changed = reported(hostile.HARMLESS), reported(hostile.PAYLOADS[name])

        for document in (plain, changed):
            assert len(document["incidents"]) == 1
        assert [row["verdict"] for row in changed["hypotheses"]] == [
            row["verdict"] for row in plain["hypotheses"]
        ]
        assert sorted((row["id"], row["failures"]) for row in changed["signatures"]) == sorted(
            (row["id"], row["failures"]) for row in plain["signatures"]
        )

    @pytest.mark.usefixtures("roomy")
    def test_markdown_keeps_its_structure(self, name: str) -> None:
        """The portable page has the same blocks, rows and cells, and nothing hidden."""
        page = render.markdown(reported(hostile.PAYLOADS[name]))

        assert structure(page) == structure(render.markdown(reported(hostile.HARMLESS)))
        assert hidden(page) == set()

    @pytest.mark.parametrize("dialect", dialects.DIALECTS)
    def test_every_dialect_keeps_its_sections(self, name: str, dialect: str) -> None:
        """A ticket's page fits, has its headings and nothing hidden; log text is text or code."""
        page = dialects.told(reported(hostile.PAYLOADS[name]), dialect, None)

        assert headings_of(page, dialect) == HEADINGS
        assert len(page) <= dialects.DIALECTS[dialect][1]
        assert hidden(page) == set()
        if dialect == "commonmark":
            assert [title for _, title in headings(page)[1:]] == HEADINGS
            assert {kind for kind, place in structure(page) if place == "inside"} <= INSIDE
            assert not {t.type for t in PARSER.parse(page)} & {"html_block", "html_inline"}

    def test_page_keeps_its_elements(self, name: str) -> None:
        """The page for a browser gains no element and no attribute; only lengths may move a mark."""
        plain, changed = (browsed(text) for text in (hostile.HARMLESS, hostile.PAYLOADS[name]))
        tags = [
            [(tag, sorted(attrs)) for tag, attrs in elements(page) if tag not in DRAWN]
            for page in (plain, changed)
        ]

        assert tags[1] == tags[0]
        assert Reader(changed).policy == Reader(plain).policy
        assert hidden(changed) <= {"\t"}

    def test_csv_is_a_table_of_text(self, name: str) -> None:
        """Every row has all columns, and no cell is a formula or hides something."""
        document = reported(hostile.PAYLOADS[name])
        text = daily_command.sheet(document["daily"], document["days"], document)
        rows = list(csv.reader(io.StringIO(text)))

        assert {len(row) for row in rows} == {len(daily_command.COLUMNS)}
        assert len(rows) == len(document["daily"]) + 1
        assert [cell for row in rows for cell in row if cell.strip()[:1] in tuple("=+-@")] == []
        assert hidden(text) == set()

    def test_json_is_valid_and_shows_nothing_hidden(self, name: str) -> None:
        """The document fits its schema, and what would act on a terminal is escaped in its text."""
        document = reported(hostile.PAYLOADS[name])
        text = report_command.as_json(document)

        jsonschema.validate(document, schema())
        assert json.loads(text) == document
        assert hidden(text) == set()

    def test_annex_keeps_its_structure(self, name: str) -> None:
        """Behind the whole report each cited line stands in a fence of its own, and nothing of it outside."""
        document = reported(hostile.PAYLOADS[name])
        before, tokens = (
            [token.type for token in PARSER.parse(text)]
            for text in (render.whole(document), report_command.annex(document, as_lines=False))
        )

        assert tokens[: len(before)] == before
        assert tokens.count("fence") == before.count("fence") + len(document["evidence"])
        assert not {*tokens} & {"html_block", "hr", "blockquote_open"}
        assert hidden(report_command.annex(document, as_lines=True)) == set()


DRAWN = {
    "svg",
    "g",
    "path",
    "text",
    "rect",
    "line",
    "polyline",
    "defs",
    "clippath",
    "pattern",
    "title",
    "desc",
    "tspan",
}
"""Elements of drawings: how many there are depends on where labels find room."""


@pytest.mark.parametrize("name", ["all", "html"])
def test_pictures_are_drawings_of_the_same_size(name: str) -> None:
    """Charts have no element that a drawing lacks, and stay within their width."""
    for chart in charts.charts():
        drawn = charts.svg(reported(hostile.PAYLOADS[name]), chart)
        plain = charts.svg(reported(hostile.HARMLESS), chart)

        assert (drawn is None) == (plain is None)
        if drawn:
            assert 'width="800"' in drawn.split(">", 1)[0]
            assert "<script" not in drawn
            assert hidden(drawn) == set()


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Write the fixture with all payloads at once."""
    return hostile.place(tmp_path_factory.mktemp("hostile"), hostile.PAYLOADS["all"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["sources", "INPUTS"],
        ["sources", "INPUTS", "--format", "json"],
        ["daily", "INPUTS"],
        ["daily", "INPUTS", "--format", "csv"],
        ["daily", "INPUTS", "--format", "json"],
        ["report", "INPUTS", "--case", "CASE"],
    ],
    ids=" ".join,
)
def test_terminal_is_not_obeyed(
    arguments: list[str], placed: tuple[Path, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    """No command prints a character that a terminal acts on, on either stream."""
    from forensics.cli import main

    words = [{"INPUTS": str(placed[0]), "CASE": str(placed[1])}.get(word, word) for word in arguments]
    with pytest.raises(SystemExit) as stop:
        main(words)
    out, err = capfd.readouterr()

    assert stop.value.code == 0
    assert out
    assert hidden(out) == hidden(err) == set()


def test_explaining_and_checking_are_not_obeyed_either(
    placed: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The lines behind a claim are shown, and a report of hostile inputs is checked like any."""
    from forensics.cli import main

    report = tmp_path / "report.json"
    given = [str(placed[0]), "--case", str(placed[1])]
    codes = []
    for words in (
        ["report", *given, "-o", str(tmp_path / "report.md"), "--json", str(report)],
        ["explain", str(report), "E1"],
        ["explain", str(report), "F1", str(placed[0])],
        ["check", str(report), *given],
        ["check", str(tmp_path / "report.md"), *given],
    ):
        with pytest.raises(SystemExit) as stop:
            main(words)
        codes.append(stop.value.code)
    out, err = capfd.readouterr()

    assert (codes, err) == ([0] * 5, "")
    assert hidden(out) == set()


def test_summary_on_a_terminal_is_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    """What the command says where the report goes to a file is text, too."""
    report_command.tell(reported(hostile.PAYLOADS["all"]), [Path("a\x1b[31m.md")], Path("r\u202e.md"))
    said = capsys.readouterr().out

    assert "wrote a" in said
    assert hidden(said) == set()


@pytest.mark.usefixtures("roomy")
def test_a_line_of_a_megabyte(tmp_path: Path) -> None:
    """It is one line of one record, cut with a count wherever it is shown."""
    inputs, case = hostile.place(tmp_path, hostile.HARMLESS)
    long = hostile.PAYLOADS["all"].replace("\n", " ") * (1_000_000 // len(hostile.PAYLOADS["all"]) + 1)
    journal = inputs / "api.journal.jsonl"
    text = journal.read_text("utf-8").replace("mailbox x could", f"mailbox {json.dumps(long)[1:-1]} could", 1)
    journal.write_text(text, "utf-8")
    document = telling.build(pipeline.investigate([str(inputs)], pipeline.Options(case=case)))
    page = dialects.told(document, "commonmark", None)

    assert max(map(len, text.splitlines())) > 1_000_000
    assert document["sources"][0]["lines"]["unparsed"] == 0
    assert document["sources"][0]["records"] == reported(hostile.HARMLESS)["sources"][0]["records"]
    assert [title for _, title in headings(page)[1:]] == HEADINGS
