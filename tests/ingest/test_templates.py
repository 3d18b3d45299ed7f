"""Templates of messages: what varies is masked, secrets first, and the words that tell messages apart stay."""

from __future__ import annotations

import polars as pl
import pytest

from forensics.ingest.understand import template

SECRETS = {
    "Authorization: Basic YWRtaW46aHVudGVyMnBhc3M=": "YWRtaW46aHVudGVyMnBhc3M=",
    "auth Basic YWRtaW46aHVudGVyMnBhc3M= refused": "YWRtaW46aHVudGVyMnBhc3M=",
    "sent Bearer abcdefghijkL.mnopqrst": "abcdefghijkL.mnopqrst",
    "jdbc:mysql://db.internal/app?user=app&password=S3nh4Secreta9": "S3nh4Secreta9",
    "Server=tcp:db;User Id=app;Password=Tr0ub4dor&Horse3;": "Tr0ub4dor&Horse3",
    '{"db_password": "Correct4Horse!"}': "Correct4Horse",
    "redis://:p4ssVeryLong@10.0.0.5:6379/0": "p4ssVeryLong",
    "amqp://svc:GuestPasswd@mq:5672/%2f": "GuestPasswd",
    "posting to https://hooks.slack.com/services/T00000000/B00000000/XXXXabcdXXXXabcdXXXXabcd": "XXXXabcdXXXXabcdXXXXabcd",
    "x-api-key: abcdefabcdefabcdef": "abcdefabcdefabcdef",
    "Set-Cookie: sid=qwertyuiopasdf; theme=darkmodeplease": "qwertyuiopasdf",
    "retry with sk_live_4eC39HqLyjWDarjtT1zdp7dc": "HqLyjWDarjtT",
    "key npm_1234567890abcdefghijABCDEFGHIJ123456 expired": "abcdefghijABCDEFGHIJ",
    "glpat-abcDEF1234567890xyzA in use": "abcDEF",
    "login com senha=umaChaveBemLonga": "umaChaveBemLonga",
}  # fmt: skip
WORDS = {
    "worker-3 failed after 4 attempts": "worker-<n> failed after <n> attempts",
    "Basic authentication failed for user 12": "Basic authentication failed for user <n>",
    "GET /api/contacts/163/avatar took 30 ms": "GET /api/contacts/<n>/avatar took <n> ms",
    "stream error: HTTP2_PROTOCOL_ERROR_UNKNOWN": "stream error: HTTP<n>_PROTOCOL_ERROR_UNKNOWN",
    "ConnectionAcquireTimeoutError: pool 5 of 10": "ConnectionAcquireTimeoutError: pool <n> of <n>",
    "2026-11-29T12:00:00.123Z token refreshed": "<time> token refreshed",
    "header:\nWC1Db250ZXh0OiBTZXJ2\nZXI9ZGI7VXNlciBJZD1z\nY3plYXVvNzQzKw==\nrefused": "header:\n<id>\nrefused",
    "cache miss YWRtaW46aHVu== again": "cache miss <id> again",
    "retry 01HZX5Q0N2B8F3K9M7R4\nTimeoutError: late": "retry <id>\nTimeoutError: late",
    "set timeout= in app.conf": "set timeout= in app.conf",
}


@pytest.mark.parametrize("message", SECRETS)
def test_a_template_holds_no_part_of_a_secret(message: str) -> None:
    """Masking looks for whole secrets, so that a template with all of one but its digits would pass it."""
    made = template(pl.lit(message)).alias("t")
    told = pl.select(made)["t"][0].replace("<secret>", "")
    secret = SECRETS[message]
    parts = [secret[at : at + 4] for at in range(len(secret) - 3) if secret[at : at + 4].isalpha()]

    assert parts
    assert [part for part in parts if part in told] == []


@pytest.mark.parametrize("message", WORDS)
def test_words_stay(message: str) -> None:
    """What is no secret is told as it was."""
    assert pl.select(template(pl.lit(message)).alias("t"))["t"][0] == WORDS[message]
