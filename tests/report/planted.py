"""Secrets and personal items, made up from a seed, and logs of an incident that carry them in every place a log has.

All values are random or lie in ranges kept for documentation; none was ever valid anywhere.
"""

from __future__ import annotations

import base64
import json
import random
import sqlite3
import string
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

SEED = 20261129
EACH = 10
"""Items of each class."""
START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
ALNUM = string.ascii_letters + string.digits
PEOPLE = ("Joaquim Abrantes", "Mirela Kowalczyk", "Tomé Vasconcelos", "Ingrid Sørensen", "Dário Figueira", "Wanda Prochazka", "Yara Quintanilha", "Zeferino Lobato", "Petra Holmström", "Célia Bragança")  # fmt: skip


@dataclass(frozen=True)
class Item:
    """One thing that must leave no trace."""

    kind: str
    secrets: tuple[str, ...]
    """What must not be told, each in itself."""
    written: str
    """How a program writes it."""
    split: str | None = None
    """How it looks where it is broken over continuation lines, if it can be."""


@dataclass(frozen=True)
class Carried:
    """An item in a place: a text of a log, and what of it must not be told."""

    item: Item
    place: str
    text: str
    traces: tuple[str, ...]


class Maker:
    """Draws items from one generator."""

    def __init__(self, seed: int) -> None:
        """Begin at a seed."""
        self.random = random.Random(seed)  # noqa: S311 - the same items each time

    def letters(self, n: int, alphabet: str = ALNUM) -> str:
        """Return random characters; a capital, a small letter and a digit are among them where the alphabet has them."""
        made = [self.random.choice(alphabet) for _ in range(n)]
        for at, group in enumerate((string.ascii_uppercase, string.ascii_lowercase, string.digits)):
            if held := [char for char in group if char in alphabet]:
                made[at * n // 3] = self.random.choice(held)
        return "".join(made)

    def hex(self, n: int) -> str:
        """Return random hexadecimal digits."""
        return self.letters(n, "0123456789abcdef")

    def digits(self, n: int) -> str:
        """Return random digits."""
        return "".join(self.random.choice(string.digits) for _ in range(n))

    def word(self) -> str:
        """Return a name that is no word."""
        return self.letters(6, "bcdfgklmnprstvz") + self.letters(4, "aeiou")

    def password(self) -> str:
        """Return a password as people choose them."""
        return self.word().capitalize() + self.digits(3) + self.random.choice("!#%+*")

    def keyed(self, kind: str, name: str, secret: str, sep: str = "=", quotes: str = "") -> Item:
        """Return an item that stands behind its name."""
        written = f"{name}{sep}{quotes}{secret}{quotes}"
        return Item(kind, (secret,), written, f"{name}{sep.rstrip()}\n    {quotes}{secret}{quotes}")

    def folded(self, kind: str, name: str, secret: str, behind: str = "") -> Item:
        """Return a header, which may go on in the next line."""
        half = len(secret) // 2
        split = f"{name} {secret[:half]}\n\t{secret[half:]}"
        return Item(kind, (secret, secret[:half], secret[half:]), f"{name} {secret}{behind}", split)

    def basic(self) -> Item:
        """Return basic authentication."""
        secret = self.password()
        coded = base64.b64encode(f"{self.word()}:{secret}".encode()).decode()
        return Item("basic", (coded, secret), f"Authorization: Basic {coded}")

    def jwt(self) -> Item:
        """Return a JSON web token."""
        parts = [
            base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
            for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": self.digits(9), "name": self.word()})
        ]
        signature = self.letters(43)
        token = ".".join([*parts, signature])
        return Item("jwt", (token, parts[1], signature), f"id_token was {token} and has expired")

    def pem(self) -> Item:
        """Return a private key."""
        lines = [self.letters(64, ALNUM + "+/") for _ in range(3)] + [self.letters(30, ALNUM + "+/") + "=="]
        text = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
        return Item("private key", tuple(lines), text, text)

    def card(self) -> Item:
        """Return a card's number with its check digit."""
        body = "4" + self.digits(14)
        total = sum(int(d) if at % 2 else sum(divmod(2 * int(d), 10)) for at, d in enumerate(body))
        number = body + str(-total % 10)
        shown = " ".join(number[at : at + 4] for at in range(0, 16, 4))
        return Item("card", (shown, number), f"card {shown} declined")

    def phone(self, *, national: bool) -> Item:
        """Return a mobile number of São Paulo."""
        tail = f"9{self.digits(4)}-{self.digits(4)}"
        written = f"(11) {tail}" if national else f"+55 11 {tail}"
        return Item(
            f"phone {'national' if national else 'with plus'}",
            (tail, tail.replace("-", "")),
            f"SMS to {written} queued",
        )

    def home(self, *, windows: bool) -> Item:
        """Return a path below a home directory."""
        user = self.word()
        path = rf"C:\Users\{user}\crm\main.py" if windows else f"/home/{user}/crm/main.py"
        return Item("home of Windows" if windows else "home", (user,), f"cannot read {path}")


def items(seed: int = SEED) -> list[Item]:
    """Return ``EACH`` items of each class, always the same."""
    m = Maker(seed)
    login = {
        "postgresql": "db.internal:5432/crm", "redis": "cache.internal:6379/0", "mongodb+srv": "cluster.internal/crm",
        "amqp": "queue.internal:5672/%2F", "https": "hooks.example.com/in",
    }  # fmt: skip

    def url(scheme: str) -> Item:
        secret = m.password()
        coded = quote(secret, safe="")
        return Item(
            f"password in {scheme} URL", (secret, coded), f"{scheme}://svc_{m.word()}:{coded}@{login[scheme]}"
        )

    def email() -> Item:
        address = f"{m.word()}.{m.word()}@mail.example.org"
        return Item("email", (address, address.partition("@")[0]), f"no mailbox for {address}")

    def plain(kind: str, secret: str, text: str) -> Item:
        return Item(kind, (secret,), text.format(secret))

    makers: list[Callable[[], Item]] = [
        *(lambda scheme=scheme: url(scheme) for scheme in login),
        lambda: m.keyed("libpq", "host=db user=app password", m.password()),
        lambda: m.keyed("ADO.NET", "Server=db;User Id=sa;Password", m.password()),
        lambda: m.keyed("password", "password", m.password(), ": ", "'"),
        lambda: m.keyed("API key", "x-api-key", m.hex(32), ": "),
        lambda: m.keyed("cloud secret", "aws_secret_access_key", m.letters(40, ALNUM + "+/")),
        lambda: m.keyed("client secret", "client_secret", m.letters(32)),
        lambda: m.folded("bearer", "Authorization: Bearer", m.letters(40)),
        lambda: m.folded("cookie", "Cookie:", f"sid={m.letters(32)}", "; theme=dark"),
        lambda: m.keyed("set-cookie", "Set-Cookie", f"session={m.letters(32)}", ": "),
        m.basic, m.jwt, m.pem, m.card,
        lambda: plain("AWS key id", "AKIA" + m.letters(16, string.ascii_uppercase + "234567"), "access key {} is not allowed"),
        lambda: plain("GitHub", "ghp_" + m.letters(36), "cloning with {} failed"),
        lambda: plain("Slack", f"xoxb-{m.digits(12)}-{m.digits(12)}-{m.letters(24)}", "slack says no to {}"),
        lambda: plain("Stripe", "sk_live_" + m.letters(24), "charge with {} refused"),
        lambda: plain("Google", "AIza" + m.letters(35), "quota of {} exceeded"),
        lambda: plain("SendGrid", f"SG.{m.letters(22)}.{m.letters(43)}", "mail with {} bounced"),
        email,
        lambda: m.phone(national=False),
        lambda: m.phone(national=True),
        lambda: plain("IPv4", f"203.0.113.{m.random.randrange(100, 255)}", "peer {} went away"),
        lambda: plain("private IPv4", f"10.{m.random.randrange(100, 255)}.{m.random.randrange(100, 255)}.{m.random.randrange(100, 255)}", "peer {}:5432 went away"),
        lambda: plain("IPv6", f"2001:db8::{m.hex(4)}:{m.hex(4)}".replace(":0", ":a"), "peer [{}]:443 went away"),
        lambda: plain("MAC", ":".join(["02", *(m.hex(2) for _ in range(5))]), "lease for {} expired"),
        lambda: m.home(windows=False),
        lambda: m.home(windows=True),
        lambda: plain("user key", str(uuid.UUID(int=m.random.getrandbits(128), version=4)), "GET /api/users/{}/photos was slow"),
        lambda: plain("taxpayer", f"{m.digits(3)}.{m.digits(3)}.{m.digits(3)}-{m.digits(2)}", "no record of {}"),
        lambda: plain("messenger", f"55119{m.digits(8)}@s.whatsapp.net", "remoteJid={} offline"),
    ]  # fmt: skip
    people = [Item("name", (name,), f"assigned to {name} again") for name in PEOPLE]
    return [make() for make in makers for _ in range(EACH)] + people


def b64(text: str) -> str:
    """Return base64."""
    return base64.b64encode(text.encode()).decode()


def places(item: Item) -> list[Carried]:
    """Return an item in every place that a message has for it."""
    one_line = item.written.replace("\n", "\\n")
    coded = quote(one_line, safe="")
    blob = b64(f"X-Context: {item.written}")
    found = [
        Carried(item, "message", f"gave up: {item.written}", item.secrets),
        Carried(item, "url", f"GET /cb?state=1&ctx={coded}&n=2 HTTP/1.1", (*item.secrets, *(quote(s, safe="") for s in item.secrets))),
        Carried(item, "json", json.dumps({"event": "gave up", "detail": item.written}), item.secrets),
        Carried(item, "json in json", json.dumps({"body": json.dumps({"note": {"text": item.written}})}), item.secrets),
        Carried(item, "escaped json", json.dumps({"detail": item.written}).replace("@", "\\u0040").replace("/", "\\/"), item.secrets),
        Carried(item, "traceback", f'Traceback (most recent call last):\n  File "/app/crm/main.py", line 7, in run\n    call({one_line!r})\nValueError: {item.written}', item.secrets),
        Carried(item, "base64", f"header {blob} refused", (blob, blob[:24], *item.secrets)),
    ]  # fmt: skip
    wrapped = "\n".join(blob[at : at + 20] for at in range(0, len(blob), 20))
    found.append(
        Carried(
            item, "base64 in lines", f"header:\n{wrapped}\nrefused", (blob[:20], blob[20:40], *item.secrets)
        )
    )
    if item.split:
        found.append(Carried(item, "continuation", f"sent\n{item.split}\nto upstream", item.secrets))
    return found


def flat(text: str) -> str:
    """Return a text on one line, as formats without continuation lines write it."""
    return text.replace("\n", "\\n")


def at(second: float) -> datetime:
    """Return an instant of the story."""
    return START + timedelta(seconds=second)


POOL = "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00"


def journal(path: Path, carried: Iterable[Carried]) -> None:
    """Write `journalctl -o json`: pool timeouts that carry items, amid quiet requests."""
    rows = [
        (t, "crm-api.service", 'INFO:     192.0.2.9:0 - "GET /health HTTP/1.1" 200 OK')
        for t in range(0, 1800, 20)
    ]
    for n, one in enumerate(carried):
        text = f"{POOL}\n{one.text}" if n % 3 else f"ERROR:    crm.sync: {one.text}"
        rows.append((600 + n * 3, f"crm-{n % 7}.service", text))
        rows.append((100 + n, "crm-api.service", f"INFO:     crm.sync: {one.text}"))
    with path.open("w") as out:
        for n, (t, unit, text) in enumerate(sorted(rows)):
            us = int(at(t).timestamp() * 1_000_000)
            record = {
                "__CURSOR": f"s=9d21f0c6;i={n:x};b=4c0e7a1d;m={us:x};t={us:x};x={n:x}", "__REALTIME_TIMESTAMP": str(us), "__MONOTONIC_TIMESTAMP": str(us // 7),
                "_SYSTEMD_UNIT": unit, "SYSLOG_IDENTIFIER": unit.removesuffix(".service"), "_PID": "812", "PRIORITY": "6", "_HOSTNAME": "crm-1", "MESSAGE": text,
            }  # fmt: skip
            out.write(json.dumps(record) + "\n")


def docker(path: Path, carried: Iterable[Carried]) -> None:
    """Write a container's json-file: each line of a record is an object."""
    with path.open("w") as out:
        for n, one in enumerate(carried):
            t = at(600 + 3 * n)
            text = f"Error: timeout exceeded when trying to connect\n    at Pool.connect (/app/node_modules/pg-pool/index.js:45:11)\n    cause: {one.text}"
            for line in [f"{t:%Y-%m-%dT%H:%M:%S.000Z} ERROR {text.splitlines()[0]}", *text.splitlines()[1:]]:
                out.write(
                    json.dumps(
                        {"log": line + "\n", "stream": "stderr", "time": f"{t:%Y-%m-%dT%H:%M:%S.%f}000Z"},
                        separators=(",", ":"),
                    )
                    + "\n"
                )


def access(path: Path, carried: Iterable[Carried]) -> None:
    """Write an access log with slow and failed requests."""
    rows = [
        (
            t,
            f'192.0.2.9 - - [{at(t):%d/%b/%Y:%H:%M:%S +0000}] "GET /health HTTP/1.1" 200 12 "-" "probe/2" 0.004',
        )
        for t in range(0, 1800, 30)
    ]
    for n, one in enumerate(carried):
        t = 600 + 3 * n
        target = f"/api/cb?ctx={quote(flat(one.text), safe='')}"
        agent = flat(one.text).replace('"', "'")
        status = (500, 504, 200)[n % 3]
        rows.append(
            (
                t,
                f'192.0.2.7 - - [{at(t):%d/%b/%Y:%H:%M:%S +0000}] "GET {target} HTTP/1.1" {status} 12 "-" "{agent}" 30.001',
            )
        )
    path.write_text("".join(f"{line}\n" for _, line in sorted(rows)))


def app(path: Path, carried: Iterable[Carried]) -> None:
    """Write a program's JSON lines, with the items in messages, fields and stacks."""
    with path.open("w") as out:
        for n, one in enumerate(carried):
            record = {
                "level": ("error", "info")[n % 2],
                "time": f"{at(600 + 3 * n):%Y-%m-%dT%H:%M:%S.000Z}",
                "service": "billing",
                "msg": f"request failed: {one.text}",
                "ctx": {"detail": one.text},
            }
            if n % 4 == 0:
                record |= {
                    "msg": "Timeout acquiring a connection. The pool is probably full. Are you missing a .transacting(trx) call?",
                    "err": {"stack": f"KnexTimeoutError: {one.text}"},
                }
            out.write(json.dumps(record, ensure_ascii=bool(n % 3)) + "\n")


def postgres(path: Path, carried: Iterable[Carried]) -> None:
    """Write a server's log: slow statements, details and errors."""
    with path.open("w") as out:
        for n, one in enumerate(carried):
            head = f"{at(600 + 3 * n):%Y-%m-%d %H:%M:%S.000 UTC} [{4000 + n}]"
            text = one.text.replace("\n", "\n\t")
            out.write((
                f"{head} LOG:  duration: 31204.112 ms  statement: UPDATE contacts SET note = $x${text}$x$ WHERE id = 7\n",  # noqa: S608 - a line of a log
                f'{head} ERROR:  duplicate key value violates unique constraint "contacts_key"\n{head} DETAIL:  Key (note)=({text}) already exists.\n',
                f"{head} FATAL:  sorry, too many clients already\n{head} LOG:  note {text}\n",
            )[n % 3])  # fmt: skip


def monitor(path: Path, carried: Iterable[Carried]) -> None:
    """Write a monitor's own JSON lines, whose errors carry items."""
    texts = [one.text for one in carried]
    with path.open("w") as out:
        for n in range(60):
            down = 20 <= n < 20 + min(len(texts), 30)
            error = f"Timeout: {texts[n - 20]}" if down else None
            row = {
                "ts": f"{at(20 * n):%Y-%m-%dT%H:%M:%S.000Z}",
                "target": "https://crm.example.net/health",
                "status": "down" if down else "up",
                "latency_ms": 8000 if down else 21,
                "http_status": None if down else 200,
                "error": error,
            }
            out.write(json.dumps(row) + "\n")


def kuma(path: Path, carried: Iterable[Carried]) -> None:
    """Write a database of Uptime Kuma."""
    texts = [one.text for one in carried]
    base = sqlite3.connect(path)
    base.executescript(
        "create table monitor (id integer primary key, name, url, type, interval, timeout, maxretries, active); create table heartbeat (id integer primary key, important, monitor_id, status, msg, time, ping, duration, down_count);"
    )
    base.execute(
        "insert into monitor values (1, ?, 'https://crm.example.net/health', 'http', 20, 8, 0, 1)",
        [f"crm {flat(texts[0])[:300]}"],
    )
    for n in range(60):
        down = 20 <= n < 20 + min(len(texts), 30)
        base.execute(
            "insert into heartbeat values (?, ?, 1, ?, ?, ?, ?, 20, 0)",
            [
                n + 1,
                int(down),
                int(not down),
                flat(texts[n - 20]) if down else "200 - OK",
                f"{at(20 * n):%Y-%m-%d %H:%M:%S.000}",
                None if down else 21,
            ],
        )
    base.commit()
    base.close()


WRITERS: dict[str, Callable[[Path, Iterable[Carried]], None]] = {
    "api.journal.json": journal, "gateway-json.log": docker, "access.log": access, "billing.ndjson": app, "postgres.log": postgres,
    "monitor-state.jsonl": monitor, "kuma.db": kuma,
}  # fmt: skip
CASE = f'title = "CRM stopped answering {PEOPLE[0]}"\n[redact]\nnames = {json.dumps(PEOPLE, ensure_ascii=False)}\n'


def write(folder: Path, held: list[Item], turn: int = 0) -> list[Carried]:
    """Write one incident whose inputs carry the items, each in every file and, over the files and turns, in every place; return what is where."""
    folder.mkdir(parents=True)
    every = []
    for shift, (name, writer) in enumerate(WRITERS.items()):
        carried = []
        for n, item in enumerate(held):
            options = places(item)
            carried.append(options[(n + shift + turn) % len(options)])
        writer(folder / name, carried)
        every += carried
    return every
