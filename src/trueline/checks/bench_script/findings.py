"""Reading a script beside its benchmark's, a way to decide every item that claims differences between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from trueline.checks.bench_script.claim import Broken, Claims, broken_items
from trueline.checks.engine.check import check
from trueline.model.finding import Conclusion, Finding
from trueline.model.message import Message, message
from trueline.script.diff.classification import classified
from trueline.script.diff.difference import Difference, Kind, Node
from trueline.script.diff.nodes import shown
from trueline.script.script import Script


def add_ways(claims: Claims) -> None:
    """Register this way for every item that claims something."""

    @lru_cache(maxsize=2)
    def broken(script: Script, bench: Script) -> Sequence[Broken]:
        return broken_items(classified(script, bench), claims)

    def add(code: str) -> None:
        def from_both_scripts(script: Script, bench_script: Script) -> Iterator[Finding]:
            """Differences that break the item, at the lines of the script."""
            yield from findings_of(code, [fault for fault in broken(script, bench_script) if fault.code == code])

        check(code, decides=False)(from_both_scripts)

    for code in sorted(claims):
        add(code)


def findings_of(code: str, broken: Sequence[Broken]) -> Iterator[Finding]:
    """What breaks an item beside the benchmark's script."""
    section = code.replace(".", "_")
    for fault in broken:
        yield Finding(
            code,
            Conclusion.FOUND,
            message(f"{section}.bench_script.differs", told=_sentence(fault.difference)),
            advice=message(f"{section}.bench_script.advice"),
            where=fault.place,
            evidence=[_evidence(fault)],
        )
    if not broken:
        yield Finding(code, Conclusion.OPEN, message("bench_script.nothing"))


def _evidence(broken: Broken) -> dict[str, str | None]:
    bench = broken.difference.bench
    return {
        "own": str(broken.place),
        "bench": str(bench.place) if bench is not None and bench.place is not None else None,
        "kind": broken.difference.kind.value,
    }


def _sentence(difference: Difference) -> Message:
    place = _place(difference)
    call = difference.owner[0].name.removesuffix(".__call__").rpartition(".")[2] if difference.owner is not None else ""
    if (
        difference.kind is Kind.SETTING
        and difference.mine is not None
        and difference.bench is not None
        and "index" not in difference.path
    ):
        mine, bench = _shown(difference.mine), _shown(difference.bench)
        return message(
            "bench_script.setting", call=call, argument=difference.argument, mine=mine, bench=bench, place=place
        )
    if difference.kind is Kind.SETTING and difference.bench is not None and difference.mine is None:
        return message("bench_script.left_out", call=call, argument=difference.argument, place=place)
    if difference.kind is Kind.SETTING and difference.bench is None:
        return message("bench_script.given", call=call, argument=difference.argument)
    if difference.kind is Kind.MISSING:
        return message("bench_script.missing", what=_name(difference.bench), place=place)
    if difference.kind is Kind.EXTRA:
        return message("bench_script.extra", what=_name(difference.mine))
    if difference.kind is Kind.SHARED:
        return message("bench_script.shared", what=_name(difference.mine), place=place)
    if difference.kind is Kind.APART:
        return message("bench_script.apart", what=_name(difference.mine), place=place)
    if difference.kind is Kind.CONDITION:
        return message("bench_script.condition", place=place)
    if difference.kind is Kind.ORDER:
        return message("bench_script.order", what=_name(difference.mine), other=_name(difference.bench), place=place)
    return message("bench_script.replaced", mine=_name(difference.mine), bench=_name(difference.bench), place=place)


def _place(difference: Difference) -> str:
    if difference.bench is not None and difference.bench.place is not None:
        return str(difference.bench.place)
    return str(difference.owner[1].place) if difference.owner is not None else ""


def _shown(node: Node) -> str:
    return shown(node.value) or node.name or "?"


_SIGNS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "MatMult": "@", "Pow": "**", "index": "[…]", "Mod": "%"}


def _name(node: Node | None) -> Message | str:
    if node is None:
        return "?"
    if node.label is not None:
        return node.label
    if node.event is not None:
        return node.event.name.removesuffix(".__call__").rpartition(".")[2]
    if node.name in _SIGNS:
        return _SIGNS[node.name]
    value = node.value
    cls = getattr(value, "cls", None)
    return cls.name if cls is not None else node.name or "?"
