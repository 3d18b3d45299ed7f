"""PostgreSQL server log on standard error, whatever ``log_line_prefix`` puts behind the time.

    2026-11-29 09:46:27.525 -03 [10804] crm@crm FATAL:  sorry, too many clients already
    2026-11-29 13:21:37 CET:[local]:app@postgres:[21818]:ERROR:  division by zero
    < 2026-11-29 13:21:41.845 CET >STATEMENT:  select 1/0

Two blanks follow the tag, which ``lc_messages`` translates. DETAIL, HINT, CONTEXT, QUERY and STATEMENT are lines of their own
with the prefix repeated, but parts of the message above. An abbreviated zone other than UTC is not known. A prefix may hold
anything (``%b`` has blanks, ``%r`` and ``%u`` brackets): the process is the number in brackets, where there is one.
Reference: postgres/postgres src/backend/utils/error/elog.c log_status_format, send_message_to_server_log.
"""

from __future__ import annotations

from forensics.formats.postgres_words import LEVELS, TAG
from forensics.model.plug import MessageFormat

PLUG = MessageFormat(
    name="postgres",
    title="PostgreSQL server log (stderr)",
    kind="log",
    marks="when the line was written",
    anchors=(":  ", "PILE D'APPEL"),
    starts=("date", "other"),
    pattern=r"^(?:< ?)?(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?) (?P<zone>[A-Z]{2,5}|[+-]\d\d(?::?\d\d)?)\b"
    rf"(?:[^\t]*?\[(?P<pid>\d+)(?:-\d+)?\])?(?:[ :>\])]|[^\t]*?[ :>\])]){TAG}(?P<message>.*)$",
    time="%Y-%m-%d %H:%M:%S%.f",
    zone="token",
    levels=LEVELS,
    service="postgres",
    samples=(
        '2026-11-29 18:14:00.434 IST [8479] LOG:  listening on IPv4 address "127.0.0.1", port 21224',
        "2026-11-29 09:46:27.525 -03 [10804] crm@crm FATAL:  sorry, too many clients already",
        "2026-11-29 13:21:33 CET [21751]: user=app,db=postgres,app=web,client=[local] ERROR:  division by zero",
        "2026-11-29 13:21:37 UTC:203.0.113.9(51000):app@shop:[21818]:ERROR:  division by zero",
        "< 2026-11-29 13:21:41.845 CET >ERROR:  division by zero",
        "2026-11-29 13:21:43.868 CET client backend[21914] 3/53 0 0 ERROR:  division by zero",
        "2026-11-29 13:21:44.933 CET [21928] FEHLER:  Division durch Null",
        "2026-11-29 13:21:44.933 CET [21928-1] app@shop ERREUR:  division par zéro",
    ),
    reference="postgres/postgres src/backend/utils/error/elog.c",
)
