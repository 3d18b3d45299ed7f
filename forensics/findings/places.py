"""Where logs of services lie, by what was read of them, and the read-only commands that fetch what is missing.

A name goes into a command only where an input shows it; where none does, the command finds it first.
"""

from __future__ import annotations

import datetime as dt
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from forensics.findings.signals import GATEWAYS, NOBODY, replica_of
from forensics.model.facts import Coverage
from forensics.model.finding import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.findings.signals import Signals

MANAGERS = {
    "journal_file": "unit", "journald_export": "unit", "journald_json": "unit", "journald_json_pretty": "unit", "journald_json_seq": "unit", "journald_json_sse": "unit",
    "journald_live": "unit", "journald_verbose": "unit", "journald": "identifier", "syslog": "identifier", "docker": "docker", "compose": "compose", "cri": "kubernetes",
    "kubectl": "kubernetes", "stern": "kubernetes",
}  # fmt: skip
"""Who keeps a log, by the longest beginning of its transport's name. Text of a journal shows identifiers and no units."""
GATEWAY_IMAGES = "nginx|traefik|caddy|haproxy|envoy|kong|httpd|openresty"
"""What images of those who pass requests on are called."""
KUBERNETES = "kubectl get pods --all-namespaces --no-headers"
EVENTS = "kubectl get events --all-namespaces --sort-by=.lastTimestamp > events.txt"


@dataclass(frozen=True, slots=True)
class Window:
    """The span that is asked for, with room on both sides; all zero where no instant is known."""

    since: int
    until: int
    zone: str = "UTC"

    @property
    def journal(self) -> str:
        """Options of journalctl, which understands ``2026-09-09 12:42:26 UTC``."""
        return f"--since '{self.text('%Y-%m-%d %H:%M:%S UTC', self.since)}' --until '{self.text('%Y-%m-%d %H:%M:%S UTC', self.until)}' " if self.until else ""  # fmt: skip

    @property
    def docker(self) -> str:
        """Options of docker logs and docker events."""
        return f"--since '{self.iso(self.since)}' --until '{self.iso(self.until)}' " if self.until else ""

    @property
    def kubernetes(self) -> str:
        """Option of kubectl logs, which knows no end."""
        return f"--since-time='{self.iso(self.since)}' " if self.until else ""

    def iso(self, us: int) -> str:
        """Return an instant in UTC."""
        return self.text("%Y-%m-%dT%H:%M:%SZ", us)

    def sysstat(self) -> str:
        """Return the file of sysstat for the window's first day, wherever it lies: Debian's place and Red Hat's."""
        if not self.until:
            return ""
        day = dt.datetime.fromtimestamp(self.since // 1_000_000, ZoneInfo(self.zone))
        return f'"$(ls /var/log/sysstat/sa{day:%d} /var/log/sa/sa{day:%d} 2>/dev/null | head -n 1)" '

    @staticmethod
    def text(form: str, us: int) -> str:
        """Write an instant in UTC."""
        return f"{dt.datetime.fromtimestamp(us // 1_000_000, dt.UTC):{form}}"


@dataclass(frozen=True, slots=True)
class Place:
    """Who keeps the log of a service, and under which name."""

    kind: str
    """``unit`` or ``identifier`` of a journal, ``docker``, ``compose``, ``kubernetes`` or ``unknown``."""
    name: str | None

    @property
    def store(self) -> Store:
        """Where its log lies."""
        held = {"docker", "compose", "kubernetes"}
        return Store.CONTAINER_LOG if self.kind in held else Store.JOURNAL


@dataclass(frozen=True, slots=True)
class Fetch:
    """A command, and where what it fetches lies."""

    command: str
    store: Store


def place_of(signals: Signals, service: str) -> Place:
    """Return who keeps a service's log, by the transport of the inputs that show it; the cluster where only others show one."""
    cover = signals.facts[Coverage].of(service)
    elsewhere = "kubernetes" if orchestrated(signals) else "unknown"
    if service == NOBODY or cover is None:
        return Place(elsewhere, None)
    sources = {source.index: source for source in signals.evidence.sources}
    for index in cover.sources:
        transport = sources[index].transport or ""
        if kept := max((name for name in MANAGERS if transport.startswith(name)), key=len, default=None):
            return Place(MANAGERS[kept], service)
    return Place(elsewhere, service)


def orchestrated(signals: Signals) -> bool:
    """Do logs or events of Kubernetes stand among the inputs, and no journal, Docker's or Compose's?"""
    kinds = {
        kind
        for source in signals.evidence.sources
        for name, kind in MANAGERS.items()
        if (source.transport or "").startswith(name)
    }
    return "kubernetes" in kinds and not kinds & {"docker", "compose", "unit"}


def composed(signals: Signals) -> bool:
    """Is the deployment one of Compose, by a file of it among the inputs or by its logs?"""
    return any(
        source.transport == "compose"
        or (source.transport == "deployment_file" and "compose" in source.name.lower())
        for source in signals.evidence.sources
    )


def log_of(place: Place, window: Window) -> Fetch:
    """Return how a service's log is fetched for the window."""
    name = shlex.quote(place.name or "")
    file = shlex.quote((place.name or "service").replace("/", "_"))
    match place.kind:
        case "unit" | "identifier":
            option = "-u" if place.kind == "unit" else "-t"
            command = f"journalctl {option} {name} {window.journal}-o export > {file}.export"
        case "docker":
            command = f'docker ps -aq --filter name={name} | while read -r id; do docker logs --timestamps {window.docker}"$id" > "$id.log" 2>&1; done'
        case "compose":
            service = shlex.quote(replica_of(place.name or ""))
            command = (
                f"docker compose logs --no-color --timestamps {window.docker}-- {service} > {service}.log"
            )
        case "kubernetes" if place.name is None:
            return Fetch(f"{KUBERNETES} -o wide", place.store)
        case "kubernetes":
            command = (
                f"{KUBERNETES} | grep -F -- {name} | "
                f'while read -r ns pod _; do kubectl logs -n "$ns" "$pod" --all-containers --timestamps {window.kubernetes}> "$pod.log"; done'
            )
        case _:
            return Fetch(found_first(place), Store.JOURNAL)
    return Fetch(command, place.store)


def found_first(place: Place) -> str:
    """Return what lists those who may keep the log of a service of which no input shows it."""
    wanted = f" | grep -iF -- {shlex.quote(place.name)}" if place.name else ""
    return f"{{ systemctl list-units --type=service --all --no-legend --plain; docker ps -a --format '{{{{.Names}}}} {{{{.Image}}}}'; }}{wanted}"


def service_log(signals: Signals, window: Window) -> Fetch:
    """Fetch the log of the service that the report is about."""
    return log_of(place_of(signals, signals.unit), window)


def manager(signals: Signals, window: Window) -> Fetch:
    """Fetch what the manager of a service says about its ends and starts."""
    place = place_of(signals, signals.unit)
    name = shlex.quote(place.name or "")
    match place.kind:
        case "unit":
            return Fetch(
                f"journalctl -u {name} _PID=1 {window.journal}-o export > manager.export",
                Store.JOURNAL,
            )
        case "identifier":
            return Fetch(
                f"journalctl _PID=1 {window.journal}-o export > manager.export  # units of systemd, {name} among them",
                Store.JOURNAL,
            )
        case "kubernetes" if place.name is None:
            return Fetch(f"{EVENTS}; {KUBERNETES} -o wide", Store.EVENTS)
        case "docker":
            return Fetch(
                f"docker ps -aq --filter name={name} | xargs docker inspect --format '{{{{.Name}}}} {{{{.RestartCount}}}} {{{{json .State}}}}'; "
                f"timeout 9 docker events {window.docker}--filter type=container > events.txt",
                Store.EVENTS,
            )
        case "compose":
            service = shlex.quote(replica_of(place.name or ""))
            return Fetch(
                f"docker compose ps -aq -- {service} | xargs docker inspect --format '{{{{.Name}}}} {{{{.RestartCount}}}} {{{{json .State}}}}'; "
                f"timeout 9 docker events {window.docker}--filter type=container > events.txt",
                Store.EVENTS,
            )
        case "kubernetes":
            return Fetch(
                f"{EVENTS}; {KUBERNETES} | grep -F -- {name} | while read -r ns pod _; do "
                'kubectl describe pod -n "$ns" "$pod" > "$pod.describe.txt"; '
                'kubectl logs -n "$ns" "$pod" --all-containers --previous --timestamps > "$pod.previous.log"; done',
                Store.EVENTS,
            )
        case _:
            return Fetch(found_first(place), Store.JOURNAL)


def gateway_log(signals: Signals, window: Window) -> Fetch:
    """Fetch the log of the gateway, or find who passes requests on."""
    known = next((name for name in signals.services_in(*GATEWAYS) if name != signals.unit), None)
    if known:
        return log_of(place_of(signals, known), window)
    if composed(signals):
        return Fetch(
            f"{image_of(GATEWAY_IMAGES)} | xargs -r docker compose logs --no-color --timestamps {window.docker}> gateway.log",
            Store.CONTAINER_LOG,
        )
    if place_of(signals, signals.unit).kind == "kubernetes":
        return Fetch("kubectl get ingress,service --all-namespaces -o wide", Store.CONTAINER_LOG)
    return Fetch(
        f"docker ps -a --format '{{{{.Names}}}} {{{{.Image}}}}' | awk '/{GATEWAY_IMAGES}/ {{print $1}}' | xargs -r -n 1 docker logs --timestamps {window.docker}> gateway.log 2>&1; "
        "sudo ls -l /var/log/nginx /var/log/apache2 /var/log/haproxy.log",
        Store.CONTAINER_LOG,
    )


def redis_log(signals: Signals, window: Window) -> Fetch:
    """Fetch Redis' own log, or ask it where it writes."""
    return server_log(signals, "redis", "redis|valkey|dragonfly", "redis-cli CONFIG GET logfile", window)


def postgres_log(signals: Signals, window: Window) -> Fetch:
    """Fetch PostgreSQL's log, or ask it where it writes: to a file of its own, or to what its manager keeps."""
    asked = "psql -XAtc \"SELECT current_setting('log_destination'), current_setting('data_directory'), pg_current_logfile()\"; pg_lsclusters"
    return server_log(signals, "postgres", "postgres|postgis|timescale|pgvector", asked, window)


def server_log(signals: Signals, form: str, images: str, asked: str, window: Window) -> Fetch:
    """Fetch a server's log where an input shows who keeps it, or from the service of Compose that its image names; else ask the server."""
    known = next(iter(signals.services_in(form)), None)
    place = place_of(signals, known) if known else Place("unknown", None)
    if place.kind != "unknown":
        return log_of(place, window)
    if not composed(signals):
        return Fetch(asked, Store.SERVER_LOG)
    return Fetch(
        f"{image_of(images)} | xargs -r docker compose logs --no-color --timestamps {window.docker}> {form}.log",
        Store.CONTAINER_LOG,
    )


def image_of(images: str) -> str:
    """Return the command that lists the services of Compose whose images are called so."""
    return f"docker compose ps -a --format '{{{{.Service}}}} {{{{.Image}}}}' | awk '/{images}/ {{print $1}}'"


def monitor(signals: Signals, window: Window) -> Fetch:
    """Copy the results of Uptime Kuma, by far the most frequent, from the container that its image names; or find another monitor."""
    del signals, window
    return Fetch(
        "docker ps -a --format '{{.Names}} {{.Image}}' | grep -iE 'kuma|gatus|kener|healthchecks|blackbox'; "
        "kuma=$(docker ps -a --format '{{.Names}} {{.Image}}' | awk '/kuma/ {print $1; exit}'); "
        'test -n "$kuma" && docker cp "$kuma":/app/data/. kuma-data/',
        Store.MONITOR,
    )


def stop(signals: Signals, window: Window) -> Fetch:
    """Fetch who asked for a stop: commands of people and tools on the host, or the orchestrator's events."""
    if place_of(signals, signals.unit).store is Store.JOURNAL:
        return Fetch(
            f"journalctl -t sudo -t systemd-logind -t sshd -t polkitd {window.journal}-o export > sessions.export",
            Store.JOURNAL,
        )
    return manager(signals, window)


def ended(signals: Signals, window: Window) -> Fetch:
    """Fetch what a process printed before it ended: a cluster keeps the log of the container before apart."""
    fetch = manager if place_of(signals, signals.unit).kind == "kubernetes" else service_log
    return fetch(signals, window)


FETCH: dict[str, Callable[[Signals, Window], Fetch]] = {
    fetch.__name__: fetch
    for fetch in (service_log, manager, gateway_log, redis_log, postgres_log, monitor, stop, ended)
}
"""How what is missing is fetched, by the names that hypotheses.toml uses."""
