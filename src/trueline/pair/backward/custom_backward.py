"""Backwards that someone wrote: which of them do not belong to their forward, on one side only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trueline.kernel.array import Array
from trueline.model.message import message
from trueline.pair.backward.gradient_words import line_text, number_text, value_name
from trueline.pair.backward.slopes import CheckedBackward, check_custom_backward, check_differences
from trueline.pair.blame import Blame, Cause, Stage, module_name
from trueline.pair.ops.op_level import BlockCall
from trueline.pair.sides.side import Side


def custom_backward_causes(
    bench: Side,
    port: Side,
    inputs: Sequence[Array],
    counterparts: Mapping[str, str],
    known: tuple[Sequence[CheckedBackward], Sequence[CheckedBackward]] | None = None,
) -> list[Blame]:
    """Backwards that are not their forward's on one side while the other's are; on both sides it is on purpose."""
    theirs, ours = known or (check_custom_backward(bench, inputs), check_custom_backward(port, inputs))
    back = {other: path for path, other in counterparts.items()}
    blames = [
        _wrong_in_port(bench, backward, counterparts.get(backward.path), theirs) for backward in ours if backward.wrong
    ]
    blames += [_wrong_in_bench(port, backward, back.get(backward.path)) for backward in theirs if backward.wrong]
    return [blame for blame in blames if blame is not None]


def _wrong_in_port(
    bench: Side, ours: CheckedBackward, other_path: str | None, theirs: Sequence[CheckedBackward]
) -> Blame | None:
    there = [_checked_at(bench, other_path, ours, of_port=False)] if other_path is not None else theirs
    if any(_alike(ours, backward) for backward in there):
        return None
    of, factor = next(iter(ours.wrong.items()))
    other = there[0].wrong.get(of, 1.0) if other_path is not None else None
    shown = {"name": ours.name, "module": module_name(ours.path), "value": value_name(of)}
    if factor is None:
        text = message("pair_ops.wrong_backward", **shown)
    elif other is None:
        text = message("pair_ops.wrong_backward_factor", **shown, factor=number_text(factor))
    else:
        factors = {"factor": number_text(factor), "other": number_text(other)}
        text = message("pair_ops.wrong_backward_factors", **shown, **factors)
    edit = message("pair_ops.wrong_backward_edit", name=ours.name, line=line_text(ours.line))
    return Blame(
        Stage.BACKWARD,
        Cause.CUSTOM_BACKWARD,
        text,
        module=ours.path,
        other_module=other_path or "",
        bench=other,
        port=factor,
        confirmed=other is not None,
        line=ours.line,
        edit=edit,
    )


def _wrong_in_bench(port: Side, theirs: CheckedBackward, path: str | None) -> Blame | None:
    if path is None or _checked_at(port, path, theirs, of_port=True).wrong:
        return None
    of, factor = next(iter(theirs.wrong.items()))
    return Blame(
        Stage.BACKWARD,
        Cause.CUSTOM_BACKWARD,
        message("pair_ops.own_backward_missing", name=theirs.name, module=module_name(path), value=value_name(of)),
        module=path,
        other_module=theirs.path,
        bench=factor,
        port=1.0,
        confirmed=True,
        other_line=theirs.line,
        edit=message("pair_ops.own_backward_missing_edit", name=theirs.name, line=line_text(theirs.line)),
    )


def _alike(first: CheckedBackward, second: CheckedBackward) -> bool:
    """Whether two backwards are off in the same way."""
    if not first.wrong or not second.wrong:
        return False
    here, there = next(iter(first.wrong.values())), next(iter(second.wrong.values()))
    return (here is None and there is None) or (here is not None and there is not None and abs(here - there) < 0.05)


def _checked_at(side: Side, path: str, like: CheckedBackward, *, of_port: bool) -> CheckedBackward:
    return check_differences(side, BlockCall(path, path, like.inputs, train=True), of_port=of_port)
