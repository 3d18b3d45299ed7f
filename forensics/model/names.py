"""Names of services, where a replica's number belongs to it and not to its service, and of gauges."""

from __future__ import annotations

import re

REPLICA = r"([^\d._-])[-_.]\d{1,3}$"
"""The number of a replica behind the name of its service, with the character before it."""

CONNECTIONS = re.compile(
    r"(?:postgres|pg|mysql|database|db)?[ _]?(?:connections|backends|numbackends|activity.*)$", re.IGNORECASE
)
"""Names of gauges whose limit is the server's ``max_connections``."""
OTHERS = re.compile(r"redis|valkey|nginx|http|haproxy|rabbit|mongo|amqp|tcp|client", re.IGNORECASE)
"""Gauges of these count connections of something else."""


def counts_connections(gauge: str) -> bool:
    """Does a gauge count the connections of a database server?"""
    return bool(CONNECTIONS.search(gauge) and not OTHERS.search(gauge))


def replica_of(service: str) -> str:
    """Return the name of a service without the number of its replica: ``worker-3`` and ``worker_3`` are ``worker``."""
    return re.sub(REPLICA, r"\1", service)
