"""What files say of a deployment: Compose files, ``.env`` and ``.properties``, ``pgbouncer.ini``, ``postgresql.conf``, connection URLs.

Where Compose files are given, ``.env`` files hold the values of their variables, as for Compose itself; alone, each is a
service of its own. The variables of this machine are never looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.model.budget import Client, Deployment
from forensics.model.errors import UsageError
from forensics.sources import compose, server_files, services, settings, variables
from forensics.sources.variables import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COMPOSE = re.compile(r"(?:^|[.\-_])compose[^/]*\.ya?ml$", re.IGNORECASE)
STANDARD = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
"""What Compose looks for, in its order; ``….override.yaml`` beside it is laid over."""
ENV = re.compile(r"(?:^|/)(?:\.env(?:\..+)?|.+\.env|env|.+\.properties)$", re.IGNORECASE)
NAMED = re.compile(rf"{COMPOSE.pattern}|{ENV.pattern}|^pgbouncer.*\.ini$|^postgresql.*\.conf$", re.IGNORECASE)
"""Names that leave no doubt that a file tells of a deployment."""
SAMPLE = re.compile(r"\.(?:example|sample|template|dist)$", re.IGNORECASE)
YAML = re.compile(r"\.ya?ml$", re.IGNORECASE)
STAGES = frozenset(("", "env", "local", "production", "prod", "staging", "development", "dev", "test", "example", "sample", "template", "application"))  # fmt: skip
"""Names of ``.env`` files that name no service."""
APP = "app"
"""The service of a file that names none."""


@dataclass(slots=True)
class Inputs:
    """What was given, by what it is."""

    compose: list[tuple[Path, str]] = field(default_factory=list)
    env: list[tuple[Path, str]] = field(default_factory=list)
    pooler: list[tuple[Path, str]] = field(default_factory=list)
    server: list[tuple[Path, str]] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def put(self, path: Path, name: str) -> bool:
        """Take a file that says something of a deployment; False for any other."""
        lower = path.name.lower()
        if COMPOSE.search(lower) or YAML.search(lower):
            self.compose.append((path, name))
        elif ENV.search(lower):
            self.env.append((path, name))
        elif lower.endswith(".ini"):
            self.pooler.append((path, name))
        elif re.match(r"postgresql.*\.conf$", lower):
            self.server.append((path, name))
        else:
            return False
        return True

    @property
    def deploys(self) -> bool:
        """Is there any file of a deployment?"""
        return bool(self.compose or self.env or self.pooler or self.server)


def sort(inputs: Iterable[str]) -> Inputs:
    """Tell files of a deployment from logs; a folder that holds some of the former is read for these alone.

    Raises UsageError for a path that does not exist.
    """
    found = Inputs()
    for text in dict.fromkeys(inputs):
        path = Path(text)
        if path.is_dir():
            before = found.deploys
            if not from_folder(path, found):
                found.logs.append(text)
            elif not before:
                found.notes.append(
                    f"of the folder {path.name or 'given'} only the files of the deployment were read; give logs as inputs of their own"
                )
        elif not path.exists() or not found.put(path, shown(path)):
            found.logs.append(text)
    return found


def beside(inputs: Iterable[str]) -> Deployment:
    """Return what files of a deployment among the inputs of a report say; never raises: what cannot be used says nothing."""
    found = Inputs()
    for text in dict.fromkeys(inputs):
        path = Path(text)
        try:
            if path.is_dir():
                from_folder(path, found)
            elif NAMED.search(path.name) and not SAMPLE.search(path.name) and path.is_file():
                found.put(path, shown(path))
        except OSError:
            continue
    try:
        return read(found) if found.deploys else Deployment()
    except UsageError:
        return Deployment()


def shown(path: Path) -> str:
    """Return a file's name as outputs show it: as it was given, but no path of this machine."""
    return path.name if path.is_absolute() or ".." in path.parts else path.as_posix()


def from_folder(folder: Path, found: Inputs) -> bool:
    """Take what Compose would take of a folder, and the files of settings in it; False where there are none."""
    names = sorted(item.name for item in folder.iterdir() if item.is_file())
    stacks = [name for name in names if COMPOSE.search(name)]
    main = next((name for name in STANDARD if name in stacks), stacks[0] if len(stacks) == 1 else None)
    chosen = [main] if main else []
    if main:
        stem, _, ending = main.rpartition(".")
        chosen += [name for name in (f"{stem}.override.{ending}",) if name in stacks]
    elif stacks:
        found.notes.append(
            f"several Compose files, none of them the main one: {', '.join(stacks)}; give those that are used"
        )
    others = [name for name in stacks if name not in chosen]
    if main and others:
        found.notes.append(
            f"not laid over {main}: {', '.join(others)}; give them behind it where they are used"
        )
    rest = [name for name in names if ENV.search(name) and not SAMPLE.search(name)] if not chosen else []
    rest += [".env"] if chosen and ".env" in names else []
    rest += [name for name in names if re.fullmatch(r"pgbouncer.*\.ini|postgresql.*\.conf", name)]
    for name in (*chosen, *rest):
        found.put(folder / name, name)
    return bool(chosen or rest or stacks)


def read(inputs: Inputs, urls: Iterable[str] = ()) -> Deployment:
    """Return what the files and the URLs of ``--url`` say.

    Raises UsageError, with file, line and remedy, for a file that is not what its name promises.
    """
    made = Made(notes=list(inputs.notes))
    if inputs.compose:
        made.stack(inputs.compose, inputs.env)
    else:
        made.alone(inputs.env)
    for path, name in inputs.pooler:
        found = server_files.pgbouncer(contents(path, name), name)
        made.has_pooler = True
        made.said.extend(found.said)
        made.upstream.extend(found.upstream)
        made.own.extend(found.own)
    for path, name in inputs.server:
        stated = server_files.postgresql(contents(path, name), name)
        made.said.extend(stated)
        if not stated:
            made.notes.append(f"{name} sets none of {', '.join(server_files.SERVER_TERMS)}")
    for text in urls:
        made.url(text)
    return Deployment(
        tuple(made.clients.values()),
        tuple(made.said),
        tuple(made.upstream),
        made.has_pooler,
        tuple(made.notes),
        own=tuple(made.own),
    )


def contents(path: Path, name: str) -> str:
    """Return a text file's contents; UsageError where it can't be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(
            f"cannot be read ({error.strerror})", where=name, remedy="make a readable copy"
        ) from None
    except UnicodeDecodeError:
        raise UsageError("is no UTF-8 text", where=name, remedy="save it as UTF-8") from None


class Made(services.Services):
    """A deployment in the making."""

    def stack(self, files: list[tuple[Path, str]], envs: list[tuple[Path, str]]) -> None:
        """Read Compose files, the later laid over the earlier."""
        given = envs or [
            (beside, beside.name) for beside in [files[0][0].parent / ".env"] if beside.is_file()
        ]
        known: dict[str, Value] = {}
        for path, name in given:
            known.update(variables.parse(contents(path, name), name, known))
        found: dict[str, compose.Declared] = {}
        for path, name in files:
            contents(path, name)
            reader = compose.Reader(path, name, known)
            for key, declared in reader.services().items():
                if key in found:
                    compose.overlay(found[key], declared)
                else:
                    found[key] = declared
            self.notes.extend(dict.fromkeys(reader.notes))
        poolers = {name for name, one in found.items() if services.is_pooler(one)}
        for declared in found.values():
            self.notes.extend(declared.notes)
            self.service(declared, poolers)

    def alone(self, files: list[tuple[Path, str]]) -> None:
        """Read files of settings without a Compose file: each is a service, or several where it names their replicas."""
        by_client: dict[str, dict[str, Value]] = {}
        for path, name in files:
            found = variables.parse(contents(path, name), name)
            by_client.setdefault(client_name(path), {}).update(found)
        for name, known in by_client.items():
            counts = {
                key[: -len("_REPLICAS")].lower().replace("_", "-"): key
                for key in known
                if key.endswith("_REPLICAS")
            }
            for service in counts or {name: "REPLICAS"}:
                links, said, notes = settings.read(service, known)
                if not links and not any(item.term in ("pool", "worker_pool", "overflow") for item in said):
                    self.notes.append(f"{known_place(known, files)} names no database and no pool")
                    break
                self.notes.extend(note for note in notes if note not in self.notes)
                self.clients[service] = Client(service, tuple(links))
                self.said.extend(said)
                key = counts.get(service, "REPLICAS")
                if key in known:
                    self.said.append(settings.strict(service, "replicas", known[key], key))

    def url(self, text: str) -> None:
        """Take a URL of ``--url``, with or without the name of its service."""
        named = re.match(r"^([A-Za-z0-9][\w.-]*)=(.*)$", text, re.DOTALL)
        service, address = (named[1], named[2]) if named and "://" in named[2] else (APP, text)
        link = settings.from_url(service, "the URL", Value(address, "--url"))
        if link is None:
            raise UsageError(
                "is no connection URL of PostgreSQL or MySQL",
                where="--url",
                remedy="write SERVICE=postgresql://USER@HOST/NAME?…",
            )
        before = self.clients.get(service, Client(service))
        self.clients[service] = Client(service, (link, *before.links))


def known_place(known: Mapping[str, Value], files: list[tuple[Path, str]]) -> str:
    """Name the file that settings come from."""
    return next((value.where.rpartition(":")[0] for value in known.values()), files[0][1])


def client_name(path: Path) -> str:
    """Return the service that a file of settings is for: ``.env.worker`` and ``worker.env`` name one."""
    for part in path.name.split("."):
        if part.lower() not in STAGES | {"properties"}:
            return part.removeprefix("application-") if part.startswith("application-") else part
    return APP
