"""How a check failed, by what the monitor says of it: each kind stands for another part of the way.

timeout of 4000ms exceeded     connect ECONNREFUSED 192.0.2.7:443     certificate has expired     Request failed with status code 502
"""

from __future__ import annotations

import re

KINDS = {
    "dns": r"ENOTFOUND|EAI_AGAIN|EAI_NODATA|getaddrinfo|no such host|name or service not known|(?:temporary failure in )?name resolution|NXDOMAIN|SERVFAIL|server misbehaving|could not resolve|UnknownHost|\bDNS\b",
    "tls": r"certificate|x509|\bCERT_|ERR_TLS|ERR_SSL|\bTLS\b|\bSSL\b|self[- ]signed|UNABLE_TO_(?:GET|VERIFY)|DEPTH_ZERO",
    "refused": r"ECONNREFUSED|connection refused|actively refused",
    "unreachable": r"EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|no route to host|(?:host|network) (?:is )?unreachable",
    "timeout": r"time(?:d)?[ -]?out|ETIMEDOUT|ESOCKETTIMEDOUT|ECONNABORTED|deadline exceeded|tempo esgotado|zeitüberschreitung",
    "reset": r"ECONNRESET|EPIPE|socket hang up|reset by peer|\bEOF\b|connection (?:was )?(?:closed|reset|aborted)|empty reply",
    "http": r"\bHTTP(?:/[\d.]+)?[ :]+[1-5]\d\d\b|status(?: code)?:? ?[1-5]\d\d\b|^\s*[45]\d\d\b|\b[45]\d\d [-\u2013] ",
}
"""Words of libuv, Node's https, Go's net and crypto/x509, curl and Python's socket, by kind; the first that fits counts."""
PATTERNS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in KINDS.items()}
STATUS = re.compile(r"\b([1-5]\d\d)\b")
UNANSWERED = ("timeout", "missing", "late", "unknown")
"""Kinds in which nothing says that anybody answered."""
RELAYED = (502, 503, 504)
"""Statuses with which a proxy tells that the server behind it did not answer."""


def outcome(state: str, error: str | None) -> str:
    """Return how a check failed: a kind of :data:`KINDS`, ``late`` and ``missing`` (no result) by its state, else ``unknown``."""
    if state in ("late", "missed") and error is None:
        return "late" if state == "late" else "missing"
    return next((kind for kind, pattern in PATTERNS.items() if error and pattern.search(error)), "unknown")


def unanswered(state: str, error: str | None) -> bool:
    """May the server itself have stood still? It may not where it refused, answered with a status of its own, or its name or certificate failed."""
    kind = outcome(state, error)
    if kind == "http":
        said = STATUS.search(error or "")
        return said is not None and int(said[1]) in RELAYED
    return kind in UNANSWERED or kind == "reset"
