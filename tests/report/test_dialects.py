"""The report for GitHub, GitLab, Jira and Slack: as long as each takes, and log text stays text in all of them."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import example
import pytest
from anatomy import HEADINGS
from test_render import PAYLOADS, poisoned, structure

from forensics.report import dialects, jira, render, slack
from forensics.report.markdown import REACTS

if TYPE_CHECKING:
    from collections.abc import Iterator

MORE = {
    "jira": "{code} {noformat} {color:red}x{color} [~all] [x|http://x.y] !x.png! ??x?? -x- +x+ ^x^ h1. x\n{code}\nbq. x\n|| x || y || OPS-1 :) (!) \\\\ &copy;",
    "slack": "<!channel> <!here> <@U024BE7LH> <#C024BE7LR|x> <http://x.y|z> *x* _x_ ~x~ `x` ```x``` > x :tada: &lt; #general",
    "words": "# x * x - x > x h2. x bq. x ---- 1. x",
}
HOSTILE = {**PAYLOADS, **MORE}
TITLES = {"jira": r"h2\. (.*)", "slack": r"\*([^*]*)\*"}


def headings(text: str, dialect: str) -> list[str]:
    """Return the headings of level 2."""
    found = [re.fullmatch(TITLES.get(dialect, "## (.*)"), line) for line in text.split("\n")]
    return [match[1].replace("\\", "") for match in found if match][dialect == "slack" :]


@pytest.fixture
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything be shown."""
    monkeypatch.setattr(render, "ROOMS", (render.Limits(text=10_000, why=10_000, line=10_000),))
    monkeypatch.setattr(render, "SUMMARY_WORDS", 10**9)
    monkeypatch.setattr(render, "NAME", 10_000)


def two(dialect: str, payload: str) -> tuple[str, str]:
    """Return the page about the letter x and the one about a payload."""
    harmless = dialects.told(poisoned(example.founding(), lambda text: f"x {text} x"), dialect, 10**9)
    changed = poisoned(example.founding(), lambda text: f"{payload} {text} {payload}")
    return harmless, dialects.told(changed, dialect, 10**9)


@pytest.mark.parametrize("dialect", dialects.DIALECTS)
class TestEveryDialect:
    """What holds wherever a report is read."""

    def test_has_every_section_and_fits(self, dialect: str) -> None:
        """All headings are there, and the text is as long as the place takes."""
        for document in (example.founding(), example.empty()):
            text = dialects.told(document, dialect)

            assert headings(text, dialect) == HEADINGS
            assert len(text) <= dialects.DIALECTS[dialect][1]

    @pytest.mark.parametrize("longest", [5_000, 8_000])
    def test_is_cut_where_asked_and_says_so(self, dialect: str, longest: int) -> None:
        """A shorter limit is kept, with every heading, and what is left out is counted."""
        text = dialects.told(example.founding(), dialect, longest)

        assert len(text) <= longest
        assert headings(text, dialect) == HEADINGS
        assert re.search(r"^\d+ more [a-z ]+: run with", text, re.MULTILINE)

    def test_hostile_text_fits(self, dialect: str) -> None:
        """However long, nothing of it is a heading or a character that cannot be seen."""
        payload = " ".join(HOSTILE.values())
        changed = poisoned(example.founding(), lambda text: f"{payload} {text} {payload * 3}")
        text = dialects.told(changed, dialect)

        assert len(text) <= dialects.DIALECTS[dialect][1]
        assert headings(text, dialect) == HEADINGS
        assert [c for c in text if c != "\n" and not c.isprintable()] == []

    def test_a_megabyte_is_cut_with_a_count(self, dialect: str) -> None:
        """A line of one megabyte neither breaks the page nor fills it."""
        document = example.founding()
        for name in ("evidence", "timeline", "findings"):
            document[name][0]["text"] += "x" * 1_000_000
        text = dialects.told(document, dialect)

        assert len(text) <= dialects.DIALECTS[dialect][1]
        assert headings(text, dialect) == HEADINGS
        assert re.search(r"\(\\?\+\d{6,7}\)", text)

    def test_two_runs_are_identical(self, dialect: str) -> None:
        """The text is a function of the document."""
        assert dialects.told(example.founding(), dialect) == dialects.told(example.founding(), dialect)


def test_portable_stays_portable() -> None:
    """Without a dialect the report is the portable page."""
    assert dialects.told(example.founding()) == render.markdown(example.founding())


class TestFolding:
    """GitHub and GitLab fold the evidence."""

    @pytest.mark.parametrize("dialect", ["github", "gitlab"])
    def test_only_the_evidence_is_folded(self, dialect: str) -> None:
        """One ``<details>``, below the evidence's heading and closed before the next."""
        text = dialects.told(example.founding(), dialect)
        before, rest = text.split("\n## Evidence\n")
        inside, after = rest.split("\n## How to check this\n")

        assert inside.startswith("\n<details>\n<summary>Evidence</summary>\n\n")
        assert inside.rstrip().endswith("\n</details>")
        assert "details" not in before + after

    @pytest.mark.usefixtures("roomy")
    @pytest.mark.parametrize("payload", MORE.values(), ids=MORE)
    def test_hostile_text_changes_no_structure(self, payload: str) -> None:
        """The page has the blocks, rows and cells that it has for the letter x."""
        harmless, hostile = two("github", payload)

        assert structure(hostile) == structure(harmless)


def wiki(text: str) -> Iterator[str]:
    """Yield what Jira reads as markup, line by line: escapes, references and the content of blocks left out."""
    closing = ""
    for line in text.split("\n"):
        if closing:
            closing = "" if line == closing else closing
            assert "{code" not in line or not closing
            continue
        found = re.fullmatch(r"\{(code|noformat)(?::\w+)?\}", line)
        closing = f"{{{found[1]}}}" if found else ""
        bare = re.sub(r"\\[!\[\]^~+?%{}()*_\-|@]|&#\d+;|&amp;", "\u2022", line)
        opened = re.match(r"h\d\. |\* |\|\|?|#|bq\.|-{2,}", bare)
        signs = re.findall(
            r"[{}\[\]|*^~!?@%\\]|://|(?<!\w)_|_(?!\w)|\b[A-Z][A-Z0-9_]+-\d|:[()DPp]|&\w+;|\((?:[ynix/!*?+-]|on|off)\)",
            bare.replace("UTC-0", ""),
        )
        yield f"{opened[0] if opened else ''} {''.join(signs)}"


class TestJira:
    """Wiki markup."""

    @pytest.mark.usefixtures("roomy")
    @pytest.mark.parametrize("payload", HOSTILE.values(), ids=HOSTILE)
    def test_hostile_text_is_no_markup(self, payload: str) -> None:
        """Jira reads the same markup, line by line, as for the letter x."""
        harmless, hostile = two("jira", payload)
        drop = str.maketrans("", "", "{}")  # first words in a fixed-width font

        assert [line.translate(drop) for line in wiki(hostile)] == [
            line.translate(drop) for line in wiki(harmless)
        ]

    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            ("a {code} b", r"a \{code\} b"),
            ("[~all] *x*", r"\[\~all\] \*x\*"),
            ("OPS-12 a-b -1", r"OPS\-12 a-b -1"),
            ("http://x.y", "http&#58;//x.y"),
            ("C:\\x", "C:&#92;x"),
            ("&lt; & x", "&amp;lt; & x"),
            ("h1. x", "h1&#46; x"),
            ("# x", "&#35; x"),
            ("snake_case _x_", r"snake_case \_x\_"),
            ("\u202ex\x1b", r"&#92;u202ex&#92;x1b"),
        ],
    )
    def test_escapes(self, text: str, wanted: str) -> None:
        """What Jira would act on is escaped in the way that it reads."""
        assert jira.inline(text) == wanted

    def test_blocks_cannot_be_closed(self) -> None:
        """A line that names the macro does not end it."""
        made = jira.fence(["{code}", "{noformat}", "{ Code:x}"], "sh").split("\n")

        assert made == ["{code:bash}", r"\x7bcode}", r"\x7bnoformat}", r"\x7b Code:x}", "{code}"]

    def test_shapes(self) -> None:
        """Headings, heads of tables and blocks are Jira's own."""
        text = dialects.told(example.founding(), "jira")

        assert text.startswith("h1. CRM API stopped answering\n")
        assert "\n|| Hypothesis || Verdict || Why || Scope || Evidence ||\n| " in text
        assert "\n{code:bash}\n" in text
        assert "|---" not in text


class TestSlack:
    """mrkdwn."""

    @pytest.mark.usefixtures("roomy")
    @pytest.mark.parametrize("payload", HOSTILE.values(), ids=HOSTILE)
    def test_hostile_text_is_no_markup(self, payload: str) -> None:
        """Outside code nothing but the page's own markup is left, no mention is begun anywhere, and no block is closed."""
        harmless, hostile = (self.bare(text) for text in two("slack", payload))

        assert re.findall(r"^•|^\*|\*$|^```$", hostile, re.MULTILINE) == re.findall(
            r"^•|^\*|\*$|^```$", harmless, re.MULTILINE
        )
        assert re.findall(r"[*_~`<>]", hostile) == re.findall(r"[*_~`<>]", harmless)
        assert [word for word in unescape(hostile).split() if REACTS.search(word)] == []

    @staticmethod
    def bare(text: str) -> str:
        """Return a page without the content of its code, after checking what holds there too."""
        assert not re.search(r"[<>]|&(?!amp;|lt;|gt;)", text)
        blocks = re.split(r"^```$", text, flags=re.MULTILINE)
        assert len(blocks) % 2
        outside = [re.sub(r"`[^`\n]+`", "code", block) for block in blocks[::2]]
        assert not any("`" in block for block in blocks[1::2])
        return "\n```\n\n```\n".join(outside)

    def test_tables_are_aligned(self) -> None:
        """Each table is a block whose columns stand below each other."""
        text = dialects.told(example.founding(), "slack")
        block = next(part for part in text.split("```") if part.startswith("\nHypothesis"))
        head, *rows = block.strip("\n").split("\n")

        assert len(rows) == len(example.founding()["hypotheses"])
        assert {row[head.index("Verdict") - 2 : head.index("Verdict")] for row in rows} == {"  "}

    def test_wide_characters_take_two_places(self) -> None:
        """Columns stay aligned beside text of East Asia, and an entity counts as one character."""
        made = slack.finish(
            "x", f"{slack.HEAD}a{slack.CELL}b\n{slack.ROW}日本{slack.CELL}c\n{slack.ROW}&lt;{slack.CELL}d"
        )

        assert made == "```\na     b\n日本  c\n&lt;     d\n```"
