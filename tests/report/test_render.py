"""The rendered report: its sections, its limits, and that log text never changes its structure."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

import example
import pytest
from markdown_it import MarkdownIt

from forensics.report import render

if TYPE_CHECKING:
    from collections.abc import Callable

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HEADINGS = [
    "If you read only this",
    "Times that matter",
    "Impact",
    "Timeline",
    "Mechanism",
    "Ruled out",
    "Was the alert right?",
    "Recurrence",
    "Pre-existing noise",
    "Clues, never cause",
    "Not determined",
    "Suggested actions (not executed)",
    "Sources and coverage",
    "Evidence",
    "How to check this",
]
FREE = frozenset({
    "text", "title", "why", "scope", "question", "reason", "input", "command", "expires", "template", "name", "route",
    "method", "service", "series", "monitor", "formula", "signature", "skipped", "label", "coverage_line",
})  # fmt: skip
"""Keys whose text may come from a log, a case file or a file name."""
PAYLOADS = {
    "fence": "```\n~~~\n````",
    "pipe": "a | b \\| c |\n|---|---|\n| d |",
    "html": "<script>alert(1)</script><!-- <details> &lt; &#64;",
    "ansi": "\x1b[31mred\x1b[0m \x00 \x07",
    "bidi": "\u202eevil\u2066 \u200b\ufeff",
    "mention": "@all @here a@b.c #1 GH-1 www.x.y http://x.y",
    "spreadsheet": "=HYPERLINK(1) +1 -1 @SUM",
    "jinja": "{{ 7 * 7 }} {% raw %} {# x #} {{ doc }}",
    "blocks": "\n\n# heading\n\n- item\n\n1. one\n\n> quote\n\n---\n\n    code\n\n[x]: y",
    "emphasis": "**a** _b_ ~~c~~ [d](e) ![f](g) `h",
}


def headings(text: str) -> list[tuple[str, str]]:
    """Return level and text of every heading."""
    tokens = PARSER.parse(text)
    return [(t.tag, tokens[i + 1].content) for i, t in enumerate(tokens) if t.type == "heading_open"]


def section(text: str, title: str) -> str:
    """Return one section, its heading included."""
    return f"## {title}\n" + text.split(f"\n## {title}\n")[1].split("\n## ", maxsplit=1)[0]


def structure(text: str) -> list[tuple[str, str]]:
    """Return the blocks of a page and what is not plain text inside them."""
    found = []
    for token in PARSER.parse(text):
        found.append((token.type, token.tag))
        inside = [t.type for t in token.children or []]
        found += [(kind, "inside") for kind in inside if kind not in {"text", "code_inline"}]
    return found


def poisoned(document: Any, change: Callable[[str], str], key: str = "") -> Any:
    """Return a copy in which every free text is changed."""
    if isinstance(document, dict):
        return {name: poisoned(value, change, name) for name, value in document.items()}
    if isinstance(document, list):
        return [
            poisoned(value, change, "text" if key in {"limits", "alternatives"} else key)
            for value in document
        ]
    return change(document) if key in FREE and isinstance(document, str) else document


def test_sixteen_sections_in_order() -> None:
    """The title is of level 1, the other fifteen headings are of level 2."""
    assert headings(render.markdown(example.founding())) == [
        ("h1", "CRM API stopped answering"),
        *(("h2", title) for title in HEADINGS),
    ]


def test_nothing_known_still_has_every_section() -> None:
    """No heading is removed and none stands alone, even where no input could be read."""
    text = render.markdown(example.empty())

    assert headings(text) == [("h1", "Incident report"), *(("h2", title) for title in HEADINGS)]
    assert "Not determined: no input could be read." in section(text, "If you read only this")
    assert [t for t in HEADINGS if len(section(text, t).splitlines()) < 3] == []


def test_a_quiet_day_says_so() -> None:
    """Inputs without an incident give a report that says there was none in what they cover."""
    quiet = example.empty() | {"sources": example.founding()["sources"]}

    assert "No incident found in the covered span" in section(render.markdown(quiet), "If you read only this")


def test_a_section_that_cannot_be_filled_gives_the_reason() -> None:
    """The pipeline's reason stands under the heading."""
    reason = "The journal ends before the window."
    document = example.empty() | {"unfilled": {"ruled_out": reason}}

    assert section(render.markdown(document), "Ruled out").split() == (
        ["##", "Ruled", "out", *reason.split()]
    )


def test_fits_a_ticket() -> None:
    """A normal incident stays under 11,000 characters with its whole timeline and diagnosis."""
    document = example.founding()
    text = render.markdown(document)

    assert len(text) < 11_000
    for hypothesis in document["hypotheses"]:
        assert hypothesis["title"] in section(text, "Ruled out")
    assert text.count("|Verified|") + text.count("|Derived|") == len(document["timeline"])


def test_two_runs_are_identical() -> None:
    """The page is a function of the document, which it leaves as it was."""
    document = example.founding()
    before = copy.deepcopy(document)

    assert render.markdown(document) == render.markdown(document)
    assert document == before


def test_summary_is_brief() -> None:
    """At most 120 words, and the greatest unknown is among them."""
    summary = section(render.markdown(example.founding()), "If you read only this")

    assert len(summary.split()) <= render.SUMMARY_WORDS
    assert "Not determined: needs Postgres server log" in summary


def test_long_summary_is_cut_with_a_count() -> None:
    """Of a summary that is too long the first and the last stay, and the rest is counted."""
    words = "word " * 30
    marked = [example.finding(n, "summary", "verified", f"n{n} {words}", "E1") for n in range(1, 9)]
    summary = section(render.markdown(example.founding() | {"findings": marked}), "If you read only this")

    assert len(summary.split()) <= render.SUMMARY_WORDS
    assert re.findall(r"\bn\d", summary) == ["n1", "n2", "n8"]
    assert "5 more lines: run with `--evidence FILE`" in summary


def test_every_evidence_id_shown_resolves() -> None:
    """Each id on the page has its source and line in the evidence section."""
    document = example.founding()
    text = render.markdown(document)
    shown = set(re.findall(r"\bE\d+\b", text))
    lines = {e["id"]: e["line"] for e in document["evidence"]}

    assert shown <= set(lines)
    for name in shown:
        assert re.search(rf"\b{name}\b[| ]+\S+:{lines[name]}\b", section(text, "Evidence"))


def test_unknown_evidence_is_not_named() -> None:
    """An id without a line is not shown."""
    lost = [example.finding(1, "impact", "verified", "text", "E99")]

    assert "E99" not in render.markdown(example.founding() | {"findings": lost})


def test_a_clue_stays_out_of_summary_and_mechanism() -> None:
    """A clue that was filed elsewhere is shown among the clues."""
    clues = [example.finding(1, name, "clue", f"said in {name}", "E1") for name in ("summary", "mechanism")]
    text = render.markdown(example.founding() | {"findings": clues})

    assert "said in" not in section(text, "If you read only this") + section(text, "Mechanism")
    assert section(text, "Clues, never cause").count("said in") == 2


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("Times that matter", "no later than 2026-09-09 09:42:26 -03:00"),
        ("Times that matter", "Time to detect (start to detected): ≥ 483 s (8 min 3 s)"),
        ("Times that matter", "From detected to end: 59 s"),
        ("Times that matter", "|Acknowledged|not determined|"),
        ("Impact", "GET `/api/conversations/views`|500|29|"),
        ("Mechanism", "Arithmetic: `46 - 34 = 12; 46 - 35 = 11; 5 + 10 = 15`"),
        ("Mechanism", "**[Inferred]** (E2, E10"),
        (
            "Was the alert right?",
            "88 s (1 min 28 s) late, or due 2026-09-09 09:45:00 -03:00, 388 s (6 min 28 s) late",
        ),
        ("Was the alert right?", "30600 s (8 h 30 min)|102|yes|1, 2|none|"),
        ("Was the alert right?", "a freeze under 308 s never alerts, one over 608 s always does"),
        ("Recurrence", "2026-09-08|crm-api|`sqlalchemy.queuepool-timeout`|≥ 41|123|"),
        ("Recurrence", "2026-09-09 (partial day)"),
        ("Recurrence", "26 to 27"),
        ("Pre-existing noise", "|60.1|59.7|pre-existing|"),
        ("Not determined", "fetched as for Q2"),
        ("Sources and coverage", "10402 = 10400 + 2 + 0"),
        ("Sources and coverage", "not read: permission denied (mode 640)"),
        ("Suggested actions (not executed)", "(answers F9)"),
        ("How to check this", "forensics check report.json INPUT…"),
    ],
)
def test_founding_incident_says(title: str, wanted: str) -> None:
    """What a careful engineer's report says is on the page."""
    assert wanted in section(render.markdown(example.founding()), title)


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS.keys())
def test_hostile_text_changes_no_structure(payload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a log says, the page has the blocks, rows and cells it has for the letter x."""
    monkeypatch.setattr(render, "LEVELS", (render.Limits(text=10_000, why=10_000, line=10_000),))
    monkeypatch.setattr(render, "LONGEST", 10**9)
    monkeypatch.setattr(render, "SUMMARY_WORDS", 10**9)
    monkeypatch.setattr(render, "NAME", 10_000)
    harmless = render.markdown(poisoned(example.founding(), lambda text: f"{text} x"))
    hostile = render.markdown(poisoned(example.founding(), lambda text: f"{payload} {text} {payload}"))

    assert structure(hostile) == structure(harmless)
    assert [c for c in hostile if c != "\n" and not c.isprintable()] == []


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS.keys())
def test_hostile_text_fits_a_ticket(payload: str) -> None:
    """Cutting keeps the headings, the limit and the rows whole."""
    text = render.markdown(poisoned(example.founding(), lambda text: f"{payload * 20} {text} {payload * 20}"))

    assert len(text) < 11_000
    assert [title for _, title in headings(text)[1:]] == HEADINGS
    assert {kind for kind, place in structure(text) if place == "inside"} <= {
        "strong_open", "strong_close", "link_open", "link_close",
    }  # fmt: skip


def test_a_megabyte_of_log_is_cut_with_a_count() -> None:
    """A line of one megabyte neither breaks the page nor fills it."""
    text = render.markdown(poisoned(example.founding(), lambda text: text + "x" * 1_000_000))

    assert len(text) < 11_000
    assert [title for _, title in headings(text)[1:]] == HEADINGS
    assert re.findall(r"\(\+\d{6,7}\)", text) != []


def test_a_huge_document_fits_and_counts_what_it_left_out() -> None:
    """A hundred times as much of everything gives a page with every heading and counted notices."""
    document = example.founding()
    for name in (
        "sources",
        "incidents",
        "signatures",
        "probes",
        "blind_gaps",
        "daily",
        "background",
        "timeline",
    ):
        document[name] = document[name] * 100
    for name in ("findings", "not_determined", "actions", "bars", "detectability", "hypotheses"):
        document[name] = document[name] * 100
    document["impact"]["requests_failed"] *= 100
    text = render.markdown(document)

    assert len(text) < 11_000
    assert [title for _, title in headings(text)[1:]] == HEADINGS
    for title in ("Impact", "Timeline", "Ruled out", "Recurrence", "Sources and coverage"):
        assert re.search(r"\d+ more \w+: run with `--evidence FILE`", section(text, title)), title


def test_a_timeline_too_long_keeps_both_ends() -> None:
    """What is left out lies in the middle, is counted, and its span is named."""
    document = example.founding()
    event = document["timeline"][4]
    document["timeline"][5:5] = [event | {"at": example.at(f"09:44:{n:02}")} for n in range(50)]
    timeline = section(render.markdown(document), "Timeline")

    assert timeline.count("|`/health` answered 200|") == 2
    assert re.search(
        r"\d+ more rows: run with `--evidence FILE` \(left out here: \S+ \S+ -03:00 to \S+ \S+ -03:00\)",
        timeline,
    )


def test_no_person_is_blamed() -> None:
    """The page never says what someone should have done."""
    assert not re.search(r"should have|failed to|fault of|exactly", render.markdown(example.founding()))


def test_only_the_portable_subset_is_used() -> None:
    """No raw HTML, image, nested list, or heading below level 3."""
    tokens = PARSER.parse(render.markdown(example.founding()))
    kinds = {t.type for t in tokens} | {c.type for t in tokens for c in t.children or []}

    assert kinds & {"html_block", "html_inline", "image", "hr", "code_block", "blockquote_open"} == set()
    assert {t.level for t in tokens if t.type == "bullet_list_open"} == {0}


def test_templates_are_found() -> None:
    """There is one template per section, numbered in their order."""
    names = sorted(f.name for f in (render.template_root() / "sections").iterdir() if f.name.endswith(".j2"))

    assert [name[:2] for name in names] == [f"{n:02}" for n in range(1, 17)]
