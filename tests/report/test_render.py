"""The rendered report: its sections, its limits, and that log text never changes its structure."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

import example
import pytest
from anatomy import HEADINGS
from markdown_it import MarkdownIt

from forensics.model import texts
from forensics.report import render

if TYPE_CHECKING:
    from collections.abc import Callable

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
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


def compact(text: str) -> str:
    """Return a page whose tables have no blanks beside the pipes, as on tight pages."""
    lines = text.split("\n")
    return "\n".join(re.sub(r" ?(?<!\\)\| ?", "|", line) if line.startswith("|") else line for line in lines)


def rows(text: str) -> list[str]:
    """Return the rows of all tables of a text, their heads left out."""
    lines = compact(text).split("\n")
    return [
        line
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
        if line.startswith("|") and not line.startswith("|---") and not after.startswith("|---")
    ]


def orphans(text: str) -> list[str]:
    """Return the lines that announce something which does not follow: heads of tables, leads of charts."""
    lines = [*text.split("\n"), "", ""]
    heads = [
        lines[at - 1]
        for at, line in enumerate(lines)
        if line.startswith("|---") and not lines[at + 1].startswith("|")
    ]
    leads = [
        line
        for at, line in enumerate(lines)
        if line.endswith(":") and line[0] not in "-#|*" and not lines[at + 2].startswith("```")
    ]
    return heads + leads


def left_out(text: str) -> int:
    """Return how many things the notices of a text count."""
    return sum(map(int, re.findall(r"^(\d+) more [a-z ]+: run with", text, re.MULTILINE)))


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
    assert len(rows(section(text, "Timeline"))) == len(document["timeline"])
    assert "more rows" not in section(text, "Timeline")


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
        (
            "Times that matter",
            "- Incident 1: no later than 2026-09-08 11:53:04 -03:00 to 2026-09-08 11:57:41 -03:00, ≥",
        ),
        ("Times that matter", "277 s (4 min 37 s), not detected by a monitor seen here"),
        ("Impact", "inside the window. (scope: deliveries logged by wa-gateway) *[Verified]* (E5, E6)"),
        ("Impact", "GET `/api/conversations/views`|500|29|"),
        ("Timeline", "|Time (-03:00)|Event|Service|Grade|Evidence|"),
        ("Timeline", "|2026-09-09 09:40:00|`/health` answered 200|crm-api|Verified|E1|"),
        ("Mechanism", "- F8 The rise in database connections"),
        (
            "Mechanism",
            "15. (`46 - 34 = 12; 46 - 35 = 11; 5 + 10 = 15`) (or: connections of other services; a higher",
        ),
        ("Mechanism", "*[Inferred]* (E2, E10"),
        ("Was the alert right?", "every 300 s ± 0.6 s; due 12, answered 10, late 1, missed 1, failed 0"),
        ("Was the alert right?", "- F12 Blind on 2026-09-08: no probe arrived for 30600 s"),
        ("Recurrence", "2026-09-08|crm-api `sqlalchemy.queuepool-timeout` ≥ 41 (123)|"),
        ("Recurrence", "2026-09-09 (partial day)"),
        ("Pre-existing noise", "60.1 an hour inside, 59.7 outside: it was there before. *[Derived]* (E16)"),
        ("Not determined", "fetched as for Q2"),
        ("Not determined", "```sh\nsudo cat /var/log/postgresql/postgresql-16-main.log > postgres.log\n```"),
        ("Sources and coverage", "|Source|SHA-256|First (-03:00)|Last (-03:00)|Lines (unparsed)|Notes|"),
        ("Sources and coverage", "|2026-09-09 00:00:03|2026-09-09 11:59:58|10402 (0)|"),
        ("Sources and coverage", "not read: permission denied (mode 640)"),
        ("Suggested actions (not executed)", "(answers F9)"),
        ("Evidence", "|E16|api.journal:42500|"),
        ("Evidence", "|E1|api.journal:41871|2026-09-09 09:40:00"),
        (
            "How to check this",
            "forensics explain report.json E1 INPUT…\nforensics report INPUT… --json report.json",
        ),
        ("How to check this", "\nsha256sum INPUT…\n"),
    ],
)
def test_founding_incident_says(title: str, wanted: str) -> None:
    """What a careful engineer's report says is on the page."""
    assert wanted in compact(section(render.markdown(example.founding()), title))


@pytest.mark.parametrize(
    ("title", "unwanted"),
    [
        ("Impact", "Distinct clients"),
        ("Mechanism", "Arithmetic"),
        ("Mechanism", "**"),
        ("Was the alert right?", "|"),
        ("Was the alert right?", "can see"),
        ("Recurrence", "\n|Signature|"),
        ("Recurrence", "covers"),
        ("Pre-existing noise", "|"),
    ],
)
def test_founding_incident_leaves_to_findings(title: str, unwanted: str) -> None:
    """What a finding says already, or no command offers yet, is not said a second time."""
    assert unwanted not in compact(section(render.markdown(example.founding()), title))


def test_blind_gaps_need_two_for_a_table() -> None:
    """One gap is told by its finding; several are compared in a table."""
    document = example.founding()
    text = render.markdown(document | {"blind_gaps": document["blind_gaps"] * 2})

    assert (
        compact(section(text, "Was the alert right?")).count("30600 s (8 h 30 min)|102|yes|1, 2|none|") == 2
    )


def test_templates_that_were_there_need_two_for_a_table() -> None:
    """One line that was there before is told by its finding; what is new or has risen is no noise."""
    document = example.founding()
    old = document["background"][0]
    gone = old | {"template": "gone", "inside_per_hour": 0.0, "verdict": "vanished"}
    gone |= {"ratio": 0.0, "ratio_low": 0.0, "ratio_high": 0.07}
    fresh = [old | {"template": "fresh", "verdict": verdict} for verdict in ("new", "risen")]
    one, two = ([old, *fresh], [old, gone, *fresh])

    assert rows(section(render.markdown(document | {"background": one}), "Pre-existing noise")) == []
    noise = section(render.markdown(document | {"background": two}), "Pre-existing noise")
    assert [row.split("|")[2:] for row in rows(noise)] == [
        ["60.1", "59.7", "\N{EN DASH}", "pre-existing", ""],
        ["0", "59.7", "0 times (0 to 0.07)", "vanished", ""],
    ]


def test_signatures_are_listed_where_no_day_is() -> None:
    """Without counts per day the signatures have their table."""
    recurrence = section(render.markdown(example.founding() | {"daily": []}), "Recurrence")

    assert "|`sqlalchemy.queuepool-timeout`|≥ 107|321|107 + 0 = 107|2026-09-08 11:53:34 -03:00|" in rows(
        recurrence
    )
    assert "|`redis-py.connect-timeout`|26 to 27|78|26 + 0 = 26|2026-09-09 09:43:10 -03:00|" in rows(
        recurrence
    )


def test_a_tight_page_has_one_probe_series(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other series, and the places of lines that are not quoted, are on roomy pages only."""
    document = example.founding()
    document["probes"] = [document["probes"][0] | {"series": f"series {n}"} for n in (1, 2, 3)]
    shown = []
    for level in (render.LEVELS[0], render.LEVELS[-1]):
        monkeypatch.setattr(render, "LEVELS", (level,))
        monkeypatch.setattr(render, "LONGEST", 10**9)
        text = render.markdown(document)
        alert = section(text, "Was the alert right?")
        shown.append(
            (alert.count("- Probe "), "2 more series: run with" in alert, "Also named above" in text)
        )

    assert shown == [(3, False, False), (1, True, False)]


def test_every_command_of_a_question_is_in_one_fence() -> None:
    """A question that needs two inputs has both commands in one block, each command once on the page."""
    needs = [example.POSTGRES, example.KERNEL]
    asked = [{"question": f"q{n}", "reason": None, "hypothesis": None, "needs": needs} for n in (1, 2)]
    text = section(render.markdown(example.founding() | {"not_determined": asked}), "Not determined")

    assert f"```sh\n{example.POSTGRES['command']}\n{example.KERNEL['command']}\n```" in text
    assert text.count("```") == 2
    assert text.count("fetched as for Q1") == 2


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "“+n” on this page: n more characters or items. Raw lines"),
        ("pt-BR", "“+n” nesta página: n caracteres ou itens a mais. Linhas brutas"),
    ],
)
def test_a_page_says_what_its_marks_of_a_cut_mean(language: str, said: str) -> None:
    """Where a text ends in "… (+831)" or ids in "+1" the last section says what that is; where nothing is cut it says nothing of it."""
    document = example.founding()
    document["case"]["language"] = language
    cut, whole = render.markdown(document), render.whole(document)

    assert render.SHORTENED.search(cut)
    assert said in compact(cut)
    assert not render.SHORTENED.search(whole)
    assert "“+n”" not in whole


def test_instants_are_rounded_to_the_second() -> None:
    """Half a second and more is the next second, in tables and in prose."""
    document = example.founding()
    document["timeline"][0]["at"] = example.at("09:40:00.500")
    document["incidents"][2]["detected_at"] = example.at("09:50:28.987")
    text = compact(render.markdown(document))

    assert "|2026-09-09 09:40:01|`/health` answered 200|" in text
    assert "|Detected|2026-09-09 09:50:29 -03:00|" in text


@pytest.mark.parametrize(
    ("recovered", "language", "said"),
    [
        ("09:48:41", "en", "- Detected 108 s (1 min 48 s) after recovery"),
        (None, "en", "- Detected 48 s after the end"),
        ("09:48:41", "pt-BR", "- Detectado 108 s (1 min 48 s) após a recuperação"),
        (None, "pt-BR", "- Detectado 48 s após o fim"),
    ],
)
def test_an_alert_after_the_recovery_is_told_as_such(recovered: str | None, language: str, said: str) -> None:
    """It came late by that much; no duration is negative."""
    document = example.founding()
    document["case"]["language"] = language
    end = "09:48:00" if recovered else "09:49:41"
    document["incidents"][2] |= {
        "end": example.at(end),
        "recovered_at": example.at(recovered or end),
        "detected_at": example.at("09:50:29"),
    }
    title = "Times that matter" if language == "en" else "Marcos"
    text = section(render.markdown(document), title)

    assert said in text
    assert " -108 s" not in text
    assert " -48 s" not in text


def test_instants_of_two_offsets_each_carry_theirs() -> None:
    """Where a clock was changed no head names an offset."""
    document = example.founding()
    document["timeline"][0]["at"] = "2026-09-09T08:40:00-04:00"
    text = compact(render.markdown(document))

    assert "|Time|Event|" in text
    assert "|2026-09-09 08:40:00 -04:00|`/health` answered 200|" in text
    assert "|2026-09-09 09:55:00 -03:00|`/health` answered 200|" in text
    assert "(-03:00)" not in text


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
    assert len(render.REFERENCES.sub("", section(text, HEADINGS[0])).split()) <= render.SUMMARY_WORDS
    assert orphans(text) == []
    assert {kind for kind, place in structure(text) if place == "inside"} <= {
        "em_open", "em_close", "strong_open", "strong_close", "link_open", "link_close",
    }  # fmt: skip


def test_a_heading_that_fills_the_page_ends_the_cutting(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be made shorter (a title of hidden characters, each written out) is left as it is."""
    told = iter(range(20_000))
    more = render.Page.more

    def bounded(page: render.Page, left: int, what: str = "lines") -> str:
        """Fail instead of cutting forever."""
        assert next(told, None) is not None
        return more(page, left, what)

    monkeypatch.setattr(render.Page, "more", bounded)
    text = render.markdown(poisoned(example.founding(), lambda text: "\U000e0041" * 400 + text))

    assert len(text) < 11_000
    assert [title for _, title in headings(text)[1:]] == HEADINGS


@pytest.mark.parametrize("level", [0, -1], ids=["roomy", "tight"])
def test_cutting_counts_everything_and_orphans_nothing(level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However short a page must be, no head stands without rows and each thing left out is counted once."""
    document = example.founding()
    impact = len(document["impact"]["requests_failed"]) + 1
    monkeypatch.setattr(render, "LEVELS", (render.LEVELS[level],))
    for longest in range(3_000, 11_000, 700):
        monkeypatch.setattr(render, "LONGEST", longest)
        text = render.markdown(document)

        assert len(text) <= longest
        assert orphans(text) == []
        for title, most in (("Ruled out", len(document["hypotheses"])), ("Impact", impact)):
            part = section(text, title)
            shown = len(rows(part)) + len(re.findall(r"^- ", part, re.MULTILINE))
            assert shown + left_out(part) == most, (longest, title)


def test_a_summary_cut_twice_keeps_the_greatest_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A summary that is cut to its words, and then for the page's length, still ends in what is unknown."""
    words = "word " * 30
    marked = [example.finding(n, "summary", "verified", f"n{n} {words}", "E1") for n in range(1, 9)]
    marked[7] = example.finding(8, "summary", "not_determined", "What held the connections.")
    monkeypatch.setattr(render, "LEVELS", (render.LEVELS[-1],))
    for longest in range(2_400, 4_000, 200):
        monkeypatch.setattr(render, "LONGEST", longest)
        summary = section(render.markdown(example.founding() | {"findings": marked}), HEADINGS[0])

        assert "What held the connections." in summary
        assert summary.count("- n") + left_out(summary) == 7


def test_no_head_without_rows() -> None:
    """Neither an empty document nor a normal one has a table that is only a head."""
    assert orphans(render.markdown(example.founding())) == []
    assert orphans(render.markdown(example.empty())) == []
    assert orphans("| a |\n|---|\n\nlead:\n\n- x:\n") == ["| a |", "lead:"]


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


def test_a_timeline_too_long_keeps_what_carries_the_story() -> None:
    """Rows are chosen by their kind and stay in the order of time; the others are counted."""
    document = example.founding()
    sample = document["timeline"][1]
    document["timeline"][2:2] = [sample | {"at": example.at(f"09:42:00.{n}")} for n in range(10, 90)]
    timeline = section(render.markdown(document), "Timeline")
    shown = rows(timeline)
    story = (
        "`/health` answered 200",
        "begins to wait",
        "not answered in time",
        "pool timeouts",
        "alerts",
        "burst:",
    )

    assert [words for words in story if not any(words in row for row in shown)] == []
    assert sum("`/health` answered 200" in row for row in shown) == 2
    assert shown == sorted(shown)
    assert len(shown) + left_out(timeline) == len(document["timeline"])


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
    names = sorted(f.name for f in (texts.root() / "sections").iterdir() if f.name.endswith(".j2"))

    assert [name[:2] for name in names] == [f"{n:02}" for n in range(1, 17)]
