"""Write a journald JSON export of a given size: a web service with its usual lines, a burst of pool failures, noise.

    python benchmarks/generate.py 500 out.json      500 MB, the same bytes for the same size

About 20 fields an entry, keys in a different order on every line, as ``journalctl -o json`` prints them.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

START_US = 1_795_900_000_000_000
SEED = 20260909
STATIC = {
    "_HOSTNAME": "srv-crm-01",
    "_MACHINE_ID": "b5ef5914943c4405adb8aa86f33c2333",
    "_BOOT_ID": "8fdb04f830484472915dfb79b359a0c4",
    "_UID": "0",
    "_GID": "0",
    "_COMM": "uvicorn",
    "_EXE": "/opt/crm/.venv/bin/python3.11",
    "_CMDLINE": "/opt/crm/.venv/bin/python /opt/crm/.venv/bin/uvicorn app.main:app --host 127.0.0.1 --port 8000",
    "_CAP_EFFECTIVE": "1fffeffffff",
    "_SYSTEMD_CGROUP": "/system.slice/crm-api.service",
    "_SYSTEMD_UNIT": "crm-api.service",
    "_SYSTEMD_SLICE": "system.slice",
    "_SYSTEMD_INVOCATION_ID": "aa0dc5abbe504f6586edc7b5ddc58da4",
    "_STREAM_ID": "491ea1a4746347359ba7cd71026671cb",
    "_TRANSPORT": "stdout",
    "SYSLOG_IDENTIFIER": "uvicorn",
    "SYSLOG_FACILITY": "3",
    "PRIORITY": "6",
    "_PID": "81",
}
ROUTES = (
    "/api/presence",
    "/api/presence/ping",
    "/api/conversations/views",
    "/api/contacts/{}/avatar",
    "/api/conversations/{}/read",
)
POOL = "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"
TRACE = (
    "ERROR:    Exception in ASGI application",
    "Traceback (most recent call last):",
    '  File "/opt/crm/app/main.py", line 71, in auth_gate',
    "    user = session.get(User, user_id)",
    POOL,
)


def messages(rng: random.Random, at: int) -> list[str]:
    """Return the lines of one event."""
    kind = rng.random()
    client = f"203.0.113.{rng.randint(1, 250)}"
    if kind < 0.93:
        route = rng.choice(ROUTES).format(rng.randint(1, 400))
        return [f'INFO:     {client}:0 - "GET {route} HTTP/1.1" 200 OK']
    if kind < 0.98:
        return [
            f"app.services.inbound_durable: Inbox {rng.getrandbits(128):032x} retry scheduled (RuntimeError)"
        ]
    if kind < 0.999 or at % 7:
        return ['INFO:     198.51.100.21:0 - "GET /health HTTP/1.1" 200 OK']
    return list(TRACE)


def main() -> None:
    """Write the file."""
    wanted, target = int(sys.argv[1]) * 1_000_000, Path(sys.argv[2])
    rng = random.Random(SEED)
    written, sequence, at = 0, 0, START_US
    keys = [*STATIC, "MESSAGE", "__CURSOR", "__REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP"]
    orders = [rng.sample(keys, len(keys)) for _ in range(64)]
    with target.open("w", encoding="utf-8") as out:
        while written < wanted:
            at += rng.randint(20_000, 400_000)
            for message in messages(rng, at):
                sequence += 1
                own = {
                    "MESSAGE": message,
                    "__CURSOR": f"s=5b5a686518ff4153af539211ef1ff7d3;i={sequence:x};b=8fdb04f830484472915dfb79b359a0c4;m={at - START_US:x};t={at:x};x=1",
                    "__REALTIME_TIMESTAMP": str(at),
                    "__MONOTONIC_TIMESTAMP": str(at - START_US),
                }
                entry = {**STATIC, **own}
                written += out.write(
                    json.dumps({key: entry[key] for key in orders[sequence % 64]}, separators=(",", ":"))
                    + "\n"
                )


if __name__ == "__main__":
    main()
