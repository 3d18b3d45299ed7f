"""Options that the reading commands share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from forensics.cli.masks import no_redact
from forensics.model.texts import languages

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.pipeline import Options

F = TypeVar("F", bound="Callable[..., Any]")
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


class Size(click.ParamType[int]):
    """A number of bytes, with K, M, G or T for the powers of 1024."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        found = re.fullmatch(r"(\d{1,15})\s*([KMGT]?)(?:i?B)?", str(value).strip(), re.IGNORECASE)
        if found is None or not int(found[1]):
            self.fail(f"{value!r} is no size; give a number of bytes such as 200G", param, ctx)
        return int(int(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " "))


SHARED = (
    click.option(
        "--case",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="case.toml: what logs cannot say.",
    ),
    click.option(
        "--tz",
        metavar="ZONE",
        help="Zone of the report and of times that carry none, e.g. America/Sao_Paulo.",
    ),
    click.option(
        "--lang",
        type=click.Choice(languages()),
        help="Language of the report (default: the case file's, else en).",
    ),
    click.option(
        "--since",
        metavar="TIME",
        help="Leave out what lies before: an instant, a time of the last day, or a span such as 2h.",
    ),
    click.option("--until", metavar="TIME", help="Leave out what lies after."),
    click.option(
        "--unit",
        "units",
        multiple=True,
        metavar="NAME",
        help="Only this service; may be given several times.",
    ),
    click.option(
        "--signatures", type=FOLDER, multiple=True, help="Folder of signatures of your own (*.toml)."
    ),
    click.option("--formats", type=FOLDER, multiple=True, help="Folder of formats of your own (*.toml)."),
    click.option(
        "--shard-size",
        type=click.IntRange(min=1024),
        metavar="BYTES",
        help="Bytes read at once (default 32 MiB).",
    ),
    click.option(
        "--unpack-limit",
        type=Size(),
        metavar="SIZE",
        help="Bytes that one input may unpack to, e.g. 200G (default 64G).",
    ),
    click.option(
        "--dialect",
        type=click.Choice(["commonmark", "github", "gitlab", "jira", "slack"]),
        default="commonmark",
        show_default=True,
        help="Where the report will be read: portable Markdown, Markdown with the evidence folded, or the mark-up of Jira or Slack.",
    ),
    no_redact,
    click.option(
        "--engine",
        default="local",
        show_default=True,
        help="Where shards are read (only this machine, so far).",
    ),
    click.option(
        "--progress/--no-progress",
        default=None,
        help="Show progress on standard error (default: on a terminal).",
    ),
)


def shared(command: F) -> F:
    """Add the shared options to a command."""
    for option in reversed(SHARED):
        command = option(command)
    return command


def build(**said: Any) -> Options:
    """Turn the shared options into the pipeline's."""
    from forensics.model.errors import UsageError
    from forensics.pipeline import Options
    from forensics.sources.streams import SHARD_BYTES, Limits

    if said["engine"] != "local":
        raise UsageError("only local is available yet", where="--engine", remedy="leave the option out")
    return Options(
        tz=said["tz"], lang=said["lang"], case=said["case"], since=said["since"], until=said["until"], units=tuple(said["units"]), signatures=tuple(said["signatures"]),
        formats=tuple(said["formats"]),
        shard_size=said["shard_size"] or SHARD_BYTES, limits=Limits(total=said["unpack_limit"]) if said["unpack_limit"] else Limits(), tick=said.get("tick"),
    )  # fmt: skip
