"""Texts that look alike and mean different things: each is what it is, and not the other."""

from __future__ import annotations

from graphlib import TopologicalSorter

import polars as pl
import pytest

from forensics.signatures import Matcher, load

CATALOGUE = load()
MATCHER = Matcher(CATALOGUE)
NGINX = '2026/11/29 12:00:00 [error] 7#7: *1 {} upstream, client: 192.0.2.9, server: , request: "GET / HTTP/1.1", upstream: "http://127.0.0.1:8000/", host: "shop.example"'
PAIRS: dict[str, dict[str, str]] = {
    "slots of sessions full, of replication": {
        "FATAL:  sorry, too many clients already": "postgres.too-many-clients",
        "FATAL:  number of requested standby connections exceeds max_wal_senders (currently 10)": "postgres.wal-senders-limit",
    },
    "a database full, a Redis pool full": {
        "ERROR 1040 (HY000): Too many connections": "mysql.too-many-connections",
        "redis.exceptions.MaxConnectionsError: Too many connections": "redis-py.pool-full",
    },
    "the Redis server full, a client's pool full": {
        "(error) ERR max number of clients reached": "redis-server.maxclients",
        "redis.exceptions.ConnectionError: max number of clients reached": "redis-server.maxclients",
        "redis.exceptions.ConnectionError: Too many connections": "redis-py.pool-full",
    },
    "a blocking Redis pool, a pool of mysql2": {
        "redis.exceptions.ConnectionError: No connection available.": "redis-py.blocking-pool-timeout",
        "Error: No connections available.": "mysql2.pool-full",
    },
    "queued for a pooled client, a TCP connect": {
        "Error: timeout exceeded when trying to connect": "node-postgres.pool-timeout",
        "Error: connect ETIMEDOUT 192.0.2.5:5432": "node.connect-timed-out",
    },
    "a new connection too slow, a full pool": {
        "Error: Connection terminated due to connection timeout": "node-postgres.new-connection-timeout",
        "error: timeout exceeded when trying to connect": "node-postgres.pool-timeout",
    },
    "a pool of the database, a pool of HTTP": {
        "psycopg_pool.PoolTimeout: couldn't get a connection after 30.00 sec": "psycopg-pool.acquire-timeout",
        "httpx.PoolTimeout": "httpx.pool-timeout",
        "httpcore.PoolTimeout": "httpx.pool-timeout",
    },
    "a surplus socket closed, requests that failed": {
        "Connection pool is full, discarding connection: api.example. Connection pool size: 10": "urllib3.pool-full",
        "HTTPSConnectionPool(host='api.example', port=443): Max retries exceeded with url: /v1 (Caused by ReadTimeoutError(x))": "urllib3.max-retries",
    },
    "a command of ioredis, a command of Lettuce": {
        "Error: Command timed out": "ioredis.command-timeout",
        "io.lettuce.core.RedisCommandTimeoutException: Command timed out after 1 minute(s)": "lettuce.command-timeout",
    },
    "a socket of ioredis, a socket of node-redis": {
        "Error: Socket timeout. Expecting data, but didn't receive any in 10000ms.": "ioredis.socket-timeout",
        "SocketTimeoutError: Socket timeout timeout. Expecting data, but didn't receive any in 5000ms.": "node-redis.socket-timeout",
    },
    "a library's timer, the operating system": {
        "Error: connect ETIMEDOUT": "node.connect-timer",
        "Error: connect ETIMEDOUT 192.0.2.5:6379": "node.connect-timed-out",
    },
    "memory that Redis may use, memory of the host": {
        "ReplyError: OOM command not allowed when used memory > 'maxmemory'.": "redis-server.maxmemory",
        "kernel: Out of memory: Killed process 4121 (node) total-vm:1203456kB, anon-rss:903456kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:2345kB oom_score_adj:0": "kernel.oom-killed",
    },
    "a worker killed by its master, memory of the host": {
        "[2026-11-29 12:00:00 +0000] [7] [ERROR] Worker (pid:9) was sent SIGKILL! Perhaps out of memory?": "gunicorn.worker-sigkill",
        "[2026-11-29 12:00:00 +0000] [7] [CRITICAL] WORKER TIMEOUT (pid:9)": "gunicorn.worker-timeout",
    },
    "an exit by signal, a kill for memory": {
        "systemd[1]: crm-api.service: Main process exited, code=killed, status=9/KILL": "systemd.main-exited",
        "systemd[1]: crm-api.service: A process of this unit has been killed by the OOM killer.": "systemd.oom-kill",
    },
    "slots that are reserved, a right that is missing": {
        "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute": "postgres.reserved-slots-role",
        'FATAL:  permission denied for database "shop"': "",
    },
    "a cancel, the server's own limit": {
        "ERROR:  canceling statement due to user request": "postgres.user-cancel",
        "ERROR:  canceling statement due to statement timeout": "postgres.statement-timeout",
    },
    "a client's own timeout, a caller's deadline": {
        'Get "http://192.0.2.9/health": context deadline exceeded (Client.Timeout exceeded while awaiting headers)': "go.http-client-timeout",
        "rpc error: context deadline exceeded": "go.context-deadline",
    },
    "an upstream that refuses, an upstream that is silent": {
        NGINX.format(
            "connect() failed (111: Connection refused) while connecting to"
        ): "nginx.connect-failed",
        NGINX.format(
            "upstream timed out (110: Connection timed out) while reading response header from"
        ): "nginx.upstream-timed-out",
    },
    "a connect of node-redis, a connect of aiohttp": {
        "ConnectionTimeoutError: Connection timeout": "node-redis.connect-timeout",
        "aiohttp.client_exceptions.ConnectionTimeoutError: Connection timeout to host http://api.example/": "aiohttp.connect-timeout",
    },
}
OOM = {one.id for one in CATALOGUE if one.family == "oom"}


def found(line: str) -> list[str]:
    """Return the signatures that count on a line."""
    return MATCHER.match(pl.Series([line]))["signature"].to_list()


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_each_is_itself_and_not_the_other(pair: dict[str, str]) -> None:
    """One line, one signature: the one of its own library and side."""
    assert {line: found(line) for line in pair} == {
        line: [name] if name else [] for line, name in pair.items()
    }


@pytest.mark.parametrize("status", [502, 504])
def test_statuses_of_a_proxy_keep_their_number(status: int) -> None:
    """Refused or closed early (502) and accepted but silent (504) are told apart by the parameter."""
    line = f'192.0.2.9 - - [29/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" {status} 157 "-" "curl/8"'

    assert MATCHER.match(pl.Series([line])).rows() == [(0, "http.server-error", f'{{"status":"{status}"}}')]


@pytest.mark.parametrize(
    "line",
    [
        "systemd[1]: crm-api.service: Main process exited, code=killed, status=9/KILL",
        "systemd[1]: crm-api.service: State 'stop-sigterm' timed out. Killing.",
        "[2026-11-29 12:00:00 +0000] [7] [ERROR] Worker (pid:9) was sent SIGKILL! Perhaps out of memory?",
        "2026-11-29T12:00:00.123456789Z container die 4f1ad3c29b7e (execDuration=812, exitCode=137, image=shop/api:1.4, name=api)",
        "OOM command not allowed when used memory > 'maxmemory'.",
    ],
)
def test_a_kill_alone_is_no_lack_of_memory(line: str) -> None:
    """Stop timeouts, a master's own kill and an exit code of 137 have other reasons too."""
    names = found(line)

    assert names
    assert not OOM & set(names)


def test_no_hit_is_another_ones_miss() -> None:
    """A line that must not match a signature and yet is its hit would be a contradiction in the catalogue."""
    assert [(one.id, line) for one in CATALOGUE for line in one.miss if line in one.hit] == []


def test_nesting_runs_in_no_circle() -> None:
    """Two texts that each count only outside the other would both vanish from a line that has them."""
    outer = {one.id: one.inner_of for one in CATALOGUE}
    order = TopologicalSorter(outer)

    assert set(order.static_order()) == set(outer)
