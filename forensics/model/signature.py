"""A failure text: how it is found, what it says, and what it does not say."""

from __future__ import annotations

from dataclasses import dataclass, field

LIMITS = {
    "once": "the program prints this text once, not at every failure",
    "rate": "the program prints this text at a limited rate",
    "merged": "one line stands for several failures of one kind",
}
"""Why a text is printed less often than what it tells of happens: counts of it are lower bounds."""


@dataclass(frozen=True, slots=True)
class Signature:
    """One catalogue entry; the keys of a ``[[signature]]`` block have the same names."""

    id: str
    family: str
    title: str
    pattern: str
    anchors: tuple[str, ...]
    side: str
    """client, server, gateway, kernel, monitor or manager: who prints it."""
    library: str
    marks: str
    """What the line's time is: ``end`` (of a wait), ``start`` or ``instant``."""
    counts: str
    """``failure`` (one failed operation), ``event``, ``context`` (can only support) or ``success`` (what failed before under the same name
    did not fail for good; its one parameter is that name)."""
    verified: bool
    means: str
    does_not_mean: str
    reference: str
    hit: tuple[str, ...]
    miss: tuple[str, ...]
    wait: str | None = None
    """Parameter that holds the length of the wait which ended with this line."""
    parameters: dict[str, str] = field(default_factory=dict)
    """Group to unit: s, ms, count or text."""
    inner_of: tuple[str, ...] = ()
    """Signatures whose text contains this one: on the same line only the outer one counts."""
    limits: str | None = None
    """once, rate or merged (:data:`LIMITS`) where lines are fewer than what they tell of."""

    operation: str | None = None
    """Pattern whose group 1 names the operation in the line (a connection, a job): lines of one instant that name the same are one failure."""
    closes: str | None = None
    """Id of the event that this text says is over, where both name the same operation."""
    retells: str | None = None
    """Id of the event of which this text tells as well, as another observer saw it."""
    then: str | None = None
    """Pattern of the exception that must end the traceback in which the text stands; None: any."""

    def wait_s(self, parameters: dict[str, str | None]) -> float | None:
        """Return the length of the wait in seconds, if the line states it."""
        if self.wait is None or self.marks != "end" or (text := parameters.get(self.wait)) is None:
            return None
        try:
            value = float(text.replace(",", "").replace("_", ""))
        except ValueError:
            return None
        return value / 1000 if self.parameters.get(self.wait) == "ms" else value

    def typed(self, parameters: dict[str, str | None]) -> dict[str, float | int | str | None]:
        """Return parameters as numbers where their unit says so; milliseconds become seconds."""
        return {
            name: convert(text, self.parameters.get(name, "text"))
            for name, text in parameters.items()
            if text is not None
        }


def convert(text: str, unit: str) -> float | int | str:
    """Turn one captured parameter into a number of its unit, or leave it as text."""
    try:
        if unit == "count":
            return int(text.replace(",", "").replace("_", ""))
        if unit == "s":
            return float(text.replace(",", "").replace("_", ""))
        if unit == "ms":
            return float(text.replace(",", "").replace("_", "")) / 1000
    except ValueError:
        return text
    return text
