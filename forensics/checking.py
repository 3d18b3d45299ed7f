"""Verifies a report: finds its inputs by their SHA-256, makes it again as it says it was made, and names what differs.

Beside `forensics.pipeline` the only module that knows every wing.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from forensics import pipeline
from forensics.model.errors import UsageError
from forensics.model.source import Ref
from forensics.report import comparison, consistency, stated
from forensics.report import document as telling
from forensics.report.comparison import Mismatch, shown
from forensics.report.dialects import told
from forensics.report.masking import PSEUDONYM, Masker, numberless
from forensics.sources import casefile, clock, companions, streams
from forensics.sources.discovery import Input, discover, natural
from forensics.sources.limits import limits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from forensics.model.case import Case
    from forensics.report.stated import Stated, StatedSource

FEW = 5
"""Names that one note lists."""
LAST_LINE = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Own:
    """What a report cannot hold and its reader has to give: the case file and definitions of one's own."""

    case: Path | None = None
    signatures: tuple[Path, ...] = ()
    formats: tuple[Path, ...] = ()
    tick: Callable[[str, int], None] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Found:
    """The inputs of a report among those given."""

    items: tuple[Input, ...]
    """In the order of their names, under the names that the report gives them."""
    of: dict[int, int]
    """Index of a source in the report -> index of its item."""
    mismatches: tuple[Mismatch, ...]
    """Inputs that are missing or have changed."""
    notes: tuple[str, ...]
    missing: bool


@dataclass(frozen=True, slots=True)
class Again:
    """A report, made again."""

    document: dict[str, Any]
    page: str
    case: Case


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of checking a report."""

    mismatches: tuple[Mismatch, ...]
    notes: tuple[str, ...]
    compared: str
    """What was compared, in words."""


def check(report: Path, inputs: Iterable[str], own: Own) -> Verdict:
    """Check a report.json or a page against its inputs."""
    try:
        text = report.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError("is no text, so no report", where=report.name, remedy=stated.REMEDY) from None
    said = stated.read(text, report.name)
    asked = tuple(inputs)
    options = options_of(said, own)
    case_file = casefile.read(own.case) if own.case else casefile.CaseFile()
    masks = Masker(case_file.keep, case_file.names)
    found = find(said, discover(asked, limits=options.limits), masks)
    if found.missing:
        return without_all(said, found, options)
    return judged(said, found, again(said, found, options, asked))


def options_of(said: Stated, own: Own) -> pipeline.Options:
    """Return the options that a report states; what it used of its writer's own has to be given again."""
    for option, used, given in (
        (f"--case {said.case or 'case.toml'}", said.case is not None, own.case is not None),
        ("--signatures DIR", said.signatures, bool(own.signatures)),
        ("--formats DIR", said.formats, bool(own.formats)),
    ):
        if used != given:
            told = "was made with" if used else "was made without"
            remedy = "give the same" if used else "leave it out"
            raise UsageError(f"{told} {option}", where=said.name, remedy=remedy)
    return pipeline.Options(
        tz=said.tz, lang=said.lang, case=own.case, since=said.since, until=said.until, units=said.units, signatures=own.signatures, formats=own.formats,
        limits=limits_of(said.unpack_limit), tick=own.tick,
    )  # fmt: skip


def find(said: Stated, given: list[Input], masks: Masker) -> Found:
    """Find the inputs of a report among those given, by content; an input of the same name and another content has changed.

    ``masks`` are those of the report, which masks the names of inputs too.
    """
    hashes = {index: digest for index, item in enumerate(given) if (digest := hash_of(item))}
    taken: set[int] = set()
    items: list[tuple[Input, int | None]] = []
    mismatches: list[Mismatch] = []
    notes: list[str] = []
    missing = False
    for index, source in enumerate(said.sources):
        name = source.name or f"the input of SHA-256 {source.sha256}"
        if source.sha256 is None and source.skipped:
            items.append((Input(Path(name), name, source.skipped), index))
            notes.append(f"{name} could not be read when the report was written, and is left out again")
            continue
        at = match(source, given, hashes, taken)
        if at is None:
            missing = True
            why = "the live journal is never the same again; export it and report on the export"
            why = why if name.startswith("journal:") else f"no input has its SHA-256 ({source.sha256})"
            mismatches.append(Mismatch(name, f"missing: {why}"))
            continue
        taken.add(at)
        if not (source.sha256 and hashes.get(at, "").startswith(source.sha256)):
            told = f"changed: the report read SHA-256 {source.sha256}, the input given has {hashes.get(at)}"
            mismatches.append(Mismatch(name, told))
        items.append((named(given[at], source, masks), index))
        if items[-1][0].name != given[at].name:
            notes.append(f"{name} was found as {given[at].name}")
    rest = [item for index, item in enumerate(given) if index not in taken]
    if said.unlisted:
        items += [(item, None) for item in rest]
    elif rest:
        listed = ", ".join(item.name for item in rest[:FEW]) + (" …" if len(rest) > FEW else "")
        notes.append(f"not in the report, and not read: {listed}")
    items.sort(key=lambda pair: natural(pair[0].name))
    of = {index: at for at, (_, index) in enumerate(items) if index is not None}
    return Found(tuple(item for item, _ in items), of, tuple(mismatches), tuple(notes), missing)


def hash_of(item: Input) -> str | None:
    """Hash an input, None where it cannot be read."""
    if item.trouble is not None or item.live is not None:
        return None
    try:
        return streams.sha256(item.path)
    except OSError:
        return None


def match(source: StatedSource, given: list[Input], hashes: dict[int, str], taken: set[int]) -> int | None:
    """Return which input is meant: one of the same content, of the same name if there are several, else one of the same name."""
    same_name = [index for index, item in enumerate(given) if source.name == item.name]
    if source.sha256:
        alike = [index for index, digest in hashes.items() if digest.startswith(source.sha256)]
        order = [*(index for index in alike if index in same_name), *alike]
        free = [index for index in order if index not in taken]
        if order:
            return (free or order)[0]
    return next((index for index in same_name if index not in taken and index in hashes), None)


def named(item: Input, source: StatedSource, masks: Masker) -> Input:
    """Give an input the name that the report knows it by; a name that is masked there keeps its own."""
    if source.name is None or masked_alike(item.name, source.name, masks):
        return item
    return replace(item, name=source.name)


def masked_alike(text: str, masked: str, masks: Masker) -> bool:
    """Tell whether a masked text may be the mask of another, whatever the numbers of the pseudonyms."""
    return PSEUDONYM.search(masked) is not None and numberless(masks.text(text)) == numberless(masked)


def again(said: Stated, found: Found, options: pipeline.Options, asked: Iterable[str] = ()) -> Again:
    """Make a report again, as it says that it was made; ``asked`` are the inputs as they were given, for what lies among them."""
    refs = frozenset(ref for _, ref in quoted(said, found) if ref)
    with placed(found.items) as items:
        case = pipeline.investigate(asked, options, found=items, also=refs)
    document = json.loads(json.dumps(telling.build(case, redact=said.redact)))
    document["charts"] = list(said.charts)
    return Again(document, told(document, said.dialect, said.max_chars), case)


@contextmanager
def placed(items: Iterable[Input]) -> Iterator[list[Input]]:
    """Let renamed inputs stand under the names that the report gives them: formats may read a file's name, too."""
    with TemporaryDirectory(prefix="forensics-") as folder:
        yield [at_its_place(item, Path(folder)) for item in items]


def at_its_place(item: Input, folder: Path) -> Input:
    """Return an input whose path ends in its name."""
    parts = PurePosixPath(re.sub(r"#\d+$", "", item.name)).parts
    if item.trouble is not None or parts == item.path.parts[-len(parts) :] or not safe(item.name, parts):
        return item
    new = folder.joinpath(*parts)
    new.parent.mkdir(parents=True, exist_ok=True)
    link(item.path, new)
    if log := companions.wal_of(item.path):
        beside = companions.bare(item.path.name)
        link(log, new.with_name(companions.bare(new.name) + log.name.removeprefix(beside)))
    return replace(item, path=new)


def safe(name: str, parts: tuple[str, ...]) -> bool:
    """May a file of this name be made inside a folder? A report is a text that anyone may have written."""
    return (
        bool(parts)
        and not name.startswith("/")
        and ".." not in parts
        and name.isprintable()
        and all(len(part.encode()) <= 255 for part in parts)
        and len(name) <= 1024
    )


def link(old: Path, new: Path) -> None:
    """Let a file, or a member of an archive, be found under another path, too."""
    if old in streams.STORED:
        streams.STORED[new] = streams.STORED[old]
    elif not new.is_symlink():
        new.symlink_to(old.absolute())
    if old in streams.BOUNDED:
        streams.BOUNDED[new] = streams.BOUNDED[old]


def quoted(said: Stated, found: Found) -> list[tuple[dict[str, Any], Ref | None]]:
    """Return each quoted line of a document with its place, None where there is no such place."""
    if said.document is None:
        return []
    index = {source.id: found.of.get(at) for at, source in enumerate(said.sources)}
    return [(entry, place(entry, index)) for entry in said.document["evidence"]]


def place(entry: dict[str, Any], index: dict[str | None, int | None]) -> Ref | None:
    """Return the place that an entry names."""
    line, source = entry.get("line"), entry.get("source")
    at = index.get(source) if isinstance(source, str) else None
    if at is None or not isinstance(line, int) or isinstance(line, bool) or not 1 <= line <= LAST_LINE:
        return None
    return Ref(at, line)


def judged(said: Stated, found: Found, made: Again) -> Verdict:
    """Compare a report with what was made again."""
    notes = [*found.notes, *versions(said, made), *own_times(said, made)]
    if said.document is None:
        differs, remarks, lines = comparison.pages(
            *(without_version(page) for page in (said.page, made.page))
        )
        told = f"{lines} lines of the page, {len(found.items)} inputs"
        return Verdict((*found.mismatches, *differs), (*notes, *remarks), told)
    ignored = {"tool": None, "charts": None}
    quotes = list(misquoted(said, found, made.case))
    ids = {mismatch.place.split()[0] for mismatch in quotes}
    values = [
        mismatch
        for mismatch in comparison.documents(said.document | ignored, made.document | ignored)
        if not (text := re.fullmatch(r"evidence\[id=(.*)\]\.text", mismatch.place)) or text[1] not in ids
    ]
    known = set(consistency.broken(made.document))
    laws = [broken for broken in consistency.broken(said.document) if broken not in known]
    told = f"{comparison.count(said.document)} values, {len(said.document['evidence'])} quoted lines, {len(found.items)} inputs"
    return Verdict((*found.mismatches, *values, *quotes, *laws), tuple(notes), told)


def versions(said: Stated, made: Again) -> Iterator[str]:
    """Say what another version wrote, or with other signatures."""
    ours, theirs = made.case.version, said.version
    if ours != theirs:
        yield f"written by forensics {theirs}, checked by {ours}: numbers may differ for that reason"
    if not made.case.signatures_sha256.startswith(said.signatures_sha256 or "?"):
        yield f"written with other signatures (SHA-256 {said.signatures_sha256}, here {made.case.signatures_sha256}): numbers may differ for that reason"


def own_times(said: Stated, made: Again) -> Iterator[str]:
    """Say where instants rest on what a copy of a file may have lost."""
    if clock.OWN_TIME in (json.dumps(made.document["sources"]) if said.document else made.page):
        yield "lines without a year took it from their file's own time: instants agree only with copies that kept it (cp -p)"


def without_version(page: str) -> str:
    """Leave out the version and the signatures that a page names last, of which `versions` tells."""
    last = list(stated.WRITTEN.finditer(page))[-1:]
    return f"{page[: last[0].start()]}forensics{page[last[0].end() :]}" if last else page


def misquoted(said: Stated, found: Found, case: Case) -> Iterator[Mismatch]:
    """Yield the quoted lines that do not stand where they are said to stand, masked again."""
    names = {shown(source.id): source.name for source in said.sources}
    masks = telling.masker(case) if said.redact else None
    for entry, ref in quoted(said, found):
        source = shown(entry.get("source"))
        where = f"{shown(entry.get('id'))} {names.get(source, source)}:{shown(entry.get('line'))}"
        there = case.quotes.get(ref) if ref else None
        if there is None:
            yield Mismatch(where, "no such line")
            continue
        quote = entry.get("text")
        here = telling.quoted(there.text, masks)
        alike = (
            quote == here
            if not said.redact
            else isinstance(quote, str) and numberless(quote) == numberless(here)
        )
        if not alike:
            yield Mismatch(where, f"the report quotes {shown(quote)}, the line there is {shown(here)}")


def without_all(said: Stated, found: Found, options: pipeline.Options) -> Verdict:
    """Check what can be checked where an input is missing: the quoted lines of the others, and what holds inside any report."""
    notes = [*found.notes, "numbers were not made again: that takes all inputs"]
    if said.document is None:
        return Verdict(found.mismatches, tuple(notes), "the inputs")
    case = again(said, found, options).case
    lost = {shown(source.id) for at, source in enumerate(said.sources) if at not in found.of}
    entries = [entry for entry in said.document["evidence"] if shown(entry.get("source")) not in lost]
    part = replace(said, document=said.document | {"evidence": entries})
    laws = consistency.broken(said.document)
    told = f"{len(entries)} quoted lines, {len(found.items)} inputs"
    return Verdict((*found.mismatches, *misquoted(part, found, case), *laws), tuple(notes), told)
