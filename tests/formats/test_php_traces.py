"""A trace of PHP, each frame at column 0, is a part of the record above it, whoever wrote the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics.ingest import plan
from forensics.model.facts import Failures
from forensics.pipeline import Options, investigate
from forensics.sources.discovery import discover

if TYPE_CHECKING:
    from pathlib import Path

TRACE = """PHP message: PHP Fatal error:  Uncaught PDOException: SQLSTATE[HY000] [1040] Too many connections in /srv/app/src/Db.php:31
Stack trace:
#0 /srv/app/src/Db.php(31): PDO->__construct('mysql:host=db;d...', 'shop', Object(SensitiveParameterValue), Array)
#1 [internal function]: App\\Db::connect()
#2 {main}

Next RuntimeException: no database in /srv/app/src/Db.php:33
Stack trace:
#0 /srv/app/public/index.php(12): App\\Db::connect()
#1 {main}
  thrown in /srv/app/src/Db.php on line 33"""
TAIL = ' while reading response header from upstream, client: 192.0.2.64, server: shop.example, request: "POST /cart HTTP/1.1", upstream: "fastcgi://127.0.0.1:9000", host: "shop.example"'
NGINX = "".join(
    f'2026/03/10 20:15:{at:02} [error] 22#22: *{2107 + at} FastCGI sent in stderr: "{TRACE}"{TAIL}\n'
    for at in range(40)
)
PHP = "".join(f"[10-Mar-2026 20:15:{at:02} UTC] {TRACE.removeprefix('PHP message: ')}\n" for at in range(40))
MONOLOG = "".join(
    f'[2026-03-10 20:15:{at:02}] production.ERROR: SQLSTATE[HY000] [1040] Too many connections {{"exception":"[object] (PDOException(code: 1040): '
    'SQLSTATE[HY000] [1040] Too many connections at /srv/app/src/Db.php:31)\n[stacktrace]\n#0 /srv/app/src/Db.php(31): PDO->__construct()\n#1 {main}\n"} \n'
    for at in range(40)
)


@pytest.mark.parametrize(
    ("name", "text", "format_name"),
    [
        ("error.log", NGINX, "nginx_error"),
        ("php-errors.log", PHP, "php_error"),
        ("laravel.log", MONOLOG, "monolog"),
    ],
)
def test_a_trace_goes_with_the_record_above(tmp_path: Path, name: str, text: str, format_name: str) -> None:
    """The file keeps its format, and each trace is one failure of one record."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    (planned,) = plan.make(discover([str(tmp_path)]))
    case = investigate([str(tmp_path)], Options(tz="UTC"))

    assert planned.first_format == format_name
    assert [(one.signature, one.failures) for one in case.facts[Failures].groups] == [
        ("mysql.too-many-connections", 40)
    ]
