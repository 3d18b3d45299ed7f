"""What is each source? Formats are scored on a head of the file; the best score wins, a tie or a low one does not.

A file that no transport claims but whose lines carry a message format with a time of its own is *plain*: the
message format dates it.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from forensics import formats
from forensics.formats import anything, bare, heads
from forensics.formats.transports.journald_live import LIVE
from forensics.ingest import recognised, twins
from forensics.model.errors import DefinitionError, UnreadableError, UsageError
from forensics.model.plug import Monitor, Transport
from forensics.sources import magic, sqlite, streams
from forensics.sources.limits import noting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from forensics.formats.definition import Own
    from forensics.model.plug import Parsed, Span
    from forensics.sources.casefile import SourceRule
    from forensics.sources.discovery import Input

WORKERS = min(8, os.cpu_count() or 1)
ENOUGH = 0.5
"""Share of record starts that must fit: tracebacks printed as lines of their own can make up almost half of a file."""
ROTATED = r"(?:#\d+$|[-_.](?:19|20)\d\d-?\d\d-?\d\d(?:[-_T]?\d{1,6}(?:[-_:]\d\d)*)?Z?$)"
"""What logrotate's dateext, PostgreSQL's log_filename and loggers that cut by day or hour add to a name."""
NOTHING = "the file is empty: no entries, or the export failed; run the export again and look at its messages"
LAST = ("text_dated", "text_stamped", "text_undated")
"""How text is read that no format knows: no rival of any."""
BEHIND = 0.3
"""Share of lines that are of known formats once the times before them are taken off, from which these are read as what was put there."""
DATED = 0.2
"""Share of record starts with a time from which a text of no known format is dated by them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How one input will be read, or why it will not be."""

    item: Input
    index: int
    plug: Transport | Monitor | None
    format_name: str | None
    choice: str
    skipped: str | None = None
    first_format: str | None = None
    """Message format that dates a plain file."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Names of fields that the case file gives."""
    held: tuple[Span, ...] = ()
    """Numbers of records that another input holds too and that are counted there."""
    copy_of: int | None = None
    """The input that holds all of its records too."""
    notes: tuple[str, ...] = ()
    """What is to be said of the input already."""
    streams: tuple[recognised.Stream, ...] | None = None
    """What each unit, container or process in it looks like; None until that was looked at."""

    @property
    def own(self) -> dict[str, tuple[str, ...]]:
        """Return the formats that each stream is known to be of."""
        return {stream.name: stream.own for stream in self.streams or () if stream.own}


def with_streams(plan: Plan, head: bytes | None = None, *, near: bool = False) -> Plan:
    """Recognise the streams of an input by its head, ``near``: and what else fits them; nothing where it is not read as text.

    ``head`` is the beginning of the file where that was read already.
    """
    if not of_streams(plan):
        return replace(plan, streams=())
    assert isinstance(plan.plug, Transport)
    try:
        head = streams.head(plan.item.path) if head is None else head
        found = recognised.streams(
            plan.plug, head, service_of(plan.item.path, plan), formats.all_messages(), near=near
        )
    except (OSError, UnreadableError):
        return plan  # reading says what is wrong
    return replace(plan, streams=found)


def with_streams_of(plan: Plan, data: bytes, parsed: Parsed) -> Plan:
    """Recognise the streams of an input that is read whole by what it was parsed into; the head is all of it."""
    if not of_streams(plan) or not data.endswith(b"\n"):
        return with_streams(plan, data)
    assert isinstance(plan.plug, Transport)
    found = recognised.of_records(
        plan.plug, data, parsed.records, service_of(plan.item.path, plan), formats.all_messages()
    )
    return replace(plan, streams=found)


def of_streams(plan: Plan) -> bool:
    """Is an input read as text of which streams can be told? One without lines, or one that cannot be cut, is not."""
    plug, item = plan.plug, plan.item
    text = isinstance(plug, Transport) and not plug.binary and plug.parts is None
    return text and item.live is None and item.trouble is None


def make(items: list[Input], rules: Sequence[SourceRule] = ()) -> list[Plan]:
    """Plan every input; nothing is read beyond its head. A rule of the case file may name the format and fields.

    The streams of a small file are left to reading.
    """

    def one(index: int, item: Input) -> Plan:
        rule = next((rule for rule in rules if fnmatch(item.name, rule.match)), None)
        head = beginning(item, index)
        if isinstance(head, Plan):
            return head
        planned = chosen(item, index, head, rule.format if rule else None)
        planned = replace(planned, fields=rule.fields or {}) if rule else planned
        # Of a file that its head is all of, streams are recognised by what reading makes of it: parsing twice costs most of both.
        return planned if len(head) < streams.HEAD else with_streams(planned, head)

    with ThreadPoolExecutor(WORKERS) as pool:
        plans = list(pool.map(one, range(len(items)), items))
    return without_twins(plans)


def prove(own: Own) -> None:
    """Refuse formats of a user whose samples another format would get, or none."""
    for name, plug in own.transports.items():
        for sample in plug.samples:
            ranked = scored(f"{sample}\n".encode())
            if ranked[0][0] != name or ranked[0][1] == ranked[1][1]:
                other = next(other for other, _ in ranked if other != name)
                raise DefinitionError(
                    f"the sample {sample!r} is as much of the format {other!r}",
                    where=name,
                    remedy="make the pattern more specific, or use that format",
                )
    for name, fmt in own.messages.items():
        for sample in fmt.samples:
            first = next(one for one in bare.order(formats.all_messages()) if bare.fits([sample], one)[0])
            if first.name != name:
                raise DefinitionError(
                    f"the sample {sample!r} is read as {first.name!r}",
                    where=name,
                    remedy="name more parts of the line in the pattern, or use that format",
                )


def without_twins(plans: list[Plan]) -> list[Plan]:
    """Count each entry of several journal files once."""
    found = twins.find((plan.index, plan.item.path) for plan in plans if plan.format_name == "journal_file")
    return [
        replace(
            plan,
            held=held.spans,
            copy_of=held.by if held.whole else None,
            notes=()
            if held.whole
            else (f"{held.count:,} of its entries are also in s{held.by + 1} and counted there",),
        )
        if (held := found.get(plan.index))
        else plan
        for plan in plans
    ]


def beginning(item: Input, index: int) -> bytes | Plan:
    """Read the head of an input, or plan it without: what is live or cannot be opened, and what is empty."""
    if item.trouble:
        return Plan(item, index, None, None, "not opened", item.trouble)
    if item.live is not None:
        return Plan(item, index, LIVE, LIVE.name, f"{LIVE.name}, by its prefix")
    damage = streams.Damage()
    try:
        with noting(damage):
            head = streams.head(item.path)
    except OSError as error:
        said = f"cannot be read ({error.strerror}); copy it again"
        return Plan(item, index, None, None, "not opened", said)
    if head:
        return head
    said = "; ".join(["nothing in it can be read", *damage.notes]) if damage.notes else NOTHING
    return Plan(item, index, None, None, "empty", said)


def recognise(item: Input, index: int) -> Plan:
    """Choose a format for one input; its streams are not looked at."""
    head = beginning(item, index)
    return head if isinstance(head, Plan) else chosen(item, index, head)


def chosen(item: Input, index: int, head: bytes, given: str | None = None) -> Plan:
    """Choose a format for an input with this head, unless the case file gives one."""
    if given is not None:
        plug, first = resolve(given)
        said = f"{given}, as case.toml says"
        return Plan(item, index, fitted(plug, head), plug.name, said, declined(plug), first_format=first)
    ranked = scored(head)
    if ranked[0][1] < ENOUGH and head.startswith(sqlite.MAGIC):
        ranked = scored(sqlite.schema(item.path))
    (best, score), runner_up = ranked[0], ranked[1][1]
    choice = f"{best} {score:.2f}" if score else "no format fits any line"
    # What takes any line comes near every file, and says nothing of it.
    near = next(((name, fits) for name, fits in ranked[1:] if fits and name not in LAST), None)
    choice += f", next {near[0]} {near[1]:.2f}" if near else ""
    if score < ENOUGH or score == runner_up:
        any_text = last_resort(head)
        if any_text is None:
            return Plan(item, index, None, None, choice, unknown(head))
        best, choice = any_text, f"{any_text}, since no format fits half of its lines: {choice}"
    plug, first = resolve(best)
    return Plan(item, index, fitted(plug, head), plug.name, choice, declined(plug), first_format=first)


def scored(head: bytes) -> list[tuple[str, float]]:
    """Return every format with its score for a head, the best first."""
    plugs: dict[str, Transport | Monitor] = {**formats.all_transports(), **formats.all_monitors()}
    scores = {name: plug.sniff(head) for name, plug in plugs.items()}
    if max(scores.values()) >= 1:
        return sorted(
            scores.items(), key=lambda pair: (-pair[1], pair[0])
        )  # the lines of a bare file score less
    messages = formats.all_messages()
    scores |= {f"plain:{name}": score for name, score in bare.scores(head, messages).items()}
    if max(scores.values()) < ENOUGH and (mixed := bare.together(head, messages)):
        # Without times nothing of a file is placed: that some lines are of a known program is enough to read it.
        scores[f"plain:{mixed[0]}"] = max(mixed[1], ENOUGH) if timeless(head) else mixed[1]
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def fitted(plug: Transport | Monitor, head: bytes) -> Transport | Monitor | None:
    """Return a plug as the file with this head needs it; None where files of its kind are not read."""
    if isinstance(plug, Monitor):
        return plug
    return None if plug.declined else plug.for_head(head)


def declined(plug: Transport | Monitor) -> str | None:
    """Say why files of a kind are not read, None where they are."""
    return plug.declined if isinstance(plug, Transport) else None


def resolve(name: str) -> tuple[Transport | Monitor, str | None]:
    """Return the plug of a name, and the message format that dates a plain file."""
    if name.startswith("plain:"):
        return plain_transport(name.removeprefix("plain:")), name.removeprefix("plain:")
    plugs: Mapping[str, Transport | Monitor] = {**formats.all_transports(), **formats.all_monitors()}
    if name not in plugs:
        near = get_close_matches(name, plugs, n=1)
        raise UsageError(
            f"unknown format {name!r}",
            where="case.toml: [[source]]",
            remedy=f"did you mean {near[0]!r}?" if near else f"known are {', '.join(plugs)}",
        )
    return plugs[name], None


def plain_transport(name: str) -> Transport:
    """Build the transport of a bare file whose lines are messages of one format."""
    return bare.transport(name, formats.all_messages())


def last_resort(head: bytes) -> str | None:
    """Return how text of no known format is read: by the times in it, or without; None for what is no text of lines."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if magic.advice(head) or b"\0" in head or not text or not heads.lines(head):
        return None
    if text.startswith((b"{", b"[")) and heads.lines(head)[0].rstrip().endswith(("{", "[", ",", ":")):
        return None  # a document over many lines
    if anything.share(head) >= DATED:
        rest = known_share(anything.without_stamps(head))
        return "text_stamped" if rest >= BEHIND and rest > known_share(head) else "text_dated"
    return "text_undated"


def known_share(head: bytes) -> float:
    """Return the share of the record starts of a head that are of any message format."""
    lines = bare.record_starts(head)
    return sum(bare.claimed(lines, bare.order(formats.all_messages())).values()) / max(1, lines.total)


def unknown(head: bytes) -> str:
    """Say what an unrecognised file looks like and what to export instead."""
    if said := magic.advice(head):
        return said
    if b"\0" in head:
        return "binary data of an unknown kind; export it as text or JSON"
    return "no known format fits its lines; `forensics sources -v` shows the nearest, `forensics formats` the known ones"


def timeless(head: bytes) -> bool:
    """Tell a text hardly a line of which carries a time: no format could place it, whatever its lines say."""
    lines = heads.lines(head)
    return (
        b"\0" not in head and len(lines) > 0 and heads.share(lines, anything.TIME_OF_DAY) <= anything.TIMELESS
    )


def service_of(path: Path, plan: Plan) -> str:
    """Name the service of a file whose lines do not name one: where it lies, the format's, else the file's own name.

    Rotation (``.1``, ``.2.gz``, ``-20261129``, ``.2026-11-29``) is no part of a name, so that all files of a set are of one
    service. A file that is named by a number alone (Kubernetes' ``0.log``) is of the service that its folder names.
    """
    if isinstance(plan.plug, Transport) and plan.plug.service and (named := plan.plug.service(path)):
        return named
    if plan.first_format and (given := formats.all_messages()[plan.first_format].service):
        return given
    name = re.sub(ROTATED, "", path.name.split(".")[0])
    name = re.sub(r"(?:-json)?(?:\.log)?$", "", name)
    if name and not name.isdecimal():
        return name
    folder = path.parent.name if name else ""
    return folder or name or path.name
