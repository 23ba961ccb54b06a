"""Normalises e-mail addresses, for sign-up, login, invitations and the CLI.

Two addresses that people cannot tell apart must not be two accounts: text is NFC, invisible characters are refused,
the domain is in its ASCII form (IDNA), and everything is case-folded.
"""

import re
import unicodedata

MOST_LOCAL, MOST = 64, 254
ATOM = re.compile(r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+")
LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
VISIBLE = ("L", "N", "M")  # Unicode categories: letters, numbers, marks


class EmailError(ValueError):
    """Not an e-mail address that this platform accepts; the message says why."""


def normalise(address: str) -> str:
    """The normalised address, which is stored and compared."""
    local, at, domain = unicodedata.normalize("NFC", address).casefold().rpartition("@")
    if not (local and at and domain):
        raise EmailError("needs the form name@example.com")
    local = unicodedata.normalize("NFC", local)
    for atom in local.split("."):
        if not atom or not ATOM.fullmatch("".join("a" if _is_word(letter) else letter for letter in atom)):
            raise EmailError("has a character before the @ that is not allowed, or a misplaced dot")
    made = f"{local}@{_ascii(domain)}"
    if len(local.encode()) > MOST_LOCAL or len(made.encode()) > MOST:
        raise EmailError(f"has more than {MOST_LOCAL} bytes before the @, or more than {MOST} in all")
    return made


def key(address: str) -> str:
    """For finding an account, including accounts from before addresses were checked, whose address may be invalid
    now.
    """
    try:
        return normalise(address)
    except EmailError:
        return address.lower()


def _is_word(letter: str) -> bool:
    return not letter.isascii() and unicodedata.category(letter).startswith(VISIBLE)


def _ascii(domain: str) -> str:
    try:
        made = domain.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise EmailError("has a domain that is not a valid host name") from error
    if any(unicodedata.category(letter) == "Cf" for letter in domain):  # the codec drops some silently
        raise EmailError("has an invisible character in its domain")
    if not all(LABEL.fullmatch(label) for label in made.split(".")):
        raise EmailError("has a domain that is not a valid host name")
    return made
