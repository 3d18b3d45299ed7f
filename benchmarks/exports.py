"""Reading of the most common exports against the tools that people use on them, and recognition of a folder of small files."""

from __future__ import annotations

import gzip
import random
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Run = Callable[..., tuple[float, float]]

LINES = 1_000_000
FILES = 500
SMALL = 100_000
"""Bytes of the largest sample that is put into the folder."""
BEGIN = 1_795_953_600
PATHS = ("/", "/api/orders", "/api/orders/81", "/api/presence", "/health", "/static/app.js", "/login")
RECOGNISE = """
import sys, time
from forensics.ingest import plan
from forensics.sources.discovery import discover
items = discover(sys.argv[1:])
began = time.perf_counter()
plans = plan.make(items)
print(len(plans), sum(one.plug is not None for one in plans), time.perf_counter() - began)
"""


def stamp(second: int, form: str) -> str:
    """Write an instant."""
    return time.strftime(form, time.gmtime(second))


def access(number: int, rng: random.Random) -> str:
    """Return a line of the combined format."""
    status = 502 if rng.random() < 0.002 else 200
    at = stamp(BEGIN + number // 20, "%d/%b/%Y:%H:%M:%S +0000")
    return f'10.0.{rng.randrange(9)}.{rng.randrange(250)} - - [{at}] "GET {rng.choice(PATHS)} HTTP/1.1" {status} {rng.randrange(90, 9000)} "-" "Mozilla/5.0 (X11; Linux x86_64)"'


def said(rng: random.Random) -> str:
    """Return what a service prints."""
    if rng.random() < 0.001:
        return "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"
    return f'INFO:     10.0.0.{rng.randrange(250)}:{rng.randrange(1024, 65000)} - "GET {rng.choice(PATHS)} HTTP/1.1" 200 OK'


def docker_json(number: int, rng: random.Random) -> str:
    """Return a line of Docker's json-file driver."""
    text = said(rng).replace('"', '\\"')
    at = stamp(BEGIN + number // 20, "%Y-%m-%dT%H:%M:%S")
    return f'{{"log":"{text}\\n","stream":"stdout","time":"{at}.{rng.randrange(10**9):09d}Z"}}'


def docker_times(number: int, rng: random.Random) -> str:
    """Return a line of docker logs -t."""
    at = stamp(BEGIN + number // 20, "%Y-%m-%dT%H:%M:%S")
    return f"{at}.{rng.randrange(10**9):09d}Z {said(rng)}"


def lines(make: Callable[[int, random.Random], str]) -> Iterator[str]:
    """Yield the lines of a file, the same ones every time."""
    rng = random.Random(1)
    for number in range(LINES):
        yield f"{make(number, rng)}\n"


def written(path: Path, make: Callable[[int, random.Random], str]) -> Path:
    """Write a file once."""
    if not path.exists():
        with path.open("w", encoding="utf-8") as file:
            file.writelines(lines(make))
    return path


def fill(folder: Path, formats: Path) -> None:
    """Copy the samples of all formats over and over, each under a name of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    samples = sorted(
        (table.parent.name, name, content)
        for table in formats.glob("*/expected.toml")
        for name in tomllib.loads(table.read_text(encoding="utf-8"))
        if len(content := sample(table.parent / name)) in range(1, SMALL)
    )
    for number in range(FILES):
        _, name, content = samples[number % len(samples)]
        (folder / f"{number:03d}-{Path(name).name}").write_bytes(content)


def sample(path: Path) -> bytes:
    """Return a sample, which the repository holds as it is or compressed; nothing for the member of an archive."""
    if path.is_file():
        return path.read_bytes()
    packed = path.with_name(f"{path.name}.gz")
    return gzip.decompress(packed.read_bytes()) if packed.is_file() else b""


def main(run: Run, data: Path, count: str) -> None:
    """Print a row for each; ``count`` is what lnav is asked."""
    for name, make in (
        ("docker-json.log", docker_json),
        ("docker-times.log", docker_times),
        ("access.log", access),
    ):
        path = written(data / name, make)
        ours, memory = run(sys.executable, "-m", "forensics", "sources", str(path), "--tz", "UTC")
        print(
            f"forensics sources, {name}, {LINES:,} lines, {path.stat().st_size / 1e6:.0f} MB: {ours:.1f} s, {memory:.0f} MB"
        )
        if lnav := shutil.which("lnav"):
            peer, _ = run(lnav, "-n", "-N", "-q", "-c", count, "-c", ":write-csv-to -", str(path))
            print(f"  lnav's count: {peer:.1f} s; ratio {ours / peer:.2f}")
        if make is access and (goaccess := shutil.which("goaccess")):
            out = str(data / "goaccess.json")
            peer, _ = run(goaccess, str(path), "--log-format=COMBINED", "-o", out, "--no-progress")
            print(f"  GoAccess: {peer:.1f} s; ratio {ours / peer:.2f}")
    folder = data / "samples"
    fill(folder, data.parent.parent / "fixtures" / "formats")
    done = subprocess.run(
        (sys.executable, "-c", RECOGNISE, str(folder)), check=True, capture_output=True, text=True
    )
    files, known, seconds = done.stdout.split()
    print(f"recognition of {files} small files ({known} read): {float(seconds):.1f} s")
