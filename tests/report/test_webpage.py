"""The page for a browser: well-formed, asking nobody, showing everything, and never moved by what a log says."""

from __future__ import annotations

import copy
import re
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import example
import pytest
from anatomy import HEADINGS
from test_render import PAYLOADS, poisoned

from forensics.model import texts
from forensics.report import render, webpage

VOID = {"meta", "link", "input", "br"}
LOCAL = re.compile(r"#[\w-]+|data:,")
"""Addresses that lead nowhere but into the page, and the empty icon."""
ADDRESSES = ("href", "src", "srcset", "action", "formaction", "data", "poster", "background", "xlink:href")


class Reader(HTMLParser):
    """Reads a page strictly: every element that is opened is closed, in order."""

    def __init__(self, page: str) -> None:
        """Read the whole page."""
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = []
        self.policy = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        assert len({name for name, _ in attrs}) == len(attrs), (tag, attrs)
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)
        if ("http-equiv", "Content-Security-Policy") in attrs:
            self.policy = dict(attrs)["content"] or ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element without content."""
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the element that was opened last."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note a text with the element that it stands in."""
        self.texts.append((self.open[-1] if self.open else "", data))

    def text(self, *tags: str) -> str:
        """Return the texts that stand directly in elements of these names, or all that a reader sees."""
        hidden = {"style", "script", "title"}
        return "".join(text for tag, text in self.texts if (tag in tags if tags else tag not in hidden))

    def attributes(self, name: str) -> list[str]:
        """Return all values of an attribute."""
        return [attrs[name] for _, attrs in self.elements if name in attrs]


def structure(page: str) -> list[tuple[str, dict[str, str]]]:
    """Return the elements, without what follows from the length of a text or from the order of names."""
    return [
        (tag, {name: value for name, value in attrs.items() if name not in {"class", "data-s"}})
        for tag, attrs in Reader(page).elements
    ]


def titles(page: str) -> list[str]:
    """Return the headings of level 2."""
    return re.findall(r"<h2[^>]*>(.*?)</h2>", page)


def rows(page: str, section: str) -> int:
    """Count the rows of a section's tables."""
    return page.split(f'<section id="{section}"')[1].split("</section>", maxsplit=1)[0].count("<tr><td")


DOCUMENTS = {"founding": example.founding(), "empty": example.empty()}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
class TestAnyPage:
    """What holds of a page about an incident and of one about nothing."""

    def test_has_the_sections_of_the_report(self, document: dict[str, Any]) -> None:
        """The same fifteen headings in the same order, none of them alone."""
        page = webpage.html(document)

        assert titles(page) == HEADINGS
        assert not re.search(r"</h2>\s*</section>", page)

    def test_is_well_formed(self, document: dict[str, Any]) -> None:
        """Elements are closed in order, names are unique, and every link leads to one of them."""
        page = Reader(webpage.html(document))
        names = page.attributes("id")

        assert len(set(names)) == len(names)
        assert {link[1:] for link in page.attributes("href") if link.startswith("#")} <= set(names)
        assert set(" ".join(page.attributes("aria-labelledby")).split()) <= set(names)

    def test_asks_nobody(self, document: dict[str, Any]) -> None:
        """No address leads out of the page, and its policy forbids every request."""
        page = Reader(webpage.html(document))

        assert [
            value for name in ADDRESSES for value in page.attributes(name) if not LOCAL.fullmatch(value)
        ] == []
        assert not re.search(r"url\(|@import|https?:", page.text("style"))
        assert "default-src 'none'; " in page.policy
        assert "unsafe" not in page.policy

    def test_runs_its_own_script_only(self, document: dict[str, Any]) -> None:
        """One script and one style, each allowed by its hash; nothing is run or styled by an attribute."""
        page = Reader(webpage.html(document))

        for name in ("script", "style"):
            digest = b64encode(sha256(page.text(name).encode()).digest()).decode()
            assert [tag for tag, _ in page.elements].count(name) == 1
            assert f"{name}-src 'sha256-{digest}';" in page.policy
        named = {name for _, attrs in page.elements for name in attrs}
        assert {name for name in named if name.startswith("on")} | named & {"style"} == set()

    def test_two_runs_are_identical(self, document: dict[str, Any]) -> None:
        """The page is a function of the document, which it leaves as it was."""
        before = copy.deepcopy(document)

        assert webpage.html(document) == webpage.html(document)
        assert document == before

    @pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS.keys())
    def test_hostile_text_changes_no_structure(self, document: dict[str, Any], payload: str) -> None:
        """Whatever a log says, the page has the elements that it has for the letter x, and shows no hidden character."""
        harmless = webpage.html(poisoned(document, lambda text: f"x {text} x"))
        hostile = webpage.html(poisoned(document, lambda text: f"{payload} {text} {payload}"))

        assert structure(hostile) == structure(harmless)
        assert [c for c in hostile if c != "\n" and not c.isprintable()] == []


def test_hostile_text_is_shown_as_it_was_logged() -> None:
    """Markup is seen as text, quotes stay quotes, and what cannot be seen is written out."""
    said = '</code></td><script>alert("1")</script>\'"><img src=x onerror=1>\u202e\x1b[31m{{ 7 * 7 }}'
    document = example.founding()
    for line in document["evidence"]:
        line["text"] = said
    page = Reader(webpage.html(document))

    assert said.replace("\u202e", r"\u202e").replace("\x1b", r"\x1b") in page.text("code")
    assert page.text("code").count("alert") == len(document["evidence"])


def test_a_megabyte_of_log_is_cut_with_a_count() -> None:
    """A line of one megabyte does not make a page of many, and what is left out is counted."""
    page = webpage.html(poisoned(example.founding(), lambda text: text + "x" * 1_000_000))

    assert len(page) < 3_000_000
    assert titles(page) == HEADINGS
    assert re.search(r"\(\+\d{6,7}\)", page)


def test_everything_is_shown() -> None:
    """There is room for every row and every line of evidence, a hundred times as many as a ticket holds."""
    document = example.founding()
    document["timeline"] *= 100
    document["evidence"] = [
        line | {"id": f"E{number}"} for number, line in enumerate(document["evidence"] * 50, 1)
    ]
    page = webpage.html(document)

    assert rows(page, "timeline") == len(document["timeline"])
    assert rows(page, "evidence") == len(document["evidence"])
    assert "more rows" not in page


def test_what_is_beyond_all_limits_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page has limits too, for the browser's sake: rows and lines beyond are counted."""
    document = example.founding()
    monkeypatch.setattr(webpage, "LIMITS", render.Limits(timeline=3, evidence=2, refs=1))
    page = webpage.html(document)

    assert rows(page, "timeline") == 3
    assert f"{len(document['timeline']) - 3} more rows: run with" in page
    assert f"{len(document['evidence']) - 2} more lines of evidence: run with" in page
    assert Reader(page).attributes("href").count("#E9") == 0


def test_findings_link_to_their_masked_lines() -> None:
    """Each id of a claim is a link to the line, and an action links to the findings that it answers."""
    document = example.founding()
    page = webpage.html(document)
    shown = set(re.findall(r'<a href="#(E\d+)">\1</a>', page))

    assert shown >= {name for finding in document["findings"] for name in finding["evidence"]}
    for line in document["evidence"]:
        assert re.search(rf'<tr><td><a class="anchor" id="{line["id"]}"', page)
    assert '(answers <a href="#F9">F9</a>)' in page


def test_grades_are_badges() -> None:
    """A grade and a verdict are named and carry their class."""
    page = webpage.html(example.founding())

    assert '<span class="grade verified">Verified</span>' in page
    assert '<span class="grade not_determined">Not determined</span>' in page
    assert '<span class="grade ruled_out">Ruled out</span>' in page


class TestChart:
    """The drawing that the page's script zooms and filters."""

    def test_every_row_has_its_mark(self) -> None:
        """Each row of the timeline's table is drawn once, where it happened, with what it says."""
        document = example.founding()
        page = Reader(webpage.html(document))
        marks = [attrs for _, attrs in page.elements if "data-n" in attrs]
        epoch = datetime(1970, 1, 1, tzinfo=UTC)

        assert sorted(int(mark["data-n"]) for mark in marks) == list(range(len(document["timeline"])))
        for mark in marks:
            at = datetime.fromisoformat(document["timeline"][int(mark["data-n"])]["at"])
            assert epoch + timedelta(milliseconds=int(mark["data-a"])) == at + (at.utcoffset() or timedelta())

    def test_shows_the_incident_first(self) -> None:
        """The first window holds the primary incident and what surrounds it; the rest is a step away."""
        page = Reader(webpage.html(example.founding()))
        (chart,) = [attrs for _, attrs in page.elements if attrs.get("id") == "chart"]
        first, lo, hi, last = (int(chart[f"data-{name}"]) for name in ("first", "lo", "hi", "last"))
        start = datetime(2026, 9, 9, 9, 42, 26, tzinfo=UTC).timestamp() * 1000

        assert first < lo < start < hi < last
        assert [
            attrs["class"]
            for tag, attrs in page.elements
            if tag == "rect" and "band" in attrs.get("class", "")
        ] == ["band out", "band out", "band"]

    def test_filters_name_what_is_there(self) -> None:
        """Kinds, services and grades that are drawn can be chosen, each once."""
        page = Reader(webpage.html(example.founding()))
        boxes = [attrs for tag, attrs in page.elements if tag == "input"]

        assert {box["data-dimension"] for box in boxes} == {"k", "s", "g"}
        assert len({(box["data-dimension"], box["value"]) for box in boxes}) == len(boxes)
        assert {"crm-api", "wa-gateway"} <= set(page.text("label").split())

    def test_no_instant_no_drawing(self) -> None:
        """Where nothing has a time, the section says so without an empty drawing."""
        page = webpage.html(example.empty())

        assert 'id="chart"' not in page
        assert "Not determined: no input could be read." in page

    def test_what_a_server_logs_too_has_a_lane_of_its_own(self) -> None:
        """Bars stand on each other in a lane in which each failure counts once; the lines of clients about the same ones are below."""
        document = example.founding()
        at = document["timeline"][3]["at"]
        document["chart"] = {
            "bucket_s": 10, "probes": [], "samples": [],
            "failures": [
                {"at": at, "service": "postgres", "family": "server_limit", "count": 9, "most": 9, "once": 9, "once_most": 9},
                {"at": at, "service": "crm-api", "family": "server_limit", "count": 4, "most": 4, "once": 1, "once_most": 1},
            ],
        }  # fmt: skip
        page = Reader(webpage.html(document))
        marks = re.findall(r"10 s: (\d+) server limit", page.text("title"))
        lanes = page.text("title")

        assert marks == ["1", "9", "3"]
        assert lanes.index("Failures") < lanes.index("Told by clients too")
        assert re.findall(r"≤ \d+", page.text("text"))[:2] == ["≤ 10", "≤ 3"]

    def test_a_line_ends_where_samples_are_missing(self) -> None:
        """A sampler that was refused for a minute leaves a hole, and no line through it."""
        document = example.founding()
        shown = [f"2026-09-09T09:{minute}:00-03:00" for minute in (40, 41, 42, 43, 47, 48)]
        document["chart"] = {
            "failures": [], "probes": [],
            "samples": [{"at": at, "value": 30, "limit": 100, "series": "connections"} for at in shown],
        }  # fmt: skip
        page = Reader(webpage.html(document))
        lines = [attrs["data-p"].split() for tag, attrs in page.elements if tag == "polyline"]

        assert [len(points) for points in lines] == [4, 2]

    def test_an_incident_without_end_lasts(self) -> None:
        """What still goes on reaches to the end of the inputs, and says so."""
        document = example.founding()
        document["incidents"][2] |= {"end": None, "recovered_at": None, "ongoing": True}
        page = Reader(webpage.html(document))

        assert "still going on where the inputs end" in page.text("title")

    def test_odd_times_are_left_out(self) -> None:
        """A row without a time, or with one that is none, has no mark; the others have theirs."""
        document = example.founding()
        document["timeline"][0]["at"] = None
        document["timeline"][1]["at"] = "yesterday"
        document["timeline"][2]["at"] = "2026-09-09T09:42:00"
        page = Reader(webpage.html(document))

        assert len(page.attributes("data-n")) == len(document["timeline"]) - 3


def test_script_and_chart_agree_on_measures() -> None:
    """Margins and steps of ticks are the same in the drawing and in the script that draws it again."""
    from forensics.report import webchart

    script = texts.root().joinpath("web", "page.js").read_text("utf-8")

    assert f"LEFT = {webchart.LEFT}, INSET = {webchart.INSET}," in script
    listed = re.search(r"STEPS = \[([\d, ]+),\s*\.\.\.\[([\d, ]+)\]\.map\(\(n\) => 3600 \* n\)\]", script)
    assert listed
    steps = [int(n) for n in listed[1].split(",")] + [3600 * int(n) for n in listed[2].split(",")]
    assert tuple(steps) == webchart.STEPS_S
