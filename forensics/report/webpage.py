"""Render report.json's document as one HTML page that needs nothing else and asks nobody.

The sections come from the same templates as the Markdown report, through ``templates/kit/html.j2``; nothing has to fit a
ticket, so that all of it is shown, and every evidence id is a link to its masked line. The page's policy lets only its own
style and script run, by their hashes, and forbids every request.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from forensics.model import texts
from forensics.report import charts, webchart
from forensics.report.charts.theme import dark_rules
from forensics.report.render import Limits, Markup, Page, environment
from forensics.report.webtext import HTML, inline

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMITS = Limits(
    text=20_000, why=4_000, refs=200, findings=5_000, timeline=5_000, rows=5_000, minutes=2_000, evidence=20_000, line=4_000
)  # fmt: skip
"""A page shows everything; what is beyond these would only make a browser slow, and is counted as on any page."""
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Nothing but the page's own script and style; the picture is the empty icon, so that no browser asks for one."""


def html(document: dict[str, Any]) -> str:
    """Render the whole page from a document of the shape of report.json."""
    page = WebPage(document)
    sections = page.sections()
    style, script = (
        texts.root().joinpath("web", name).read_text("utf-8") for name in ("page.css", "page.js")
    )
    style += dark_rules(".picture") + "\n"
    return page.env.get_template("web/page.j2").render(
        policy=Markup(POLICY.format(script=fingerprint(script), style=fingerprint(style))),
        style=Markup(style),
        script=Markup(script),
        titles=page.titles,
        sections={slug: Markup(text) for slug, text in sections.items()},
    )


def fingerprint(text: str) -> str:
    """Return what a policy calls a text by."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


class WebPage(Page):
    """The page with room for everything; its sections know their names, its ids are links."""

    def __init__(self, document: dict[str, Any]) -> None:
        """Prepare the templates; findings that actions answer become links, and attached charts are left out."""
        places = {finding["id"] for finding in document["findings"] if finding["section"] != "summary"}
        actions = [
            action | {"findings": [link(name) if name in places else name for name in action["findings"]]}
            for action in document["actions"]
        ]
        super().__init__(document | {"actions": actions, "charts": []}, LIMITS, environment(HTML), HTML)
        self.slug = ""
        self.titles: dict[str, Markup] = {}
        self.quoted = set(list(self.known)[: LIMITS.evidence])

    def entitle(self, text: str) -> str:
        """Remember a section's title for the list of sections."""
        self.titles[self.slug] = Markup(text)
        return text

    def refs(self, ids: Iterable[str]) -> Markup:
        """Link to the lines of evidence."""
        known = [name for name in dict.fromkeys(ids) if name in self.quoted]
        left = len(known) - self.limits.refs
        return Markup(", ".join(map(link, known[: self.limits.refs])) + (f" +{left}" if left > 0 else ""))

    def evidence(self) -> list[dict[str, Any]]:
        """Return all lines of evidence."""
        return [line for name, line in self.known.items() if name in self.quoted]

    def located(self) -> list[dict[str, Any]]:
        """Return nothing: every line that is named is quoted."""
        return []

    def short(self, text: str, most: int) -> Markup:
        """Escape the beginning of a text where there is no room for more, and it is said in full elsewhere."""
        shown = text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
        return Markup(inline(shown))

    def _section(self, name: str, slug: str) -> str:
        """Render one section with its charts; the reason is given where it cannot be filled."""
        self.slug = slug
        text = self.env.get_template(name).render().strip()
        say: Any = self.env.globals["say"]
        reason = self.document["unfilled"].get(slug)
        if reason is not None:
            text += f"\n<p>{self.clip(reason, self.limits.text)}</p>"
        elif text.endswith(("</h1>", "</h2>")):
            text += f"\n<p>{str(say.nothing(slug)).strip()}</p>"
        drawn = self._timeline() if slug == "timeline" else ""
        return text.replace("</h2>", f"</h2>\n{drawn}{self._pictures(slug)}", 1)

    def _pictures(self, section: str) -> str:
        """Draw the charts of a section; the timeline has a drawing of its own, which can be zoomed."""
        names = [
            name for name, one in charts.charts().items() if one.section == section and name != "timeline"
        ]
        drawn = [picture for name in names if (picture := charts.svg(self.document, name))]
        return "".join(f'<div class="picture">{picture.strip()}</div>\n' for picture in drawn)

    def _timeline(self) -> str:
        """Draw the timeline."""
        self.env.globals |= {"left": webchart.LEFT, "width": webchart.PLOT}
        web: Any = self.env.get_template("web/timeline.j2").make_module()
        shown = self.document | {"timeline": self.story(self.document["timeline"])}
        chart = webchart.plan(shown, web.names)
        return str(web.draw(chart)) if chart else ""


def link(name: str) -> Markup:
    """Link to a finding or a line of evidence."""
    shown = inline(name)
    return Markup(f'<a href="#{shown}">{shown}</a>')
