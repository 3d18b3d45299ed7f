"""The table of what is masked: a kind, which is the word in the pseudonym, and how it is found.

The order is that in which a text is searched: what is found first is taken out, and the others see what is left. Adding a kind is a row
here, with its title below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forensics.report.masking import credentials, detectors, networks, people

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.report.masking.spans import Find


@dataclass(frozen=True, slots=True)
class Rule:
    """One way in which a kind is found."""

    kind: str
    find: Find
    same: Callable[[str], str] = str
    """Returns one spelling for all spellings of a value."""


SECRETS = (
    Rule("private-key", credentials.PRIVATE_KEY),
    Rule("login", credentials.LOGIN),
    Rule("jwt", credentials.JWT),
    Rule("key", credentials.KEY),
    Rule("key", credentials.TORN),
    Rule("token", credentials.AUTHORIZATION),
    Rule("token", credentials.BEARER),
    Rule("cookie", credentials.COOKIE),
    Rule("cookie", credentials.SESSION),
    Rule("password", credentials.PASSWORD),
    Rule("token", credentials.TOKEN),
    Rule("secret", credentials.SECRET),
    Rule("secret", detectors.detected),
    Rule("private-key", credentials.KEY_LINE),
)
"""Searched before what is encoded is decoded: a token is base64, too, and one as a whole."""
PERSONAL = (
    Rule("account", people.ACCOUNT),
    Rule("email", people.EMAIL, str.lower),
    Rule("mac", networks.MAC, lambda value: value.lower().replace("-", ":")),
    Rule("client", networks.ipv6, networks.same_address),
    Rule("client", networks.IPV4, networks.same_address),
    Rule("client", networks.IN_HOST, networks.same_address),
    Rule("card", people.CARD, people.digits),
    Rule("person-id", people.PERSON_ID, people.digits),
    Rule("person-id", people.PERSON_ID_FIELD, people.digits),
    Rule("card", people.IBAN, lambda value: value.replace(" ", "")),
    Rule("phone", people.phones, people.digits),
    Rule("user", people.user_keys, str.lower),
    Rule("home", people.HOME),
    Rule("home", people.WINDOWS_HOME),
)
NAME = "name"
ENCODED = "encoded"
TITLES = {
    "private-key": "private keys",
    "login": "users and passwords of URLs",
    "jwt": "JSON web tokens",
    "key": "keys of clouds and services",
    "token": "tokens",
    "cookie": "cookies and sessions",
    "password": "passwords",
    "secret": "other secrets",
    "encoded": "encoded values",
    "account": "accounts",
    "email": "e-mail addresses",
    "mac": "MAC addresses",
    "client": "IP addresses",
    "card": "cards and bank accounts",
    "person-id": "numbers of persons",
    "phone": "telephone numbers",
    "user": "keys of users",
    "home": "home directories",
    "name": "names",
}
"""What a pseudonym of each kind stands for, in the order in which counts are told."""
