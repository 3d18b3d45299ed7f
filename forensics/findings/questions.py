"""What these inputs cannot answer: one list, from which the summary takes its greatest unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forensics.findings import last_words
from forensics.findings.hypotheses import Beyond, beyond, load
from forensics.findings.needs import needs_of
from forensics.findings.primary import called, main_pool
from forensics.findings.signals import MINUTE, NEAR_LIMIT
from forensics.model.facts import Coverage
from forensics.model.finding import POSITIVE, URGENCY, OpenQuestion, Store, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.findings.signals import Signals
    from forensics.model.finding import Judgement

UNEXPLAINED = (
    "process_stalled",
    "app_pool_exhausted",
    "db_slots_exhausted",
    "service_restarted",
    "out_of_memory",
    "host_frozen_or_clock_jump",
    "resource_exhausted",
)
"""What matters first where no mechanism was found."""
DATABASE = "db_"
"""How the hypotheses about a database are called."""
KNOWN_NEAR = 30 * MINUTE
"""An event of the case file so near to a stop says what asked for it."""


def questions(signals: Signals, judgements: tuple[Judgement, ...]) -> tuple[OpenQuestion, ...]:
    """Return all open questions in the order in which to see to them: what is lost at once, the greatest unknown, then what is lost soonest."""
    verdicts = {judgement.id: judgement for judgement in judgements}
    found = [*unknowns(signals, verdicts), *unread(signals)]
    main = greatest(tuple(found))
    return tuple(
        sorted(
            found,
            key=lambda one: (
                urgency(one) != URGENCY[Store.LIVE],
                one is not main,
                urgency(one),
                bearing(one),
            ),
        )
    )


def bearing(question: OpenQuestion) -> int:
    """Return how much a question matters for what was found, less for higher numbers."""
    return question.bears if question.bears is not None else len(load()) + len(beyond())


def urgency(question: OpenQuestion) -> int:
    """Return how soon the first of a question's inputs is lost; an unreadable input lies there."""
    return min((URGENCY[need.expires.store] for need in question.needs), default=len(URGENCY))


def greatest(asked: tuple[OpenQuestion, ...]) -> OpenQuestion | None:
    """Return the open question that matters most for the mechanism found, None where none bears on it."""
    bearing = [one for one in asked if one.bears is not None and one.needs]
    return min(bearing, key=lambda one: one.bears if one.bears is not None else 0, default=None)


def unknowns(signals: Signals, verdicts: dict[str, Judgement]) -> Iterator[OpenQuestion]:
    """Ask what stays open beyond what was found, and every hypothesis that is not determined."""
    asked = [one for one in beyond() if is_open(signals, verdicts, one)]
    ranks = {name: len(asked) + at for at, name in enumerate(relevant(signals, verdicts))}
    for rank, one in enumerate(asked):
        yield beyond_question(signals, one, rank + (len(asked) + len(ranks) if one.last else 0))
    by_id = {one.id: one for one in load()}
    for judgement in verdicts.values():
        if judgement.verdict is Verdict.NOT_DETERMINED and judgement.needs:
            reason = reason_of(signals, by_id[judgement.id].formats)
            said = {"title": judgement.title}
            yield OpenQuestion(
                "open.hypothesis",
                said,
                reason,
                judgement.needs,
                judgement.id,
                judgement.id,
                ranks.get(judgement.id),
            )


def relevant(signals: Signals, verdicts: dict[str, Judgement]) -> list[str]:
    """Return the hypotheses that bear on what was found, what matters most first; without a mechanism those that may be one."""
    if signals.primary is None or set(signals.failed_checks) == {"tls"}:
        return []  # a certificate says itself what is wrong with it
    found = [one for one in load() if verdicts[one.id].verdict in POSITIVE and (one.raises or one.formats)]
    answered = asked_for(verdicts["service_restarted"])
    raised = dict.fromkeys(
        name for one in found if not (one.id == "service_restarted" and answered) for name in one.raises
    )
    return [
        name
        for name in (raised if found else UNEXPLAINED)
        if signals.has_database or not name.startswith(DATABASE)
    ]


def asked_for(restarted: Judgement) -> bool:
    """Was a restart asked for? Then nothing on the host need explain it."""
    return restarted.why in ("restart.deploy", "restart.deploy_loop")


def is_open(signals: Signals, verdicts: dict[str, Judgement], one: Beyond) -> bool:
    """Does a question stay open beyond the hypothesis that was found?"""
    judgement = verdicts[one.of]
    if judgement.verdict not in POSITIVE or judgement.why in one.not_for:
        return False
    if one.settled_by and verdicts[one.settled_by].verdict is Verdict.CONFIRMED:
        return False
    if one.answered_by and ANSWERED[one.answered_by](signals):
        return False
    if one.restart:
        at = signals.window[0]
        told = any(
            abs(event.at - at) <= KNOWN_NEAR and event.kind == "deploy" for event in signals.known.events
        )
        return judgement.why.rpartition(".")[2] in one.restart and not told
    return True


def shown_by_snapshot(signals: Signals) -> bool:
    """Does a snapshot inside the incident show whose sessions took the slots? It tells them apart and, where its limit is known, is nearly full."""
    return any(
        one.by is not None
        and any(name for name, *_ in one.applications)
        and (one.limit is None or one.total >= NEAR_LIMIT * one.limit)
        for one in signals.snapshots
    )


def told_by_last_words(signals: Signals) -> bool:
    """Does a line that a process printed before it ended say why?"""
    return any(True for _ in last_words.findings(signals))


ANSWERED = {"snapshot": shown_by_snapshot, "last_words": told_by_last_words}
"""What answers a question beside the log that it asks for, by the names that hypotheses.toml uses."""


def beyond_question(signals: Signals, one: Beyond, rank: int) -> OpenQuestion:
    """Return the question that stays open beyond a found hypothesis, with the needs of the one that would settle it."""
    settles = next((item for item in load() if item.id == one.settled_by), None)
    formats = settles.formats if settles else one.formats
    needs = needs_of(signals, settles.wanted if settles else one.wanted)
    pool = main_pool(signals) if one.id == "holder" else None
    name = called(signals, pool)["name"] if pool else signals.unit
    said: dict[str, Any] = {"service": name, "given": given_until(signals, formats)}
    return OpenQuestion(f"open.{one.id}", said, reason_of(signals, formats), needs, None, one.id, rank)


def given_until(signals: Signals, formats: tuple[str, ...]) -> int | None:
    """Return the last instant of a log that was given and does not reach through the window; None where there is none."""
    lo, hi = signals.window
    covers = [
        signals.facts[Coverage].of(service) for service in (signals.services_in(*formats) if formats else ())
    ]
    ends = [cover.last for cover in covers if cover and cover.last < hi]
    return max(ends) if ends and max(ends) < lo else None


def unread(signals: Signals) -> Iterator[OpenQuestion]:
    """Ask what inputs say that could not be read."""
    for source in signals.evidence.sources:
        if source.skipped:
            yield OpenQuestion("open.source", {"name": source.name, "why": source.skipped}, "unreadable", ())


def reason_of(signals: Signals, formats: tuple[str, ...]) -> str:
    """Tell an input that is not there from one that was given and not read, and one that does not cover the question."""
    if any(
        source.skipped and any(word.partition("_")[0] in source.name.lower() for word in formats)
        for source in signals.evidence.sources
    ):
        return "unreadable"
    return "does not cover" if formats and signals.services_in(*formats) else "not given"
