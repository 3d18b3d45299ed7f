"""Measure the main job against a peer in the same run: ``make bench``.

Each row is a ratio, since seconds depend on the machine. Peak memory is the child's maximum resident set.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import analyses
import exports
import journal
import matching

LNAV_COUNT = ";SELECT count(*) FROM all_logs"
FOLDER = Path(__file__).parent / "data"
MEGABYTES = 500


def run(*command: str) -> tuple[float, float]:
    """Run a command; return (seconds, peak memory in MB of the largest child so far)."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    """Generate the data once, then measure."""
    FOLDER.mkdir(exist_ok=True)
    data = FOLDER / f"journal-{MEGABYTES}.json"
    if not data.exists():
        subprocess.run(
            (sys.executable, str(Path(__file__).with_name("generate.py")), str(MEGABYTES), str(data)),
            check=True,
        )
    out = FOLDER / "report.md"
    ours, memory = run(
        sys.executable, "-m", "forensics", "report", str(data), "--tz", "UTC", "-o", str(out), "--no-progress"
    )
    print(
        f"forensics report, journald JSON of {data.stat().st_size / 1e6:.0f} MB: {ours:.1f} s, peak memory {memory:.0f} MB"
    )
    if jq := shutil.which("jq"):
        peer, _ = run(jq, "-c", ".MESSAGE", str(data))
        print(f"jq -c .MESSAGE on the same file: {peer:.1f} s; ratio {ours / peer:.2f}")
    if lnav := shutil.which("lnav"):
        peer, peer_memory = run(lnav, "-n", "-N", "-q", "-c", LNAV_COUNT, "-c", ":write-csv-to -", str(data))
        print(f"lnav's count of the same file: {peer:.1f} s, {peer_memory:.0f} MB; ratio {ours / peer:.2f}")
    exports.main(run, FOLDER, LNAV_COUNT)
    journal.main()
    matching.main()
    analyses.main(FOLDER.parent.parent / "fixtures" / "incidents" / "s10-quiet-day" / "inputs")


if __name__ == "__main__":
    main()
