"""Measure the journal reader against journalctl and systemd-python: ``python benchmarks/journal.py [ENTRIES…]``.

Files are written through systemd-journal-remote from entries with a fixed seed, about 20 fields each. Each row is a ratio
of wall times in one run; a peer that is not installed is left out. Memory is the most that our process holds beyond the mapped
files after any part of a journal, as the kernel accounts it (RssAnon).
"""

from __future__ import annotations

import json
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parent / "data"
REMOTE = ("/lib/systemd/systemd-journal-remote", "/usr/lib/systemd/systemd-journal-remote")
SIZES = (100_000, 500_000, 2_000_000)
START_US = 1_795_900_000_000_000
LONG = 60.0
"""Seconds from which a run is timed once."""
READ = """
import json, sys, time
from pathlib import Path
from forensics.formats.journald_fields import FIELDS
from forensics.sources import journal, mapping
wanted = [name for name in FIELDS if name not in journal.FIXED]
def held():
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(status["RssAnon"].split()[0]) / 1024
before, began, rows, most = held(), time.perf_counter(), 0, 0.0
for path in sorted(Path(sys.argv[1]).glob("*.journal")):
    for part in journal.Opened(mapping.contents(path), wanted).parts():
        rows, most = rows + part.frame.height, max(most, held())
print(json.dumps({"s": time.perf_counter() - began, "rows": rows, "anon_mb": most, "before_mb": before}))
"""
PEER = """
import json, sys, time
from pathlib import Path
from systemd import journal
began = time.perf_counter()
reader = journal.Reader(files=[str(path) for path in sorted(Path(sys.argv[1]).glob("*.journal"))])
print(json.dumps({"rows": sum(1 for _ in reader), "s": time.perf_counter() - began}))
"""


def entries(number: int) -> bytes:
    """Return one entry in export format."""
    rng = random.Random(number)
    client, route = rng.randint(1, 250), rng.randint(1, 400)
    stamp = START_US + number * 97_003
    fields = {
        "__REALTIME_TIMESTAMP": stamp, "__MONOTONIC_TIMESTAMP": stamp - START_US + 1, "_BOOT_ID": "8fdb04f830484472915dfb79b359a0c4",
        "_MACHINE_ID": "b5ef5914943c4405adb8aa86f33c2333", "_HOSTNAME": "srv-crm-01", "_UID": 0, "_GID": 0, "_COMM": "uvicorn", "_PID": 81 + number % 3,
        "_EXE": "/opt/crm/.venv/bin/python3.11", "_CAP_EFFECTIVE": "1fffeffffff", "_SYSTEMD_CGROUP": "/system.slice/crm-api.service",
        "_SYSTEMD_UNIT": "crm-api.service", "_SYSTEMD_SLICE": "system.slice", "_STREAM_ID": "491ea1a4746347359ba7cd71026671cb", "_TRANSPORT": "stdout",
        "SYSLOG_IDENTIFIER": "uvicorn", "SYSLOG_FACILITY": 3, "PRIORITY": 6,
        "MESSAGE": f'INFO:     203.0.113.{client}:0 - "GET /api/contacts/{route}/avatar HTTP/1.1" 200 OK',
    }  # fmt: skip
    return "".join(f"{name}={value}\n" for name, value in fields.items()).encode() + b"\n"


def make(size: int) -> Path:
    """Write the journal of a size once."""
    folder = DATA / f"journal-{size}"
    if folder.exists():
        return folder
    folder.mkdir(parents=True)
    remote = next(path for path in REMOTE if Path(path).exists())
    command = (remote, "--split-mode=none", f"--output={folder / 'bench.journal'}", "-")
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        for number in range(size):
            process.stdin.write(entries(number))
        process.stdin.close()
    return folder


def timed(action: Callable[[], float]) -> float:
    """Return the median of three runs; a long one is timed once."""
    first = action()
    return first if first > LONG else statistics.median([first, action(), action()])


def script(text: str, folder: Path) -> dict[str, float]:
    """Run a script in a fresh interpreter and return what it measured."""
    done = subprocess.run(
        (sys.executable, "-c", text, str(folder)), check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout))


def journalctl(folder: Path, mode: str) -> float:
    """Return how long journalctl takes to print everything."""
    began = time.perf_counter()
    subprocess.run(
        ("journalctl", "--no-pager", "--all", "-o", mode, "-D", str(folder)),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


def main() -> None:
    """Print one line per size."""
    for size in [int(text) for text in sys.argv[1:]] or SIZES:
        folder = make(size)
        ours = script(READ, folder)
        seconds = timed(lambda: script(READ, folder)["s"])  # noqa: B023 - called at once
        rows = [
            f"{int(ours['rows']):,} entries: {seconds:.2f} s, at most {ours['anon_mb']:.0f} MB beyond the mapped files ({ours['before_mb']:.0f} MB of it before reading)"
        ]
        if shutil.which("journalctl"):
            for mode in ("json", "export"):
                peer = timed(lambda: journalctl(folder, mode))  # noqa: B023 - called at once
                rows.append(f"journalctl -o {mode} {peer:.1f} s, ratio {seconds / peer:.3f}")
        try:
            peer = timed(lambda: script(PEER, folder)["s"])  # noqa: B023 - called at once
            rows.append(f"systemd-python {peer:.1f} s, ratio {seconds / peer:.3f}")
        except subprocess.CalledProcessError:
            rows.append("systemd-python is not installed")
        print("; ".join(rows))


if __name__ == "__main__":
    main()
