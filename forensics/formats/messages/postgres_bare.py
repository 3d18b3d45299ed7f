"""PostgreSQL server log without a prefix: ``log_line_prefix = ''``, the server in single-user mode, ``RAISE`` shown by psql.

    FATAL:  sorry, too many clients already

Nothing dates such a line but its transport. WARNING, INFO and DEBUG are left to other loggers, which write them alike
(uvicorn's ``WARNING:  ``). Reference: postgres/postgres src/backend/utils/error/elog.c.
"""

from __future__ import annotations

from forensics.formats.postgres_words import FURTHER, LEVELS, words
from forensics.model.plug import MessageFormat

OTHERS = ("WARNING", "INFO", "DEBUG")
OWN = tuple(name for name in LEVELS if name not in OTHERS)

PLUG = MessageFormat(
    name="postgres_bare",
    title="PostgreSQL server log without a prefix",
    kind="log",
    anchors=(":  ",),
    pattern=rf"^(?:psql:[^ ]+: )?(?:(?P<further>{words(FURTHER)})|(?P<level>{words(OWN)})) ?:  (?P<message>[^\s].*)$",
    levels=LEVELS,
    samples=(
        "FATAL:  sorry, too many clients already",
        "ERROR:  canceling statement due to statement timeout",
        "LOG:  database system is ready to accept connections",
        "FEHLER:  Division durch Null",
    ),
    reference="postgres/postgres src/backend/utils/error/elog.c",
)
