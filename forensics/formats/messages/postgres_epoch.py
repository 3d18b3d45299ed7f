"""PostgreSQL server log whose ``log_line_prefix`` begins with an epoch (``%n``).

    1795954899.729 21869 22012 app ERROR:  division by zero

Otherwise as :mod:`forensics.formats.messages.postgres`. Reference: postgres/postgres src/backend/utils/error/elog.c.
"""

from __future__ import annotations

from forensics.formats.postgres_words import KNOWN, LEVELS
from forensics.model.plug import MessageFormat

PLUG = MessageFormat(
    name="postgres_epoch",
    title="PostgreSQL server log (stderr) with an epoch",
    kind="log",
    marks="when the line was written",
    anchors=(":  ",),
    starts=("digit",),
    pattern=rf"^(?P<time>\d{{10}}\.\d{{3}})(?: \[?(?P<pid>\d+)\]?)?(?:[ :>\])]|[^\t]*?[ :>\])]){KNOWN}(?P<message>.*)$",
    time="epoch",
    zone="utc",
    levels=LEVELS,
    service="postgres",
    samples=(
        "1795954899.729 21869 22012 app ERROR:  division by zero",
        "1795954899.721 [21869] LOG:  connection received: host=[local]",
    ),
    reference="postgres/postgres src/backend/utils/error/elog.c",
)
