"""Names of services: a replica's number belongs to it, not to its service."""

from __future__ import annotations

import re

REPLICA = r"([^\d._-])[-_.]\d{1,3}$"
"""The number of a replica behind the name of its service, with the character before it."""


def replica_of(service: str) -> str:
    """Return the name of a service without the number of its replica: ``worker-3`` and ``worker_3`` are ``worker``."""
    return re.sub(REPLICA, r"\1", service)
