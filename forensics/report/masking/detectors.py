"""The detectors of detect-secrets, by their patterns alone.

Its filters are left out: one of them obeys ``# pragma: allowlist secret``, also in a line of a log that anyone may have written.

Reference: https://github.com/Yelp/detect-secrets
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from forensics.report.masking.spans import apart, entropy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.report.masking.spans import Span

    Detector = tuple[re.Pattern[str], int, float, tuple[str, ...]]
    """A pattern, the group that holds the secret, the entropy from which it counts, and literals of which such a text has one."""

ALL_GROUPS = -1
LEFT_OUT = {
    "IPPublicDetector": "addresses have a class of their own, private ones among them",
    "HexHighEntropyString": "ids of requests, traces, containers, images and commits are quoted hex: they are joined by, and name no one",
    "KeywordDetector": "taken apart below: it finds only the first secret of a text",
}
"""Detectors that are not used as they are, and why."""
HINTS = {
    "ArtifactoryDetector": ("akc", "ap"),
    "AWSKeyDetector": ("a3t", "abia", "acca", "akia", "asia", "aws"),
    "AzureStorageKeyDetector": ("accountkey",),
    "Base64HighEntropyString": ("'", '"'),
    "BasicAuthDetector": ("://",),
    "CloudantDetector": ("cl",),
    "GitHubTokenDetector": ("gh",),
    "GitLabTokenDetector": ("gl", "gr1348941"),
    "IbmCloudIamDetector": ("key", "pwd", "pass", "token"),
    "IbmCosHmacDetector": ("secret",),
    "JwtTokenDetector": ("eyj",),
    "MailchimpDetector": ("-us",),
    "NpmDetector": ("_authtoken",),
    "OpenAIDetector": ("sk-",),
    "PrivateKeyDetector": ("private key", "putty"),
    "PypiTokenDetector": ("pypi-",),
    "SendGridDetector": ("sg.",),
    "SlackDetector": ("xox", "hooks.slack.com"),
    "SoftlayerDetector": ("sl", "softlayer"),
    "SquareOAuthDetector": ("sq0csp-",),
    "StripeDetector": ("k_live_",),
    "TwilioKeyDetector": ("ac", "sk"),
}
"""Small-letter literals without which a detector finds nothing; one that is not named here sees every text."""
PORT = re.compile(r"\d{1,5}(?:[/?]|$)")
ROUTE = re.compile(r"/|[a-z]+(?:[-_/][a-z]+)*$")


@cache
def detectors() -> tuple[Detector, ...]:
    """Return all detectors; the library is loaded when the first text is masked, since it takes longer than the masking."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class  # noqa: PLC0415 - see above
    from detect_secrets.plugins.high_entropy_strings import HighEntropyStringsPlugin  # noqa: PLC0415

    found: list[Detector] = []
    plugins: list[Any] = list(get_mapping_from_secret_type_to_class().values())
    for plugin in sorted(plugins, key=lambda one: one.__name__):
        if plugin.__name__ in LEFT_OUT:
            continue
        made, hints = plugin(), HINTS.get(plugin.__name__, ())
        if isinstance(made, HighEntropyStringsPlugin):
            found.append((made.regex, 2, made.entropy_limit, hints))
        else:
            found += [(pattern, ALL_GROUPS, 0.0, hints) for pattern in made.denylist]
    return tuple(found)


@cache
def keywords() -> tuple[re.Pattern[str], dict[re.Pattern[str], int]]:
    """Return the words that name a secret, and the patterns of a name with a value in quotes."""
    from detect_secrets.plugins import keyword  # noqa: PLC0415 - as above

    return re.compile(
        "|".join(keyword.DENYLIST), re.IGNORECASE
    ), keyword.QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP


def detected(text: str) -> Iterator[Span]:
    """Yield what the detectors find."""
    spans: list[Span] = []
    small = text.lower()
    for pattern, group, least, hints in detectors():
        if hints and not any(hint in small for hint in hints):
            continue
        for match in pattern.finditer(text):
            for span in held(match, group):
                value = text[slice(*span)]
                if not (least and (entropy(value) <= least or ROUTE.match(value))) and not PORT.match(value):
                    spans.append(span)
    names, quoted = keywords()
    if names.search(text):
        spans += [match.span(group) for pattern, group in quoted.items() for match in pattern.finditer(text)]
    return apart(spans)


def held(match: re.Match[str], group: int) -> list[Span]:
    """Return the ranges that a detector means: its group, or all of the match where a group only tells prefixes apart."""
    if group != ALL_GROUPS:
        return [match.span(group)]
    groups = [match.span(at) for at in range(1, match.re.groups + 1) if match[at]]
    prefixed = any(start == match.start() for start, _ in groups)
    return groups if groups and not prefixed else [match.span()]
