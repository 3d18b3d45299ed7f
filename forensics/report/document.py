"""Case to report.json: a pure function; everything that is rendered comes from this document.

Keys are those of ``forensics.report/1``; keys beyond it (``summary``, ``bars``, ``chart`` …) serve the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from zoneinfo import ZoneInfo

import polars as pl

from forensics.model.facts import (
    Background,
    Clocks,
    Continuity,
    Coverage,
    Daily,
    Deliveries,
    Events,
    Failures,
    Impact,
    Incidents,
    Losses,
    Probes,
    Restarts,
    Samples,
    Sessions,
    Silences,
    SlowRequests,
    Stalls,
    Watch,
)
from forensics.model.finding import POSITIVE, Grade
from forensics.report.drawn import Drawn, whole
from forensics.report.masking import Masker
from forensics.report.statements import Statements, iso, moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from forensics.model.case import Case
    from forensics.model.digest import Evidence
    from forensics.model.facts import Incident, Series
    from forensics.model.finding import Need
    from forensics.model.source import Ref, Source

SECOND = 1_000_000
MINUTE = 60 * SECOND
SCHEMA = "forensics.report/1"
MOST_SNAPSHOTS = 60
"""Snapshots in report.json: each repeats most of the one before."""
CONTEXT = 2
"""Lines shown before and behind a cited one in the annex."""
FETCHED = 8
"""Lines on either side that are looked at when those shown are masked."""
QUOTED = 600
"""Characters that are told of a quoted record: cut behind the masks, since a secret that is cut through is not known."""
MOST_ROWS = 400
"""Rows of a list in report.json; what is beyond is in the evidence file."""
OVER_US = 30 * SECOND
"""A silence that begins so shortly before the end of an incident, or later, is none of it."""


def masker(case: Case) -> Masker:
    """Return what masks the texts of a case."""
    return Masker(case.known.keep, case.known.names)


def build(case: Case, *, redact: bool = True, masks: Masker | None = None) -> dict[str, Any]:
    """Return the document of a case, masked unless ``redact`` is off; ``masks`` then holds which pseudonym stands for what."""
    document = Builder(case).document()
    document["options"]["redact"] = redact
    masks = (masks or masker(case)) if redact else None
    if masks:
        plain, document = document, cast("dict[str, Any]", masks.document(document))
        mark_pseudonyms(plain, document)
    for entry in document["evidence"]:
        entry["text"] = entry["text"][:QUOTED]
    return document | {"masked": masks.counted() if masks else None}


def mark_pseudonyms(plain: Any, shown: Any) -> None:
    """Mark the commands of needs that masking changed: whoever pastes one has to put the real names in."""
    if isinstance(plain, list):
        for one, other in zip(plain, shown, strict=True):
            mark_pseudonyms(one, other)
    elif isinstance(plain, dict):
        if "command" in plain and "store" in plain:
            shown["masked"] = plain["command"] != shown["command"]
        for key, value in plain.items():
            mark_pseudonyms(value, shown[key])


def context(case: Case, document: dict[str, Any], masks: Masker | None) -> dict[str, list[tuple[int, str]]]:
    """Return the lines around each evidence id, as number and masked text in file order, its own among them.

    They are masked together with further ones on either side, since a secret may be split over lines; where it is not plain
    what became of each, only the cited line is there.
    """
    texts = {
        (f"s{ref.source + 1}", ref.line): quote.text for ref, quote in {**case.quotes, **case.around}.items()
    }
    return {row["id"]: around(row, texts, masks) for row in document["evidence"]}


def around(
    row: dict[str, Any], texts: dict[tuple[str, int], str], masks: Masker | None
) -> list[tuple[int, str]]:
    """Return the lines around one cited line."""
    near = range(row["line"] - FETCHED, row["line"] + FETCHED + 1)
    numbers = [line for line in near if (row["source"], line) in texts]
    lines = [texts[row["source"], line] for line in numbers]
    shown = masks.lines(lines) if masks else lines
    return [
        (line, row["text"] if line == row["line"] else text[:QUOTED])
        for line, text in zip(numbers, shown or [], strict=bool(shown))
        if abs(line - row["line"]) <= CONTEXT
    ]


def quoted(text: str, masks: Masker | None) -> str:
    """Return a quoted line as the document shows it."""
    return (masks.text(text) if masks else text)[:QUOTED]


class Builder(Drawn):
    """Turns the nouns of a case into JSON values."""

    def __init__(self, case: Case) -> None:
        self.words = Statements(case.language, case.known.zone)
        super().__init__(case, self.words.zone)
        self.text = self.words.language.text
        self.ids = self.number(self.cited())

    def cited(self) -> Iterable[Ref]:
        """Yield every place that the document names."""
        diagnosis = self.case.diagnosis
        for finding in diagnosis.findings:
            yield from finding.refs
        for row in diagnosis.timeline:
            yield from row.refs
        for judgement in diagnosis.judgements:
            yield from judgement.supports
            yield from judgement.contradicts
        for stall in self.case.facts[Stalls].items:
            yield from (ref for witness in stall.witnesses for ref in witness.refs)

    @staticmethod
    def number(refs: Iterable[Ref]) -> dict[Ref, str]:
        """Number places in the order of sources and lines."""
        return {ref: f"E{index}" for index, ref in enumerate(sorted(set(refs)), start=1)}

    def places(self, refs: Iterable[Ref]) -> list[str]:
        """Return the evidence ids of places."""
        return [self.ids[ref] for ref in dict.fromkeys(refs)]

    def document(self) -> dict[str, Any]:
        """Return the whole document."""
        case = self.case
        findings = self.findings()
        return {
            "schema": SCHEMA,
            "tool": {"version": case.version, "signatures_sha256": case.signatures_sha256},
            "options": dict(case.options),
            "case": {
                "title": case.known.title or self.title(),
                "timezone": case.known.zone,
                "language": case.language,
                "window": self.window(),
            },
            "summary": {"zone": self.zone_label()},
            "coverage_line": self.coverage_line(),
            "sources": [self.source(source) for source in case.evidence.sources],
            "incidents": [self.incident(index, item, findings) for index, item in enumerate(self.incidents)],
            "signatures": self.signatures(),
            "events": self.events(),
            "probes": [self.series(series) for series in case.facts[Probes].series],
            "silences": self.silences(),
            "stalls": self.stalls(),
            "samples": [
                {
                    "series": s.series,
                    "period_s": s.period_s,
                    "before": whole(s.before),
                    "peak": whole(s.peak),
                    "after": whole(s.after),
                    "limit": whole(s.limit),
                }
                for s in case.facts[Samples].series
            ],
            "sessions": self.sessions(),
            "blind_gaps": self.blind_gaps(),
            "detectability": [
                {
                    "monitor": d.monitor,
                    "never_below_s": whole(d.never_below_s),
                    "always_above_s": whole(d.always_above_s),
                }
                for d in case.facts[Watch].detectability
            ],
            "daily": self.daily(),
            "days": covered_days(case),
            "hypotheses": self.hypotheses(),
            "background": [
                {
                    "template": n.template,
                    "service": n.service,
                    "inside_per_hour": n.inside_per_hour,
                    "outside_per_hour": n.outside_per_hour,
                    "inside": n.inside,
                    "outside": n.outside,
                    "ratio": n.ratio.value if n.ratio else None,
                    "ratio_low": n.ratio.low if n.ratio else None,
                    "ratio_high": n.ratio.high if n.ratio else None,
                    "verdict": n.verdict,
                }
                for n in case.facts[Background].items
            ],
            "impact": self.impact(),
            "timeline": self.timeline(),
            "findings": findings,
            "not_determined": self.not_determined(),
            "actions": self.actions(findings),
            "evidence": self.evidence(),
            "bars": self.bars(),
            "chart": self.chart(),
            "charts": [],
            "unfilled": self.unfilled(findings),
            "contradictions": self.contradictions(),
        }

    def title(self) -> str:
        """Return a title where the case file gives none."""
        return self.words.say(
            "title.incident" if self.primary else "title.quiet",
            {"services": self.primary.services if self.primary else ()},
        )

    def window(self) -> list[str | None] | None:
        """Return the span of all dated inputs."""
        edges = [
            (s.first_us, s.last_us)
            for s in self.case.evidence.sources
            if s.first_us is not None and s.last_us is not None
        ]
        return [self.at(min(lo for lo, _ in edges)), self.at(max(hi for _, hi in edges))] if edges else None

    def zone_label(self) -> str:
        """Name the zone with its offset at the incident."""
        at = (
            self.primary.start
            if self.primary
            else max((s.last_us or 0 for s in self.case.evidence.sources), default=0)
        )
        offset = moment(at, self.zone).isoformat()[-6:]
        return f"{self.case.known.zone} (UTC{offset})"

    def coverage_line(self) -> str:
        """Say in one line what was read."""
        sources = self.case.evidence.sources
        read = [s for s in sources if s.skipped is None]
        unparsed = sum(s.lines.unparsed for s in read if s.lines)
        return self.words.say(
            "title.coverage",
            {
                "read": len(read),
                "given": len(sources),
                "records": sum(s.records for s in read),
                "unparsed": unparsed,
                "skipped": [s.name for s in sources if s.skipped],
            },
        )

    def source(self, source: Source) -> dict[str, Any]:
        """Return one source with what its services are declared to have lost."""
        row = source_row(source, self.zone, self.words.language.note)
        for loss in self.case.facts[Losses].items:
            if loss.service in source.services or loss.ref.source == source.index:
                values = {"n": loss.n, "service": loss.service, "at": loss.at}
                row["limits"].append(self.words.say("title.suppressed", values))
        for undated in self.case.facts[Failures].undated:
            if undated.ref.source == source.index:
                row["limits"].append(self.words.say("title.undated", {"undated": undated}))
        for name, values in (*self.breaks(source), *self.clocks(source)):
            row["limits"].append(self.words.say(name, values))
        return row

    def breaks(self, source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield what the numbers and clocks of a journal say of one source."""
        found = self.case.facts[Continuity]
        for step in found.steps:
            if step.refs[0].source == source.index:
                yield "title.clock_step", {"step": step, "before": step.before}
        for hole in found.holes:
            if hole.refs[0].source == source.index:
                yield "title.hole", {"hole": hole}
        for deletion in found.deletions:
            if deletion.ref.source == source.index:
                yield "title.deletion", {"deletion": deletion}
        for export in found.filtered:
            if export.source == source.index:
                yield (
                    "title.filtered",
                    {"export": export, "unit": source.services[0] if len(source.services) == 1 else None},
                )

    def clocks(self, source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield how the clock of one source stands to others, and how late its lines arrived."""
        clocks = self.case.facts[Clocks]
        names = {one.index: one.name for one in self.case.evidence.sources}
        for offset in clocks.offsets:
            if offset.other == source.index:
                yield "title.offset", {"offset": offset, "source": names[offset.source]}
        for lag in clocks.lags:
            if lag.ref.source == source.index:
                yield "title.lag", {"lag": lag}

    def incident(self, index: int, item: Incident, findings: list[dict[str, Any]]) -> dict[str, Any]:
        """Return one incident."""
        primary = item is self.primary
        return {
            "id": f"i{index + 1}", "label": str(index + 1), "start": self.at(item.start), "start_bound": item.start_bound, "end": self.at(item.end), "ongoing": item.ongoing,
            "recovered_at": self.at(item.recovered_at), "detected_at": self.at(item.detected_at), "acknowledged_at": self.at(item.acknowledged_at), "mitigated_at": self.at(item.mitigated_at),
            "duration_s": round((item.end - item.start) / SECOND, 3) if item.end is not None else None, "primary": primary, "services": list(item.services),
            "findings": [finding["id"] for finding in findings if finding["section"] in ("mechanism", "impact")] if primary else [],
        }  # fmt: skip

    def signatures(self) -> list[dict[str, Any]]:
        """Return failures per signature and service."""
        rows = self.case.facts[Failures].rows
        spans = [(i.start, i.end or self.case.facts[Incidents].last or i.start) for i in self.incidents]
        out = []
        for group in self.case.facts[Failures].groups:
            mine = rows.filter(
                (pl.col("service") == group.service)
                & (pl.col("signature") == group.signature)
                & pl.col("sure")
            )
            inside = (
                mine.filter(
                    pl.any_horizontal([pl.col("ts").is_between(lo, hi + 5 * SECOND) for lo, hi in spans])
                ).height
                if spans
                else 0
            )
            out.append({
                "id": group.signature, "family": group.family, "service": group.service, "failures": group.failures, "failures_max": group.failures_max, "lines": group.lines, "bound": group.bound,
                "first": self.at(group.first), "last": self.at(group.last), "first_wait_began": self.at(group.first_wait_began), "inside_incidents": inside, "parameters": group.parameters,
            })  # fmt: skip
        return out

    def events(self) -> list[dict[str, Any]]:
        """Return events that are no failed operations, per signature and service."""
        return [
            {
                "id": group.signature, "family": group.family, "service": group.service, "events": group.events, "lines": group.lines, "bound": group.bound,
                "first": self.at(group.first), "last": self.at(group.last), "longest_s": group.longest_s, "over": group.over, "last_over": self.at(group.last_over),
                "open": list(group.open), "also": group.also,
            }
            for group in self.case.facts[Events].groups
        ]  # fmt: skip

    def series(self, series: Series) -> dict[str, Any]:
        """Return one probe series."""
        late = [
            {
                "due": self.at(d.at),
                "answered": self.at(d.answered),
                "delay_s": round(((d.answered or d.at) - d.at) / SECOND, 1),
                "rivals": [
                    {"due": self.at(r), "delay_s": round(((d.answered or r) - r) / SECOND, 1)}
                    for r in d.rivals
                ],
            }
            for d in series.at("late")
        ]
        unseen, blind = len(series.at("blind")), self.unasked(series)
        missing = sum(gap[2] for gap in series.gaps) if series.seen_by == "monitor" else 0
        return {
            "series": series.name, "seen_by": series.seen_by, "period_s": series.period_s, "jitter_s": series.jitter_s, "due": len(series.dues) + missing, "answered": len(series.at("answered")), "late": late,
            "in_blind_gap": blind + missing, "not_known": unseen - blind,
            "missed": [self.at(d.at) for d in series.at("missed")], "failed": [self.at(d.at) for d in series.at("failed")],
        }  # fmt: skip

    def unasked(self, series: Series) -> int:
        """Count the due times at which nobody asked: those in a gap of the series itself, or of a monitor."""
        gaps = [(gap.start, gap.end) for gap in self.case.facts[Watch].gaps]
        gaps += [(lo, hi) for lo, hi, *_ in series.gaps]
        return sum(any(lo <= due.at <= hi for lo, hi in gaps) for due in series.at("blind"))

    def silences(self) -> list[dict[str, Any]]:
        """Return silences part by part; what journald itself declares as dropped is no silence."""
        out: list[dict[str, Any]] = []
        losses = self.case.facts[Losses].items
        for silence in self.case.facts[Silences].items:
            edge = (silence.end or silence.start) + MINUTE
            if any(loss.service == silence.service and silence.start <= loss.at <= edge for loss in losses):
                continue
            total = sum(hi - lo for lo, hi in silence.parts) or 1
            for (lo, hi), burst in zip(silence.parts, silence.bursts, strict=True):
                end = self.at(hi) if silence.end is not None or (lo, hi) != silence.parts[-1] else None
                expected = round(silence.expected * (hi - lo) / total)
                out.append(
                    {
                        "service": silence.service,
                        "start": self.at(lo),
                        "end": end,
                        "expected_lines": expected,
                        "burst_after": burst,
                        "why": self.why_silent(silence.service, lo, hi if end else None),
                    }
                )
        return out

    def why_silent(self, service: str, lo: int, hi: int | None) -> str | None:
        """Say what explains a silence: the service was stopped, or the incident was over; None where nothing does.

        What was stopped or scaled away stands not still, and who only told of the trouble has no more to tell.
        """
        last = self.case.facts[Coverage].last or lo
        for outage in self.case.facts[Restarts].outages:
            if outage.service == service and outage.start < (hi or last) and (outage.end or last) > lo:
                return "stopped"
        over = self.primary.end if self.primary else None
        return "after" if over is not None and lo >= over - OVER_US else None

    def stalls(self) -> list[dict[str, Any]]:
        """Return stalls with their evidence; independent signals, never a line that says it, so inferred."""
        return [
            {
                "service": s.service,
                "start": self.at(s.start),
                "end": self.at(s.end),
                "grade": Grade.INFERRED.value,
                "evidence": self.places(ref for w in s.witnesses for ref in w.refs),
                "parts": [[self.at(lo), self.at(hi)] for lo, hi in s.parts],
            }
            for s in self.case.facts[Stalls].items
        ]

    def sessions(self) -> list[dict[str, Any]]:
        """Return the snapshots of a database's sessions, per application; those inside the primary incident first where they are too many."""
        found = self.case.facts[Sessions]
        told = {
            f.values["snapshot"].ref: f.section
            for f in self.case.diagnosis.findings
            if f.key == "mechanism.sessions"
        }
        lo, hi = (self.primary.start, self.primary.end) if self.primary else (None, None)
        kept = sorted(
            found.snapshots,
            key=lambda one: (
                lo is None or one.at is None or one.at < lo or (hi is not None and one.at > hi),
                -one.waiting,
            ),
        )[:MOST_SNAPSHOTS]
        return [
            {
                "at": self.at(one.at), "dated_by": one.dated, "grouped_by": one.by, "with_background": one.mixed, "told_in": told.get(one.ref), "source": f"s{one.ref.source + 1}", "line": one.ref.line, "total": one.total or None,
                "background": one.background, "max_connections": one.limit, "max_connections_from": one.limit_where, "states": dict(one.states), "clients": one.clients, "waiting_for_lock": one.waiting, "waits": dict(one.waits),
                "applications": [{"application": name, "sessions": n, "states": dict(states)} for name, n, states in one.applications],
                "idle_in_transaction": [
                    {"pid": idler.pid, "application": idler.application, "aborted": idler.aborted, "age_s": whole(idler.age_s), "holds": idler.holds, "waiters": idler.waiters,
                     "candidate": idler in found.candidates(one)}
                    for idler in one.idlers
                ],
                "blockers": [
                    {"pid": b.pid, "application": b.application, "state": b.state, "age_s": whole(b.age_s), "waiters": list(b.waiters), "waits_for": b.waits_for}
                    for b in one.blockers
                ],
            }
            for one in found.snapshots
            if one in kept
        ]  # fmt: skip

    def blind_gaps(self) -> list[dict[str, Any]]:
        """Return the gaps of monitors."""
        return [
            {"monitor": g.monitor, "start": self.at(g.start), "end": self.at(g.end), "missing": g.missing, "others_alive": g.others_alive, "kind": g.kind,
             "incidents_inside": [f"i{n + 1}" for n in g.inside], "incidents_overlapping": [f"i{n + 1}" for n in g.overlapping]}
            for g in self.case.facts[Watch].gaps
        ]  # fmt: skip

    def daily(self) -> list[dict[str, Any]]:
        """Return failures per day."""
        return [
            {
                "date": d.date,
                "service": d.service,
                "signature": d.signature,
                "failures": d.failures,
                "failures_max": d.failures_max,
                "lines": d.lines,
                "partial": d.partial,
                "bound": d.bound,
                "inside": d.inside,
            }
            for d in self.case.facts[Daily].items
        ]

    def hypotheses(self) -> list[dict[str, Any]]:
        """Return all judgements."""
        return [
            {
                "id": j.id,
                "title": self.text(j.title),
                "verdict": j.verdict.value,
                "why": self.words.say(f"why.{j.why}", j.values),
                "scope": self.text(j.scope),
                "for": self.places(j.supports[:6]),
                "against": self.places(j.contradicts[:4]),
                "needs": self.needs(j.needs),
            }
            for j in self.case.diagnosis.judgements
        ]

    def impact(self) -> dict[str, Any]:
        """Return who was hit."""
        found = self.case.facts[Impact]
        return {
            "requests_failed": [{"service": r.service, "method": r.method, "route": r.route, "status": r.status, "count": r.count, "probe": r.probe} for r in found.routes],
            "clients": len(found.clients) if found.failed else None, "completed": found.completed, "failed": found.failed, "probes_failed": found.probes_failed,
            "slow": [
                {"service": s.service, "count": s.n, "bound": "at_least" if s.at_least else "exact", "from_s": self.case.facts[SlowRequests].from_s, "slowest_s": s.slowest_s,
                 "median_s": s.median_s, "routes": s.routes, "timed": s.timed}
                for s in self.case.facts[SlowRequests].items
            ],
            "messages": [
                {"service": d.service, "messages": d.messages, "attempts": d.attempts, "delivered": d.delivered, "given_up": d.given_up, "unknown": d.open,
                 "longest_s": d.longest_s, "last_delivered": self.at(d.last_delivered) if d.last_delivered else None}
                for d in self.case.facts[Deliveries].items
            ],
            "operations_failed": [
                {"service": one.service, "replicas": one.replicas, "count": one.n, "most": None if one.at_least else one.most, "bound": "at_least" if one.at_least else "exact"}
                for one in found.operations
            ],
        }  # fmt: skip

    def timeline(self) -> list[dict[str, Any]]:
        """Return the rows of the timeline."""
        return [
            {
                "at": self.at(row.at),
                "kind": row.kind,
                "service": row.service,
                "text": self.words.say(row.key, row.values)
                + (f" {self.words.say('row.unsure', {})}" if row.values.get("unsure") else ""),
                "grade": row.grade.value,
                "evidence": self.places(row.refs),
            }
            for row in self.case.diagnosis.timeline
        ]

    def findings(self) -> list[dict[str, Any]]:
        """Return all findings with their text."""
        return [
            {"id": f"F{index}", "section": f.section, "key": f.key, "text": self.sentence(f.key, f.values), "grade": f.grade.value, "method": self.text(f.method), "formula": self.words.language.formula(f.formula) if f.formula else f.formula, "evidence": self.places(f.refs),
             "scope": self.text(f.scope) if f.scope else f.scope, "alternatives": [self.text(other) for other in f.alternatives], "needs": self.needs(f.needs)}
            for index, f in enumerate(self.case.diagnosis.findings, start=1)
        ]  # fmt: skip

    def sentence(self, key: str, values: dict[str, Any]) -> str:
        """Return a finding's text; the reason of a verdict begins with a capital where it stands as one."""
        text = self.words.say(key, values)
        capital = key.startswith("why.") and self.words.opens_with_words(key)
        return text[:1].upper() + text[1:] if capital else text

    def needs(self, items: Iterable[Need]) -> list[dict[str, Any]]:
        """Return needs as JSON values, what is lost soonest first; a command is the same in every language."""
        return [
            {
                "input": self.text(item.input),
                "command": item.command,
                "expires": self.words.say(f"expires.{item.expires.store}", item.expires.values),
                "store": item.expires.store.value,
                "state": item.expires.state,
                "masked": False,
            }
            for item in items
        ]

    def contradictions(self) -> list[str]:
        """Say which conclusions cannot both hold."""
        return [self.words.say(one.key, one.values) for one in self.case.diagnosis.contradictions]

    def not_determined(self) -> list[dict[str, Any]]:
        """Return the open questions; hypotheses that need the same input are asked together."""
        out: list[dict[str, Any]] = []
        for question in self.case.diagnosis.open_questions:
            entry = {
                "question": self.words.say(question.question, question.values),
                "reason": question.reason,
                "needs": self.needs(question.needs),
                "hypothesis": question.hypothesis,
            }
            twin = next(
                (
                    other
                    for other in out
                    if other["needs"] == entry["needs"]
                    and entry["needs"]
                    and other["reason"] == entry["reason"]
                ),
                None,
            )
            if twin is None:
                out.append(entry)
            else:
                twin["question"] = f"{twin['question']} {entry['question']}"
        return out

    def actions(self, findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return suggestions, the most valuable first; each names the findings that it answers."""
        by_key = {finding["key"]: finding["id"] for finding in findings}
        rows = [
            {
                "text": self.words.say(a.key, a.values),
                "findings": [by_key[key] for key in a.answers if key in by_key],
                "value": a.value,
            }
            for a in self.case.diagnosis.actions
        ]
        return sorted((row for row in rows if row["findings"]), key=lambda row: row["value"])

    def evidence(self) -> list[dict[str, Any]]:
        """Return every cited place with its text."""
        out = []
        for ref, name in self.ids.items():
            quote = self.case.quotes.get(ref)
            out.append(
                {
                    "id": name,
                    "source": f"s{ref.source + 1}",
                    "line": ref.line,
                    "cursor": quote.cursor if quote else None,
                    "at": self.at(quote.at) if quote else None,
                    "text": quote.text if quote else "",
                }
            )
        return out

    def unfilled(self, findings: list[dict[str, Any]]) -> dict[str, str]:
        """Say why a section has nothing to tell."""
        have = {finding["section"] for finding in findings}
        if any(item.verdict in ("pre_existing", "vanished") for item in self.case.facts[Background].items):
            have.add("noise")
        reasons = {}
        for section in ("summary", "times", "impact", "mechanism", "alert", "recurrence", "noise", "clues"):
            if section not in have:
                reasons[section] = self.words.say(
                    f"unfilled.{section}" if section in self.words.table["unfilled"] else "unfilled.other",
                    {"incident": self.primary is not None, "named": bool(self.case.known.events)},
                )
        if not self.case.diagnosis.timeline:
            reasons["timeline"] = self.words.say("unfilled.timeline", {})
        found = any(judgement.verdict in POSITIVE for judgement in self.case.diagnosis.judgements)
        if not self.case.diagnosis.actions and self.primary is None and not found and "mechanism" not in have:
            reasons["actions"] = self.words.say("unfilled.actions", {})
        return reasons


def list_sources(evidence: Evidence, zone: str) -> list[dict[str, Any]]:
    """Return the ``sources`` array of report.json for a survey."""
    tz = ZoneInfo(zone)
    return [source_row(source, tz) for source in evidence.sources]


def covered_days(case: Case) -> list[dict[str, Any]]:
    """Return every day that the inputs touch, and whether they cover it in part only."""
    return [{"date": date, "partial": partial} for date, partial in case.facts[Daily].days]


def source_row(source: Source, zone: ZoneInfo, note: Callable[[str], str] = str) -> dict[str, Any]:
    """Return one source; ``note`` says in the report's language what the reading found to remark."""
    lines = source.lines
    return {
        "id": source.id, "name": source.name, "sha256": source.sha256, "bytes": source.size, "transport": source.transport, "message_formats": list(source.message_formats),
        "zone": {"name": source.zone.name, "rule": source.zone.rule}, "first": iso(source.first_us, zone), "last": iso(source.last_us, zone),
        "lines": {"total": lines.total, "in_records": lines.in_records, "blank": lines.blank, "unparsed": lines.unparsed} if lines else None,
        "records": source.records, "copy_of": f"s{source.copy_of + 1}" if source.copy_of is not None else None, "limits": [note(limit) for limit in (*source.limits, source.zone.why) if limit],
        "skipped": note(source.skipped) if source.skipped is not None else None,
    }  # fmt: skip
