"""What people know and logs cannot say: the case file and the options, as the thinking wing sees them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forensics.model.budget import Deployment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forensics.model.budget import Library
    from forensics.model.signature import Signature


@dataclass(frozen=True, slots=True)
class ProbeHint:
    """How the service is watched from outside (``[[probe]]``)."""

    name: str | None = None
    path: str | None = None
    client: str | None = None
    period_s: float | None = None
    timeout_s: float | None = None
    alert_after: int | None = None


@dataclass(frozen=True, slots=True)
class PoolHint:
    """A connection pool (``[[pool]]``), used where no error text states it."""

    service: str | None = None
    size: int | None = None
    overflow: int | None = None
    timeout_s: float | None = None
    processes: int | None = None
    replicas: int | None = None
    worker_pool: int | None = None
    cpus: int | None = None
    library: str | None = None
    fan_out: int | None = None
    """Connections that one request of the service takes at once."""


@dataclass(frozen=True, slots=True)
class KnownEvent:
    """Something that people know happened (``[[event]]``); ``at`` in microseconds UTC."""

    at: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Known:
    """Everything that is not in the logs."""

    zone: str = "UTC"
    title: str | None = None
    probes: tuple[ProbeHint, ...] = ()
    pools: tuple[PoolHint, ...] = ()
    events: tuple[KnownEvent, ...] = ()
    max_connections: int | None = None
    idle_in_transaction_s: float | None = None
    """Age from which a session that idles in a transaction is named; None: the analysis' own."""
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    deployment: Deployment = field(default_factory=Deployment)
    """What the case file and files of a deployment among the inputs say of pools."""
    libraries: Mapping[str, Library] = field(default_factory=dict)
    """Libraries with a connection pool."""
    since: int | None = None
    until: int | None = None
    keep: tuple[str, ...] = ()
    """What masking leaves as it is: values, patterns with ``*``, networks."""
    names: tuple[str, ...] = ()
    """Names that are masked."""
