"""What names a person: mail, telephone, accounts, home directories, keys of users in routes, numbers that a state or a bank gave out.

    ana.souza@example.com   +55 11 91234-5678   5511912345678@s.whatsapp.net   /home/ana/app.py   /users/6f1c…-…-…/photos

Telephone numbers are parsed with Google's metadata. Digits alone are a number of anything; they are taken for a telephone's only with a
plus, a grouping or a name before them, or where they are a mobile number with its country.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import phonenumbers
from phonenumbers import Leniency, NumberParseException, PhoneNumberMatcher, PhoneNumberType

from forensics.report.masking.credentials import NAMED, QUOTE
from forensics.report.masking.spans import apart, matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.report.masking.spans import Find, Span

UNITS = r"service|socket|device|mount|automount|swap|target|path|timer|slice|scope"
FILES = (
    r"py|js|mjs|cjs|ts|tsx|jsx|so|jar|rb|go|rs|java|php|log|conf|json|toml|ya?ml|lock|tgz|gz|zip|md|css|html"
)
EMAIL = matches(
    rf"(?<![\w.+%-])[\w.+-]+@(?![\w.-]*\.(?:{UNITS}|{FILES})(?![\w.-]))(?:[\w-]+\.)+[^\W\d_]{{2,24}}(?!\w)"
)
"""``getty@tty1.service`` is a unit and ``vue@3.dist.js`` a file."""
ACCOUNT = matches(r"(?<![\w.])\d{6,}(?:[:-]\d+)?@[A-Za-z][\w.]*")
"""Accounts of messengers: a number at a server."""
HOME = matches(r"(?:(?<=/home/)|(?<=/Users/))[A-Za-z_][\w.-]*")
WINDOWS_HOME = matches(r"[A-Za-z]:(?:\\+|/)Users(?:\\+|/)(?P<v>[^\\/:*?\"'<>|\r\n]+)")

REGIONS = ("BR", "US", "GB", "PT", "DE", "FR", "ES", "IT", "AR", "MX", "IN")
"""Countries whose national spelling is known; a number of any country is known by its plus."""
PLUS = re.compile(r"(?:\+|(?<!\d)00)[1-9]")
GROUPED = re.compile(
    r"(?<![\w.:/+-])(?P<v>\(0?\d{2,4}\) ?\d{3,5}[ .-]?\d{4}|\d{3}[.-]\d{3}[.-]\d{4}|\d{2,3}[ -]9?\d{4}-\d{4}|0\d{2,4} \d{3,4} \d{3,4}|\d{2} 9\d{4} \d{4})(?![\w:-]|\.\d)"
)
"""National spellings: an area in brackets, or groups that a number of anything else does not have."""
CALLED = re.compile(
    rf"(?i)(?:phone|\btel|telefone?|\bfone|celular|mobile|whats_?app|msisdn)(?:[_-]?(?:number|numero|no|e164))?{NAMED}(?:{QUOTE})?(?P<v>\+?\(?\d(?:[ ().-]{{0,2}}\d){{7,14}})(?!\d)"
)
MOBILE = re.compile(r"(?<![\w.:+-])(?P<v>[1-9]\d{11,12})(?![\w.:-])")


def phones(text: str) -> Iterator[Span]:
    """Yield telephone numbers."""
    spans: list[Span] = []
    if PLUS.search(text):
        found = PhoneNumberMatcher(text, None, leniency=Leniency.POSSIBLE)
        spans += [(one.start, one.end) for one in found if text[one.start : one.end].lstrip("(")[0] in "+0"]
    for pattern, check in ((GROUPED, grouped), (CALLED, called), (MOBILE, mobile)):
        spans += [match.span("v") for match in pattern.finditer(text) if check(match["v"])]
    return apart(spans)


def parsed(value: str, region: str | None) -> phonenumbers.PhoneNumber | None:
    """Return a number, None where it is none."""
    try:
        return phonenumbers.parse(value, region)
    except NumberParseException:
        return None


def grouped(value: str) -> bool:
    """Is this a number of one of the known countries? A spelling with brackets or two hyphens need only be a possible one."""
    test = (
        phonenumbers.is_possible_number
        if value[0] == "(" or value.count("-") > 1
        else phonenumbers.is_valid_number
    )
    return any(found is not None and test(found) for found in (parsed(value, region) for region in REGIONS))


def called(value: str) -> bool:
    """Has a value that is called a telephone number as many digits as one?"""
    return 8 <= sum(char.isdigit() for char in value) <= 15


def mobile(value: str) -> bool:
    """Are these bare digits a mobile number with its country? Counters and instants of as many digits seldom are."""
    found = parsed(f"+{value}", None)
    return (
        found is not None
        and phonenumbers.is_valid_number(found)
        and phonenumbers.region_code_for_number(found) in REGIONS
        and phonenumbers.number_type(found) == PhoneNumberType.MOBILE
    )


def digits(value: str) -> str:
    """Return the digits of a number, by which its spellings agree."""
    return re.sub(r"\D", "", value)


UUID = r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
KEY = rf"(?:{UUID}|[0-9a-f]{{32}}|[0-9a-f]{{24}}|[0-7][0-9A-HJKMNP-TV-Z]{{25}})"
"""A UUID, with hyphens or without, a MongoDB ObjectId, a ULID. Commits have 40 digits, containers 64 or 12."""
PATH = re.compile(
    r"(?<![\w/.~-])(?:\w+://[^\s/\"'<>]+)?(?!/(?:var|proc|sys|dev|run|etc|usr|tmp|opt|srv|mnt|lib|boot|root|home)/)(?P<v>/[^\s\"'<>|;,\\]*)"
)
"""A route, and no path of a file system."""
SEGMENT = re.compile(rf"(?<=/){KEY}(?![\w-])")
PERSON = r"(?:user|customer|account|member|patient|person|owner|profile|subscriber|client|contact)(?:[_.-]?(?:id|key|uuid|ref))?|uid"
FIELD = re.compile(rf"(?i)(?<![a-z])(?:{PERSON}){NAMED}(?:{QUOTE})?(?P<v>(?-i:{KEY}))(?![\w-])")


def user_keys(text: str) -> Iterator[Span]:
    """Yield keys in routes and in fields that name a person; ids of requests and traces stand elsewhere and are left."""
    spans = [match.span("v") for match in FIELD.finditer(text)]
    for path in PATH.finditer(text):
        spans += [match.span() for match in SEGMENT.finditer(text, *path.span("v"))]
    return apart(spans)


def luhn(match: re.Match[str]) -> bool:
    """Does the last digit of a card's number agree with the others (ISO/IEC 7812-1)?"""
    odd, even = digits(match[0])[::-1][::2], digits(match[0])[::-1][1::2]
    return (sum(map(int, odd)) + sum(sum(divmod(2 * int(digit), 10)) for digit in even)) % 10 == 0


def iban(match: re.Match[str]) -> bool:
    """Do the check digits of an account agree (ISO 13616)?"""
    plain = match[0].replace(" ", "")
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


CARD = matches(
    r"(?<![\w.-])(?:(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|65\d\d)(?P<s>[ -]?)\d{4}(?P=s)\d{4}(?P=s)\d{4}|3[47]\d\d(?P<t>[ -]?)\d{6}(?P=t)\d{5})(?![\w-])",
    luhn,
)
IBAN = matches(r"(?<!\w)[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?(?!\w)", iban)
PERSON_ID = matches(
    r"(?<![\w.-])(?P<v>\d{3}\.\d{3}\.\d{3}-\d\d|\d\d\.\d{3}\.\d{3}/\d{4}-\d\d|\d{3}-\d\d-\d{4})(?![\w-])"
)
"""Numbers of Brazilian taxpayers, persons and firms, and of the American social security, as they are written."""
PERSON_ID_FIELD = matches(
    rf"(?i)\b(?:cpf|cnpj|ssn|rg|nif|dni|passport)(?:[_-]?(?:number|numero|no))?{NAMED}(?:{QUOTE})?(?P<v>\w?\d[\d./-]{{5,17}})(?!\w)"
)


def same_name(value: str) -> str:
    """Return one spelling for a name, whatever stands between its words."""
    return re.sub(r"[\s+_.-]+", " ", value).casefold()


def names(given: tuple[str, ...]) -> Find | None:
    """Return a finder of names, the longest first; what stands between their words may be written in several ways."""
    if not (
        held := sorted({name.strip() for name in given if name.strip()}, key=lambda name: (-len(name), name))
    ):
        return None
    spelt = (r"(?:\s|[+_.-])+".join(map(re.escape, name.split())) for name in held)
    return matches(rf"(?i)(?<![^\W_])(?:{'|'.join(spelt)})(?![^\W_])")
