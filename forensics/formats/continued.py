"""What a further line of a message looks like: tracebacks, causes, boxes, and what stands indented below its head.

Where a line carries no stamp of its own, these decide which record it belongs to; where each line was shipped with a stamp, which lines were
one message.
"""

from __future__ import annotations

CHAINED = r"^Traceback \(most recent|^During handling of|^The above exception|^Caused by:"
"""How Python and Java introduce a traceback and its causes."""
ELIDED = r"^\.\.\. \d+ (?:more|frames)"
"""How Java and Node leave out the frames that a cause shares."""
PHP = r"^(?:Stack trace:|\[stacktrace\])$|^#\d+ (?:\{main\}|\[internal function\]: |\S.*\(\d+\): )|^Next \S+(?:: .*)? in \S+:\d+$"
"""How PHP prints a trace, each frame at column 0, and the exception that followed (php-src Zend/zend_exceptions.c); Monolog heads it itself."""
BOXED = r"^[│╭╰}\])]"
"""How a drawn traceback, and an object that was printed over several lines, go on and end."""
CLASS = r"(?:[A-Za-z_$][\w$]*\.)*"
"""Module or package of an exception's class."""
SOCKET = r"^socket\.(?:gaierror|herror|timeout|error)(?::|$)"
"""Python's exceptions whose names begin with a small letter (CPython Modules/socketmodule.c)."""
RAISED = rf"^{CLASS}(?:[A-Z]\w*(?:Error|Exception|Timeout|Exit|Interrupt)\w*|Error|Exception)(?::|$)|{SOCKET}"
"""The class of an exception at the start of a line: the last line of its traceback, since a record of its own would have a head."""
BLANK = r"^\s*$"
FURTHER = rf"^[ \t]|{CHAINED}|{RAISED}|{PHP}"
"""Lines that go on where only the first of a message has the transport's stamp: what else stands there is told as it is."""
FURTHER_BARE = f"{FURTHER}|{ELIDED}|{BOXED}|{BLANK}"
"""Lines that go on in a file that a program wrote itself."""
FURTHER_SHIPPED = f"{FURTHER}|{ELIDED}|{BOXED}|^$"
"""Lines of a message that a program wrote over several lines, each of which was shipped alone."""

EXCEPTION = rf"^(?:\s*\| )?{CLASS}(?:[A-Z][\w$]*(?:Error|Exception|Timeout|TimedOut|Interrupt|Exit|Fault|Iteration|Unavailable|Cancelled|Refused|Closed|Full|Empty)[\w$]*|Exception)(?::|$)|^Error: |{SOCKET}"
"""A line at column 0 that names an exception class: it ends a traceback, or it is one without frames.

It names more classes than :data:`RAISED`, since whether it is a record was decided before.
"""
CHAIN = r"^(?:\s*\| )?(?:During handling of the above exception|The above exception was the direct cause)"
CONTINUATION = (
    rf"^\s|^Caused by: |^\[cause\]: |^$|^Traceback \(most recent call last\)|{ELIDED}|{BOXED}|{PHP}"
)
"""Lines that continue the record above although each has a stamp of its own."""
