"""What the server's own work and its slow statements weigh: nothing where there was as much of it outside the incident.

Work that weighs is mechanism where lines tie it to the incident, else a clue. Of checkpoints and of autovacuum it is always said what became of the
suspicion: consistent with it, not to blame by the numbers of the log, or not determined, with the setting that would tell. Slow statements and deadlocks
are told wherever they are; where there is no incident, as what the log shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forensics.findings.hypotheses import Wanted
from forensics.findings.lock_waits import apart
from forensics.findings.needs import needs_of
from forensics.findings.signals import MINUTE, POSTGRES_LOGS
from forensics.model.facts import Coverage, Failures, Upkeeps
from forensics.model.finding import Expiry, Finding, Grade, Need, Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.facts import Deadlock, Upkeep

MORE = 3.0
"""Rate inside against that outside from which work weighs: less is how such work scatters over a day."""
FEWEST = 2
"""One piece of work has no rate."""
STALLED_S = 1.0
"""A checkpoint that waits for the disk as long as this, and ten times as long as usual, tells of the disk."""
LONGER = 10.0
LONG_S = 60.0
"""Autovacuum of a table for as long as this can be felt on its disk."""
KEPT = Expiry(Store.FILES, "kept")
SETTINGS = {
    "checkpoint": Need("log_checkpoints = on in the server's settings, for the next time", "psql -XAtc 'show log_checkpoints'", KEPT),
    "autovacuum": Need(
        "log_autovacuum_min_duration = 0 in the server's settings, for the next time", "psql -XAtc 'show log_autovacuum_min_duration'", KEPT
    ),
}  # fmt: skip
"""What makes the server log its own work; from PostgreSQL 15 on, checkpoints and what autovacuum takes ten minutes for are logged unless told otherwise."""
UNSAID = ("app_error", "http_error")
"""Families of failures that say nothing of what was waited for."""
ELSEWHERE = ("redis", "broker")
"""Families begin so whose failures are those of another server."""
COVERING = Wanted("the server's log over the whole incident", fetch="postgres_log")


def more_often(one: Upkeep) -> bool:
    """Was there clearly more of it inside than outside? Without an outside to compare with, there is no telling."""
    return (
        one.inside >= FEWEST
        and one.per_hour_outside is not None
        and one.per_hour_inside >= MORE * one.per_hour_outside
    )


def weighs(one: Upkeep) -> bool:
    """Is a kind of work that overlaps the incident worth a suspicion?"""
    if not one.inside:
        return False
    if one.kind == "checkpoint":
        waited = (one.sync_s or 0) >= STALLED_S and (one.sync_s or 0) >= LONGER * (one.usual_sync_s or 0)
        return waited or more_often(one)
    if one.kind == "autovacuum":
        return one.waiters > 0 or ((one.longest_s or 0) >= LONG_S and (one.outside == 0 or more_often(one)))
    return slow(one)


def slow(one: Upkeep) -> bool:
    """Do slow statements belong to the incident? Those that are as frequent outside do not."""
    often = one.per_hour_outside is None or more_often(one) or one.outside == 0
    return one.kind == "statement" and one.inside > 0 and often


def findings(signals: Signals, section: str) -> Iterator[Finding]:
    """Yield what belongs to a section: ``mechanism``, ``clues``, ``ruled_out`` or ``not_determined``."""
    if section in ("mechanism", "clues"):
        yield from statements(signals, section)
        yield from work(signals, section)
        yield from frequent(signals, section)
        yield from deadlocks(signals, section)
    elif signals.primary is not None:
        yield from cleared(signals, section)


def statements(signals: Signals, section: str) -> Iterator[Finding]:
    """Tell slow statements: a link where there are more of them than outside, or where there is no incident, else a clue."""
    for one in signals.facts[Upkeeps].items:
        if one.kind != "statement":
            continue
        if section == ("mechanism" if signals.primary is None or slow(one) else "clues"):
            key = "mechanism.statements" if one.inside else "mechanism.statements_apart"
            values = {"upkeep": one, "apart": apart(signals, one.first, one.last)}
            yield Finding(key, section, graded(section), values, one.refs)


def graded(section: str) -> Grade:
    """Return the grade of what a line says in a section."""
    return Grade.CLUE if section == "clues" else Grade.VERIFIED


def work(signals: Signals, section: str) -> Iterator[Finding]:
    """Tell checkpoints and autovacuum that weigh: mechanism where others waited for a lock of it, else a clue."""
    for one in signals.facts[Upkeeps].items:
        if one.kind == "statement" or not weighs(one):
            continue
        held = one.kind == "autovacuum" and one.waiters > 0
        if held and section == "mechanism":
            yield Finding("mechanism.autovacuum", section, Grade.VERIFIED, {"upkeep": one}, one.refs)
        elif not held and section == "clues":
            yield Finding("clue.upkeep", section, Grade.CLUE, {"upkeep": one}, one.refs)


def frequent(signals: Signals, section: str) -> Iterator[Finding]:
    """Tell what the server says of checkpoints that follow each other too quickly."""
    for one in signals.facts[Upkeeps].frequent:
        if section == ("mechanism" if signals.primary is None else "clues"):
            values = {"frequent": one, "apart": apart(signals, one.first, one.last), "during": one.inside}
            yield Finding("clue.frequent", section, graded(section), values, one.refs)


def cleared(signals: Signals, section: str) -> Iterator[Finding]:
    """Say of each server's checkpoints and autovacuum that they are not to blame, or that its log does not tell."""
    warned = {one.service for one in signals.facts[Upkeeps].frequent if one.inside}
    for service in signals.services_in(*POSTGRES_LOGS):
        found = {one.kind: one for one in signals.facts[Upkeeps].items if one.service == service}
        logged = {kind: found[kind] for kind in SETTINGS if kind in found and signals.covers(service)}
        if section == "not_determined" and len(logged) < len(SETTINGS) and in_question(signals):
            yield unknown(signals, service, [kind for kind in SETTINGS if kind not in logged], list(found))
        for kind, one in logged.items() if section == "ruled_out" else ():
            if not weighs(one) and not (kind == "checkpoint" and service in warned):
                yield innocent(signals, one)


def in_question(signals: Signals) -> bool:
    """May what failed have waited for the database? Not where every failure names another server."""
    families = {group.family for group in signals.facts[Failures].groups if group.side != "monitor"}
    named = {family for family in families if family not in UNSAID}
    return not named or not all(family.startswith(ELSEWHERE) for family in named)


def unknown(signals: Signals, service: str, kinds: list[str], logged: list[str]) -> Finding:
    """Say that a server's log does not tell of some kinds of work, and which settings, or which log, would tell."""
    cover = signals.facts[Coverage].of(service)
    refs = (cover.first_ref, cover.last_ref) if cover else ()
    wanted = needs_of(signals, (COVERING,)) if set(kinds) & set(logged) else ()
    needs = (*wanted, *(SETTINGS[kind] for kind in kinds if kind not in logged))
    values = {"service": service, "kinds": kinds, "covers": signals.covers(service)}
    return Finding("upkeep.unknown", "not_determined", Grade.NOT_DETERMINED, values, refs, needs=needs)


def innocent(signals: Signals, one: Upkeep) -> Finding:
    """Say with its numbers that a kind of work is not to blame: there was none, or as much and as short as outside."""
    cover = signals.facts[Coverage].of(one.service)
    values: dict[str, Any] = {
        "upkeep": one,
        "first": cover.first if cover else one.first,
        "last": cover.last if cover else one.last,
    }
    compared = one.inside and one.per_hour_outside is not None
    return Finding(
        "upkeep.innocent",
        "ruled_out",
        Grade.RULED_OUT if compared else Grade.NO_SIGN,
        values,
        one.refs[:2],
        scope=None if compared else "work that the log tells of",
    )


def deadlocks(signals: Signals, section: str) -> Iterator[Finding]:
    """Tell deadlocks that touch the incident, all where there is none, the others as a clue."""
    lo, hi = signals.window
    near: list[Deadlock] = []
    far: list[Deadlock] = []
    for one in signals.facts[Upkeeps].deadlocks:
        touches = signals.primary is None or lo - MINUTE <= one.at <= hi + MINUTE
        (near if touches else far).append(one)
    shown = near if section == "mechanism" else far
    if shown:
        values = {"n": len(shown), "first": shown[0], "apart": apart(signals, shown[0].at, shown[0].at)}
        refs = tuple(one.ref for one in shown)
        yield Finding("mechanism.deadlocks", section, graded(section), values, refs[:4])
