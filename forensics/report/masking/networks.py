"""Addresses: IPv4 and IPv6 in every spelling, inside host names of clouds, and those of network cards.

    203.0.113.7:51514   [2001:db8::7]:443   ::ffff:203.0.113.7   ip-10-0-3-7.ec2.internal   00:00:5e:00:53:07

Addresses of this host and wildcards name nobody and are left: they say what a server listens on.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

from forensics.report.masking.spans import START, matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.report.masking.spans import Span

OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
VERSION = re.compile(r"(?i)(?:\bv|version|release|build|\bver)[ =:/\"']{0,3}$|[a-z]/$")
"""What stands before four numbers that are a version."""
BLANK = frozenset({"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"})
LONGEST = 39 + 16
"""Characters of the longest IPv6 address, with the interface behind it."""


def address(match: re.Match[str]) -> bool:
    """Is this the address of someone, and no version of a program?

    ``Chrome/120.0.0.0`` is what browsers say of themselves: a product, and zeros that no host's address ends in.
    """
    value = match["v"]
    before = match.string[max(0, match.start() - 12) : match.start()]
    said = VERSION.search(before)
    if said and (said[0][1:] != "/" or value.endswith(".0.0")):
        return False
    return not value.startswith(("127.", "255.255.")) and value != "0.0.0.0"  # noqa: S104 - not bound, only read


IPV4 = matches(rf"(?<![\d.])(?<![vV])(?P<v>(?:{OCTET}\.){{3}}{OCTET})(?![\d.]*\d)", address)
IN_HOST = matches(rf"\bip-(?P<v>(?:{OCTET}-){{3}}{OCTET})(?![\d-])")
"""Amazon names hosts by their address."""
IPV6 = re.compile(rf"{START}(?<!:)[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(?:%\w+)?")


def ipv6(text: str) -> Iterator[Span]:
    """Yield IPv6 addresses; a port without brackets and a colon of the sentence are not theirs."""
    for match in IPV6.finditer(text):
        end = match.start() + len(match[0].rstrip(":.")) if not match[0].endswith("::") else match.end()
        for last in (end, text.rfind(":", match.start(), end)):
            if identifies(text[match.start() : last], text[last : last + 1]):
                yield match.start(), last
                break


def identifies(value: str, behind: str) -> bool:
    """Is this the address of someone? ``::`` and ``::1`` are not, and ``a::b`` without a digit is a name in a program."""
    if len(value) > LONGEST or behind.isalnum() or not any(char.isdigit() for char in value):
        return False
    try:
        found = IPv6Address(value)
    except AddressValueError:
        return False
    inner = found.ipv4_mapped
    return not (found.is_loopback or found.is_unspecified or (inner is not None and inner.is_loopback))


def card(match: re.Match[str]) -> bool:
    """Is this the address of one network card?"""
    return match["v"].lower().replace("-", ":") not in BLANK


MAC = matches(
    r"(?<![0-9A-Za-z])(?P<v>[0-9A-Fa-f]{2}(?P<s>[:-])(?:[0-9A-Fa-f]{2}(?P=s)){4}[0-9A-Fa-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4})(?![0-9A-Za-z])",
    card,
)


def same_address(value: str) -> str:
    """Return one spelling for all of an address."""
    bare = value.partition("%")[0]
    if re.fullmatch(r"[\d-]+", bare):
        return bare.replace("-", ".")
    if ":" not in bare:
        return bare
    found = IPv6Address(bare)
    return str(found.ipv4_mapped or found)


def within(value: str, network: str) -> bool:
    """Does an address lie in a network such as ``10.0.0.0/8``?"""
    try:
        return ip_address(value) in ip_network(network, strict=False)
    except ValueError:
        return False
