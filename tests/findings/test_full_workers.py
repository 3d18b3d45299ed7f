"""A web server whose workers are all taken, before a database that refuses connections: links of the chain, with the database's own commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics.findings.signals import Signals
from forensics.model.facts import Failures
from forensics.pipeline import Options, investigate
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = "PHP Fatal error:  Uncaught PDOException: SQLSTATE[HY000] [1040] Too many connections in /srv/app/src/Db.php:31"
ABORTED = "Aborted connection 31 to db: 'shop' user: 'shop' host: '192.0.2.21' (Got timeout reading communication packets)."
FULL = "WARNING: [pool www] server reached pm.max_children setting (160), consider raising it"


def inputs(folder: Path, fpm: str) -> None:
    """Write the logs of PHP, of PHP-FPM and of MySQL around five minutes of refusals."""
    php = [f"[10-Mar-2026 20:{15 + at // 20:02}:{at % 20 * 3:02} UTC] {REFUSED}" for at in range(100)]
    (folder / "php-errors.log").write_text("\n".join(php) + "\n", encoding="utf-8")
    (folder / "php-fpm.log").write_text(
        f"[10-Mar-2026 19:00:03] NOTICE: fpm is running, pid 1\n[10-Mar-2026 {fpm}] {FULL}\n",
        encoding="utf-8",
    )
    server = [
        f"2026-03-10T20:{at:02}:30.120331Z {at} [Note] [MY-010914] [Server] {ABORTED}" for at in range(50)
    ]
    (folder / "mysqld.log").write_text("\n".join(server) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("fpm", "told", "clue"), [("20:14:31", 1, 0), ("20:17:00", 1, 0), ("20:10:00", 0, 1)]
)
def test_full_workers_are_a_link_where_they_lie_in_the_window(
    tmp_path: Path, fpm: str, told: int, clue: int
) -> None:
    """In the window or in the minute before it they are told in the mechanism, else they stay a clue; never both."""
    inputs(tmp_path, fpm)
    case = investigate([str(tmp_path)], Options(tz="UTC"))
    links = [one for one in case.diagnosis.findings if one.key == "mechanism.full"]
    clues = [
        one
        for one in case.diagnosis.findings
        if one.key == "clue.seen" and one.values["group"].signature == "php-fpm.max-children"
    ]

    assert (len(links), len(clues)) == (told, clue)
    for link in links:
        assert (link.values["max"], link.values["n"]) == ("160", 1)
        for tag, words in (("en", "160 at most"), ("pt-BR", "no máximo 160")):
            assert words in Statements(tag, "UTC").say("mechanism.full", link.values)


def test_the_log_of_mysql_names_the_engine(tmp_path: Path) -> None:
    """Its commands are asked for, even where no client's text names it."""
    inputs(tmp_path, "20:14:31")
    (tmp_path / "php-errors.log").unlink()
    case = investigate([str(tmp_path)], Options(tz="UTC"))

    assert Signals(case.evidence, case.known, case.facts).engine == "mysql"


def test_refusals_that_php_tells_of_are_the_databases(tmp_path: Path) -> None:
    """Each line is a refused connection of a client of MySQL."""
    inputs(tmp_path, "20:14:31")
    case = investigate([str(tmp_path)], Options(tz="UTC"))
    (group,) = case.facts[Failures].groups

    assert (group.signature, group.side, group.failures) == ("mysql.too-many-connections", "client", 100)
