"""``kubectl describe`` and plain ``kubectl get events``: ages and totals instead of instants.

      Type     Reason     Age                   From             Message
      ----     ------     ----                  ----             -------
      Warning  Unhealthy  34m (x13 over 23h)    kubelet, node-a  Readiness probe failed: EOF

An age counts back from the moment at which somebody asked, which the text does not say, and ``(x13 over 23h)`` is a total since the
event was first seen: neither can be placed. What the events say is kept undated, and the totals are named.
Reference: kubernetes/kubectl pkg/describe/describe.go DescribeEvents; kubernetes/kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

import re

import polars as pl

from forensics.formats.inner import finished
from forensics.formats.text import lines_of
from forensics.model.frames import least
from forensics.model.plug import Parsed, Transport
from forensics.model.schema import RECORDS, conform

AGE = r"(?:\d+[ywdhms])+"
SEEN = rf"{AGE}(?: \(x(?P<n>\d+) over (?P<over>{AGE})\))?"
DESCRIBED = rf"^\s*(?:Normal|Warning)\s+(?P<reason>\w+)\s+{SEEN}\s+(?P<from>\S.*?)\s{{2,}}(?P<message>.*)$"
LISTED = rf"^\s*{SEEN}\s+(?:Normal|Warning)\s+(?P<reason>\w+)\s+(?P<from>\S+)\s+(?P<message>.*)$"
COLUMNS = r"^(?:\s*Type\s+Reason\s+Age\s+From\s+Message|LAST SEEN\s+TYPE\s+REASON\s+OBJECT\s+MESSAGE)\s*$"
HEAD = rf"{COLUMNS}|^Events:\s*$|^\s*-+(?:\s+-+)+\s*$"
INSTANTS = "its events state ages, counted from an unknown moment: for instants, kubectl get events -o custom-columns=TIME:.lastTimestamp,REASON:.reason,OBJECT:.involvedObject.name,MESSAGE:.message"
TOTALS = 4
"""Totals that are named."""


def sniff(head: bytes) -> float:
    """1 where a header of ages stands above a row of one."""
    lines = head.decode("utf-8", "replace").splitlines()
    headed = any(re.match(COLUMNS, line) for line in lines)
    rows = sum(bool(re.match(DESCRIBED, line) or re.match(LISTED, line)) for line in lines)
    others = sum(bool(line.strip()) and not re.match(HEAD, line) for line in lines)
    return 1.0 if headed and rows and rows >= others / 2 else 0.0


def parse(data: bytes) -> Parsed:
    """Turn rows into undated records, and name the totals."""
    lines = lines_of(data).str.strip_suffix("\r")
    table = pl.DataFrame({"raw": lines}).with_row_index("line", offset=1)
    filled = table.filter(pl.col("raw").str.strip_chars() != "")
    heads = filled.filter(pl.col("raw").str.contains(HEAD))
    read = filled.join(heads, on="line", how="anti").with_columns(
        one=pl.col("raw").str.extract_groups(DESCRIBED), other=pl.col("raw").str.extract_groups(LISTED)
    )

    def part(name: str) -> pl.Expr:
        return pl.coalesce(pl.col("one").struct.field(name), pl.col("other").struct.field(name))

    good = read.with_columns(reason=part("reason"), said=part("message"), n=part("n"), over=part("over"))
    left = good.filter(pl.col("reason").is_null())
    good = good.filter(pl.col("reason").is_not_null())
    records = good.select(
        "line",
        ts=pl.lit(None, pl.Int64),
        naive=pl.lit(value=False),
        message=pl.concat_str("reason", pl.lit(": "), "said"),
    )
    return Parsed(
        records=finished(conform(records, RECORDS)),
        in_records=good.height + heads.height,
        blank=table.height - filled.height,
        unparsed=left.height,
        first_unparsed=least(left["line"]),
        notes=(INSTANTS, *totals(good.filter(pl.col("n").is_not_null()))),
    )


def totals(rows: pl.DataFrame) -> tuple[str, ...]:
    """Say which totals the events state, none of which can be placed."""
    if not rows.height:
        return ()
    shown = [f"x{n} over {over}" for n, over in rows.select("n", "over").head(TOTALS).iter_rows()]
    more = ", …" if rows.height > TOTALS else ""
    return (
        f"its counts ({', '.join(shown)}{more}) are totals over those spans and can be placed at no instant",
    )


PLUG = Transport(
    name="kubectl_ages",
    title="kubectl describe, or kubectl get events with ages",
    marks="nothing: ages count back from an unknown moment",
    sniff=sniff,
    parse=parse,
    samples=(
        "Events:\n  Type     Reason     Age                 From             Message\n  ----     ------     ----                ----             -------\n  Warning  Unhealthy  3m (x13 over 23h)   kubelet, node-a  Readiness probe failed: EOF",
        "LAST SEEN   TYPE      REASON      OBJECT            MESSAGE\n3m2s        Warning   Unhealthy   pod/gauge-x2k4v   Liveness probe failed: timeout",
    ),
    reference="kubernetes/kubectl pkg/describe/describe.go DescribeEvents",
)
