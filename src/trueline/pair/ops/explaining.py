"""Why two blocks part, in words, with what to change; confirmed where the numbers bear it out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.pair.blame import Blame, Cause, Setting, Stage
from trueline.pair.ops.additive_masks import mask_in_words, masked_otherwise
from trueline.pair.ops.divergence import part
from trueline.pair.ops.divergence_causes import parting_cause
from trueline.pair.ops.explaining_values import Guess, guess
from trueline.pair.ops.form_words import form_in_words, in_words, setting_of
from trueline.pair.ops.mask_forms import are_turned
from trueline.pair.ops.op_forms import form_of
from trueline.pair.ops.op_graph import Graph
from trueline.pair.ops.parting import Parting, PartingKind
from trueline.pair.ops.reading import Reading
from trueline.pair.ops.same_values import floats, level
from trueline.pair.ops.substituting import Put, tried
from trueline.pair.ops.value_words import INPUT, at, known_in_words, name_in_words

_NOTHING: Final[Mapping[str, float]] = MappingProxyType({})
_OPERANDS: Final = {"add": "sum", "sub": "sum", "mul": "product", "div": "product"}


@dataclass(frozen=True, slots=True)
class Explanation:
    """One cause, what each side has there, and the change to make.

    ``sink`` is the benchmark's path of the inner layer that gets another value; "" is the block's own output. ``held``
    is the attribute of the port that would have to hold another value, and that.
    """

    cause: Cause
    message: Message
    edit: Message
    confirmed: bool
    bench: Setting = None
    port: Setting = None
    measured: float | None = None
    left: float | None = None
    line: Location | None = None
    other_line: Location | None = None
    sink: str = ""
    held: tuple[str, Array] | None = None

    def blame(self, stage: Stage, module: str, other_module: str, limit: float | None = None) -> Blame:
        """The same for a module of the port."""
        return Blame(
            stage,
            self.cause,
            self.message,
            module,
            other_module,
            self.bench,
            self.port,
            confirmed=self.confirmed,
            measured=self.measured,
            limit=limit,
            left=self.left,
            line=self.line,
            other_line=self.other_line,
            edit=self.edit,
        )


def explain_graphs(
    bench: Graph,
    port: Graph,
    floor: float,
    coarse: Mapping[str, float] = _NOTHING,
    put: Put | None = None,
    *,
    whole: bool = True,
    right: Collection[str] = (),
) -> list[Explanation]:
    """All reasons why the two blocks part; none where they do the same.

    ``coarse`` are kinds of operators that one side computes more coarsely, and by how much at most. ``put`` tries in
    the running port what cannot be told from the operators. ``whole``: they are the whole networks. ``right`` are
    layers that are known to be given what they are to be given.
    """
    known = None
    explanations = []
    partings = part(bench, port, floor, coarse, whole=whole, right=right)
    if put is not None and not all(parting.checked for parting in partings):
        partings = tried(bench, port, floor, put, partings)
    for parting in partings:
        if known is None:
            known = known_values(bench, floor)
        explanations.append(explain(parting, known, floor))
    return explanations


def explain(parting: Parting, known: Mapping[str, Array], floor: float) -> Explanation:
    """The reason of one parting; ``known`` are the benchmark's values by name, for what operators alone do not tell."""
    if parting.kind is PartingKind.OTHER_CONSTANT:
        return _by_constants(parting, floor)
    if parting.kind is PartingKind.OTHER_LAYOUT and _repeat(parting):
        parting = replace(parting, kind=PartingKind.OTHER_OP)
    if parting.kind is PartingKind.OTHER_INPUT and not _told(parting):
        return _by_values(parting, known, floor)
    if parting.kind in (PartingKind.UNTOLD, PartingKind.OTHER_LAYOUT) and not parting.swapped:
        return _by_values(parting, known, floor)
    if parting.kind is PartingKind.OTHER_OP and not parting.swapped and _unnamed(parting):
        by_values = _by_values(parting, known, floor)
        if by_values.confirmed:
            return by_values
    if parting.kind is PartingKind.OTHER_OP and not parting.swapped and parting.operand is None:
        return _untold(parting) if _reads_alike(parting) else _by_operators(parting)
    return _by_operators(parting)


def explain_values(
    bench: Array, port: Array, known: Mapping[str, Array], floor: float, *, sink: str = ""
) -> Explanation:
    """The reason why two values differ, from the values alone; ``known`` are the block's other values by name."""
    parting = Parting(PartingKind.UNTOLD, sink, level(port, bench), True, bench, port)
    return _by_values(parting, known, floor)


def known_values(graph: Graph, floor: float) -> dict[str, Array]:
    """What a block is given, and what its inner layers make, by name."""
    reading = Reading(graph, floor)
    found: dict[str, Array] = {}
    for place, value in enumerate(graph.inputs):
        array = reading.array(value)
        if array is not None:
            found[f"{INPUT}{place + 1}"] = array
    for op in graph.ops:
        array = reading.array(op.outputs[0]) if op.module is not None and op.outputs else None
        if array is not None and op.module is not None:
            found[op.module] = array
    return found


def _told(parting: Parting) -> bool:
    """Whether the two values have names of their own, or the port has the benchmark's elsewhere.

    What the port has nowhere is no operand that it could take, but a calculation that differs.
    """
    return parting.available is not None or all(
        named is not None and named.what != "op" for named in (parting.bench_takes, parting.port_takes)
    )


def _repeat(parting: Parting) -> bool:
    """Whether both sides repeat a value, each in its own order."""
    both = (parting.bench_done, parting.port_done)
    return all(done is not None and done.form is not None and done.form.family == "repeat" for done in both)


def _unnamed(parting: Parting) -> bool:
    return any(done is None or done.form is None for done in (parting.bench_done, parting.port_done))


def _by_operators(parting: Parting) -> Explanation:
    bench = in_words(parting.bench_done, parting.bench_op, parting.sizes)
    port = in_words(parting.port_done, parting.port_op, parting.sizes)
    if parting.kind is PartingKind.MOVED_LAYER:
        bench = port = name_in_words(parting.bench_takes)
    if parting.kind is PartingKind.OTHER_MASK and parting.bench_value is not None and parting.port_value is not None:
        bench, port = mask_in_words(parting.bench_value), mask_in_words(parting.port_value, parting.bench_value)
    if parting.kind is PartingKind.OTHER_INPUT:
        bench, port = name_in_words(parting.bench_takes), name_in_words(parting.port_takes)
        if parting.exchanged:
            bench = name_in_words(parting.available)
    elif parting.swapped:
        bench = port = message("pair_explain.form_op", kind=parting.port_op.kind if parting.port_op else "?")
    word = "swapped" if parting.swapped else "exchanged" if parting.exchanged else parting.kind.value
    op = parting.bench_op or parting.port_op
    if word in ("missing_op", "extra_op") and parting.operand is not None and op is not None and op.kind in _OPERANDS:
        word = f"{word.removesuffix('_op')}_{_OPERANDS[op.kind]}"
        bench = port = name_in_words(parting.operand)
    params = {"bench": bench, "port": port, "where": _where(parting)}
    made = Explanation(
        parting_cause(parting),
        message(f"pair_explain.{word}", **params),
        _edit(word, parting, params),
        _confirmed(parting),
        setting_of(parting.bench_done.form if parting.bench_done is not None else None, parting.bench_op),
        setting_of(parting.port_done.form if parting.port_done is not None else None, parting.port_op),
        parting.measured,
        line=parting.line,
        other_line=parting.other_line,
        sink=parting.sink,
    )
    if parting.kind is PartingKind.OTHER_INPUT:
        made = replace(made, bench=str(bench), port=str(port))
    return replace(made, left=_left(parting)) if made.confirmed else made


def _edit(word: str, parting: Parting, params: Mapping[str, Message]) -> Message:
    """The change to make; a value that the port has elsewhere by the port's own name."""
    if word == "other_input" and parting.available is not None:
        params = {**params, "bench": name_in_words(parting.available)}
    return message(f"pair_explain.{word}_edit", line=at(parting.line), other=at(parting.other_line), **params)


def _reads_alike(parting: Parting) -> bool:
    """Whether both sides would be called the same: that tells a reader nothing."""
    words = (
        in_words(parting.bench_done, parting.bench_op, parting.sizes),
        in_words(parting.port_done, parting.port_op, parting.sizes),
    )
    first, second = (word.text("en") if isinstance(word, Message) else str(word) for word in words)
    return first.lower() == second.lower()


def _left(parting: Parting) -> float | None:
    """How far the benchmark's function, applied to what the port has, stays away from the benchmark's value."""
    done, given, wanted = parting.bench_done, parting.given, parting.bench_value
    if done is None or done.form is None or given is None or wanted is None:
        return None
    with np.errstate(all="ignore"):
        return level(done.form.apply(given), wanted)


def _confirmed(parting: Parting) -> bool:
    if parting.kind in (PartingKind.MISSING_OP, PartingKind.OTHER_OP):
        return parting.checked and (parting.bench_done is not None or parting.swapped or parting.tried)
    return parting.checked


def _by_values(parting: Parting, known: Mapping[str, Array], floor: float) -> Explanation:
    found: Guess | None = None
    if parting.bench_value is not None and parting.port_value is not None:
        found = guess(parting.bench_value, parting.port_value, known, floor)
    if found is None:
        return _untold(parting)
    params = {
        "bench": form_in_words(found.bench, found.sizes)
        if found.bench is not None
        else known_in_words(found.bench_name),
        "port": form_in_words(found.port, found.sizes) if found.port is not None else known_in_words(found.port_name),
        "where": _where(parting),
    }
    return Explanation(
        found.cause,
        message(f"pair_explain.{found.kind}", **params),
        message(f"pair_explain.{found.kind}_edit", line=at(parting.line), other=at(parting.other_line), **params),
        parting.checked,
        setting_of(found.bench, None) or found.bench_name or None,
        setting_of(found.port, None) or found.port_name or None,
        parting.measured,
        found.left,
        parting.line,
        parting.other_line,
        parting.sink,
    )


def _by_constants(parting: Parting, floor: float) -> Explanation:
    """A table, a mask or a position that is another one: where its numbers part, and what would make them equal."""
    there, here = parting.bench_value, parting.port_value
    assert there is not None and here is not None
    mask = masked_otherwise(here, there) or are_turned(here, there)
    place = ""
    if there.size == here.size:
        flat = here.reshape(there.shape)
        with np.errstate(all="ignore"):
            apart = np.nan_to_num(np.abs(floats(flat) - floats(there)), nan=np.inf)
        worst = np.unravel_index(int(np.argmax(apart)), there.shape)
        place = f"[{', '.join(map(str, worst))}]"
        bench, port = (f"{float(array[worst]):.6g}" for array in (there, flat))
    else:
        bench, port = ("x".join(map(str, array.shape)) for array in (there, here))
    name = parting.port_takes.name if parting.port_takes is not None and parting.port_takes.what == "parameter" else ""
    params = {
        "name": message("pair_explain.held", name=name) if name else message("pair_explain.value_constant"),
        "place": place,
        "bench": mask_in_words(there) if mask else bench,
        "port": mask_in_words(here, there) if mask else port,
        "where": _where(parting),
    }
    form = form_of(here, there, floor) if there.size == here.size and not mask else None
    text = message("pair_explain.other_constant", **params)
    if form is not None:
        text = message("pair_stage.both", first=text, second=message("pair_explain.made_of", form=form_in_words(form)))
    return Explanation(
        Cause.MASK if mask or parting.masks else Cause.CONSTANT,
        text,
        message("pair_explain.other_constant_edit", line=at(parting.line), other=at(parting.other_line), **params),
        parting.checked,
        str(bench),
        str(port),
        parting.measured,
        line=parting.line,
        other_line=parting.other_line,
        sink=parting.sink,
        held=(name, there) if name and parting.whole and there.size == here.size else None,
    )


def _untold(parting: Parting) -> Explanation:
    """That there is a difference, and where."""
    text = message("pair_explain.untold", where=_where(parting))
    edit = message("pair_explain.untold_edit", line=at(parting.line), other=at(parting.other_line))
    return Explanation(
        Cause.OTHER_INPUT if parting.kind is PartingKind.OTHER_INPUT else Cause.UNKNOWN,
        *(text, edit, False, None, None, parting.measured, None, parting.line, parting.other_line, parting.sink),
    )


def _where(parting: Parting) -> Message:
    if parting.sink:
        return message("pair_explain.before_layer", layer=parting.sink)
    return message("pair_explain.before_output")
