"""The table of ports as JSON and as a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from judging import Judged
from planted import BLIND, HERE

_KINDS: tuple[tuple[str, Callable[[Judged], bool]], ...] = (
    ("correct ports without a finding", lambda one: not one.port.faults),
    ("ports with one fault", lambda one: len(one.port.faults) == 1),
    ("ports with two or three faults, all named in one run", lambda one: len(one.port.faults) > 1),
)


def content(judged: Sequence[Judged]) -> dict[str, Any]:
    """What the JSON file holds beside its code hash."""
    return {
        "rates": {who: _rates(rows) for who, rows in _groups(judged)},
        "strange": sum(len(one.strange) for one in judged),
        "rows": [one.to_json() for one in judged],
    }


def page(judged: Sequence[Judged]) -> str:
    """The page in Markdown: rates first, the blind ones apart, then every port."""
    lines = ["# Ports with planted faults", ""]
    lines += ["Written by `make eval`. A fault counts as named when a finding has its module and its cause.", ""]
    lines += [
        "Blind: written by somebody who had read nothing of what finds them, the first batch before that existed, the"
        " second after it. What the first look at either batch showed has since been put right where it was general.",
        "",
    ]
    groups = _groups(judged)
    lines += ["| | " + " | ".join(who for who, _ in groups) + " |", "|---|" + "---|" * len(groups)]
    for kind, belongs in _KINDS:
        cells = [_share([one.right for one in rows if belongs(one)]) for _, rows in groups]
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    cells = [_share(_faults(rows, confirmed=False)) for _, rows in groups]
    lines.append("| faults named | " + " | ".join(cells) + " |")
    cells = [_share(_faults(rows, confirmed=True)) for _, rows in groups]
    lines.append("| faults confirmed by undoing them | " + " | ".join(cells) + " |")
    cells = [str(sum(len(one.strange) for one in rows)) for _, rows in groups]
    lines.append("| findings that belong to no planted fault | " + " | ".join(cells) + " |")
    lines += ["", "| port | faults | missed | findings beside them |", "|---|---|---|---|"]
    lines += [_row(one) for one in judged]
    return "\n".join(lines) + "\n"


def _groups(judged: Sequence[Judged]) -> list[tuple[str, list[Judged]]]:
    return [
        ("all", list(judged)),
        ("known", [one for one in judged if not one.port.blind]),
        ("blind", [one for one in judged if one.port.blind and not _is_later(one)]),
        ("blind, second batch", [one for one in judged if _is_later(one)]),
    ]


def _is_later(one: Judged) -> bool:
    return one.port.name.startswith(BLIND[HERE / "blind_later"])


def _rates(rows: Sequence[Judged]) -> dict[str, Any]:
    found: dict[str, Any] = {kind: _counts([one.right for one in rows if belongs(one)]) for kind, belongs in _KINDS}
    found["faults named"] = _counts(_faults(rows, confirmed=False))
    found["faults confirmed"] = _counts(_faults(rows, confirmed=True))
    found["strange findings"] = sum(len(one.strange) for one in rows)
    return found


def _faults(rows: Sequence[Judged], *, confirmed: bool) -> list[bool]:
    """Each planted fault, as often as it stands in a port."""
    return [fault in (one.confirmed if confirmed else one.named) for one in rows for fault in one.port.faults]


def _counts(right: Sequence[bool]) -> dict[str, int]:
    return {"of": len(right), "right": sum(right)}


def _share(right: Sequence[bool]) -> str:
    return f"{sum(right)} of {len(right)} ({sum(right) / len(right):.0%})" if right else "none"


def _row(one: Judged) -> str:
    faults = ", ".join(f"{fault.name}: {'/'.join(fault.causes)}" for fault in one.port.faults) or "none"
    missed = ", ".join(fault.name for fault in one.port.faults if fault not in one.named)
    beside = "; ".join(str(finding) for finding in one.strange)
    return f"| {one.port.name} | {faults} | {one.trouble or missed} | {beside} |".replace("\n", " ")
