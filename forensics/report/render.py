"""Render report.json's document as the report: one template per section, in file order.

Every ``{{ value }}`` of a template is escaped by the dialect (`forensics.report.markdown.inline`) unless it is
markup already, so a template cannot forget it. A report that is too long for a ticket is rendered again with
tighter limits; whatever a limit leaves out is counted on the page.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound

from forensics.model import texts
from forensics.report import charts, prose
from forensics.report.language import speak
from forensics.report.markdown import PORTABLE
from forensics.report.masking import TITLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from importlib.resources.abc import Traversable

    from forensics.report.dialect import Dialect
    from forensics.report.language import Language

LONGEST = 10_999
"""Characters of a report: under 11,000, so that it fits a ticket beside its discussion."""
SUMMARY_WORDS = 120
"""Words of the section for a reader who reads nothing else, its heading included."""
REFERENCES = re.compile(r"\(E\d[^()]*\)")
"""The ids of evidence behind a claim."""
SHORTENED = re.compile(r"\+\d+\)")
"""How the page says how many characters, ids or names it left off; the last section says what it means."""
NAME = 200
"""Characters of a value for which a template states no limit: names of services, kinds, zones."""
UNKNOWN = "\N{EN DASH}"
"""Stands where a value is null or empty."""
BARRED = frozenset({"summary", "mechanism"})
"""Sections in which a mere clue has no place; it is shown among the clues instead."""
STORY = (
    ("healthy", "recovered", "wait", "alert", "clock", "late", "stop", "kill", "restart", "deploy"),
    ("stall_end", "stall", "probe", "start", "exited", "timeout"),
    ("failures", "incident"),
    ("blind", "blind_end"),
    ("snapshot", "sample"),
    ("note",),
)
"""Kinds of the timeline's rows, from those that carry the story to those that other sections tell."""
KEPT = frozenset({"summary", "times", "timeline", "mechanism", "ruled_out", "alert", "not_determined"})
"""Sections that are shortened last."""

NOTICE = re.compile(r"(?!- )[^\d`|]*(\d[\d.,]*)[^`|]*`--evidence FILE`")
"""The phrase `more`, in any language: the number comes first."""
STATED = ("tz", "lang", "since", "until")
"""Options whose values stand in the document as they were given."""
FORM = ("dialect", "max-chars")
"""Options of the page alone, which `forensics.report.dialects.told` adds to those that report.json holds."""


class Markup(str):
    """Text that is markup of the page's dialect already and is not escaped again."""

    __slots__ = ()

    def __html__(self) -> str:
        """Tell jinja2 that nothing is left to escape."""
        return self


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of each thing one page shows."""

    text: int = 600
    """Characters of a finding's text."""
    why: int = 240
    """Characters of a hypothesis' reason, and of other texts in tables."""
    refs: int = 6
    """Evidence ids behind one claim."""
    findings: int = 12
    """Findings per section."""
    timeline: int = 40
    """Rows of the timeline."""
    rows: int = 30
    """Rows of the other tables."""
    minutes: int = 30
    """Bars of the chart."""
    evidence: int = 60
    """Lines of evidence that are quoted; the others are only located."""
    line: int = 120
    """Characters of a quoted line."""
    pad: str = " "
    """What stands beside the content of a table's cell."""


ROOMY = Limits(
    text=4_000, why=1_200, refs=24, findings=60, timeline=400, rows=200, minutes=120, evidence=400, line=400
)
"""Where a ticket has room for more than the portable page."""
ROOMS = (ROOMY, replace(ROOMY, evidence=200, line=240), replace(ROOMY, evidence=100, line=160))
"""Much room: what gives way first is the length and the number of quoted lines."""
MUCH = 1_000_000
WHOLE = Limits(
    text=MUCH,
    why=MUCH,
    refs=MUCH,
    findings=MUCH,
    timeline=MUCH,
    rows=MUCH,
    minutes=MUCH,
    evidence=0,
    line=MUCH,
)
"""Where nothing is cut: the evidence file, which quotes its lines by themselves."""
FEW_LINES = 4
"""A page that quotes no more lines of evidence than this has no room for the places of others."""
PLACES = 40
"""Lines of evidence of which only the place is shown."""
LEVELS = (
    Limits(),
    Limits(text=480, why=200, refs=4, timeline=32, rows=20, minutes=24, evidence=20, line=100),
    Limits(text=400, why=160, refs=3, timeline=28, rows=12, minutes=20, evidence=12, line=80),
    Limits(text=400, why=140, refs=2, timeline=24, rows=10, minutes=16, evidence=8, line=72, pad=""),
    Limits(text=360, why=120, refs=2, timeline=22, rows=8, minutes=14, evidence=6, line=64, pad=""),
    Limits(text=320, why=100, refs=1, timeline=20, rows=6, minutes=14, evidence=4, line=60, pad=""),
    Limits(
        text=320, why=90, refs=1, findings=10, timeline=17, rows=5, minutes=10, evidence=3, line=56, pad=""
    ),
    Limits(
        text=320, why=80, refs=1, findings=9, timeline=15, rows=4, minutes=10, evidence=3, line=48, pad=""
    ),
    Limits(text=320, why=64, refs=1, findings=8, timeline=13, rows=3, minutes=8, evidence=3, line=48, pad=""),
    Limits(text=300, why=60, refs=1, findings=7, timeline=12, rows=2, minutes=8, evidence=3, line=48, pad=""),
    Limits(text=280, why=54, refs=1, findings=7, timeline=12, rows=2, minutes=8, evidence=3, line=44, pad=""),
    Limits(text=240, why=44, refs=1, findings=7, timeline=12, rows=2, minutes=6, evidence=2, line=40, pad=""),
    Limits(text=240, why=40, refs=1, findings=6, timeline=12, rows=2, minutes=6, evidence=2, line=36, pad=""),
    Limits(text=240, why=36, refs=1, findings=5, timeline=11, rows=2, minutes=6, evidence=2, line=32, pad=""),
)
"""From roomy to tight; the first that fits is used."""


def markdown(document: dict[str, Any]) -> str:
    """Render the whole report from a document of the shape of report.json."""
    return render(document, PORTABLE, LONGEST)


def whole(document: dict[str, Any]) -> str:
    """Render the report with nothing cut, without its section of evidence, in the portable dialect."""
    page = Page(document, WHOLE, environment(PORTABLE))
    sections = {slug: text for slug, text in page.sections().items() if slug != "evidence"}
    return "\n\n".join(_finished(PORTABLE, sections)) + "\n"


def render(document: dict[str, Any], dialect: Dialect, longest: int) -> str:
    """Render the whole report in a dialect, in at most `longest` characters."""
    env = environment(dialect)
    for limits in LEVELS if longest <= LONGEST else (*ROOMS, *LEVELS):
        page = Page(document, limits, env, dialect)
        sections = page.sections()
        if _length(dialect, sections) <= longest:
            _fill(sections, page, longest)
            break
    else:
        _squeeze(sections, page, longest)
    return "\n\n".join(_finished(dialect, sections)) + "\n"


class Page:
    """One rendering at one level of tightness; remembers which evidence it has named."""

    def __init__(
        self, document: dict[str, Any], limits: Limits, env: Environment, dialect: Dialect = PORTABLE
    ) -> None:
        """Prepare the templates for `document`."""
        self.document = document
        self.limits = limits
        self.dialect = dialect
        self.named: dict[str, None] = {}
        self.places = limits.evidence > FEW_LINES
        self.shortened = False
        self.known = {line["id"]: line for line in document["evidence"]}
        self.language = speak(document["case"].get("language") or texts.ENGLISH)
        self.env = env
        self.env.globals |= {
            "page": self,
            "limit": limits,
            "doc": document,
            **_helpers(limits, dialect, self.language),
        }
        self.env.globals["kit"] = self.env.get_template(dialect.kit).make_module()
        self.env.globals["say"] = self.env.get_template("kit/phrases.j2").make_module()

    def quoting(self, lines: int) -> str:
        """Render the section of evidence again with so many lines; the others stay as they are."""
        self.limits = replace(self.limits, evidence=lines)
        self.env.globals["limit"] = self.limits
        return self._section("sections/15-evidence.j2", "evidence")

    def sections(self) -> dict[str, str]:
        """Render every section, in file order, by slug; none is ever only a heading. The last one knows whether others are shortened."""
        self.shortened = any(
            prose.clip(line["text"], self.limits.line)[1] for line in self.document["evidence"]
        )
        sections = {}
        for name in self.env.list_templates():
            if name.startswith("sections/"):
                slug = _slug(name)
                sections[slug] = self._section(name, slug)
                self.shortened = self.shortened or SHORTENED.search(sections[slug]) is not None
        return sections

    def more(self, left: int, what: str = "lines") -> str:
        """Return the notice that `left` things of one kind are not shown."""
        say: Any = self.env.globals["say"]
        return str(say.more(left, what))

    def findings(self, section: str) -> list[dict[str, Any]]:
        """Return the findings of a section; clues are kept out of the summary and the mechanism."""
        found = self.document["findings"]
        if section == "clues":
            return [f for f in found if f["section"] == section or _is_barred(f)]
        return [f for f in found if f["section"] == section and not _is_barred(f)]

    def primary(self) -> dict[str, Any] | None:
        """Return the incident that the head of the report is about."""
        incidents: list[dict[str, Any]] = self.document["incidents"]
        return next((i for i in incidents if i["primary"]), incidents[0] if incidents else None)

    def refs(self, ids: Iterable[str]) -> Markup:
        """Name evidence, as many ids as the limit allows, and remember what was named."""
        known = [i for i in dict.fromkeys(ids) if i in self.known]
        shown = known[: self.limits.refs]
        self.named.update(dict.fromkeys(shown))
        left = len(known) - len(shown)
        return Markup(", ".join(map(self.dialect.inline, shown)) + (f" +{left}" if left else ""))

    def labels(self, ids: Iterable[str]) -> str:
        """Name incidents by their labels."""
        named = {i["id"]: i["label"] for i in self.document["incidents"]}
        return ", ".join(str(named.get(i, i)) for i in ids)

    def evidence(self) -> list[dict[str, Any]]:
        """Return the lines to quote, in the order of their ids: those this page names first, then others where there is room."""
        return self._lines(list(dict.fromkeys((*self.named, *self.known)))[: self.limits.evidence])

    def located(self) -> list[dict[str, Any]]:
        """Return the other lines that this page names: there is room for their place only."""
        return self._lines(list(self.named)[self.limits.evidence : self.limits.evidence + PLACES])

    def _lines(self, ids: list[str]) -> list[dict[str, Any]]:
        """Look up lines of evidence."""
        return [self.known[i] for i in sorted(ids, key=_natural)]

    def story(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the rows of the timeline that there is room for: those that carry the story, in time order."""
        rank = {kind: place for place, kinds in enumerate(STORY) for kind in kinds}
        order = sorted(range(len(rows)), key=lambda at: (rank.get(rows[at]["kind"], len(STORY) - 2), at))
        return [rows[at] for at in sorted(order[: self.limits.timeline])]

    def snapshot(self, section: str) -> dict[str, Any] | None:
        """Return the snapshot of a database's sessions that a section tells of."""
        found = (s for s in self.document.get("sessions", ()) if s["told_in"] == section and s["total"])
        return next(found, None)

    def offset(self) -> str | None:
        """Return the offset that all instants of the tables share, None where they differ (a clock change)."""
        rows = [*self.document["timeline"], *self.document["evidence"]]
        instants = [row["at"] for row in rows] + [
            s[key] for s in self.document["sources"] for key in ("first", "last")
        ]
        found = {text[-6:] for text in instants if text}
        return found.pop() if len(found) == 1 else None

    def stamp(self, value: str | None, *, fraction: bool = False) -> str | None:
        """Show an instant in a table whose head names the offset; with its own offset where they differ."""
        if value is None:
            return None
        shown = prose.instant(value, fraction=fraction)
        return shown[:-7] if self.offset() and shown.endswith(f" {self.offset()}") else shown

    def timed(self, label: str) -> str:
        """Return a column's head, with the offset of its instants."""
        return f"{label} ({self.offset()})" if self.offset() else label

    def source(self, source_id: str) -> str:
        """Return the name of a source."""
        names = {s["id"]: s["name"] for s in self.document["sources"]}
        return str(names.get(source_id, source_id))

    def failures(self, signature: dict[str, Any]) -> str:
        """Show how often a signature's operation failed, with its bounds."""
        most = signature["failures_max"]
        bound = "at_least" if most is None else signature["bound"]
        return prose.count(signature["failures"], most, bound=bound, language=self.language)

    def broken_beats(self) -> list[dict[str, Any]]:
        """Return the probe series of which not every answer came in time, those that say most of it first."""
        fates = ("late", "missed", "failed", "in_blind_gap", "not_known")
        broken = [p for p in self.document["probes"] if any(p.get(fate) for fate in fates)]
        return sorted(broken, key=lambda p: -sum(bool(p.get(fate)) for fate in fates))

    def spans(self) -> list[dict[str, Any]]:
        """Return the sources that cover a span of time and are no copies."""
        found = self.document["sources"]
        return [s for s in found if s["first"] and s["last"] and not s["copy_of"] and not s["skipped"]]

    def questions(self) -> list[dict[str, Any]]:
        """Return the open questions; a need whose command an earlier one shows names that question."""
        first: dict[str, int] = {}
        asked = []
        for at, question in enumerate(self.document["not_determined"], 1):
            needs = [
                need | {"seen": seen if (seen := first.setdefault(need["command"], at)) < at else None}
                for need in question["needs"]
            ]
            asked.append(question | {"needs": needs})
        return asked

    def files(self, *, all: bool = False) -> list[str]:  # noqa: A002 - reads well in a template
        """Return the inputs that can be hashed where they lie, quoted for a shell."""
        names = [s["name"] for s in self.document["sources"] if s["sha256"] and "!" not in s["name"]]
        return [_shell_name(name) for name in (names if all else names[: self.limits.rows])]

    def options(self, *, all: bool = True) -> str:  # noqa: A002 - reads well in a template
        """Return the options that make this report again, for a shell; without `all` those that its JSON cannot hold."""
        said = self.document["options"]
        words = [part for key in STATED for part in (f"--{key}", said.get(key)) if all and said.get(key)]
        for unit in said.get("unit") or () if all else ():
            words += ["--unit", unit]
        words += ["--case", said["case"]["name"]] if said.get("case") else []
        for key in ("signatures", "formats"):
            words += [f"--{key}", "DIR"] if said.get(key) else []
        if all:
            for name, bound in (said.get("unpack_limit") or {}).items():
                words += ["--unpack-limit", f"{name}={bound}"]
            words += ["--no-redact"] if said.get("redact") is False else []
            words += [part for key in FORM for part in (f"--{key}", said.get(key)) if said.get(key)]
        return "".join(f" {shlex.quote(word)}" for word in words)

    def naming(self) -> str:
        """Return the option that gives the names which this report masks, for a shell; nothing where it masks none."""
        said = self.document["options"]
        return (
            f" --case {shlex.quote(said['case']['name'])}" if said.get("names") and said.get("case") else ""
        )

    def masked(self) -> list[dict[str, Any]]:
        """Return how many values of each kind were masked."""
        return [
            {"title": self.language.text(TITLES.get(kind, kind)), "n": n}
            for kind, n in (self.document.get("masked") or {}).items()
        ]

    def chart(self, rows: list[dict[str, Any]]) -> list[str]:
        """Draw the failures over time; where there is no room for every bar, a bar stands for several times that follow one another."""
        width = -(-len(rows) // self.limits.minutes)
        starts = range(0, len(rows), width)
        rows = [rows[at] | {"count": sum(row["count"] for row in rows[at : at + width])} for at in starts]
        return prose.bars([(prose.clip(row["label"], 40)[0], row["count"]) for row in rows])

    def doubtful(self, rows: list[dict[str, Any]]) -> int:
        """Count the failures that bars leave out, since it is not plain that their lines tell of further ones."""
        return sum(row.get("most", row["count"]) - row["count"] for row in rows)

    def retold(self, rows: list[dict[str, Any]]) -> int:
        """Count the failures of bars of which a client's log tells as well; each is one."""
        return sum(row.get("retold", 0) for row in rows)

    def attached(self, section: str) -> list[str]:
        """Return the attached charts that belong to a section; a page without much room names all of them in one place."""
        names: list[str] = self.document["charts"]
        if not self.limits.pad:
            return names if section == charts.of_section("timeline") else []
        return [name for name in names if charts.of_section(name) == section]

    def chart_label(self, name: str) -> str:
        """Name an attached chart: by its file, or where there is not much room by what the files do not share."""
        label = name.rsplit("/", maxsplit=1)[-1]
        if self.limits.pad:
            return label
        stem = label.rpartition(".")[0]
        kinds = (kind for kind in charts.charts() if stem == kind or stem.endswith(f"-{kind}"))
        kind = next(kinds, None)
        return label if kind is None else self.language.text(kind, "chart")

    def clip(self, text: str, most: int) -> Markup:
        """Escape a text of at most `most` characters; what is cut off is counted."""
        head, left = prose.clip(text, most)
        return Markup(self.dialect.inline(head) + (f"… (+{left})" if left else ""))

    def quote(self, text: str) -> Markup:
        """Quote a log line as code."""
        head, left = prose.clip(text, self.limits.line)
        return Markup(self.dialect.code(head) + (f" … (+{left})" if left else ""))

    def _section(self, name: str, slug: str) -> str:
        """Render one section; the reason is given where it cannot be filled."""
        text = re.sub(r"\n{3,}", "\n\n", self.env.get_template(name).render()).strip("\n")
        reason = self.document["unfilled"].get(slug)
        say: Any = self.env.globals["say"]
        if reason is not None:
            text += f"\n\n{self.clip(reason, self.limits.text)}"
        elif "\n" not in text:
            text += f"\n\n{str(say.nothing(slug)).strip()}"
        return text if slug != "summary" else _shorten(text, _is_brief, self, drop=-2)


class _Loader(BaseLoader):
    """Reads templates from a folder that may be inside a wheel."""

    def __init__(self, root: Traversable) -> None:
        self.root = root

    def get_source(self, environment: Environment, template: str) -> tuple[str, None, Callable[[], bool]]:  # noqa: ARG002
        """Return the text of a template."""
        file = self.root.joinpath(*template.split("/"))
        if not file.is_file():
            raise TemplateNotFound(template)
        return file.read_text("utf-8"), None, lambda: True

    def list_templates(self) -> list[str]:
        """Name all templates, ``folder/file.j2``, sorted."""
        folders = [folder for folder in self.root.iterdir() if folder.is_dir()]
        return sorted(f"{d.name}/{f.name}" for d in folders for f in d.iterdir() if f.name.endswith(".j2"))


def environment(dialect: Dialect) -> Environment:
    """Return the templates' environment: whatever is not markup yet is escaped as plain text."""
    return Environment(
        loader=_Loader(texts.root()),
        autoescape=True,
        finalize=partial(_finalize, dialect),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _finalize(dialect: Dialect, value: Any) -> Any:
    """Escape a value unless it is markup; what is unknown is shown as a dash."""
    if value is None:
        return Markup(UNKNOWN)
    if hasattr(value, "__html__"):
        return value
    text, left = prose.clip(str(value), NAME)
    before, after = " " * text.startswith(" "), " " * (len(text) > 1 and text.endswith(" "))
    return Markup(f"{before}{dialect.inline(text)}{f'… (+{left})' if left else after}")


def _helpers(limits: Limits, dialect: Dialect, language: Language) -> dict[str, Any]:
    """Return what every template may call."""
    return {
        "_": partial(_message, language, dialect),
        "pgettext": partial(_message_of, language),
        "ngettext": partial(_counted, language, dialect),
        "bold": lambda text: Markup(dialect.bold(str(_finalize(dialect, text)))),
        "code": lambda text: Markup(dialect.code(text)),
        "count": partial(prose.count, language=language),
        "cut": _cut,
        "duration": partial(prose.duration, language=language),
        "elapsed": prose.elapsed,
        "fence": lambda lines, info="": Markup(dialect.fence(lines, info)),
        "instant": partial(prose.instant, fraction=False),
        "number": partial(prose.number, language=language),
        "head": partial(_row, dialect, dialect.head, limits.pad),
        "row": partial(_row, dialect, dialect.row, limits.pad),
        "tight": _tight,
        "url": lambda path: Markup(quote(path, safe="/._-")),
    }


def _message(language: Language, dialect: Dialect, message: str, **values: Any) -> Markup:
    """Say a message of the templates, which is markup of any dialect; the values in it are escaped."""
    return _filled(dialect, language.text(message), values)


def _message_of(language: Language, context: str, message: str) -> Markup:
    """Say a message whose words mean something else elsewhere."""
    return Markup(language.text(message, context))


def _counted(language: Language, dialect: Dialect, one: str, many: str, n: int, **values: Any) -> Markup:
    """Say a message in the form that goes with a number, which it may name as ``{n}``."""
    return _filled(dialect, language.plural(one, many, n), {"n": language.number(n), **values})


def _filled(dialect: Dialect, text: str, values: dict[str, Any]) -> Markup:
    """Put values into a message."""
    return Markup(text.format_map({key: str(_finalize(dialect, value)) for key, value in values.items()}))


def _row(
    dialect: Dialect, join: Callable[[str, Iterable[str]], str], pad: str, cells: Iterable[Any]
) -> Markup:
    """Join cells to a table's row; an empty one is shown as a dash."""
    return Markup(join(pad, [str(_finalize(dialect, value)).strip() or UNKNOWN for value in cells]))


def _tight(text: str) -> Markup:
    """Drop blank lines and the blanks around lines: the rows of a table must touch."""
    return Markup("\n".join(line.strip() for line in str(text).splitlines() if line.strip()))


def _shell_name(name: str) -> str:
    """Quote a file name for a shell; one that looks like an option is made a path."""
    return shlex.quote(f"./{name}" if name.startswith("-") else name)


def _cut(rows: list[Any], most: int, *, last: bool = False) -> list[Any]:
    """Return the first `most` rows, or the last ones."""
    return rows[max(len(rows) - most, 0) :] if last else rows[:most]


def _is_barred(finding: dict[str, Any]) -> bool:
    """Tell whether a finding is a clue in a section that admits none."""
    return finding["grade"] == "clue" and finding["section"] in BARRED


def _natural(name: str) -> tuple[Any, ...]:
    """Sort E2 before E10."""
    return tuple((not part.isdecimal(), part.zfill(12)) for part in re.findall(r"\d+|\D+", name))


def _is_brief(text: str) -> bool:
    """Tell whether the summary is short enough; ids of evidence are no words, and dialects with room name more of them."""
    return len(REFERENCES.sub("", text).split()) <= SUMMARY_WORDS


def _slug(name: str) -> str:
    """Return a section's name: ``sections/07-ruled-out.j2`` is ``ruled_out``."""
    return name.split("/")[1][3:-3].replace("-", "_")


def _finished(dialect: Dialect, sections: dict[str, str]) -> list[str]:
    """Return the sections as they are written."""
    return [dialect.finish(slug, text) for slug, text in sections.items()]


def _length(dialect: Dialect, sections: dict[str, str]) -> int:
    """Count the characters of the report, blank lines between sections included."""
    return sum(len(text) + 2 for text in _finished(dialect, sections))


def _fill(sections: dict[str, str], page: Page, longest: int) -> None:
    """Quote as many more lines of evidence as there is room for; each makes the section longer, so that halving finds how many."""
    least, most = page.limits.evidence, max(len(page.known), page.limits.evidence)
    while least < most:
        middle = (least + most + 1) // 2
        text = page.quoting(middle)
        if _length(page.dialect, sections | {"evidence": text}) > longest:
            most = middle - 1
        else:
            least, sections["evidence"] = middle, text


def _squeeze(sections: dict[str, str], page: Page, longest: int) -> None:
    """Shorten the longest sections, a quarter at a time, until the report fits; the headings stay."""
    whole = dict(sections)
    longer = list(sections)
    while _length(page.dialect, sections) > longest and longer:
        slug = max(longer, key=lambda name: len(sections[name]) // weight(name))
        fits = partial(_is_within, len(sections[slug]) * 3 // 4)
        text = _shorten(whole[slug], fits, page, drop=-2 if slug == "summary" else -1)
        if len(text) < len(sections[slug]):
            sections[slug] = text
        else:
            longer.remove(slug)


def weight(slug: str) -> int:
    """Return how much longer a section may stay than others: each hypothesis has its verdict on every page."""
    return 9 if slug == "ruled_out" else 3 if slug in KEPT else 1


def _is_within(goal: int, text: str) -> bool:
    """Tell whether a text has at most `goal` characters."""
    return len(text) <= goal


def _shorten(section: str, fits: Callable[[str], bool], page: Page, *, drop: int = -1) -> str:
    """Drop whole rows, list items and fences until the section fits, and say how many.

    They are dropped from the end, or before the last one (`drop` is -2): a summary ends in the
    greatest unknown, which must stay.
    """
    kept, left = _blocks(section, page.dialect), 0
    text = section
    if NOTICE.match(kept[-1]):
        left = _left_out(kept.pop())
    while not fits(text) and len(kept) > 1:
        left += _left_out(kept.pop(drop if len(kept) > 2 else -1))
        while len(kept) > 1 and page.dialect.leads(kept[-1]):
            kept.pop()
        text = "\n".join(kept).rstrip("\n") + f"\n\n{page.more(left)}"
    return text


def _left_out(block: str) -> int:
    """Count what leaves the page with a block: a notice stands for as many as it names."""
    notice = NOTICE.match(block)
    return int(re.sub(r"\D", "", notice[1])) if notice else 1


def _blocks(section: str, dialect: Dialect) -> list[str]:
    """Split a section into what can be dropped as a whole: a row, an item, a paragraph, a fence."""
    blocks: list[str] = []
    closing = ""
    for line in section.split("\n"):
        if closing or not line.strip() or dialect.joins(line):
            blocks[-1] += f"\n{line}"
            closing = "" if line == closing else closing
        else:
            blocks.append(line)
            closing = dialect.closing(line)
    return blocks
