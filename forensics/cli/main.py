"""The command line's frame: commands are imported when they are called, errors become one line and an exit code."""

from __future__ import annotations

import importlib
import signal
import sys
from typing import Any, cast

import click

COMMANDS = ("budget", "check", "daily", "explain", "formats", "report", "signatures", "sources")
INTERRUPTED = 130
TERMINATED = 143
USAGE = 2
FAILED = 3


class Lazy(click.Group):
    """A group whose commands live in modules of this package, one each."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        return cast("click.Command", importlib.import_module(f"forensics.cli.{cmd_name}").command)


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="incident-forensics", prog_name="forensics")
def cli() -> None:
    """Incident log forensics: from exported logs to a graded, checkable postmortem."""


def main(args: list[str] | None = None) -> None:
    """Run the command line; errors of the library become one line on standard error."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        code: Any = cli.main(args=args, prog_name="forensics", standalone_mode=False)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except Exception as error:  # noqa: BLE001 - no traceback ever reaches a user
        code = fail(error)
    sys.exit(code if isinstance(code, int) else 0)


def fail(error: Exception) -> int:
    """Tell an error in one line and return its exit code."""
    from forensics.model.errors import DefinitionError, ForensicsError, UsageError

    if isinstance(error, ForensicsError):
        click.echo(f"forensics: {error}", err=True)
        return USAGE if isinstance(error, UsageError | DefinitionError) else FAILED
    if isinstance(error, OSError):
        click.echo(
            f"forensics: {error.filename or 'output'}: {error.strerror}; check the path and its permissions",
            err=True,
        )
        return FAILED
    click.echo(
        f"forensics: internal fault ({type(error).__name__}: {error}); please report it with the command that you ran",
        err=True,
    )
    return FAILED
