"""Names that could not be resolved: one failure of the caller each, whatever wraps it, and the first kind that the mechanism tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics.model.facts import Failures
from forensics.pipeline import Options, investigate
from forensics.report.statements import Statements

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.case import Case

NODE = '{{"level":50,"time":{at},"pid":1,"hostname":"9f1c","err":{{"type":"Error","message":"getaddrinfo EAI_AGAIN db.internal","stack":"Error: getaddrinfo EAI_AGAIN db.internal\\n    at GetAddrInfoReqWrap.onlookupall [as oncomplete] (node:dns:120:26)","code":"EAI_AGAIN"}},"msg":"request errored"}}'
REQUESTS = """{at} ERROR shop: payment failed
Traceback (most recent call last):
  File "/app/urllib3/connection.py", line 198, in _new_conn
    sock = connection.create_connection(
socket.gaierror: [Errno -3] Temporary failure in name resolution

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/requests/adapters.py", line 667, in send
    resp = conn.urlopen(
urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='pay.example', port=443): Max retries exceeded with url: /v1 (Caused by NameResolutionError("<urllib3.connection.HTTPSConnection object at 0x7f>: Failed to resolve 'pay.example' ([Errno -3] Temporary failure in name resolution)"))

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/shop/pay.py", line 31, in pay
    requests.post(URL)
requests.exceptions.ConnectionError: HTTPSConnectionPool(host='pay.example', port=443): Max retries exceeded with url: /v1 (Caused by NameResolutionError("<urllib3.connection.HTTPSConnection object at 0x7f>: Failed to resolve 'pay.example' ([Errno -3] Temporary failure in name resolution)"))"""
GO = '{{"time":"{at}","level":"ERROR","msg":"query failed","err":"failed to connect to `user=app database=shop`: hostname resolving error: lookup db.internal on 10.0.0.2:53: read udp 172.18.0.5:40735->10.0.0.2:53: i/o timeout"}}'
JAVA = """{at} ERROR 1 --- [shop] [nio-8080-exec-1] c.e.shop.Pay : payment failed
java.net.UnknownHostException: pay.example: Temporary failure in name resolution
\tat java.base/java.net.InetAddress.getAllByName(InetAddress.java:1304)"""
DOCKER = 'time="{at}" level=error msg="[resolver] failed to query external DNS server" client-addr="udp:172.18.0.5:31079" dns-server="udp:10.0.0.2:53" error="read udp 172.18.0.5:40735->10.0.0.2:53: i/o timeout" question=";db.internal.\\tIN\\t A"'


def case(folder: Path, text: str, times: list[str]) -> Case:
    """Return what follows from a text that a service printed at some times."""
    (folder / "shop.log").write_text("".join(text.format(at=at) + "\n" for at in times), encoding="utf-8")
    return investigate([str(folder)], Options(tz="UTC"))


ISO = [f"2026-03-10T22:40:{at:02}.100Z" for at in range(12)]
EPOCH = [str(1_773_182_400_100 + 1000 * at) for at in range(12)]
PYTHON = [f"2026-03-10 22:40:{at:02},100" for at in range(12)]


@pytest.mark.parametrize(
    ("text", "times", "signature", "peer"),
    [
        (NODE, EPOCH, "node.name-lookup-failed", ("db.internal",)),
        (REQUESTS, PYTHON, "dns.lookup-failed", ("pay.example",)),
        (GO, ISO, "go.name-lookup-failed", ("db.internal",)),
        (JAVA, ISO, "java.unknown-host", ("pay.example",)),
    ],
)
def test_a_failed_lookup_is_one_failure(
    tmp_path: Path, text: str, times: list[str], signature: str, peer: tuple[str, ...]
) -> None:
    """The causes and the wrappers of it are none of their own, and the name is the one that was asked for."""
    found = case(tmp_path, text, times)

    assert [(one.signature, one.failures, one.peers) for one in found.facts[Failures].groups] == [
        (signature, 12, peer)
    ]


def test_lookups_are_told_first(tmp_path: Path) -> None:
    """Before what failed more often, with what the resolver itself says; of that nothing is a coincidence."""
    reset = "\n".join(f"2026-03-10T22:40:{at:02}.500Z Error: read ECONNRESET" for at in range(40))
    (tmp_path / "mail.log").write_text(reset + "\n", encoding="utf-8")
    (tmp_path / "docker.log").write_text(
        "\n".join(DOCKER.format(at=at) for at in ISO) + "\n", encoding="utf-8"
    )
    found = case(tmp_path, GO, ISO)
    links = [one for one in found.diagnosis.findings if one.section == "mechanism"]
    keys = [one.key for one in links]

    assert [one.values["group"].family for one in links if one.key == "mechanism.other"] == [
        "dns",
        "client_reset",
    ]
    assert keys.count("mechanism.resolver") == 1
    assert not [one for one in found.diagnosis.findings if one.key == "clue.seen"]
    (told,) = (one for one in links if one.key == "mechanism.resolver")
    assert (told.values["n"], told.values["name"], told.values["server"]) == (
        12,
        "db.internal",
        "udp:10.0.0.2:53",
    )
    for tag, words in (("en", "asked for db.internal"), ("pt-BR", "ao perguntar por db.internal")):
        assert words in Statements(tag, "UTC").say("mechanism.resolver", told.values)
