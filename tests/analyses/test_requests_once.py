"""A failed request that a framework heads its traceback with is one failure, however many logs tell of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics.model.facts import Failures, Impact, Incidents
from forensics.pipeline import Options, investigate

if TYPE_CHECKING:
    from pathlib import Path

DJANGO = """2026-03-10 21:10:{at:02},380 ERROR django.request Internal Server Error: /pay/{at}
Traceback (most recent call last):
  File "/srv/shop/views.py", line 12, in pay
    charge(order)
shop.Declined: the card was declined"""
SPRING = """2026-03-10T21:10:{at:02}.380Z ERROR 1 --- [shop] [nio-8080-exec-1] o.a.c.c.C.[.[.[/].[dispatcherServlet]    : Servlet.service() for servlet [dispatcherServlet] in context with path [] threw exception [Request processing failed: shop.Declined] with root cause

shop.Declined: the card was declined
\tat shop.Pay.charge(Pay.java:31)"""
ACCESS = '192.0.2.9 - - [10/Mar/2026:21:10:{at:02} +0000] "POST /pay/{at} HTTP/1.1" 500 145 "-" "Mozilla/5.0"'
GUNICORN = '2026-03-10 21:10:{at:02},390 INFO gunicorn.access 192.0.2.9 - - [10/Mar/2026:21:10:{at:02} +0000] "POST /pay/{at} HTTP/1.1" 500 145 "-" "Mozilla/5.0"'


def write(path: Path, *texts: str) -> None:
    """Write thirty failed requests as some texts tell of each."""
    lines = [text.format(at=at) for at in range(0, 60, 2) for text in texts]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "signature"), [(DJANGO, "django.server-error"), (SPRING, "tomcat.servlet-exception")]
)
def test_a_framework_tells_of_failed_requests(tmp_path: Path, text: str, signature: str) -> None:
    """Each line with its traceback is one, of the service that wrote it, and thirty make an incident."""
    write(tmp_path / "shop.log", text)
    case = investigate([str(tmp_path)], Options(tz="UTC"))
    (group,) = case.facts[Failures].groups

    assert (group.signature, group.side, group.service, group.failures) == (signature, "client", "shop", 30)
    assert case.facts[Incidents].primary() is not None


def test_its_own_access_line_tells_of_the_same_request(tmp_path: Path) -> None:
    """Where the service logs its requests too, these are counted."""
    write(tmp_path / "shop.log", DJANGO, GUNICORN)
    case = investigate([str(tmp_path)], Options(tz="UTC"))

    assert [(one.signature, one.failures) for one in case.facts[Failures].groups] == [
        ("http.server-error", 30)
    ]


def test_a_proxy_tells_of_the_same_requests(tmp_path: Path) -> None:
    """The impact is that of the requests, not of all who tell of them."""
    write(tmp_path / "shop.log", DJANGO)
    write(tmp_path / "access.log", ACCESS)
    case = investigate([str(tmp_path)], Options(tz="UTC"))

    assert case.facts[Impact].failed == 30
