"""CRI container log: containerd, CRI-O, podman's k8s-file (conmon).

    2026-11-29T12:26:55.949633893Z stdout F Gateway started on port 21042

The time is when the runtime received the line, with ``Z`` or an offset. Tag P marks a part of a long line (8 KiB for
conmon, 16 KiB for containerd), which is joined per stream up to its F; more tags may follow after a colon. A last line
without a newline stays P for ever, which the report says. The path names pod and container:
``/var/log/pods/NAMESPACE_POD_UID/CONTAINER/N.log`` or ``/var/log/containers/POD_NAMESPACE_CONTAINER-ID.log``.
Reference: kubernetes/kubernetes pkg/kubelet/kuberuntime/logs/logs.go.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path  # noqa: TC003 - part of the plug's signature
from typing import TYPE_CHECKING

from forensics.formats.text import TextShape, open_partial, text_transport

if TYPE_CHECKING:
    from forensics.model.plug import Parsed

PODS = re.compile(r"^[a-z0-9-]+_[a-z0-9.-]+_[0-9a-f-]{32,36}$")
LINKED = re.compile(r"^[a-z0-9.-]+_[a-z0-9-]+_(?P<container>[a-z0-9-]+?)(?:-[0-9a-f]{64})?\.log")
"""The kubelet's links, whose names end in the container's id; copies are often made without it."""

TAIL = 1 << 18
"""Bytes at the end that are looked at for a line that was never closed."""
OPEN = "the last line of a stream was never closed (its tag stays P): it is kept as far as it goes"


def container(path: Path) -> str | None:
    """Return the container that the place of a file names."""
    if named := LINKED.match(path.name):
        return named["container"]
    folder = path.absolute().parent
    if re.match(r"^\d+\.log", path.name) and PODS.match(folder.parent.name):
        return folder.name
    return None


def parse(data: bytes) -> Parsed:
    """Turn a shard into records. None ends inside a line that goes on in the next, so that an open line is a cut one."""
    parsed = TEXT.parse(data)
    if open_partial(data[-TAIL:].rstrip(b"\n").split(b"\n")):
        return replace(parsed, notes=(*parsed.notes, OPEN))
    return parsed


TEXT = text_transport(
    "cri",
    "CRI container log (containerd, CRI-O, podman k8s-file)",
    "receipt of the line by the container runtime",
    TextShape(
        pattern=r"^(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (?P<stream>stdout|stderr) (?P<partial>[FP])(?::\S+)? (?P<message>.*)$",
        time="iso",
        zone="offset",
        continuation=None,
        container=True,
    ),
    (
        "2026-11-29T12:26:55.949633893Z stdout F [Gateway] 26892  - 11/29/2026, 12:26:55 PM     LOG [NestApplication] Gateway started on port 21042",
        "2026-11-29T12:26:56.000000001+01:00 stderr P part of a long line ",
    ),
)
PLUG = replace(
    TEXT,
    parse=parse,
    service=container,
    reference="kubernetes/kubernetes pkg/kubelet/kuberuntime/logs/logs.go",
)
