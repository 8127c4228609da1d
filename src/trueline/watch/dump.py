"""The first node of a dump folder whose numbers are not finite, and why that is so."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trueline.formats.files import fault
from trueline.formats.kinds import Format, Kind, Looked, look
from trueline.formats.ms_dump import looks_like_ms_dump, read_ms_nodes
from trueline.formats.opening import open_dump
from trueline.kernel import UnsupportedDtype, summarise
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.key import Kind as TensorKind
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.summary import Summary
from trueline.watch.nonfinite_causes import Cause, is_mask, kind_of, likely

if TYPE_CHECKING:
    from trueline.formats.dump import Dumped, Node

CODE: Final = "nf.01"
# What a graph was handed, beside its operators.
_FED: Final = frozenset(("data", "weights"))
_OUTGOING: Final = frozenset((TensorKind.OUT, TensorKind.GIN, TensorKind.GRAD))
_BACKWARD: Final = frozenset((TensorKind.GIN, TensorKind.GOUT, TensorKind.GRAD))
_GRADIENT_OF: Final = re.compile(r"Grad_([A-Za-z0-9]+)")


@dataclass(frozen=True, slots=True)
class DumpTensor:
    """A dumped tensor in numbers; where only the tool's own numbers were kept, its counts are at least so many."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    summary: Summary
    exact: bool = True

    def to_json(self) -> dict[str, object]:
        """The JSON shape."""
        return {
            "name": self.name,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "summary": self.summary.to_json(),
            "exact": self.exact,
        }


@dataclass(frozen=True, slots=True)
class DumpFirst:
    """The first node that is not finite.

    ``origin`` is whether its inputs were finite, None where they were not dumped. ``after`` counts the nodes after it
    in the same step, ``after_bad`` those of them that are not finite either.
    """

    step: int
    rank: int
    part: str
    name: str
    op: str
    module: str
    kind: str
    origin: bool | None
    inputs: Sequence[DumpTensor]
    outputs: Sequence[DumpTensor]
    cause: Cause
    after: int
    after_bad: int

    def to_json(self) -> dict[str, object]:
        """The shape of ``first`` in an answer of watch, and more."""
        return {
            "step": self.step,
            "rank": self.rank,
            "phase": self.part,
            "op": self.op,
            "file": None,
            "line": None,
            "module": self.module,
            "kind": self.kind,
            "cause": self.cause.id,
            "node": self.name,
            "origin": self.origin,
            "inputs": [tensor.to_json() for tensor in self.inputs],
            "outputs": [output.to_json() for output in self.outputs],
            "after": self.after,
            "after_bad": self.after_bad,
        }


@dataclass(frozen=True, slots=True)
class DumpWatch:
    """What was looked at in a dump, and the first node that is not finite, if there is one."""

    path: Path
    tool: str
    steps: int
    nodes: int
    first: DumpFirst | None

    def sentence(self) -> Message:
        """The answer in one sentence."""
        first = self.first
        if first is None:
            return message("dump_watch.nothing", nodes=self.nodes, steps=self.steps)
        way = {True: "first", None: "first_inputs_unknown", False: "first_inputs_bad"}[first.origin]
        # What a known way leads to from infinite inputs is said all the same.
        way = "first" if first.cause.id != "bad_input" and first.origin is False else way
        way = f"first_{first.part}" if first.part in _FED and not first.inputs else way
        params = {"step": first.step, "node": first.name, "kind": first.kind.upper()}
        return Message(f"dump_watch.{way}", {**params, "cause": first.cause.message})

    def finding(self) -> Finding:
        """The same as a Finding."""
        first = self.first
        if first is None:
            return Finding(CODE, Conclusion.NONE, self.sentence())
        outputs = {output.name: output.summary.non_finite for output in first.outputs if output.summary.non_finite}
        return Finding(
            CODE,
            Conclusion.FOUND,
            self.sentence(),
            Certainty.LIKELY if first.origin else Certainty.POSSIBLE,
            first.cause.advice,
            where=Location(module=first.module or None, step=first.step, rank=first.rank),
            measured={"non_finite": outputs},
            limit={"non_finite": 0},
            evidence=[tensor.to_json() for tensor in (*first.inputs, *first.outputs)],
        )


def watch_dump(folder: Path) -> DumpWatch:
    """Look through a dump of MindSpore or msprobe, step by step in execution order, up to the first step with a hit."""
    path = Path(folder)
    # One iteration's folder holds nothing but arrays, and is a dump all the same.
    found = Looked(path, Format.MS_DUMP) if looks_like_ms_dump(path) else look(path)
    if found.kind is not Kind.DUMP:
        raise fault(found.path, "not_a_dump")
    steps: set[int] = set()
    nodes = 0
    for (step, rank), calls in _calls(found):
        steps.add(step)
        nodes += sum(node.part not in _FED for node in calls)
        masked = False
        for place, node in enumerate(calls):
            outputs = _tensors(node.outputs)
            if any(output.summary.non_finite for output in outputs):
                inputs = _tensors(node.inputs)
                if _is_mask(node, inputs, outputs, masked=masked):
                    masked = True
                    continue
                first = _first(step, rank, node, (inputs, outputs), calls[place + 1 :])
                return DumpWatch(found.path, _tool(found), len(steps), nodes, first)
    return DumpWatch(found.path, _tool(found), len(steps), nodes, None)


def _tool(found: Looked) -> str:
    return "msprobe" if found.format is Format.MSPROBE else "mindspore"


def _calls(found: Looked) -> Iterator[tuple[tuple[int, int], list[Node]]]:
    if found.format is Format.MS_DUMP:
        return read_ms_nodes(found.path)
    return ((place, list(_listed(tensors))) for place, tensors in sorted(open_dump(found).steps.items()))


def _listed(tensors: Sequence[Dumped]) -> Iterator[Node]:
    """The calls that an msprobe dump lists: tensors of one module's or function's call that follow each other."""
    from trueline.formats.dump import Node

    for (module, call, op, part), members in groupby(
        tensors,
        lambda tensor: (
            tensor.key.module,
            tensor.key.call,
            tensor.type,
            "backward" if tensor.key.kind in _BACKWARD else "forward",
        ),
    ):
        held = list(members)
        outputs = [dumped for dumped in held if dumped.key.kind in _OUTGOING]
        name = f"{module or op}#{call}" if call else module or op
        yield Node(name, op, module, part, [dumped for dumped in held if dumped not in outputs], outputs)


def _first(
    step: int, rank: int, node: Node, tensors: tuple[list[DumpTensor], list[DumpTensor]], behind: Sequence[Node]
) -> DumpFirst:
    inputs, outputs = tensors
    bad = [tensor for tensor in inputs if tensor.summary.non_finite]
    weights = {dumped.name for dumped in node.inputs if dumped.key.kind is TensorKind.PARAM}
    return DumpFirst(
        step,
        rank,
        "weights" if any(tensor.name in weights for tensor in bad) else node.part,
        node.name,
        node.op,
        node.module,
        "nan" if any(output.summary.nan for output in outputs) else "inf",
        not bad if inputs else None,
        inputs,
        outputs,
        _cause(node, inputs, outputs),
        len(behind),
        sum(any(tensor.summary.non_finite for tensor in _tensors(one.outputs)) for one in behind),
    )


def _is_mask(node: Node, inputs: Sequence[DumpTensor], outputs: Sequence[DumpTensor], *, masked: bool) -> bool:
    """Whether it makes or hands on a mask; where inputs were not dumped, all but logarithms may."""
    if node.part != "forward":
        return False
    kind, _ = kind_of(node.op)
    if masked and not inputs and not kind.startswith("log"):
        return not any(output.summary.nan or output.summary.pos_inf for output in outputs)
    return is_mask(kind, [tensor.summary for tensor in inputs], [output.summary for output in outputs])


def _cause(node: Node, inputs: Sequence[DumpTensor], outputs: Sequence[DumpTensor]) -> Cause:
    """The likely cause; a graph's backward says which operator's gradient it computes, and with which operators."""
    if node.part in _FED:
        inputs = outputs
    kind, of_backward = kind_of(node.op)
    backward = of_backward or node.part == "backward"
    of = _GRADIENT_OF.search(node.name) if backward else None
    kinds = ([kind_of(of[1])[0]] if of is not None else []) + [kind]
    summaries = [tensor.summary for tensor in inputs], [output.summary for output in outputs]
    dtypes = [tensor.dtype for tensor in (*inputs, *outputs)]
    causes = [likely(one, *summaries, dtypes, backward=backward) for one in kinds]
    return next((cause for cause in causes if cause.id not in ("other", "overflow")), causes[-1])


def _tensors(dumped: Sequence[Dumped]) -> list[DumpTensor]:
    return [found for one in dumped if (found := _tensor(one)) is not None]


def _tensor(dumped: Dumped) -> DumpTensor | None:
    """A tensor's numbers; None for whole numbers, which are always finite, and for what cannot be read."""
    if not any(word in dumped.dtype for word in ("float", "complex", "half", "double")):
        return None
    if dumped.stored is None:
        return DumpTensor(dumped.name, dumped.shape, dumped.dtype, _from_numbers(dumped), exact=False)
    try:
        return DumpTensor(dumped.name, dumped.shape, dumped.dtype, summarise(dumped.stored.elements()))
    except UnsupportedDtype:
        return None


def _from_numbers(dumped: Dumped) -> Summary:
    """What a tool's minimum, maximum, mean and norm say of a tensor."""
    low, high, mean, l2 = (dumped.numbers.get(name, 0.0) for name in ("min", "max", "mean", "l2"))
    seen = (low, high, mean, l2)
    count = math.prod(dumped.shape)
    # A norm of finite numbers may overflow: only what a tensor's own elements show counts.
    nan = int(any(math.isnan(each) for each in (low, high, mean)) and not (math.isinf(low) or math.isinf(high)))
    finite = [each if math.isfinite(each) else 0.0 for each in seen]
    return Summary(
        count=count,
        nan=nan,
        pos_inf=int(math.inf in (low, high)),
        neg_inf=int(-math.inf in (low, high)),
        zeros=int(0.0 in (low, high) and count > 0 and bool(dumped.numbers)),
        minimum=finite[0],
        maximum=finite[1],
        mean=finite[2],
        abs_mean=abs(finite[2]),
        std=0.0,
        l2=finite[3],
        fingerprint=0,
    )
