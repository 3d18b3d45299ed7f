"""``docker ps``: states ages (``7 seconds ago``) at an unknown instant, so that nothing in it can be placed.

    CONTAINER ID   IMAGE     COMMAND      CREATED         STATUS                     PORTS     NAMES

Reference: docker/cli cli/command/formatter/container.go.
"""

from __future__ import annotations

import re

from forensics.model.plug import Parsed, Transport

HEADER = re.compile(rb"^(?:\xef\xbb\xbf)?CONTAINER ID +IMAGE +COMMAND +CREATED +")


def sniff(head: bytes) -> float:
    """1 for the table's header."""
    return 1.0 if HEADER.match(head) else 0.0


PLUG = Transport(
    name="docker_ps",
    title="docker ps",
    marks="nothing: ages only",
    sniff=sniff,
    parse=lambda data: Parsed(unparsed=data.count(b"\n")),
    samples=("CONTAINER ID   IMAGE     COMMAND     CREATED         STATUS                     PORTS     NAMES",),
    declined="it states ages, not instants; export what happened when: docker inspect $(docker ps -aq)",
    reference="docker/cli cli/command/formatter/container.go",
)
