"""``kubectl logs --prefix``, usually with ``--timestamps``: lines of several pods.

    [pod/api-7c9f-abcde/api] 2026-11-29T12:14:31.123456789Z INFO ok

The time is when the container runtime received the line. Only what the kubelet still serves is there: the newest file
of the running container, or of the one before with ``--previous``. Reference: kubernetes/kubectl pkg/cmd/logs/logs.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.formats.prefixed import STAMP, Prefix, prefixed_transport

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl


def notes(records: pl.DataFrame, asides: pl.Series) -> Iterator[str]:
    """Say how to get stamps where there are none."""
    del asides
    if undated := records["ts"].null_count():
        yield f"{undated} lines carry no time: export them with kubectl logs --prefix --timestamps"


PLUG = prefixed_transport(
    "kubectl_prefix",
    "kubectl logs --prefix",
    "receipt of the line by the container runtime",
    Prefix(
        pattern=rf"^\[pod/(?P<pid>[a-z0-9][a-z0-9.-]*)/(?P<service>[a-z0-9][a-z0-9.-]*)\] ?(?:(?P<time>{STAMP})(?: |$))?(?P<message>.*)$",
        notes=notes,
    ),
    (
        "[pod/api-7c9f-abcde/api] 2026-11-29T12:14:31.123456789Z INFO ok",
        "[pod/api-7c9f-fghij/api] 2026-11-29T12:14:30.100000000+01:00 ERROR boom",
    ),
    reference="kubernetes/kubectl pkg/cmd/logs/logs.go",
)
