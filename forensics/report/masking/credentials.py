r"""Secrets by their shape and by the name that stands before them.

    Authorization: Bearer 3f9c…      postgresql://app:hunter2@db/app      {\"password\": \"hunter2\"}
    Cookie: sid=8f14e45f; theme=dark -----BEGIN PRIVATE KEY-----          --api-key=9a0364b9

Names and schemes: RFC 7235 (Authorization), RFC 6265 (Cookie), RFC 3986 section 3.2.1 (user information), RFC 7468 (PEM).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from forensics.report.masking.spans import entropy, matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.report.masking.spans import Find, Span

APART = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}))"
"""Where a key may begin: behind what is no part of it, or behind a percent-encoded character."""
QUOTE = r"\\*[\"'`]"
BLANK = r"(?:\s|\\+[nrt])"
"""A blank, or how a string of JSON writes it."""
NAMED = rf"(?:{QUOTE})?\]?(?:(?<=[\"'`]),{BLANK}*|{BLANK}*(?:=>|:=|={{1,3}}|:){BLANK}*)\[?(?:[bru]{{1,2}}(?=\\*[\"']))?"
"""What stands between a name and its value: ``=``, ``: ``, ``" => b'``, in a list of pairs a comma after the quoted name."""
SCHEMES = r"(?:bearer|basic|token|digest|negotiate|apikey|api-key)"
UNQUOTED = re.compile(
    r"(?:(?![&;,]\s?[\w.%\[\]-]+\\*[\"']?[=:])[^\s\"'`<>\\])+(?:\\+(?![\"'nrt])[^\s\"'`<>\\]+)*"
)
"""A value without quotes ends at a blank, or where the next name of a query or a connection string begins."""
COOKIES = re.compile(r"[^\s\"'`<>;\\]+(?:;[ \t]*[^\s\"'`<>;=\\]+(?:=[^\s\"'`<>;\\]*)?)*")
"""A cookie header goes on behind each semicolon."""
TRAILING = "])},;"
"""What may stand right behind a value without quotes."""
SAID = frozenset(
    [
        "true",
        "false",
        "null",
        "none",
        "nil",
        "undefined",
        "empty",
        "unset",
        "missing",
        "required",
        "invalid",
        "expired",
        "wrong",
        "incorrect",
        "redacted",
        "masked",
        "hidden",
        "filtered",
        "removed",
        "omitted",
        "yes",
        "no",
        "is",
        "was",
        "not",
        "has",
        "have",
        "the",
        "a",
        "an",
        "and",
        "or",
        "for",
        "from",
        "in",
        "of",
        "to",
        "with",
        "must",
        "should",
        "cannot",
        "can",
        "bearer",
        "basic",
        "token",
        "digest",
        "negotiate",
    ]
)
"""Words that are said about a secret where the secret itself would stand."""
FOLDED = re.compile(
    r"(?:\\?\r?\n|(?:\\+r)?\\+n)(?:[ \t]|\\+t)+([A-Za-z0-9+/=_.~-]{8,})(?=\s*\n|\\+[rn]|\s*\Z|[\"'])"
)
"""A header's or a wrapped value's next line: indented, one word, nothing behind it."""
BACKEND = re.compile(r"[0-9a-f]{6,8}\.[0-9a-f]{1,8}")
"""PostgreSQL's id of a session: when it began and the process, in hexadecimal."""
ENTROPY = 3.5
"""Bits per character from which a lone word on a line is taken for a piece of a key; prose and identifiers have less."""


def named(
    names: str, *, prose: bool = False, value: re.Pattern[str] = UNQUOTED, scheme: bool = False
) -> Find:
    """Return a finder of what stands behind a name, in quotes of any depth of escaping or without.

    With ``prose`` the name is a common word too (``token: unexpected``): without quotes, its value needs a digit, or capitals amid small
    letters. With ``scheme`` the value may begin with an authentication scheme, which is left to be read.
    """
    before = rf"(?:{names})(?:[_-]?(?:confirm(?:ation)?|hash|value|raw|\d))?"
    flag = rf"(?<![\w-])--?[\w-]{{0,30}}(?:{names})[ =]{BLANK}*"
    lead = rf"(?:{SCHEMES}{BLANK}+)?" if scheme else ""
    head = re.compile(
        rf"(?:{before}(?:{NAMED}|\s+(?=')|\s+(?=\\+'))|{flag})(?P<q>{QUOTE})?{lead}", re.IGNORECASE
    )

    def find(text: str) -> Iterator[Span]:
        done = 0
        for match in head.finditer(text):
            if match.start() < done:
                continue
            span = quoted(text, match) if match["q"] else bare(text, match.end(), value)
            if span is None or not believable(text[slice(*span)], prose=prose and not match["q"]):
                continue
            done = unfolded(text, span[1]) if not match["q"] else span[1]
            yield span[0], done

    return find


def quoted(text: str, match: re.Match[str]) -> Span | None:
    """Return the range up to the quotation mark that closes a value, or up to the end of the text."""
    mark, start = match["q"], match.end()
    end = text.find(mark, start)
    while end > 0 and text[end - 1] == "\\":
        end = text.find(mark, end + 1)
    return start, end if end >= 0 else len(text)


def bare(text: str, start: int, value: re.Pattern[str]) -> Span | None:
    """Return the range of a value without quotes."""
    found = value.match(text, start)
    if found is None:
        return None
    held = found[0].rstrip(TRAILING)
    return (start, start + len(held)) if held and held[0] not in "{[(" else None


def unfolded(text: str, end: int) -> int:
    """Return where a value ends that goes on in the next lines."""
    while (found := FOLDED.match(text, end)) and mixed(found[1]):
        end = found.end(1)
    return end


def believable(value: str, *, prose: bool) -> bool:
    """Can this be a secret, and not a word about one?"""
    plain = value.strip().lower()
    if (
        len(plain) < 3
        or plain in SAID
        or BACKEND.fullmatch(plain)
        or set(plain) <= set("*x.•-…")
        or re.fullmatch(r"<[\w ]+>", plain)
    ):
        return False
    return (
        not prose
        or any(char.isdigit() for char in plain)
        or bool(re.search(r"[a-z][A-Z]|[A-Z]{2}.*[a-z]", value))
    )


def mixed(value: str) -> bool:
    """Is this a word that nobody would write: letters and digits, or capitals amid small letters?"""
    return bool(re.search(r"\d", value) and re.search(r"[A-Za-z]", value)) or bool(
        re.search(r"[a-z][A-Z]", value)
    )


def unspoken(match: re.Match[str]) -> bool:
    """Is what follows a scheme a credential (``basic auth`` is none)?"""
    value = match["v"]
    return mixed(value) or len(value) >= 20 or value.endswith("=")


def torn(match: re.Match[str]) -> bool:
    """Is a lone word on its line a piece of a key?"""
    value = match["v"]
    classes = sum(bool(re.search(group, value)) for group in (r"[a-z]", r"[A-Z]", r"\d"))
    return classes == 3 and entropy(value) > ENTROPY


PRIVATE_KEY = matches(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|(?:[A-Za-z0-9+/=]{16,}(?:\s|\\r|\\n)+)*[A-Za-z0-9+/=]*\s*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
)
"""A key in PEM, also one that is cut off at either end."""
KEY_LINE = matches(r"(?m)^[ \t|]*(?P<v>[A-Za-z0-9+/]{16,}={0,2})[ \t]*$", torn)
"""A line of a key whose beginning is in another record."""
LOGIN = matches(
    r"(?<=://)(?:[^\s/?#\"'`<>@:\\]*:[^\s/?#\"'`<>]+|[^\s/?#\"'`<>@:\\]{12,})(?=@)"
    r"|(?<![\w.-])[\w.-]+:[^\s@/]+(?=@(?:tcp|unix)\()"
    r"|(?<=thin:)[^\s/@]+/[^\s@]+(?=@)"
    r"|(?<=-u )(?!\d+:\d+\b)[\w.-]+:[^\s\"']+"
)
"""User and password of a URL, of a Go or Oracle data source, of curl's option; a token that stands alone before the @."""
JWT = matches(rf"{APART}eyJ[\w-]{{5,}}(?:\.[\w=+/-]+){{1,4}}")
BEARER = matches(rf"(?i)\b{SCHEMES}(?:{BLANK}+|%20|\+)(?P<v>[\w.~+/=-]{{8,}})", unspoken)
KEY = matches(
    APART + r"(?:"
    r"(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[0-9A-Z]{16}|LTAI[A-Za-z0-9]{12,}|AKID[A-Za-z0-9]{13,}"
    r"|AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|gl(?:pat|dt|rt|ft|ptt|soat|cbt|imt|agent)-[\w-]{16,}"
    r"|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}"
    r"|(?:sk|rk|pk)_(?:live|test)_\w{10,}|whsec_[\w+/=]{16,}|sq0[a-z]{3}-[\w-]{20,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{20,}"
    r"|sk-(?:ant-|proj-|or-)?[\w-]{20,}|hf_[A-Za-z0-9]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|key-[0-9a-f]{32}|re_[A-Za-z0-9_]{20,}"
    r"|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|do[opr]_v1_[0-9a-f]{40,}|hv[sbr]\.[\w-]{20,}|dp\.[a-z]{2,5}\.\w{20,}"
    r"|NRAK-[A-Z0-9]{20,}|PMAK-[\w-]{20,}|dapi[0-9a-f]{32}|ATATT3[\w=-]{20,}|lin_api_\w{20,}|EAA[A-Za-z0-9]{40,}"
    r"|AGE-SECRET-KEY-1[0-9A-Z]{20,}|\d{8,10}:AA[\w-]{32,}"
    r")"
    r"|(?<=hooks\.slack\.com/services/)T\w+/B\w+/\w+|(?<=/webhooks/)\d{15,}/[\w-]{20,}"
)
"""Keys of clouds and services that say themselves what they are."""
TORN = matches(
    r"(?<![A-Za-z0-9])(?:eyJ|AKIA|ASIA|AIza|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|sk_live_|sk_test_|rk_live_|sk-|SG\.|npm_|pypi-|hvs\.|hf_)"
    r"(?:[\w+/=.-]|<(?:n|id)>)*<(?:n|id)>(?:[\w+/=.-]|<(?:n|id)>)*"
)
"""What a template of messages leaves of such a key: its digits are marks there."""
PASSWORD = named(r"pass(?:word|wd|phrase|code)|\bpass\b|pwd|senha|contrase(?:ñ|n)a|identified by")
AUTHORIZATION = named(r"authorization|x-auth(?:-[\w-]+)?|http_authorization", scheme=True)
COOKIE = named(r"set[-_]?cookie2?|cookies?", value=COOKIES)
SESSION = named(
    r"connect\.sid|PHPSESSID|JSESSIONID|ASP\.NET_SessionId|\bsid|_?session(?:id|_id|[-_]?key|[-_]?token)?|(?:csrf|xsrf)[-_]?\w{0,12}|laravel_session|remember_\w+",
    prose=True,
)
TOKEN = named(r"token|\bjwt|\botp|\bnonce|\bcode_verifier|\bsig|signature|bearer|\bsas", prose=True)
SECRET = named(
    r"secret|(?:api|access|account|auth|service|private|priv|master|license|encryption|signing|client|consumer|shared|sharedaccess|storage|secret|deploy|db|database|webhook)[_. -]?key|x-api-key|credentials?|\bpin\b|\bcvv\b",
    prose=True,
)
