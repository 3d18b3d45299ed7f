"""How fast the catalogue is matched, against ripgrep looking for the same anchors in the same file.

Lines are generated: access lines, ordinary log lines, and one in a hundred a sample of a signature. ``MB/s`` counts the
bytes of the lines; reading the file into frames is not part of it, since the readers do that for other reasons too.

    python benchmarks/matching.py 1000      # MB, the default
"""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from forensics.signatures import Matcher, load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from forensics.model.signature import Signature

FOLDER = Path(__file__).parent / "data"
MEGABYTES = 1000
SHARD = 32 << 20
"""Bytes of a frame, as the engine cuts them."""
HITS = 0.01
FEW = 30
"""Signatures of the small catalogue that the whole one is held against."""
POOL = 200_000
"""Distinct lines: enough that no cache of the processor holds them all."""
ORDINARY = (
    'INFO:     192.0.2.{a}:{port} - "GET /api/orders/{n} HTTP/1.1" 200 OK',
    '192.0.2.{a} - - [29/Nov/2026:12:{m:02}:{s:02} +0000] "POST /api/messages/{n} HTTP/1.1" 201 {port} "-" "Mozilla/5.0 (X11; Linux x86_64)" 0.0{m}',
    "[Nest] 1  - 29/11/2026, 12:{m:02}:{s:02}     LOG [WebhookService] Event messages.upsert {n} delivered to http://192.0.2.{a}:{port}/hook",
    "2026-11-29 12:{m:02}:{s:02},{a:03} INFO app.orders order {n} of client {port} stored in {a} ms",
    "2026-11-29 12:{m:02}:{s:02}.{a:03} UTC [{port}] LOG:  connection authorized: user=app database=shop application_name=worker-{a}",
    '{{"level":30,"time":17{n:08}000,"pid":{a},"msg":"request completed","responseTime":{m},"req":{{"id":{n},"url":"/api/orders/{n}"}}}}',
    'level=info ts=2026-11-29T12:{m:02}:{s:02}.{a:03}Z caller=worker.go:{port} msg="job finished" job={n} took={m}ms',
    "DEBUG cache.lookup key=session:{n} hit=true ttl={port}",
)


def lines(signatures: Iterable[Signature], seed: int = 1) -> list[str]:
    """Return the distinct lines that a file is made of, the same ones for the same seed and signatures."""
    rng = random.Random(seed)
    samples = [hit for signature in signatures for hit in signature.hit if "\n" not in hit]
    made = []
    for _ in range(POOL):
        if rng.random() < HITS:
            made.append(rng.choice(samples))
        else:
            made.append(
                rng.choice(ORDINARY).format(
                    a=rng.randrange(1, 255),
                    port=rng.randrange(1024, 65535),
                    n=rng.randrange(10**7),
                    m=rng.randrange(60),
                    s=rng.randrange(60),
                )
            )
    return made


def write(target: Path, megabytes: int, signatures: Iterable[Signature]) -> None:
    """Write a file with hits of some signatures: the distinct lines in another order each time round."""
    rng = random.Random(2)
    made = lines(signatures)
    left = megabytes * 1_000_000
    with target.open("wb") as out:
        while left > 0:
            rng.shuffle(made)
            block = ("\n".join(made) + "\n").encode()
            cut = block if len(block) <= left else block[: block.rfind(b"\n", 0, left) + 1]
            out.write(cut)
            left -= max(len(cut), 1) if len(block) <= left else left


def frames(data: Path) -> Iterator[pl.Series]:
    """Yield the lines of the file, a shard at a time."""
    with data.open("rb") as source:
        rest = b""
        while chunk := source.read(SHARD):
            whole, _, rest = (rest + chunk).rpartition(b"\n")
            yield pl.Series("message", whole.decode().split("\n"))


def ours(matchers: Iterable[Matcher], data: Path) -> tuple[int, list[tuple[float, float, int]]]:
    """Return the bytes of the lines, and for each matcher seconds, seconds of processor time, and hits.

    They take turns on each frame, so that what else the machine does weighs on all alike.
    """
    size = 0
    told = [(matcher, [0.0, 0.0, 0]) for matcher in matchers]
    for frame in frames(data):
        size += int(frame.str.len_bytes().sum()) + len(frame)
        for matcher, sums in told:
            began, used = time.perf_counter(), time.process_time()
            hits = matcher.match(frame).height
            sums[0] += time.perf_counter() - began
            sums[1] += time.process_time() - used
            sums[2] += hits
    return size, [(sums[0], sums[1], int(sums[2])) for _, sums in told]


def peers(data: Path, anchors: Path) -> tuple[float, float]:
    """Return the seconds, and those of processor time, that ripgrep takes for the same anchors, the better of three runs."""
    runs = []
    for _ in range(3):
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            ("rg", "-c", "-F", "-f", str(anchors), str(data)), check=True, stdout=subprocess.DEVNULL
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        runs.append((time.perf_counter() - began, used))
    return min(seconds for seconds, _ in runs), min(used for _, used in runs)


def main(megabytes: int = MEGABYTES) -> None:
    """Generate the data once, then measure."""
    FOLDER.mkdir(exist_ok=True)
    whole = load()
    few = whole[:: len(whole) // FEW][:FEW]
    data, same = FOLDER / f"lines-{megabytes}.log", FOLDER / f"lines-{megabytes}-few.log"
    for target, signatures in ((data, whole), (same, few)):
        if not target.exists():
            write(target, megabytes, signatures)
    matchers = [Matcher(whole), Matcher(few)]
    ours(matchers, write_small())
    size, ((seconds, used, hits),) = ours(matchers[:1], data)
    print(
        f"{len(whole)} signatures on {size / 1e6:.0f} MB of lines: {seconds:.1f} s, {size / 1e6 / seconds:.0f} MB/s, {hits} hits; processor time {used:.1f} s"
    )
    _, ((more, used_more, hits), (less, used_less, few_hits)) = ours(matchers, same)
    print(
        f"{len(whole)} signatures against {FEW} on lines of which only those match: {more:.1f} and {less:.1f} s, {hits} and {few_hits} hits; "
        f"ratio {more / less:.2f}, of processor time {used_more / used_less:.2f} (wanted: at most 1.5)"
    )
    if shutil.which("rg"):
        anchors = FOLDER / "anchors.txt"
        anchors.write_text("\n".join(sorted({anchor for one in whole for anchor in one.anchors})) + "\n")
        peer, peer_used = peers(data, anchors)
        print(
            f"rg -c -F -f anchors on the same file: {peer:.1f} s; ratio {seconds / peer:.2f}, of processor time {used / peer_used:.2f} (wanted: at most 4)"
        )


def write_small() -> Path:
    """Write a file of 1 MB, on which everything is done once before it is measured."""
    small = FOLDER / "lines-1.log"
    write(small, 1, load())
    return small


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
