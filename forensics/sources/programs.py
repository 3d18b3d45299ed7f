"""What a command line says of processes: ``gunicorn -w 4``, ``uvicorn --workers 2``, ``pm2-runtime -i max``, ``postgres -c …``."""

from __future__ import annotations

import re
from dataclasses import dataclass

NODE = ("node", "npm", "npx", "yarn", "pnpm", "bun", "next", "nest", "tsx", "ts-node")
SINGLE = dict.fromkeys(NODE, "a Node program is one process") | {"java": "a Java program is one process"}
SERVERS = {
    "uvicorn": ("--workers",), "gunicorn": ("-w", "--workers"), "hypercorn": ("-w", "--workers"), "granian": ("--workers",),
    "puma": ("-w", "--workers"), "fastapi": ("--workers",), "uwsgi": ("-p", "--processes", "--workers"),
}  # fmt: skip
"""Servers that fork, with the options that say how many; each runs one worker where nobody says."""
ALONE = {"puma": "runs one process unless it is told to fork workers"}
PM2 = ("pm2", "pm2-runtime")
THREADED = ("threads", "gevent", "eventlet", "solo")
"""Celery's pools that run all jobs in one process."""
DATABASE = re.compile(r"^(max_connections|superuser_reserved_connections|reserved_connections)=(\S*)$")
LIBRARIES = {"rails": "activerecord", "puma": "activerecord", "sidekiq": "activerecord", "prisma": "prisma", "knex": "knex", "typeorm": "typeorm", "sequelize-cli": "sequelize"}  # fmt: skip
"""Programs that come with a library, or run only what uses it."""
RUNNERS = ("rails", "sidekiq")


@dataclass(frozen=True, slots=True)
class Processes:
    """How many processes a command starts."""

    text: str | None
    """The number as it stands there; None where it depends on the machine."""
    what: str
    default: bool = False
    """Is it the program's default?"""


def base(word: str) -> str:
    """Return a program's name without its folder."""
    return word.rsplit("/", 1)[-1]


def option(words: list[str], names: tuple[str, ...]) -> tuple[str, str] | None:
    """Return an option and its value, written ``-w 4``, ``-w4``, ``--workers 4`` or ``--workers=4``; the last one counts."""
    found = None
    for place, word in enumerate(words):
        for name in names:
            if word == name and place + 1 < len(words):
                found = (name, words[place + 1])
            elif word.startswith(f"{name}="):
                found = (name, word[len(name) + 1 :])
            elif len(name) == 2 and re.fullmatch(rf"{name}\d+", word):
                found = (name, word[2:])
    return found


def processes(commands: list[list[str]]) -> Processes | None:
    """Return how many processes a service's commands start; the last program that serves decides."""
    found = None
    for words in commands:
        names = [base(word) for word in words]
        for place, name in enumerate(names):
            made = of_program(name, words[place + 1 :], names[place + 1 :])
            if made:
                found = made
                break
    return found


def of_program(name: str, rest: list[str], names: list[str]) -> Processes | None:
    """Return how many processes one program starts, None where it is not known."""
    if name in SERVERS:
        said = option(rest, SERVERS[name])
        if said:
            return Processes(said[1], f"{said[0]} of {name}")
        return Processes("1", ALONE.get(name, "runs one worker unless it is told otherwise"), default=True)
    if name in PM2:
        said = option(rest, ("-i", "--instances"))
        if said:
            whole = said[1].isdigit() and said[1] != "0"
            return Processes(said[1] if whole else None, f"{said[0]} {said[1]} of pm2")
        return Processes("1", "pm2 runs one instance unless it is told otherwise", default=True)
    if name == "celery" and "worker" in names:
        kind = option(rest, ("-P", "--pool"))
        if kind and kind[1] in THREADED:
            return Processes("1", f"celery's pool {kind[1]} is one process", default=True)
        said = option(rest, ("-c", "--concurrency"))
        return (
            Processes(said[1], f"{said[0]} of celery")
            if said
            else Processes(None, "celery forks one process for each CPU")
        )
    if name in RUNNERS:
        return Processes("1", f"{name} runs one process unless it is told otherwise", default=True)
    if name in SINGLE:
        return Processes("1", SINGLE[name], default=True)
    return None


def library(commands: list[list[str]]) -> tuple[str, str] | None:
    """Return the id of the library that a command's programs use, and the program that tells."""
    for words in commands:
        for word in words:
            if base(word) in LIBRARIES:
                return LIBRARIES[base(word)], base(word)
    return None


def jobs(commands: list[list[str]]) -> tuple[str, str] | None:
    """Return the option that says how many jobs at once a command allows in one process (Sidekiq), and its value."""
    for words in commands:
        if any(base(word) == "sidekiq" for word in words) and (
            said := option(words, ("-c", "--concurrency"))
        ):
            return said
    return None


def server_settings(commands: list[list[str]]) -> list[tuple[str, str]]:
    """Return what a database server is started with: ``-c max_connections=200``, ``-N 200``, ``--max-connections=200``."""
    found = []
    for words in commands:
        for place, word in enumerate(words):
            text = word.removeprefix("-c") if word.startswith("-c") and "=" in word else word
            text = text.lstrip("-").replace("-", "_") if text.startswith("--") else text
            if match := DATABASE.match(text):
                found.append((match[1], match[2]))
            elif word == "-N" and place + 1 < len(words):
                found.append(("max_connections", words[place + 1]))
    return found
