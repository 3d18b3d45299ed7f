"""What masking takes out, what it leaves, and what it costs."""

from __future__ import annotations

import gzip
import json
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from forensics import pipeline
from forensics.cli import main
from forensics.report import document as telling
from forensics.report.charts import drawing
from forensics.report.masking import PSEUDONYM, TITLES, Masker
from forensics.report.masking.detectors import HINTS, LEFT_OUT, detectors, keywords
from forensics.report.masking.kinds import PERSONAL, SECRETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INCIDENTS = Path(__file__).parents[2] / "fixtures" / "incidents"
FAILURES = "".join(
    f"2026-11-29T12:01:{second:02d}+0000 srv uvicorn[81]: sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00 (203.0.113.7 for Ana Souza)\n"
    for second in range(40)
)
UUID = "6f1c2b3a-1111-4222-8333-444455556666"
COMMIT = "9fceb02d0ae598e95dc970b74767f19372d61af8"
PICTURE = 1000
"""Characters of base64 from which it is data, and no secret that anyone would type."""
LEFT = (
    "2026-09-09 09:42:26.123 -03:00 and 2026-09-09T12:51:28.114Z and 29/Nov/2026:12:24:36 +0000 and 1757413346123 and 1757413346.123456",
    "took 30.00 s, 85326ms, 1,234.5 ms, timeout 30.00, uptime 12d 3h 04:05:06",
    "getty@tty1.service postgresql@15-main.service user@1000.service run-docker-runtime.scope dev-sda1.device",
    '"GET /api/v2/contacts/123/photos HTTP/1.1" 500 Internal Server Error 30.001 upstream 504',
    "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00",
    f"request_id={UUID} trace_id=4bf92f3577b34da6a3ce929d0e0e4736 X-Request-Id: {UUID}",
    '{"req_id":"req-8f14e45f","trace":{"span_id":"00f067aa0ba902b7","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}',
    "container 4f5e6d7c8b9a, 4f5e6d7c8b9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c, sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    f'deployed commit {COMMIT} ("{COMMIT}"), tag v2.14.1-rc.3, image crm-api:2026.11.29-9fceb02',
    "python 3.11.7, node v22.11.0, PostgreSQL 16.4 (Debian 16.4-1.pgdg120+2), Chrome/120.0.0.0 Safari/537.36, version 1.2.3.4",
    "Uvicorn running on http://0.0.0.0:8000, redis at 127.0.0.1:6379, [::1]:5432 and localhost:5432, netmask 255.255.255.0",
    "s=9d21f0c64ab7437e8e50b3d7a61c84f2;i=6aa39;b=4c0e7a1d92b84f6fa3d5168e7b90c2f4;m=18169a93d33;t=65b0cd91819d1;x=59b0bfaaaad83a34",
    "/var/log/journal/0123456789abcdef0123456789abcdef/system.journal /var/lib/docker/overlay2/4f5e6d7c8b9a0b1c2d3e4f5a6b7c8d9e",
    "/usr/lib/python3.11/site-packages/sqlalchemy/pool/impl.py line 168, in _do_get (/app/node_modules/pg-pool/index.js:45:11)",
    'FATAL:  password authentication failed for user "app"; token expired; invalid token: unexpected end; max_tokens: 4096; password reset requested',
    'ERROR:  duplicate key value violates unique constraint "contacts_pkey" DETAIL:  Key (id)=(48213) already exists. session_id: 6b0c18ac.53fb',
    "basic authentication is off, no secret given, cookie missing, bearer token required",
    "pid=81234 lsn 16/B374D848 xid 7654321 oid 1.3.6.1.4.1.311 port 55432 bytes=912345678901 rss 104857600 0x7ffd9e8c4a10",
    "std::future error, crate::pool::Error, a::b::c, Foo@1a2b3c4d, express@4.18.2, git@v2, @app/core",
    "journalctl -u crm-api --since '2026-09-09 09:30:00' --until '2026-09-09 10:00:00' -o export",
    "HTTP 429 Too Many Requests, code 57P03, errno -104 ECONNRESET, EAI_AGAIN, SIGTERM, exit 137",
    "QueuePool<n> of Worker-<n> at <n>-<n>-<n>T<n>:<n>Z in /api/v<n>/users/<n>/photos, HikariPool-<n>, x<n>y<n>z",
    "Inbox <uuid> retried <n> times after <n> ms by <id>",
)  # fmt: skip
"""Ordinary texts of logs, of which nothing may be taken."""
TAKEN = (
    ("Authorization: Bearer 3f9c8a7b6d5e4f3a2b1c", "Authorization: Bearer token-1"),
    ("password=hunter2  # pragma: allowlist secret", "password=password-1  # pragma: allowlist secret"),
    ("postgresql://app:hunter2@db.internal:5432/crm", "postgresql://login-1@db.internal:5432/crm"),
    ("https:\\/\\/app:hunter2@hooks.example.com\\/x", "https://login-1@hooks.example.com/x"),
    ("Server=db;User Id=sa;Password=hun;ter2;Database=crm", "Server=db;User Id=sa;Password=password-1;Database=crm"),
    (r'{"m":"{\"password\":\"hun ter\",\"n\":1}"}', r'{"m":"{\"password\":\"password-1\",\"n\":1}"}'),
    ("ALTER USER app WITH PASSWORD 'hunter2'", "ALTER USER app WITH PASSWORD 'password-1'"),
    ("GET /cb?token=abc123&to=ana%40example.com&n=%2Fhome", "GET /cb?token=token-1&to=email-1&n=%2Fhome"),
    ("Cookie: sid=8f14e45f; theme=dark", "Cookie: cookie-1"),
    ("header dXNlcjogYW5hLnNvdXphQGV4YW1wbGUuY29t refused", "header encoded-1 refused"),
    ("203.0.113.7 ::ffff:203.0.113.7 ip-203-0-113-7.ec2.internal", "client-1 client-1 ip-client-1.ec2.internal"),
    ("from 2001:db8::7: refused, [2001:DB8:0::7]:443", "from client-1: refused, [client-1]:443"),
    ("localhost/127.0.0.1:6379 then db/10.0.0.5:5432", "localhost/127.0.0.1:6379 then db/client-1:5432"),
    ("Ana.Souza@Example.com, ana.souza@example.com", "email-1, email-1"),
    ("+55 11 91234-5678 or (11) 91234-5678", "phone-1 or phone-2"),
    ("02:00:5E:10:00:01 and 02-00-5e-10-00-01", "mac-1 and mac-1"),
    ("/home/ana/app.py C:\\Users\\Ana Souza\\app.py", "/home/home-1/app.py C:\\Users\\home-2\\app.py"),
    (f"GET /api/users/{UUID}/photos?request_id={UUID}", f"GET /api/users/user-1/photos?request_id={UUID}"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nnext", "private-key-1\nnext"),
    ("-----BEGIN PRIVATE KEY-----\nMIIE cut off", "private-key-1"),
    ("Authorization: Bearer\n\tQ2x5dGVtbmVzdHJh90\n\tb2xkc2VjcmV0MTIz\nnext", "Authorization: Bearer\n\ttoken-1\nnext"),
    ("first\\nAKIAIOSFODNN7EXAMPLE\\nlast", "first\\nkey-1\\nlast"),
    ("got eyJhbGciOiJIUzI<n>NiIsInR<n>cCI<n>IkpXVCJ<n>.abc once", "got key-1 once"),
    ("a WC<n>Db<n>ZXh<n>OiBTTVMg<n>dG b", "a encoded-1 b"),
    ("header:\nWC1Db250ZXh0OiBTTVMg\ndG8gKDExKSA5ODkxNC03\nMDU0IHF1ZXVlZA==\nok", "header:\nencoded-1\nok"),
    ("Oi8vc3ZjX2xsZGNicGVl", "encoded-1"),
    ("paid with 4111 1111 1111 1111, not 4111 1111 1111 1112", "paid with card-1, not 4111 1111 1111 1112"),
)  # fmt: skip
"""Texts and what is shown of them."""


@pytest.mark.parametrize("text", LEFT)
def test_ordinary_text_stays_readable(text: str) -> None:
    """Times, durations, units, statuses, sizes of pools, ids that join, containers, commits, versions, own addresses."""
    assert Masker().text(text) == text


@pytest.mark.parametrize(("text", "shown"), TAKEN)
def test_what_is_taken_and_what_is_left_around_it(text: str, shown: str) -> None:
    assert Masker().text(text) == shown


def test_a_value_has_one_name_in_all_texts() -> None:
    """Pseudonyms are numbered as they come, and counted by value."""
    masker = Masker()
    shown = [masker.text(text) for text in ("203.0.113.9", "203.0.113.7", "was 203.0.113.9", "a@example.com")]

    assert shown == ["client-1", "client-2", "was client-1", "email-1"]
    assert masker.counted() == {"email": 1, "client": 2}
    assert json.loads(masker.table())["pseudonyms"] == {
        "client-1": "203.0.113.9",
        "client-2": "203.0.113.7",
        "email-1": "a@example.com",
    }


def test_what_is_to_be_kept_is_kept() -> None:
    """Values, patterns and networks of the case file's list are shown, and not counted."""
    masker = Masker(keep=("203.0.113.7", "10.0.0.0/8", "*@example.com", "2001:db8::/32"))

    assert (
        masker.text("203.0.113.7 203.0.113.8 10.1.2.3 2001:db8::9")
        == "203.0.113.7 client-1 10.1.2.3 2001:db8::9"
    )
    assert masker.text("ana@example.com ana@example.org") == "ana@example.com email-1"
    assert masker.counted() == {"email": 1, "client": 1}


@pytest.mark.parametrize(
    "text",
    [
        "João da Silva",
        "joão  da silva",
        "João+da+Silva",
        "Jo\\u00e3o da Silva",
        "Jo%C3%A3o%20da%20Silva",
        "joão.da.silva",
    ],
)
def test_a_name_is_masked_in_every_spelling(text: str) -> None:
    assert Masker(names=["João da Silva"]).text(f"by {text} today") == "by name-1 today"
    assert Masker(names=["Ana"]).text("Anatomy, banana; ana!") == "Anatomy, banana; name-1!"


def test_every_kind_has_a_title() -> None:
    assert {rule.kind for rule in (*SECRETS, *PERSONAL)} | {"encoded", "name"} == set(TITLES)
    assert all(PSEUDONYM.fullmatch(f"{kind}-1") for kind in TITLES)


def test_all_detectors_take_part() -> None:
    """A detector is used or left out with a reason, and none that has hints is unknown to the library."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    known = {plugin.__name__ for plugin in get_mapping_from_secret_type_to_class().values()}
    assert set(LEFT_OUT) <= known
    assert set(HINTS) <= known
    assert len(detectors()) >= len(known) - len(LEFT_OUT)
    assert len(keywords()[1]) == 5


def test_hints_hide_nothing() -> None:
    """A rule whose hints stand in no text finds nothing there: literals are only a short cut."""
    masker = Masker()
    for text, _ in TAKEN:
        for rule in (*SECRETS, *PERSONAL):
            if not rule.may_find(text.lower()):
                assert list(rule.find(text)) == [], (rule.kind, text)
    assert masker.counted() == {}


def quiet_lines() -> Iterator[str]:
    """Yield lines of a quiet day, of every kind of log that the fixture has."""
    for path in sorted((INCIDENTS / "s10-quiet-day" / "inputs").iterdir()):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        lines = data.decode("utf-8", "replace").splitlines()
        yield from lines[:: max(len(lines) // 150, 1)]


def test_a_quiet_day_holds_no_secret() -> None:
    """On ordinary lines the detectors find nothing but pictures in base64; addresses and the numbers of messengers are all there is."""
    masker = Masker()
    for line in quiet_lines():
        masker.text(line)
    found = {name: value for name, value in masker.values.items() if len(value) < PICTURE}

    assert {PSEUDONYM.fullmatch(name)[1] for name in found} <= {"client", "account", "phone"}  # type: ignore[index]
    assert all(
        value.startswith(("203.0.113.", "198.51.100.", "192.0.2.", "172.", "10.", "5511", "7000"))
        for value in found.values()
    )


@pytest.mark.parametrize(
    "text",
    ["password=" * 900, "'" * 8000, "`" * 8000, "a" * 8000, "a@" * 4000, "1." * 4000, ":" * 8000, "%41" * 2700, "\\" * 8000, "-" * 8000,
     "secret " * 1100, "eyJ" * 2700, "/home/" * 1300, "aws key " * 1000, "+1" * 4000, "(11) " * 1600, '"password": "' * 600, "0:" * 4000, "A1b/" * 2000],
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    """No pattern backtracks: the longest text that is quoted is masked in a moment, whatever it holds."""
    Masker().text("password")
    began = time.process_time()
    Masker().text(text)

    assert time.process_time() - began < 1.5


# --- in reports


@pytest.fixture
def run(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs a command and returns its exit code and streams."""
    monkeypatch.setattr(drawing, "svg", lambda *_: "<svg/>")  # drawing takes long and has tests of its own
    monkeypatch.setattr(drawing, "png", lambda *_: b"")

    def call(*args: object) -> tuple[int, str, str]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(arg) for arg in args])
        out, err = capfd.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, out, err

    return call


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Return a folder with a log that names an address and a person."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "api.log").write_text(FAILURES)
    return folder


def case_file(tmp_path: Path, text: str) -> Path:
    """Write a case file."""
    path = tmp_path / "case.toml"
    path.write_text(text, encoding="utf-8")
    return path


def report(run: Callable[..., tuple[int, str, str]], *args: object) -> dict[str, Any]:
    """Report and return the document."""
    out = Path(str(args[0])).parent / "out"
    code, _, err = run("report", *args, "-o", out / "r.md", "--json", out / "r.json")
    assert code == 0, err
    return dict(json.loads((out / "r.json").read_text("utf-8")))


def test_the_case_file_says_what_is_kept_and_what_else_is_masked(run, inputs, tmp_path) -> None:
    """Counts per kind stand in report.json and, in words, on the page of either language; check agrees."""
    case = case_file(tmp_path, '[redact]\nnames = ["Ana Souza"]\n')
    document = report(run, inputs, "--case", case, "--lang", "pt-BR")
    page = (tmp_path / "out" / "r.md").read_text("utf-8")
    assert document["masked"] == {"client": 1, "name": 1}
    assert "(client-1 for name-1)" in document["evidence"][0]["text"]
    assert "Mascarado, por valores distintos: endereços IP 1; nomes 1." in page
    assert run("check", tmp_path / "out" / "r.json", inputs, "--case", case)[0] == 0
    assert run("check", tmp_path / "out" / "r.md", inputs, "--case", case)[0] == 0

    kept = report(run, inputs, "--case", case_file(tmp_path, '[redact]\nkeep = ["203.0.113.0/24"]\n'))
    assert kept["masked"] == {}
    assert "(203.0.113.7 for Ana Souza)" in kept["evidence"][0]["text"]
    assert "Masked, by distinct values: nothing." in (tmp_path / "out" / "r.md").read_text("utf-8")


def test_without_masks_nothing_is_counted(run, inputs, tmp_path) -> None:
    document = report(run, inputs, "--no-redact")
    page = (tmp_path / "out" / "r.md").read_text("utf-8")
    assert document["masked"] is None
    assert "203.0.113.7" in document["evidence"][0]["text"]
    assert "Masked" not in page
    assert "Line (masked)" not in page


@pytest.mark.parametrize("keep", ["[7]", '[""]', '"Ana"', "[[]]"])
def test_a_list_that_would_mask_nothing_is_refused(run, inputs, tmp_path, keep) -> None:
    case = case_file(tmp_path, f"[redact]\nnames = {keep}\n")
    code, _, err = run("report", inputs, "--case", case)
    assert code == 2
    assert "case.toml: redact" in err


def test_the_table_of_pseudonyms_is_for_its_owner_alone(run, inputs, tmp_path) -> None:
    """It is written only on request, readable by its owner only, and tells what each pseudonym stands for."""
    table = tmp_path / "private" / "who.json"
    report(run, inputs, "--pseudonyms", table)
    assert json.loads(table.read_text("utf-8")) == {
        "schema": "forensics.pseudonyms/1",
        "pseudonyms": {"client-1": "203.0.113.7"},
    }
    assert stat.S_IMODE(table.stat().st_mode) == 0o600
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "r.md",
        "r.json",
        "r-timeline.svg",
        "r-timeline.png",
        "r-rates.svg",
        "r-rates.png",
    }


@pytest.mark.parametrize(
    "others",
    [("-o", "out/r.md"), ("--json", "out/r.json"), ("--html", "x/../out/r.html"), ("--evidence", "out/e.md"), ("--charts", "out"), ("--json", "link/r.json")],
    ids=" ".join,
)  # fmt: skip
def test_the_table_is_refused_beside_any_other_output(run, inputs, tmp_path, monkeypatch, others) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("out", "x"):
        (tmp_path / folder).mkdir()
    (tmp_path / "link").symlink_to("out")
    code, out, err = run("report", inputs, *others, "--pseudonyms", "out/who.json")
    assert (code, out) == (2, "")
    assert "would lie beside" in err
    assert "name a file in a folder of its own" in err
    assert list((tmp_path / "out").iterdir()) == []


def test_the_table_needs_masks_and_overwrites_no_input(run, inputs, tmp_path) -> None:
    assert "nothing is masked" in run("report", inputs, "--no-redact", "--pseudonyms", tmp_path / "t.json")[2]
    code, _, err = run("report", inputs, "--pseudonyms", inputs / "api.log")
    assert code == 2
    assert "is an input and would be overwritten" in err
    assert (inputs / "api.log").read_text() == FAILURES


def test_explain_speaks_of_the_same_pseudonyms(run, inputs, tmp_path) -> None:
    """Raw lines bear the report's pseudonyms, new ones are numbered on; --no-redact shows them as they stand."""
    lines = FAILURES.splitlines(keepends=True)
    lines[:1] = [lines[0].replace("203.0.113.7", "203.0.113.3")]
    (inputs / "api.log").write_text("".join(lines))
    document = report(run, inputs)
    path = tmp_path / "out" / "r.json"
    row = next(row for row in document["evidence"] if "client-2" in row["text"])
    code, out, _ = run("explain", path, row["id"], inputs)
    assert code == 0
    assert "uvicorn[81]: sqlalchemy.exc.TimeoutError" in out
    assert "(client-2 for Ana Souza)" in out
    assert "(203.0.113.7 for Ana Souza)" in run("explain", path, row["id"], inputs, "--no-redact")[1]


def test_explain_needs_the_names_that_a_report_masks(run, inputs, tmp_path) -> None:
    case = case_file(tmp_path, '[redact]\nnames = ["Ana Souza"]\n')
    row = report(run, inputs, "--case", case)["evidence"][0]
    path = tmp_path / "out" / "r.json"
    code, out, err = run("explain", path, row["id"], inputs)
    assert (code, out) == (2, "")
    assert "give the same case file, or --no-redact" in err
    assert "for name-1)" in run("explain", path, row["id"], inputs, "--case", case)[1]
    assert "for name-1)" in run("explain", path, row["id"])[1]


def test_every_command_masks_and_shows_all_on_request(run, tmp_path) -> None:
    """Names of files and unknown lines are masked where no report is written, too."""
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / "203.0.113.7.log"
    path.write_text(FAILURES + "something for ana@example.com failed: error\n" * 3)
    for args in (
        ("sources", folder),
        ("sources", folder, "--format", "json"),
        ("daily", folder, "--format", "json"),
        ("formats", "test", path),
        ("signatures", "test", path),
    ):
        masked, bare = run(*args)[1], run(*args, "--no-redact")[1]
        assert "203.0.113.7" not in masked, args
        assert "ana@example.com" not in masked, args
        assert args[0] == "daily" or "203.0.113.7" in bare, args


def test_a_secret_is_not_cut_through_before_it_is_known(tmp_path) -> None:
    """A quotation is cut behind the masks: what is cut off a token leaves none of it."""
    token = "eyJhbGciOiJIUzI1NiJ9." + "QmFzZTY0dG9rZW4x" * 20 + ".c2ln"
    lines = [f"{line.rstrip()} {'x' * 420} got {token} back\n" for line in FAILURES.splitlines()]
    (tmp_path / "api.log").write_text("".join(lines))
    case = pipeline.investigate([str(tmp_path)], pipeline.Options())
    texts = [row["text"] for row in telling.build(case)["evidence"]]
    assert any("got jwt-1" in text for text in texts)
    assert not any("eyJ" in text for text in texts)
    assert all(len(row["text"]) <= 600 for row in telling.build(case, redact=False)["evidence"])
