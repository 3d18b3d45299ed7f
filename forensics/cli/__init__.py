"""The command line: arguments become a run of the pipeline, results become files and an exit code."""

from forensics.cli.main import main

__all__ = ["main"]
