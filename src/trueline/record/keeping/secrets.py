"""Variables of the environment that are nobody else's business: by their names, or by what their values look like.

A heuristic: SECURITY.md says what it goes by, word for word. In doubt a value is withheld.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

_NAMES: Final = re.compile(
    r"KEY|TOKEN|SECRET|PASS|(?!^)PWD|CREDENTIAL|AUTH|COOKIE|SESSION|PRIVATE|DSN|JWT|WEBHOOK|CONNECTION_?STR|SIGNATURE"
    r"|(^|_)PAT($|_)",
    re.IGNORECASE,
)
# An address with a password in it, a setting that is called one, a header of HTTP.
_PASSWORDS: Final = re.compile(
    r"://[^/?#@\s]*:[^/?#@\s]+@"
    r"|(?i:(?:pass(?:word|wd|phrase)?|pwd|secret|token|api_?key|access_?key|account_?key|signature|sig))"
    r"""["']?\s*[=:]\s*["']?[^\s"',;&]{4}"""
    r"|\b(?i:bearer|basic)\s+\S{8}"
)
_SHAPES: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"gh[a-z]_[A-Za-z0-9]{16}|github_pat_\w{16}|gl[a-z]+-[\w-]{16}|hf_[A-Za-z0-9]{16}|[spr]k[-_][\w-]{16}|xox[a-z]-[\w-]{8}"
    r"|A[A-Z]{3}[A-Z0-9]{16}(?![A-Za-z0-9])|AIza[\w-]{16}|ya29\.|npm_[A-Za-z0-9]{16}|pypi-[\w-]{16}|dckr_pat_|SG\.[\w-]{16}"
    r"|eyJ[\w-]{8,}\.[\w-]{4}"
    r")|-----BEGIN "
)
_WORDS: Final = re.compile(r"""[\s,;&?"'<>(){}\[\]]+|(?<=\w)=(?=[^=])""")
_PATH: Final = re.compile(r"(?:(?:[~.]{0,2}/|[~.]{1,2}$)[^:]*|)(?::(?:[~.]{0,2}/|[~.]{1,2}$)[^:]*|:)*")
# A device, as drivers name it.
_DEVICE: Final = re.compile(r"(?:GPU|MIG)-[0-9A-Fa-f-]+")
_UNBROKEN: Final = re.compile(r"[A-Za-z0-9]{20,}")
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_LONG: Final = 32
# Words and versions change between small letters, capitals and digits less often than at every so-many-th letter.
_UNBROKEN_CHANGES, _ENCODED_CHANGES = 4, 3


def has_secret_name(name: str) -> bool:
    """Whether a variable is called as secrets are."""
    return bool(_NAMES.search(name))


def is_secret(name: str, value: str) -> bool:
    """Whether a variable is not to be kept."""
    return has_secret_name(name) or bool(_PASSWORDS.search(value) or _SHAPES.search(value)) or _is_drawn(value)


def _is_drawn(value: str) -> bool:
    """Whether a part of it looks drawn by chance: long, and no path."""
    return any(_part_is_drawn(part) for part in _parts(value))


def _parts(value: str) -> Iterator[str]:
    for word in _WORDS.split(value):
        if not _PATH.fullmatch(word) and not _DEVICE.fullmatch(word):
            yield word


def _part_is_drawn(part: str) -> bool:
    if any(len(run) >= _LONG or _changes(run) * _UNBROKEN_CHANGES >= len(run) for run in _UNBROKEN.findall(part)):
        return True
    letters = "".join(letter for letter in part if letter.isalnum())
    return bool(_ENCODED.fullmatch(part)) and _changes(letters) * _ENCODED_CHANGES >= len(letters)


def _changes(text: str) -> int:
    """How often it changes between small letters, capitals and digits."""
    kinds = [(letter.islower(), letter.isdigit()) for letter in text]
    return sum(before != after for before, after in pairwise(kinds))
