"""The one module that knows every wing: reads, thinks, fetches the quoted lines, and hands a Case to the telling wing."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics import analyses, engine, formats
from forensics.findings import diagnose, hypotheses
from forensics.formats import definition
from forensics.formats.heads import ANSI
from forensics.formats.transports import journald_live
from forensics.ingest import fold, gaps, plan, recognised
from forensics.ingest.digest import find_hits, number
from forensics.ingest.understand import name_services, rows, understand
from forensics.model import texts
from forensics.model.case import Case, Quote
from forensics.model.digest import Digest, Evidence
from forensics.model.errors import UnreadableError, UsageError
from forensics.model.facts import Incidents, Stalls
from forensics.model.known import Known
from forensics.model.plug import Transport
from forensics.model.source import Ref, Zone
from forensics.signatures import Matcher, catalogue, load
from forensics.sources import casefile, clock, deployment, live, mapping, pool_libraries, streams
from forensics.sources import stated as pools_stated
from forensics.sources.discovery import discover
from forensics.sources.live_request import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from forensics.findings.hypotheses import Hypothesis
    from forensics.ingest.plan import Plan
    from forensics.model.budget import Deployment
    from forensics.model.facts import Facts
    from forensics.model.finding import Diagnosis
    from forensics.model.plug import Parsed
    from forensics.model.signature import Signature
    from forensics.model.source import Source
    from forensics.sources.discovery import Input

QUOTE_BYTES = 1 << 16
"""Bytes read behind a quoted line: a record is shown from its first line on."""
QUOTE_CHARS = 8_000
"""Characters of a quoted record that are held. Far fewer are told, and only after masking: a secret that is cut through is not known."""
INSTANTS = ("ts", "first_us", "last_us")
PLACE = {"source": pl.UInt16(), "line": pl.UInt32()}
DATED = ("hits", "failed", "slow", "arrivals", "calls", "beats", "samples", "alerts", "sessions", "poolers")
"""Frames that date a line, the first that knows it before the others."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    tz: str | None = None
    lang: str | None = None
    case: Path | None = None
    since: str | None = None
    until: str | None = None
    units: tuple[str, ...] = ()
    signatures: tuple[Path, ...] = ()
    formats: tuple[Path, ...] = ()
    shard_size: int = streams.SHARD_BYTES
    limits: streams.Limits = field(default_factory=streams.Limits)
    context: int = 0
    """Lines before and behind each cited one that are fetched too."""
    tick: Callable[[str, int], None] | None = field(default=None, compare=False)


def investigate(
    inputs: Iterable[str],
    options: Options,
    *,
    found: list[Input] | None = None,
    also: frozenset[Ref] = frozenset(),
) -> Case:
    """Read all inputs and conclude what they allow; an unreadable input is listed, never fatal.

    ``found`` are inputs that were found already and go by the names that they bear there; ``also`` are places to quote beside
    those that the conclusions cite.
    """
    case_file = casefile.read(options.case) if options.case else casefile.CaseFile()
    zone = options.tz or case_file.timezone or clock.UTC
    clock.zone(zone)
    bring(options, case_file)
    catalog = signatures(options, case_file)
    asked = list(inputs)
    newest = live.latest(asked)
    items = discover(asked, window(options, zone, newest), options.limits) if found is None else found
    plans = plan.make(items, case_file.sources)
    evidence = gather(plans, Matcher(catalog), options, zone_rule(case_file, options, zone))
    known = Known(
        zone=zone, title=case_file.title, probes=case_file.probes, pools=case_file.pools, events=casefile.events(case_file, zone), max_connections=case_file.max_connections, idle_in_transaction_s=case_file.idle_in_transaction_s,
        signatures={signature.id: signature for signature in catalog}, since=edge(options.since, zone, evidence, "--since", newest), until=edge(options.until, zone, evidence, "--until", newest),
        keep=case_file.keep, names=case_file.names,
    )  # fmt: skip
    known = replace(known, deployment=deployed(asked, case_file, options), libraries=pool_libraries.load())
    evidence = restricted(evidence, known, options.units)
    facts = analyses.run_all(evidence, known)
    diagnosis = diagnose(evidence, known, facts)
    refs = cited(diagnosis, facts) | also
    return Case(
        evidence=evidence, known=known, facts=facts, diagnosis=diagnosis, quotes=quote_all(plans, evidence, refs), around=lines_around(plans, evidence, beside(refs, options.context)), version=tool_version(),
        signatures_sha256=catalogue.fingerprint(*options.signatures, blocks=case_file.signatures),
        language=options.lang or case_file.language or texts.ENGLISH, options=stated(options) | {"names": len(case_file.names)},
    )  # fmt: skip


def deployed(inputs: list[str], case_file: casefile.CaseFile, options: Options) -> Deployment:
    """Return what the case file says of connection pools, and files of a deployment that lie among the inputs."""
    found = deployment.beside(inputs)
    clients, said = pools_stated.from_case(case_file, options.case.name if options.case else "case.toml")
    return replace(found, clients=(*found.clients, *clients)).plus(*said)


def stated(options: Options) -> dict[str, Any]:
    """Return what a report states of its options: all that is needed to make it again from the same inputs."""
    return {
        "tz": options.tz,
        "lang": options.lang,
        "since": options.since,
        "until": options.until,
        "unit": list(options.units),
        "case": hashed([options.case])[0] if options.case else None,
        "signatures": hashed(catalogue.files(options.signatures)),
        "formats": hashed(catalogue.files(options.formats)),
        "unpack_limit": options.limits.said() or None,
    }


def hashed(paths: Iterable[Path]) -> list[dict[str, str]]:
    """Name files by their content."""
    return [{"name": path.name, "sha256": streams.sha256(path)} for path in paths]


def survey(inputs: Iterable[str], options: Options, *, explain: bool = False) -> Evidence:
    """Read all inputs and say what each was recognised as, and each of its streams, without thinking about it."""
    case_file = casefile.read(options.case) if options.case else casefile.CaseFile()
    zone = options.tz or case_file.timezone or clock.UTC
    clock.zone(zone)
    bring(options, case_file)
    plans = plan.make(discover(inputs, limits=options.limits), case_file.sources)
    evidence = gather(
        plans, Matcher(signatures(options, case_file)), options, zone_rule(case_file, options, zone)
    )
    if not explain:
        return evidence
    said = {
        one.index: tuple(stream.said() for stream in plan.with_streams(one, near=True).streams or ())
        for one in plans
    }
    explained = tuple(replace(source, streams=said[source.index]) for source in evidence.sources)
    return replace(evidence, sources=explained)


def bring(options: Options, case_file: casefile.CaseFile) -> None:
    """Read with the user's formats too; one that does not hold what it promises is refused."""
    own = definition.own(options.formats, case_file.formats)
    formats.use(own)
    plan.prove(own)


def signatures(options: Options, case_file: casefile.CaseFile) -> tuple[Signature, ...]:
    """Return the catalogue with the user's own; one that does not hold what it promises is refused."""
    where = options.case.name if options.case else "case.toml"
    return load(*options.signatures, blocks=case_file.signatures, where=where)


def gather(
    plans: list[Plan], matcher: Matcher, options: Options, zones: Callable[[Source], Zone]
) -> Evidence:
    """Digest every planned input and settle the whole."""
    reading = engine.read_all(plans, matcher, options.shard_size, options.tick)
    if fold.journals(reading.digest):
        copied = fold.copied(reading.digest, reading.facts, zones)
        reading = engine.once(plans, matcher, options.shard_size, reading, copied)
    return fold.settle(reading.digest, reading.facts, zones, reading.has_lines)


def tool_version() -> str:
    """Return the version of the installed package."""
    try:
        return version("incident-forensics")
    except PackageNotFoundError:
        return "0+unknown"


def zone_rule(case_file: casefile.CaseFile, options: Options, zone: str) -> Callable[[Source], Zone]:
    """Return how the zone of a source without offsets is found: its rule in the case file, an option, else assumed."""

    def rule(source: Source) -> Zone:
        for entry in case_file.sources:
            if entry.timezone and fnmatch.fnmatch(source.name, entry.match):
                return Zone(entry.timezone, "given")
        if options.tz or case_file.timezone:
            return Zone(zone, "given")
        return Zone(
            zone,
            "assumed",
            f"times carry no zone and are taken as {zone}: give --tz or a timezone in case.toml",
        )

    return rule


def window(options: Options, zone: str, newest: int) -> Window:
    """Return what the live journal need not tell: its newest entry is the instant from which spans count back."""
    if not newest:
        return Window()
    return Window(
        moment(options.since, zone, newest, "--since"),
        moment(options.until, zone, newest, "--until"),
        options.units,
    )


def edge(text: str | None, zone: str, evidence: Evidence, where: str, newest: int = 0) -> int | None:
    """Return an instant of --since or --until; a span such as 2h counts back from the last instant of the inputs."""
    return moment(text, zone, max(newest, *(source.last_us or 0 for source in evidence.sources), 0), where)


def moment(text: str | None, zone: str, last: int, where: str) -> int | None:
    """Return an instant of an option, given the last instant."""
    if text is None:
        return None
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    if text[:-1].replace(".", "", 1).isdigit() and text[-1] in units:
        return last - round(float(text[:-1]) * units[text[-1]] * 1_000_000)
    return clock.instant(text, clock.zone(zone), where=where, latest=last)


def restricted(evidence: Evidence, known: Known, units: tuple[str, ...]) -> Evidence:
    """Leave out what lies outside --since/--until or belongs to another unit."""
    if known.since is None and known.until is None and not units:
        return evidence
    lo, hi = (
        known.since if known.since is not None else -(2**62),
        known.until if known.until is not None else 2**62,
    )
    if lo > hi:
        raise UsageError("--since lies after --until", remedy="swap them")
    names = {unit.removesuffix(".service") for unit in units}
    frames: dict[str, pl.DataFrame] = {}
    for name, frame in evidence.digest.frames.items():
        kept = frame
        for column, scale in (("ts", 1), ("second", 1_000_000), ("minute", 60_000_000)):
            if column in frame.columns:
                kept = kept.filter(
                    (pl.col(column) * scale).is_between(lo - (scale - 1 if scale > 1 else 0), hi)
                )
        if names and "service" in frame.columns and name != "formats":
            kept = kept.filter(pl.col("service").is_in(list(names)))
        frames[name] = kept
    return Evidence(evidence.sources, Digest(frames))


def cited(diagnosis: Diagnosis, facts: Facts) -> set[Ref]:
    """Return every place that the report will name."""
    refs = {ref for finding in diagnosis.findings for ref in finding.refs} | {
        ref for row in diagnosis.timeline for ref in row.refs
    }
    refs |= {
        ref for judgement in diagnosis.judgements for ref in (*judgement.supports, *judgement.contradicts)
    }
    return refs | {
        ref for stall in facts[Stalls].items for witness in stall.witnesses for ref in witness.refs
    }


def beside(refs: set[Ref], n: int) -> set[Ref]:
    """Return the places up to ``n`` lines before and behind others, without those themselves."""
    steps = [step for step in range(-n, n + 1) if step]
    return {Ref(ref.source, ref.line + step) for ref in refs for step in steps if ref.line + step > 0} - refs


def quote_all(plans: list[Plan], evidence: Evidence, refs: set[Ref]) -> dict[Ref, Quote]:
    """Fetch the text of every cited place again from its source, in one pass over each."""
    quotes: dict[Ref, Quote] = {}
    for item, lines in of_plans(plans, refs):
        if binary(item):
            quotes.update(quote_binary(item, evidence, lines))
            continue
        for line, window in streams.lines_at(item.item.path, lines, QUOTE_BYTES).items():
            quotes[Ref(item.index, line)] = quote(item, window)
    return with_times(quotes, evidence)


def lines_around(plans: list[Plan], evidence: Evidence, refs: set[Ref]) -> dict[Ref, Quote]:
    """Fetch lines as they stand beside cited ones, each by itself; runs of them are parsed at once."""
    quotes: dict[Ref, Quote] = {}
    for item, lines in of_plans(plans, refs):
        if binary(item):
            quotes.update(quote_binary(item, evidence, lines))
            continue
        runs = dict(consecutive(lines))
        for start, window in streams.lines_at(item.item.path, list(runs), QUOTE_BYTES).items():
            texts = window.split(b"\n")[: runs[start]]
            messages = messages_of(item, texts)
            for at, text in enumerate(texts):
                said = messages.get(at + 1)
                shown = Quote(said[:QUOTE_CHARS], None) if said is not None else bare(text)
                quotes[Ref(item.index, start + at)] = shown
    return quotes


def of_plans(plans: list[Plan], refs: set[Ref]) -> Iterator[tuple[Plan, list[int]]]:
    """Yield the inputs in which places lie, with their lines in order."""
    for item in plans:
        lines = sorted(ref.line for ref in refs if ref.source == item.index)
        if lines and item.plug is not None:
            yield item, lines


def binary(item: Plan) -> bool:
    """Has an input no lines?"""
    return item.plug is not None and item.plug.binary


def quote_binary(item: Plan, evidence: Evidence, lines: list[int]) -> dict[Ref, Quote]:
    """Return records of an input without lines by their numbers."""
    if isinstance(item.plug, Transport):
        return quote_entries(item, lines)
    return quote_rows(evidence, item.index, lines)


def consecutive(lines: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first line and the length of each run of lines that follow one another."""
    for _, run in groupby(enumerate(lines), key=lambda pair: pair[1] - pair[0]):
        first, *more = (line for _, line in run)
        yield first, 1 + len(more)


def messages_of(item: Plan, texts: list[bytes]) -> dict[int, str]:
    """Return what the lines of a run say, by their numbers in it from 1; lines that are no record by themselves are not there."""
    records = item.plug.parse(b"\n".join(texts) + b"\n").records if isinstance(item.plug, Transport) else None
    if records is None:
        return {}
    return {
        int(line): str(said)
        for line, said in records.select("line", "message").iter_rows()
        if said is not None
    }


def quote(item: Plan, window: bytes) -> Quote:
    """Return the message of the record at the start of a window, or the bare line where it is none."""
    first = window.split(b"\n", 1)[0]
    if isinstance(item.plug, Transport):
        whole = window[: window.rfind(b"\n") + 1] or window
        one_line = item.plug.escaped and item.plug.safe_cut is not None
        records = item.plug.parse(first + b"\n" if one_line else whole).records
        if (
            records is not None
            and records.height
            and records["line"][0] == 1
            and records["message"][0] is not None
        ):
            return Quote(
                str(records["message"][0])[:QUOTE_CHARS],
                records["ts"][0] if not records["naive"][0] else None,
                records["cursor"][0],
            )
    return bare(first)


def bare(line: bytes) -> Quote:
    """Return a line as it stands, without colours."""
    text = re.sub(ANSI, "", line.decode("utf-8", "replace"))
    return Quote(text.strip()[:QUOTE_CHARS], None)


def quote_entries(item: Plan, lines: list[int]) -> dict[Ref, Quote]:
    """Return records by their ordinal; the live journal is asked again by cursor."""
    assert isinstance(item.plug, Transport)
    found: dict[Ref, Quote] = {}
    base = 0
    for parsed in entries_again(item, item.plug, lines):
        assert parsed.records is not None
        rows = parsed.records.with_columns(pl.col("line").cast(pl.Int64) + base)
        rows = rows.filter(pl.col("line").is_in(lines)).select("line", "message", "ts", "cursor")
        base += parsed.in_records
        found |= {
            Ref(item.index, line): Quote((message or "")[:QUOTE_CHARS], ts, cursor)
            for line, message, ts, cursor in rows.iter_rows()
        }
    return found


def entries_again(item: Plan, plug: Transport, lines: list[int]) -> Iterable[Parsed]:
    """Read an input without lines again, in pieces where its format has them."""
    if item.item.live:
        return [journald_live.parse(b"".join(streams.chunks(item.item.path)), lines)]
    if plug.parts:
        return plug.parts(mapping.contents(item.item.path), item.held)
    return [plug.parse(b"".join(streams.chunks(item.item.path)))]


def quote_rows(evidence: Evidence, source: int, lines: list[int]) -> dict[Ref, Quote]:
    """Return the rows of a database, or of JSON that was read whole, as text."""
    here = (pl.col("source") == source) & pl.col("line").is_in(lines)
    ms = pl.col("latency_ms").cast(pl.String) + " ms"
    limit = "of " + pl.col("limit").cast(pl.String)
    said = {
        "alerts": ("monitor", "state", "text"),
        "samples": ("series", pl.col("value").cast(pl.String), limit, "level"),
        "beats": ("monitor", "status", "error", ms),
    }
    return {
        Ref(source, line): Quote(text[:QUOTE_CHARS], ts)
        for name, parts in said.items()
        for line, text, ts in evidence[name]
        .filter(here)
        .select("line", pl.concat_str(*parts, separator=" ", ignore_nulls=True), "ts")
        .iter_rows()
    }


def with_times(quotes: dict[Ref, Quote], evidence: Evidence) -> dict[Ref, Quote]:
    """Date quotes from the settled frames, which know the zone."""
    undated = [ref for ref, item in quotes.items() if item.at is None]
    wanted = pl.DataFrame(
        {"source": [ref.source for ref in undated], "line": [ref.line for ref in undated]}, schema=PLACE
    )
    dated = pl.concat(
        [
            *(evidence[name].select("source", "line", "ts") for name in DATED),
            evidence["seconds"].select("source", line="first_line", ts="first_us"),
        ]
    ).join(wanted, on=list(PLACE), how="semi")
    known = {Ref(source, line): ts for source, line, ts in dated.reverse().drop_nulls().iter_rows()}
    return {
        ref: Quote(item.text, item.at if item.at is not None else known.get(ref), item.cursor)
        for ref, item in quotes.items()
    }


def nothing_read(case: Case) -> bool:
    """Was there no input of which anything could be used?"""
    return not any(source.skipped is None and source.records for source in case.evidence.sources)


def has_incidents(case: Case) -> bool:
    """Was an incident found?"""
    return bool(case.facts[Incidents].items)


def raw_lines(report: dict[str, Any], name: str, inputs: Iterable[str]) -> list[tuple[str, str, str | None]]:
    """Return (place, text of the report, raw line) behind a finding or evidence id.

    The line is read again from the input of the same hash, None where that was not given or has no lines.
    """
    if not isinstance(report, dict) or any(
        not isinstance(report.get(key), list) for key in ("evidence", "findings", "sources")
    ):
        raise UsageError("is no report.json", where=name, remedy="write one with forensics report --json")
    evidence = {item["id"]: item for item in report.get("evidence", [])}
    finding = next((item for item in report.get("findings", []) if item["id"] == name), None)
    verdict = next((item for item in report.get("hypotheses", []) if item["id"] == name), None)
    wanted = finding["evidence"] if finding else [*verdict["for"], *verdict["against"]] if verdict else [name]
    if unknown := [item for item in wanted if item not in evidence]:
        raise UsageError(
            f"no finding or evidence {unknown[0]!r} in the report",
            where=name,
            remedy="ids are F1, F2 …, E1, E2 … and those of hypotheses, like process_stalled",
        )
    hashes = {source["id"]: source for source in report["sources"]}
    found = {streams.sha256(item.path): item.path for item in discover(inputs) if item.trouble is None}
    out = []
    for key in wanted:
        entry = evidence[key]
        source = hashes[entry["source"]]
        path = found.get(source["sha256"])
        line = None
        if path is not None and source["lines"] is not None:
            window = streams.lines_at(path, [entry["line"]], QUOTE_BYTES).get(entry["line"], b"")
            line = window.split(b"\n", 1)[0].decode("utf-8", "replace")
        out.append((f"{key} {source['name']}:{entry['line']}", entry["text"], line))
    return out


def basis(name: str) -> Hypothesis | None:
    """Return how a hypothesis is weighed, None for an id that is none."""
    return next((one for one in hypotheses.load() if one.id == name), None)


@dataclass(frozen=True, slots=True)
class Fit:
    """How the beginning of a file fits the formats."""

    chosen: str | None
    skipped: str | None
    scores: tuple[tuple[str, float], ...]
    messages: tuple[tuple[str | None, int], ...]
    """Message formats with their lines; None: lines of no known format."""
    unknown: tuple[tuple[int, str], ...] = ()
    """The first lines of no known format, with their numbers."""
    joined: tuple[tuple[int, str], ...] = ()
    """The first lines without a head of their own that look like no part of the record above, which takes them."""


SHOWN = 5
"""Scores and unknown lines that are shown."""


def fit(name: str) -> Fit:
    """Say how a file fits: scores, formats of its lines, and the first lines that none knows."""
    item = discover([name])[0]
    planned = plan.recognise(item, 0)
    head = b"" if item.trouble else streams.head(item.path)
    ranked = tuple((known, score) for known, score in plan.scored(head)[:SHOWN] if score > 0)
    chosen = planned.format_name
    if chosen == "plain":
        chosen = f"plain lines of {planned.first_format}"
    if not isinstance(planned.plug, Transport):
        return Fit(chosen, planned.skipped, ranked, ())
    whole = head[: head.rfind(b"\n") + 1] or head
    records = planned.plug.parse(whole).records
    if records is None or not records.height:
        return Fit(chosen, planned.skipped, ranked, ())
    told = understand(rows(name_services(records, ""), physical=False), formats.all_messages())
    events = told.filter("starts")
    counts = events.group_by("format").len().sort(["len", "format"], descending=[True, False])
    unknown, joined = events.filter(pl.col("format").is_null()), recognised.strangers(told)
    return Fit(
        chosen,
        planned.skipped,
        ranked,
        tuple(counts.iter_rows()),
        placed_lines(unknown),
        placed_lines(joined),
    )


def placed_lines(lines: pl.DataFrame) -> tuple[tuple[int, str], ...]:
    """Return the first lines with their numbers."""
    return tuple(lines.select("line", "message").head(SHOWN).iter_rows())


@dataclass(frozen=True, slots=True)
class Trial:
    """What the catalogue finds in one input."""

    name: str
    skipped: str | None
    """Why the input could not be read; its lines may have been matched as they stand all the same."""
    hits: pl.DataFrame
    """line, signature and parameters (JSON), one row for each match that counts."""
    gaps: pl.DataFrame
    """Lines that look like failures and match nothing, by template: template, n, line and text of the first."""


def trials(name: str, options: Options) -> list[Trial]:
    """Match the catalogue against each input that a name stands for, with the readers of a report."""
    case_file = casefile.read(options.case) if options.case else casefile.CaseFile()
    bring(options, case_file)
    matcher = Matcher(signatures(options, case_file))
    return [trial(item, matcher, options) for item in plan.make(discover([name]), case_file.sources)]


def trial(item: Plan, matcher: Matcher, options: Options) -> Trial:
    """Match the catalogue against one input; text that no format reads is matched as plain lines."""
    hits = [pl.DataFrame(schema={"line": pl.UInt32, "signature": pl.String, "parameters": pl.String})]
    unknown = [pl.DataFrame(schema=gaps.GAPS)]
    skipped = item.skipped
    if skipped is None and not isinstance(item.plug, Transport):
        skipped = "a monitor's memory has no lines that a signature could match"
    try:
        for events in engine.stream(item, options.shard_size):
            numbered = number(events)
            found = find_hits(numbered, matcher, matcher.match(numbered["message"]))
            hits.append(found.select(pl.col("line").cast(pl.UInt32), "signature", "parameters"))
            unknown.append(gaps.gaps(events, found))
        if item.plug is None and item.item.trouble is None:
            for lines in plain_lines(item):
                found = matcher.match(lines["message"])
                found = found.select(
                    line=lines["line"].gather(found["row"]), signature="signature", parameters="parameters"
                )
                hits.append(found)
                unknown.append(gaps.plain_gaps(lines, found))
    except (UnreadableError, pl.exceptions.PolarsError, OSError) as error:
        skipped = f"reading failed ({error})"
    grouped = (
        pl.concat(unknown)
        .group_by("template", maintain_order=True)
        .agg(pl.len().alias("n"), pl.col("line", "text").first())
        .sort("n", descending=True, maintain_order=True)
    )
    return Trial(item.item.name, skipped, pl.concat(hits), grouped)


def plain_lines(item: Plan) -> Iterable[pl.DataFrame]:
    """Yield the lines of a text that no format reads, numbered; nothing of an input that is no text."""
    if b"\0" in streams.head(item.item.path):
        return
    base = 1
    for data in streams.shards(
        streams.chunks(item.item.path), streams.SHARD_BYTES, lambda _before, _line: True
    ):
        lines = pl.Series(
            "message", data.decode("utf-8", "replace").removesuffix("\n").split("\n"), dtype=pl.String
        )
        yield lines.to_frame().select(line=pl.int_range(pl.len(), dtype=pl.UInt32) + base, message="message")
        base += len(lines)
