"""Errors that a user can act on: what went wrong, where, and what to do."""

from __future__ import annotations


class ForensicsError(Exception):
    """A problem with one input or option, told in one line.

    ``where`` names the file (and line or key), ``remedy`` what to do next; the text of the exception joins
    all three. The command line turns it into an exit code, and nothing else does.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        head = f"{where}: {what}" if where else what
        super().__init__(f"{head}; {remedy}" if remedy else head)


class UsageError(ForensicsError):
    """The options or the case file are wrong: nothing was read."""


class DefinitionError(ForensicsError):
    """A format, signature or hypothesis definition is wrong and was refused."""


class UnreadableError(ForensicsError):
    """One input cannot be read; the others still are."""
