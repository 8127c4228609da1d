"""An argument of the script's own, given another value: ``--name V``, ``--name=V`` or ``name=V``."""

from __future__ import annotations

import re
from collections.abc import Sequence


def with_argument(args: Sequence[str], name: str, value: str) -> list[str]:
    """The arguments with this one changed wherever it is given, else added."""
    found = list(args)
    places = _places(args, name)
    for place, written in places:
        if written is not None:
            found[place] = f"{written}{value}"
        elif place + 1 < len(found):
            found[place + 1] = value
    if places:
        return found
    if name.endswith("="):
        return [*found, f"{name}{value}"]
    return [*found, name if name.startswith("-") else f"--{name}", value]


def spelled(name: str, source: str) -> str:
    """The name as the script's text writes it, with dashes or underscores."""
    if name.startswith("-") or name.endswith("="):
        return name
    known = re.findall(r"--([\w-]+)", source)
    wanted = re.sub("[-_]", "-", name.lower())
    return next((one for one in known if re.sub("[-_]", "-", one.lower()) == wanted), name)


def argument(args: Sequence[str], name: str) -> str | None:
    """The value that is given; the last one counts."""
    value = None
    for place, written in _places(args, name):
        if written is not None:
            value = args[place][len(written) :]
        elif place + 1 < len(args):
            value = args[place + 1]
    return value


def _places(args: Sequence[str], name: str) -> list[tuple[int, str | None]]:
    """Where it stands, with what is written before its value where that is in the same word."""
    plain = re.split("[-_]", name.strip("-=").lower())
    spelled = "[-_]".join(map(re.escape, plain))
    dashes = "-{1,2}" if len(plain) > 1 or len(plain[0]) > 1 else "-"
    pattern = re.compile(rf"(?P<flag>{dashes}{spelled})(?P<equals>=)?|(?P<bare>\+{{0,2}}{spelled}=)", re.IGNORECASE)
    found: list[tuple[int, str | None]] = []
    for place, one in enumerate(args):
        match = pattern.match(one)
        if match is None:
            continue
        if match["bare"] is not None or match["equals"] is not None:
            found.append((place, match.group()))
        elif match.end() == len(one):
            found.append((place, None))
    return found
