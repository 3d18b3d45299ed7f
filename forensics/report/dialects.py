"""Where a report is read: each place's dialect, and how long a text it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from forensics.report.jira import JIRA
from forensics.report.markdown import PORTABLE
from forensics.report.render import LONGEST, render
from forensics.report.slack import SLACK

if TYPE_CHECKING:
    from forensics.report.dialect import Dialect

FOLD = "evidence"
"""The section that is folded where a place can fold."""


def folded(slug: str, section: str) -> str:
    """Fold what follows the heading of the evidence; Markdown within it is read as anywhere."""
    if slug != FOLD:
        return section
    head, _, rest = section.partition("\n")
    title = head.removeprefix("## ")
    return f"{head}\n\n<details>\n<summary>{title}</summary>\n\n{rest.strip()}\n\n</details>"


FOLDING = replace(PORTABLE, finish=folded)
"""Markdown of the hosts that know ``<details>``."""
USUAL = "commonmark"
DIALECTS: dict[str, tuple[Dialect, int]] = {
    USUAL: (PORTABLE, LONGEST),
    "github": (FOLDING, 65_536),
    "gitlab": (FOLDING, 65_536),
    "jira": (JIRA, 32_000),
    "slack": (SLACK, 39_000),
}
"""Each dialect with the characters that a report may have: GitHub refuses longer texts than this, Jira those over 32,767,
and Slack cuts a message at 40,000."""


def told(document: dict[str, Any], dialect: str = USUAL, longest: int | None = None) -> str:
    """Render the report in a dialect, in at most `longest` characters, or in as many as the place takes.

    The command that the page prints names both where they are not the usual ones: report.json is the same for every place.
    """
    form, usual = DIALECTS[dialect]
    asked = {
        "dialect": dialect if dialect != USUAL else None,
        "max-chars": str(longest) if longest and longest != usual else None,
    }
    return render(document | {"options": document["options"] | asked}, form, longest or usual)
