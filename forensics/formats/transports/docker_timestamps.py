r"""``docker logs --timestamps`` and ``kubectl logs --timestamps``: a stamp with nine digits before every line.

    2026-11-29T12:40:45.015135998Z Gateway started on port 21082

The time is when the engine received the line, UTC, or with the offset of the node (kubectl, podman). Every line of a message has its own. A
line of more than 16 KiB is printed in chunks, with a stamp before each of them in the middle of the line, which is taken out. ``docker logs > FILE``
holds standard output alone: ``2>&1`` adds standard error. Reference: moby/moby api/server/httputils/write_log_stream.go,
kubernetes/kubernetes pkg/kubelet/kuberuntime/logs/logs.go.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forensics.formats.inner import without_chunk_stamps
from forensics.formats.text import TextShape, parse_text, text_transport

if TYPE_CHECKING:
    from forensics.model.plug import Parsed

SHAPE = TextShape(
    pattern=r"^(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d))(?: |$)(?P<message>.*)$",
    time="iso",
    zone="offset",
    continuation=None,
    container=False,
)


def parse(data: bytes) -> Parsed:
    """Turn a shard into records."""
    parsed = parse_text(data, SHAPE)
    assert parsed.records is not None
    return replace(parsed, records=without_chunk_stamps(parsed.records))


PLUG = replace(
    text_transport(
        "docker_timestamps",
        "docker logs --timestamps, kubectl logs --timestamps",
        "receipt of the line by the container engine",
        SHAPE,
        (
            "2026-11-29T12:40:45.015135998Z [Gateway] 6298  - 11/29/2026, 12:40:45 PM     LOG [NestApplication] Gateway started on port 21082",
            "2026-11-29T12:33:44.253839890Z ",
            "2026-11-29T13:14:31.200000000+01:00 ready",
            '2026-11-29T12:33:54.153146930Z {"level":30,"time":1795955634146,"msg":"Gateway started on port 21022"}',
        ),
    ),
    parse=parse,
    reference="moby/moby api/server/httputils/write_log_stream.go",
)
