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


class Bound(click.ParamType[tuple[str, int]]):
    """A limit of unpacking: a number of bytes, with K, M, G or T for the powers of 1024, or a limit by its name."""

    name = "limit"
    form = re.compile(r"(?:(size|ratio|members|depth)\s*=\s*)?(\d{1,15})\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Return the limit's name and number."""
        found = self.form.fullmatch(str(value).strip())
        if found is None or not int(found[2]):
            self.fail(
                f"{value!r} is no limit; give a number of bytes such as 200G, or ratio=5000, members=200000, depth=5",
                param,
                ctx,
            )
        return (found[1] or "size").lower(), int(
            int(found[2]) * 1024 ** " KMGT".index(found[3].upper() or " ")
        )


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
        "unpack_limits",
        type=Bound(),
        multiple=True,
        metavar="[NAME=]N",
        help="What one input may unpack to: 200G or size=200G (default 64G), ratio=N (2000 to 1), members=N (50000), depth=N (3); may be given several times.",
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
    from forensics.sources.limits import limits_of
    from forensics.sources.streams import SHARD_BYTES

    if said["engine"] != "local":
        raise UsageError("only local is available yet", where="--engine", remedy="leave the option out")
    return Options(
        tz=said["tz"], lang=said["lang"], case=said["case"], since=said["since"], until=said["until"], units=tuple(said["units"]), signatures=tuple(said["signatures"]),
        formats=tuple(said["formats"]),
        shard_size=said["shard_size"] or SHARD_BYTES, limits=limits_of(dict(said["unpack_limits"])), tick=said.get("tick"),
    )  # fmt: skip
