r"""Docker's ``local`` logging driver: length-prefixed protobuf messages, which only the engine reads.

    \x00\x00\x00\x1a\n\x06stdout\x10…\x1a\x06line 1\x00\x00\x00\x1a

Reference: moby/moby daemon/logger/local/doc.go, api/types/plugins/logdriver/entry.proto.
"""

from __future__ import annotations

import re

from forensics.model.plug import Parsed, Transport

ENTRY = re.compile(rb"^\0[\0-\x0f][\0-\xff]{2}\n\x06std(?:out|err)\x10")


def sniff(head: bytes) -> float:
    """1 for a first entry of either stream."""
    return 1.0 if ENTRY.match(head) else 0.0


PLUG = Transport(
    name="docker_local",
    title="Docker local logging driver (binary)",
    marks="receipt of the line by the Docker engine",
    sniff=sniff,
    parse=lambda data: Parsed(unparsed=data.count(b"\n")),
    samples=(),
    binary=True,
    declined="the files of Docker's local driver are read by the engine alone; export them: docker logs -t CONTAINER > FILE 2>&1",
    reference="moby/moby daemon/logger/local",
)
