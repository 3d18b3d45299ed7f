"""The table of what is masked: a kind, which is the word in the pseudonym, and how it is found.

The order is that in which a text is searched: what is found first is taken out, and the others see what is left. Adding a kind is a row
here, with its title below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forensics.report.masking import credentials, detectors, encodings, networks, people

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
    hints: tuple[str, ...] = ()
    """Small-letter literals, one of which stands in every text that holds the kind: most texts hold none and are not searched."""

    def may_find(self, small: str) -> bool:
        """Can anything be found in a text, given in small letters?"""
        return not self.hints or any(hint in small for hint in self.hints)


SECRETS = (
    Rule("private-key", credentials.PRIVATE_KEY, hints=("private key",)),
    Rule("login", credentials.LOGIN, hints=("@", "-u ")),
    Rule("jwt", credentials.JWT, hints=("eyj",)),
    Rule("key", credentials.KEY),
    Rule("key", credentials.TORN, hints=("<n>", "<id>")),
    Rule("token", credentials.AUTHORIZATION, hints=("auth",)),
    Rule("token", credentials.BEARER, hints=("bearer", "basic", "token", "digest", "negotiate", "api")),
    Rule("cookie", credentials.COOKIE, hints=("cookie",)),
    Rule("cookie", credentials.SESSION, hints=("sid", "sess", "csrf", "xsrf", "remember_")),
    Rule("password", credentials.PASSWORD, hints=("pass", "pwd", "senha", "contrase", "identified by")),
    Rule(
        "token", credentials.TOKEN, hints=("token", "jwt", "otp", "nonce", "verifier", "sig", "bearer", "sas")
    ),
    Rule("secret", credentials.SECRET, hints=("secret", "key", "credential", "pin", "cvv")),
    Rule("secret", detectors.detected),
    Rule("encoded", encodings.torn, hints=("<n>", "<id>")),
)
"""Searched before what is encoded is decoded: a token is base64, too, and one as a whole."""
PERSONAL = (
    Rule("private-key", credentials.KEY_LINE),
    Rule("account", people.ACCOUNT, hints=("@",)),
    Rule("email", people.EMAIL, str.lower, hints=("@",)),
    Rule("mac", networks.MAC, lambda value: value.lower().replace("-", ":")),
    Rule("client", networks.ipv6, networks.same_address, hints=(":",)),
    Rule("client", networks.IPV4, networks.same_address),
    Rule("client", networks.IN_HOST, networks.same_address, hints=("ip-",)),
    Rule("card", people.CARD, people.digits),
    Rule("person-id", people.PERSON_ID, people.digits),
    Rule(
        "person-id",
        people.PERSON_ID_FIELD,
        people.digits,
        hints=("cpf", "cnpj", "ssn", "rg", "nif", "dni", "passport"),
    ),
    Rule("card", people.IBAN, lambda value: value.replace(" ", "")),
    Rule("phone", people.phones, people.digits),
    Rule("user", people.user_keys, str.lower),
    Rule("home", people.HOME, hints=("/home/", "/users/")),
    Rule("home", people.WINDOWS_HOME, hints=("users",)),
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
