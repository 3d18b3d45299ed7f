"""Every sample under ``fixtures/formats`` is recognised and read whole, as its folder's ``expected.toml`` says.

Keys of a sample: ``format`` (of the transport or monitor), ``records``, ``joined`` (entries that are parts of others), ``lines`` (none for formats whose records are named by
ordinal), ``first`` and ``last`` instant (a local time where the stamps carry no zone, in the year 2000 where they carry no
year), ``unparsed``, ``undated``, ``messages`` (message formats that must be found), ``services``, ``beats``, ``samples``,
``alerts`` (rows), ``skipped`` (words of the reason why it is declined), ``limits`` (words of what the report says of it) and
``naive`` (where lines with and without a zone stand in one file: both).
"""

from __future__ import annotations

import datetime as dt
import gzip
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from forensics import engine
from forensics.ingest import plan
from forensics.signatures import Matcher, load
from forensics.sources import streams
from forensics.sources.discovery import discover

FOLDER = Path(__file__).parents[2] / "fixtures" / "formats"
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
KEYS = frozenset(
    [
        "format",
        "records",
        "joined",
        "lines",
        "first",
        "last",
        "unparsed",
        "undated",
        "messages",
        "services",
        "beats",
        "samples",
        "alerts",
        "skipped",
        "limits",
        "naive",
    ]
)
MATCHER = Matcher(load())


def expectations() -> dict[str, dict[str, Any]]:
    """Return what every table says, by ``folder/file``."""
    found: dict[str, dict[str, Any]] = {}
    for table in sorted(FOLDER.glob("*/expected.toml")):
        said = tomllib.loads(table.read_text(encoding="utf-8"))
        found |= {f"{table.parent.name}/{name}": row for name, row in said.items()}
    return found


EXPECTED = expectations()


def micros(moment: dt.datetime) -> int:
    """Return an instant in microseconds; a local time is taken as if it were UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return (aware - EPOCH) // dt.timedelta(microseconds=1)


def unpacked(name: str, tmp_path: Path) -> Path:
    """Write a sample under its own name; what the repository compressed is unpacked, beside its companion files."""
    folder, _, file = name.partition("/")
    target = tmp_path / "in" / Path(file).name
    target.parent.mkdir()
    packed = FOLDER / folder / f"{file}.gz"
    target.write_bytes(
        gzip.decompress(packed.read_bytes()) if packed.exists() else (FOLDER / folder / file).read_bytes()
    )
    return target


def spans(frames: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """Return first and last instants with whether they are naive, from every frame that has any."""
    empty = pl.DataFrame(schema={"lo": pl.Int64, "hi": pl.Int64, "naive": pl.Boolean})
    parts = [empty]
    if "seconds" in frames:
        parts.append(frames["seconds"].select(lo="first_us", hi="last_us", naive="naive"))
    parts.extend(
        frames[name].select(lo="ts", hi="ts", naive="naive")
        for name in ("beats", "samples", "alerts")
        if name in frames
    )
    return pl.concat(parts).drop_nulls()


@pytest.mark.parametrize("name", EXPECTED)
def test_every_sample_is_read_whole(name: str, tmp_path: Path) -> None:
    """Recognised, every line accounted for, every record there, first and last instant as the table says."""
    said = EXPECTED[name]
    assert not set(said) - KEYS
    path = unpacked(name, tmp_path)
    plans = plan.make(discover([str(path)]))
    reading = engine.read_all(plans, MATCHER, streams.SHARD_BYTES)
    source = reading.facts[0].source
    if "skipped" in said:
        assert said["skipped"] in str(source.skipped)
        return
    assert source.skipped is None
    frames = dict(reading.digest.frames)
    shards = frames["shards"]
    counts = {key: shards[key].sum() for key in ("lines", "records", "unparsed", "undated")}

    assert plans[0].format_name == said["format"], plans[0].choice
    assert counts["records"] == said["records"]
    assert counts["unparsed"] == said.get("unparsed", 0)
    assert counts["undated"] == said.get("undated", said["records"] if "first" not in said else 0)
    if "lines" in said:
        assert counts["lines"] == said["lines"]
        assert shards["in_records"].sum() + shards["blank"].sum() + counts["unparsed"] == said["lines"]
    for kind in ("beats", "samples", "alerts"):
        if kind in said:
            assert frames.get(kind, pl.DataFrame()).height == said[kind]
    if "messages" in said:
        assert set(said["messages"]) <= set(frames["formats"]["format"])
    if "services" in said:
        assert set(said["services"]) == set(frames["seconds"]["service"].drop_nulls())
    for words in said.get("limits", ()):
        assert any(words in limit for limit in source.limits), source.limits
    table = spans(frames)
    if "first" not in said:
        assert not table.height
        return
    assert (table["lo"].min(), table["hi"].max()) == (micros(said["first"]), micros(said["last"]))
    assert sorted(table["naive"].unique()) == said.get("naive", [said["first"].tzinfo is None])
