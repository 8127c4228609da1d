"""Reading a script beside its benchmark's, a way to decide every item that claims differences between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from trueline.checks.bench_script.claim import Broken, Claims, broken_items
from trueline.checks.engine.check import check
from trueline.model.finding import Conclusion, Finding
from trueline.model.message import Message, message
from trueline.script.diff.classification import classified
from trueline.script.diff.difference import Difference, Kind, Thing
from trueline.script.diff.things import shown
from trueline.script.script import Script


def add_ways(claims: Claims) -> None:
    """Register this way for every item that claims something."""

    @lru_cache(maxsize=2)
    def broken(script: Script, bench: Script) -> Sequence[Broken]:
        return broken_items(classified(script, bench), claims)

    def add(code: str) -> None:
        def from_both_scripts(script: Script, bench_script: Script) -> Iterator[Finding]:
            """Differences that break the item, at the lines of the script."""
            yield from findings_of(code, [one for one in broken(script, bench_script) if one.code == code])

        check(code, decides=False)(from_both_scripts)

    for code in sorted(claims):
        add(code)


def findings_of(code: str, broken: Sequence[Broken]) -> Iterator[Finding]:
    """What breaks an item beside the benchmark's script."""
    section = code.replace(".", "_")
    for one in broken:
        yield Finding(
            code,
            Conclusion.FOUND,
            message(f"{section}.bench_script.differs", told=_told(one.difference)),
            advice=message(f"{section}.bench_script.advice"),
            where=one.place,
            evidence=[_evidence(one)],
        )
    if not broken:
        yield Finding(code, Conclusion.OPEN, message("bench_script.nothing"))


def _evidence(one: Broken) -> dict[str, str | None]:
    bench = one.difference.bench
    return {
        "own": str(one.place),
        "bench": str(bench.place) if bench is not None and bench.place is not None else None,
        "kind": one.difference.kind.value,
    }


def _told(one: Difference) -> Message:
    place = _place(one)
    call = one.owner[0].name.removesuffix(".__call__").rpartition(".")[2] if one.owner is not None else ""
    if one.kind is Kind.SETTING and one.mine is not None and one.bench is not None and "index" not in one.path:
        mine, bench = _shown(one.mine), _shown(one.bench)
        return message("bench_script.setting", call=call, argument=one.argument, mine=mine, bench=bench, place=place)
    if one.kind is Kind.SETTING and one.bench is not None and one.mine is None:
        return message("bench_script.left_out", call=call, argument=one.argument, place=place)
    if one.kind is Kind.SETTING and one.bench is None:
        return message("bench_script.given", call=call, argument=one.argument)
    if one.kind is Kind.MISSING:
        return message("bench_script.missing", what=_name(one.bench), place=place)
    if one.kind is Kind.EXTRA:
        return message("bench_script.extra", what=_name(one.mine))
    if one.kind is Kind.SHARED:
        return message("bench_script.shared", what=_name(one.mine), place=place)
    if one.kind is Kind.APART:
        return message("bench_script.apart", what=_name(one.mine), place=place)
    if one.kind is Kind.CONDITION:
        return message("bench_script.condition", place=place)
    if one.kind is Kind.ORDER:
        return message("bench_script.order", what=_name(one.mine), other=_name(one.bench), place=place)
    return message("bench_script.replaced", mine=_name(one.mine), bench=_name(one.bench), place=place)


def _place(one: Difference) -> str:
    if one.bench is not None and one.bench.place is not None:
        return str(one.bench.place)
    return str(one.owner[1].place) if one.owner is not None else ""


def _shown(thing: Thing) -> str:
    return shown(thing.value) or thing.name or "?"


_SIGNS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "MatMult": "@", "Pow": "**", "index": "[…]", "Mod": "%"}


def _name(thing: Thing | None) -> str:
    if thing is None:
        return "?"
    if thing.event is not None:
        return thing.event.name.removesuffix(".__call__").rpartition(".")[2]
    if thing.name in _SIGNS:
        return _SIGNS[thing.name]
    value = thing.value
    cls = getattr(value, "cls", None)
    return cls.name if cls is not None else thing.name or "?"
