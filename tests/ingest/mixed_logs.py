"""Generated logs, and how to read them in any cut and any order."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from hypothesis import strategies as st

from forensics import formats
from forensics.engine import local
from forensics.ingest import fold, plan, wall
from forensics.model.digest import Digest, Evidence, total
from forensics.model.plug import Transport
from forensics.model.source import Source, Zone
from forensics.signatures import Matcher, load
from forensics.sources import streams
from forensics.sources.discovery import Input

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MATCHER = Matcher(load())
START_US = 1_795_953_600_000_000
"""2026-11-29T12:00:00Z."""
INTERNAL = ("edges", "edge_marks")
"""Frames that only tell the fold how shards join; they are as many as there are shards."""
QUEUEPOOL = "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00 (Background on this error at: https://sqlalche.me/e/20/3o7r)"
TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "/app/db.py", line 12, in checkout',
    f'    raise TimeoutError("{QUEUEPOOL}")',
    f"sqlalchemy.exc.TimeoutError: {QUEUEPOOL}",
)
CHAINED = (
    *TRACEBACK,
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    *TRACEBACK,
)
EVENTS: tuple[tuple[str, ...], ...] = (
    ('INFO:     203.0.113.15:0 - "GET /api/conversations/views HTTP/1.1" 200 OK',),
    ('INFO:     203.0.113.9:0 - "GET /health HTTP/1.1" 200 OK',),
    ('INFO:     127.0.1.1:33721 - "GET /api/presence HTTP/1.1" 500 Internal Server Error',),
    ("ERROR:    Exception in ASGI application", *TRACEBACK),
    ("ERROR:    Exception in ASGI application", *CHAINED),
    TRACEBACK,
    (f"app.api: falha ao listar presenca: {QUEUEPOOL}",),
    ("app.services.inbound_durable: Inbox 3f0c aguardando nova tentativa (RuntimeError)",),
    ("call of upstream took long (5123 ms)",),
    ("olá, çedilha 🚀 and a | pipe",),
    ("redis.exceptions.TimeoutError: Timeout reading from socket",),
    ("x" * 300,),
)
"""Things that a program prints, as the lines of one message."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message at one time, on one of two streams."""

    wait_ms: int
    lines: tuple[str, ...]
    stderr: bool
    pieces: int
    """Into how many chunks a container engine cuts each line."""


def said(most: int = 25) -> st.SearchStrategy[list[Said]]:
    """Generate what a program says."""
    one = st.builds(
        Said,
        st.sampled_from([0, 1, 40, 999, 1000, 30_000, 61_000]),
        st.sampled_from(EVENTS),
        st.booleans(),
        st.sampled_from([1, 1, 1, 2, 3]),
    )
    return st.lists(one, min_size=1, max_size=most)


def stamps(items: Sequence[Said]) -> list[int]:
    """Return the instant of each message in microseconds."""
    out, at = [], START_US
    for item in items:
        at += item.wait_ms * 1000
        out.append(at)
    return out


def iso(us: int, spec: str = "milliseconds") -> str:
    """Return an instant as ISO 8601 in UTC."""
    return dt.datetime.fromtimestamp(us / 1e6, dt.UTC).isoformat(timespec=spec).replace("+00:00", "Z")


def chunked(text: str, pieces: int) -> list[str]:
    """Cut a text into pieces."""
    step = max(1, -(-len(text) // pieces))
    return [text[at : at + step] for at in range(0, len(text), step)] or [""]


def journald_json(items: Sequence[Said]) -> str:
    """Render one entry a line of output; stderr messages are one entry with newlines."""
    out = []
    for item, us in zip(items, stamps(items), strict=True):
        for text in ["\n".join(item.lines)] if item.stderr else item.lines:
            entry = {
                "__REALTIME_TIMESTAMP": str(us),
                "__CURSOR": f"s=1;i={len(out):x}",
                "_SYSTEMD_UNIT": "crm-api.service",
                "_PID": "81",
                "_TRANSPORT": "stdout",
                "MESSAGE": text,
            }
            out.append(json.dumps(entry) + "\n")
    return "".join(out)


def short_iso(items: Sequence[Said]) -> str:
    """Render records with indented continuation lines; stderr comes from a second process."""
    out = []
    for item, us in zip(items, stamps(items), strict=True):
        who = f"uvicorn[{82 if item.stderr else 81}]"
        prefix = f"{iso(us, 'seconds').replace('Z', '+0000')} srv {who}: "
        out.append(prefix + item.lines[0] + "\n")
        out.extend(
            (" " * len(prefix) + line + "\n") if item.stderr else (prefix + line + "\n")
            for line in item.lines[1:]
        )
    return "".join(out)


def docker_json(items: Sequence[Said]) -> str:
    """Render a container log with chunks of long lines on two streams that interleave."""
    return "".join(
        json.dumps(
            {"log": text + "\n" * whole, "stream": stream, "time": iso(us, "microseconds")},
            ensure_ascii=False,
        )
        + "\n"
        for us, stream, text, whole in container(items)
    )


def cri(items: Sequence[Said]) -> str:
    """Render a CRI log with partial lines on two streams that interleave."""
    return "".join(
        f"{iso(us, 'microseconds')} {stream} {'F' if whole else 'P'} {text}\n"
        for us, stream, text, whole in container(items)
    )


def container(items: Sequence[Said]) -> list[tuple[int, str, str, bool]]:
    """Cut lines into chunks; the two streams take turns while both have chunks."""
    queues: dict[str, list[tuple[int, str, str, bool]]] = {"stdout": [], "stderr": []}
    for item, us in zip(items, stamps(items), strict=True):
        stream = "stderr" if item.stderr else "stdout"
        for line in item.lines:
            parts = chunked(line, item.pieces)
            queues[stream].extend(
                (us, stream, part, index == len(parts) - 1) for index, part in enumerate(parts)
            )
    return sorted([*queues["stdout"], *queues["stderr"]], key=lambda row: row[0])


def postgres(items: Sequence[Said]) -> str:
    """Render a server log whose statements go on over lines that begin with a tab."""
    out = []
    for item, us in zip(items, stamps(items), strict=True):
        time = iso(us).replace("T", " ").replace("Z", "")
        if item.stderr:
            out.append(f"{time} UTC [104] crm@crm FATAL:  sorry, too many clients already\n")
        else:
            out.append(
                f"{time} UTC [105] LOG:  statement: SELECT 1\n"
                + "".join(f"\tUNION SELECT {n}\n" for n in range(len(item.lines) - 1))
            )
    return "".join(out)


def python_log(items: Sequence[Said]) -> str:
    """Render a bare Python log whose tracebacks carry no stamp."""
    return "".join(
        f"{iso(us).replace('T', ' ').replace('.', ',').replace('Z', '')} ERROR app.db: {chr(10).join(item.lines)}\n"
        for item, us in zip(items, stamps(items), strict=True)
    )


RENDER: dict[str, tuple[str, Callable[[Sequence[Said]], str]]] = {
    "journald_json": ("journald_json", journald_json),
    "journald_short_iso": ("journald_short_iso", short_iso),
    "docker_json": ("docker_json", docker_json),
    "cri": ("cri", cri),
}
"""Slug to (name of the plug, renderer): transports of their own."""
PLAIN: dict[str, tuple[str, Callable[[Sequence[Said]], str]]] = {
    "postgres": ("plain:postgres", postgres),
    "python_logging": ("plain:python_logging", python_log),
}
"""The same for bare files that a message format dates."""
ALL = {**RENDER, **PLAIN}


def planned(name: str, index: int = 0) -> plan.Plan:
    """Return the plan of a file that was recognised as ``name``."""
    plug, first = plan.resolve(name)
    return plan.Plan(Input(Path("api.log"), "api.log"), index, plug, plug.name, "", first_format=first)


def shards(item: plan.Plan, data: bytes, size: int) -> list[Digest]:
    """Return the digests of a file cut at a size."""
    assert isinstance(item.plug, Transport)
    pieces = streams.shards(iter([data]), size, item.plug.safe_cut)
    return [
        local.text_shard(item, item.plug, number, piece, MATCHER).digest
        for number, piece in enumerate(pieces)
    ]


def settled(item: plan.Plan, digests: Sequence[Digest]) -> Evidence:
    """Fold digests in the order given."""
    assert isinstance(item.plug, Transport)
    source = Source(0, "api.log", None, 0, item.format_name)
    fact = wall.Facts(
        source, yearless=not item.plug.year, zoneless=item.plug.zone == "none", modified_us=START_US
    )
    return fold.settle(total(digests), (fact,), lambda _: Zone("UTC", "given"), {0: True})


def comparable(evidence: Evidence) -> dict[str, list[tuple[object, ...]]]:
    """Return every frame of the settled Digest without its cut: rows sorted, shards summed up."""
    out: dict[str, list[tuple[object, ...]]] = {}
    for name, frame in evidence.digest.frames.items():
        if name in INTERNAL:
            continue
        table = frame.drop("shard", strict=False)
        if name == "shards":
            table = table.group_by("source").agg(pl.all().sum())
        elif name == "sketch":
            table = table.group_by("source", "service", "ident", "naive", "minute", "lane").agg(
                pl.all().sum()
            )
        elif name == "saturated":
            continue
        out[name] = sorted(table.rows(), key=repr)
    return out


def differing(one: Evidence, other: Evidence) -> dict[str, tuple[list[object], list[object]]]:
    """Return the rows that only one of two settled Digests has, by frame; empty when they are equal."""
    left, right = comparable(one), comparable(other)
    found = {}
    for name in left:
        if left[name] != right[name]:
            mine, theirs = set(left[name]), set(right[name])
            found[name] = (sorted(mine - theirs, key=repr)[:3], sorted(theirs - mine, key=repr)[:3])
    return found


BARE = ("json_log", "logfmt", "nginx_access", "postgres", "redis")
"""Bare files are all read by the same code: formats of every kind of stamp and shape stand for the others."""


def text_formats() -> list[str]:
    """Return every way in which lines of text can arrive."""
    transports = [
        name for name, plug in formats.all_transports().items() if plug.samples and not plug.declined
    ]
    return transports + [f"plain:{name}" for name in BARE]
