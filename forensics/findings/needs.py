"""What would tell that was not given: the command that fetches it, whether it can still be there, what deletes it; the most urgent first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forensics.findings.places import FETCH, Fetch, Window
from forensics.findings.signals import MINUTE, SECOND
from forensics.model.facts import Continuity
from forensics.model.finding import URGENCY, Expiry, Need, Store

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forensics.findings.hypotheses import Wanted
    from forensics.findings.signals import Signals

DAY_S = 86_400
SYSSTAT_DAYS = (7, 28)
"""How long sysstat keeps its files: Debian and Ubuntu 7 days, Red Hat 28 (HISTORY in its settings)."""
WINDOW = ("--since '{since}' --until '{until}' ", "{sar_day} ")
"""What names the window in a command that is written out, left out where no instant is known."""
CONTAINERS = ("docker", "compose", "cri", "kubectl", "stern")


def needs_of(signals: Signals, asked: Iterable[Wanted]) -> tuple[Need, ...]:
    """Return what is to be fetched of some inputs, what is lost soonest first; those are left out that were given and cover the window."""
    ongoing = bool(signals.primary and signals.primary.ongoing)
    lo, hi = signals.window
    window = Window(max(0, lo - 5 * MINUTE), hi + 5 * MINUTE if hi else 0, signals.known.zone)
    needs = []
    for one in asked:
        if one.engine not in (None, signals.engine) or (one.ongoing and not ongoing):
            continue
        if (one.missing and given(signals, one.missing)) or (one.given and not given(signals, one.given)):
            continue
        if one.unless and signals.hits(*one.unless, window=False).height:
            continue
        how = fetched(one, signals, window)
        needs.append(Need(one.input, how.command, expiry(signals, how.store, settings=one.settings)))
    return tuple(sorted(needs, key=lambda need: URGENCY[need.expires.store]))


def given(signals: Signals, form: str) -> bool:
    """Does a log of a message format cover the window?"""
    return any(signals.covers(service) for service in signals.services_in(form))


def fetched(one: Wanted, signals: Signals, window: Window) -> Fetch:
    """Return the command of one input, with the window put in."""
    if one.fetch:
        return FETCH[one.fetch](signals, window)
    command = one.command
    values = (window.journal, window.sysstat())
    for name, value in zip(WINDOW, values, strict=True):
        command = command.replace(name, value)
    assert one.store is not None
    return Fetch(command, one.store)


def expiry(signals: Signals, store: Store, *, settings: bool = False) -> Expiry:
    """Tell what the inputs say of whether a store still has the incident."""
    state, values = "unknown", dict[str, Any]()
    match store:
        case Store.LIVE:
            state = "now"
        case Store.JOURNAL:
            state, values = of_journal(signals)
        case Store.CONTAINER_LOG:
            state, values = of_container(signals)
        case Store.SYSSTAT:
            state, values = of_sysstat(signals)
        case Store.MONITOR:
            state, values = of_monitor(signals)
        case Store.FILES:
            state = "kept"
    return Expiry(store, state, {"settings": settings, "state": state, **values})


def age_s(signals: Signals) -> float | None:
    """Return how old the incident is at the least: from its start to the end of the inputs. The machine's clock is never asked."""
    lo = signals.primary.start if signals.primary else None
    last = max((source.last_us or 0 for source in signals.evidence.sources), default=0)
    return (last - lo) / SECOND if lo is not None and last else None


def of_journal(signals: Signals) -> tuple[str, dict[str, Any]]:
    """Deletions that the journal tells of after the incident's start: what is older went first."""
    lo = signals.window[0]
    deleted = [one for one in signals.facts[Continuity].deletions if one.at >= lo]
    if not deleted or signals.primary is None:
        return "unknown", {"deletion": None}
    return "at_risk", {"deletion": max(deleted, key=lambda one: one.at)}


def of_container(signals: Signals) -> tuple[str, dict[str, Any]]:
    """A container's log that begins after the incident's start: what came before was rotated away, or not exported."""
    if signals.primary is None:
        return "unknown", {"begins": None}
    lo = signals.primary.start
    begins = [
        source.first_us
        for source in signals.evidence.sources
        if (source.transport or "").startswith(CONTAINERS) and source.first_us and source.first_us > lo
    ]
    return ("partly_gone" if begins else "unknown"), {"begins": min(begins, default=None)}


def of_sysstat(signals: Signals) -> tuple[str, dict[str, Any]]:
    """Sysstat's days against the incident's age."""
    age = age_s(signals)
    days = None if age is None else age / DAY_S
    short, long = SYSSTAT_DAYS
    state = "unknown" if days is None else "gone" if days > long else "at_risk" if days > short else "kept"
    return state, {"days": None if days is None else int(days), "short": short, "long": long}


def of_monitor(signals: Signals) -> tuple[str, dict[str, Any]]:
    """The retention that a monitor's own settings state, against the incident's age."""
    days = min((one.keeps_days for one in signals.evidence.sources if one.keeps_days), default=None)
    age = age_s(signals)
    if days is None:
        return "unknown", {"keeps": None, "until": None}
    until = signals.primary.start + round(days * DAY_S * SECOND) if signals.primary else None
    state = "unknown" if age is None else "gone" if age > days * DAY_S else "kept"
    return state, {"keeps": days, "until": until}
