"""What a comparison of weight files, folders of arrays or dumps has found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from trueline.compare.arrays import ArraysComparison, Part, counted, is_transposed, one_factor
from trueline.compare.floors import Basis
from trueline.compare.rows import Row
from trueline.compare.wording import RANK, few_digits, side_names
from trueline.formats.printable import printable
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.key import Key
from trueline.model.location import Location
from trueline.model.message import message

LEFT: Final = "cmp.06"
TENSOR: Final = "cmp.11"


def array_findings(compared: ArraysComparison) -> list[Finding]:
    """The first or furthest difference, ranks that differ alone, and what is left over."""
    found: list[Finding] = []
    first, part = compared.first, compared.main
    if first is not None and part is not None:
        found.append(_tensor(compared, part, first))
    found += _other_ranks(compared)
    for one in compared.parts:
        only_a, only_b = compared.leftovers(one)
        if only_a or only_b:
            found.append(_left(compared, one, only_a, only_b))
            break
    return found


def _tensor(compared: ArraysComparison, part: Part, first: Row) -> Finding:
    names = side_names(compared.a, compared.b)
    rows = [row for one in compared.parts for row in one.tensors.rows]
    params: dict[str, object] = {
        "name": printable(f"{part.name}: {first.a.name}" if part.section and part.name else first.a.name),
        "a": names[0],
        "b": names[1],
        "worst": few_digits(first.distance.relative_max),
        "times": few_digits(first.times),
        "floor": few_digits(first.floor.value),
        "apart": sum(row.differs for row in rows),
        "count": len(rows),
    }
    factor = one_factor(first)
    if not first.distance.comparable:
        shapes = {"shape": list(first.distance.shape_a), "other_shape": list(first.distance.shape_b)}
        said, advice = message("compare.array_shape", **shapes, **params), message("compare.array_shape_advice")
    elif first.distance.other_non_finite:
        counts = {"number": first.distance.non_finite_a, "other_number": first.distance.non_finite_b}
        said = message("compare.array_non_finite", **counts, **params)
        advice = message("compare.array_advice")
    elif is_transposed(first):
        said, advice = message("compare.array_transposed", **params), message("compare.array_transposed_advice")
    elif factor is not None:
        said = message("compare.array_factor", factor=f"{factor:.6g}", **params)
        advice = message("compare.array_factor_advice", factor=f"{factor:.6g}")
    else:
        said = message("compare.array_first" if compared.in_order else "compare.array_furthest", **params)
        order = "array_begin_advice" if part.tensors.first == 0 else "array_order_advice"
        advice = message(f"compare.{order if compared.in_order else 'array_advice'}")
    sure = first.floor.basis is not Basis.ESTIMATED or first.times > 100
    where = Location(module=first.pair.a.module, step=part.step, rank=part.rank, side=names[0])
    certainty = Certainty.CERTAIN if sure else Certainty.LIKELY
    evidence = [first.distance.to_json()]
    limit = first.floor.value
    return Finding(TENSOR, Conclusion.FOUND, said, certainty, advice, None, where, first.level, limit, evidence)


def _other_ranks(compared: ArraysComparison) -> Iterator[Finding]:
    """Ranks that differ where others of the same step do not."""
    main = compared.main
    if main is None or main.rank is None or main.tensors.first is None:
        return
    same_step = [part for part in compared.parts if part.step == main.step]
    apart = [part.rank for part in same_step if part.tensors.first is not None]
    if len(apart) < len(same_step):
        said = message("compare.ranks", ranks=", ".join(str(one) for one in apart), count=len(same_step))
        where = Location(rank=main.rank, step=main.step)
        yield Finding(RANK, Conclusion.FOUND, said, advice=message("compare.ranks_advice"), where=where)


def _left(compared: ArraysComparison, part: Part, only_a: int, only_b: int) -> Finding:
    names = side_names(compared.a, compared.b)
    alignment = part.tensors.alignment
    tensors = part.tensors
    here, there = counted(alignment.only_a, tensors.a), counted(alignment.only_b, tensors.b)
    left = (here or there)[0]
    name, near = namers(compared) if here else reversed(namers(compared))
    said = message(
        "compare.left",
        a=names[0],
        b=names[1],
        only_a=only_a,
        only_b=only_b,
        name=printable(name(left.key)),
        nearest=printable(near(left.nearest)) if left.nearest is not None else "-",
        count=len(tensors.rows),
        apart=len(tensors.differing),
    )
    return Finding(LEFT, Conclusion.FOUND, said, advice=message("compare.left_advice"))


def namers(compared: ArraysComparison) -> tuple[Callable[[Key], str], Callable[[Key], str]]:
    """How each side's tensors are called: as its file does."""
    named: tuple[dict[Key, str], dict[Key, str]] = ({}, {})
    for part in compared.parts:
        for side, names in zip((part.tensors.a, part.tensors.b), named, strict=True):
            names.update((tensor.key, tensor.name) for tensor in side)
    return (lambda key: named[0].get(key, str(key)), lambda key: named[1].get(key, str(key)))
