"""One step at op level: every operator with what it took and gave, each number looked at once."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Final

import numpy as np

from trueline.adapters.lines import user_line
from trueline.adapters.nouns import OpCall, Unreadable, Value
from trueline.adapters.protocol import Adapter
from trueline.apitable.opkinds import op_kind, op_kinds
from trueline.kernel import summarise
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.model.summary import Summary
from trueline.record.launch import run_script
from trueline.watch.seen import PARTS, Given, Part, Seen, Updating

# These write a number of the user's where it is told to, or hand on what they are given.
_WRITING: Final = frozenset({"full", "masked_fill", "where", "fill", "constant", "zeros", "ones", "scalar"})
_FILLING: Final = frozenset(
    {"full", "full_like", "new_full", "fill", "fill_", "masked_fill", "masked_fill_", "where", "scalar_tensor"}
    | {"lift_fresh", "maskedfill", "fills", "select", "tensor", "_to_copy", "fill_scalar", "fillscalar"}
)
# These give parts of a tensor, in the same memory.
_PARTS_OF: Final = frozenset({"slice", "split", "unbind"})
# The widest number.
_BYTES: Final = 8
_MOST_ROWS: Final = 8
_ODD: Final = 1e4
_DEEPEST_STACK: Final = 12
_LAUNCH: Final = run_script.__code__.co_filename
_RECORD: Final = str(Path(_LAUNCH).parent) + os.sep
_OURS: Final = str(Path(_LAUNCH).parents[1]) + os.sep
_TELLING: Final = (str(Path("watch", "tracker.py")), os.sep + "ops.py")
_LOOKING: Final = os.sep + "values.py"


class Made:
    """Who made what: by address and size, since a part of a tensor may begin where the whole does."""

    def __init__(self) -> None:
        self._by_address: dict[int, dict[int, tuple[Seen, Summary]]] = {}
        self._in_place: list[tuple[int, Seen]] = []

    def put(self, address: int, made: tuple[Seen, Summary], *, view: bool) -> None:
        """Remember; whatever is no view has new numbers, and all that was known there is past."""
        if not view:
            self._by_address[address] = {}
        if made[0].bad and made[0].name.endswith("_"):
            self._in_place.append((address, made[0]))
        self._by_address.setdefault(address, {})[made[1].count] = made

    def find(self, address: int, size: int) -> tuple[Seen, Summary] | None:
        """Who made a tensor of this size; else who made the whole that it is part of."""
        found = self._by_address.get(address)
        if not found:
            return None
        return found.get(size) or max(found.values(), key=lambda one: one[1].count)

    def forget(self, address: int) -> None:
        """Something else is there now."""
        self._by_address.pop(address, None)

    def written_within(self, begin: int, end: int) -> Seen | None:
        """Who wrote bad numbers last into a part of this memory."""
        return next((seen for address, seen in reversed(self._in_place) if begin <= address < end), None)


class Tracker:
    """Listens to the operators of one step.

    ``named`` tells what a tensor is that no operator of the step has made: (name, part), or None. ``module`` gives the
    path of the module that is running, ``updating`` what is being done besides a forward pass; ``failed`` is told of
    what goes wrong here, which is none of the user's operator.
    """

    def __init__(
        self,
        adapter: Adapter,
        named: Callable[[Value], tuple[str, Part] | None],
        module: Callable[[], str],
        updating: Callable[[], Updating],
        limit: float = math.inf,
        *,
        failed: Callable[[Exception], None],
    ) -> None:
        self.seen: list[Seen] = []
        self.paused = self.ended = False
        self._failed = failed
        self._steps: list[int] = []
        self._adapter, self._values = adapter, adapter.values
        self._named, self._module, self._updating, self._limit = named, module, updating, limit
        self._made = Made()
        self._by_node: dict[int, Seen] = {}
        self._next_began: int | None = None
        self._backward_line: Location | None = None
        self._views: dict[int, tuple[str, Part]] = {}

    def backward_began(self) -> None:
        """Remember from where the backward pass was started."""
        self._backward_line = user_line(self._adapter.build.package())

    def handed_out(self, addresses: Iterable[int]) -> None:
        """What may have been there is gone: there is a batch now, or nothing yet."""
        for address in addresses:
            self._made.forget(address)
            self._views.pop(address, None)

    def step_ended(self) -> None:
        """What comes now belongs to another step."""
        self._steps.append(len(self.seen) if self._next_began is None else self._next_began)
        self._next_began = None

    def steps_before(self, seen: Seen) -> int:
        """How many steps had ended before what an operator belongs to."""
        return sum(end <= seen.index for end in self._steps) + seen.ahead

    def maker(self, tensor: object) -> Seen | None:
        """The operator that has written a tensor last."""
        found = self._known(tensor)
        return found[0] if found is not None else None

    def _known(self, tensor: object) -> tuple[Seen, Summary] | None:
        return self._made.find(self._values.identity(tensor), _size(self._values.shape(tensor)))

    def __call__(self, call: OpCall) -> None:
        """One operator has run."""
        if self.paused or self.ended:
            return
        try:
            self._hear(call)
        except Exception as error:  # noqa: BLE001 - whatever it is, the user's operator has run
            self.ended = True
            self._failed(error)

    def _hear(self, call: OpCall) -> None:
        if _is_ours(self._adapter.build.package()):
            return
        given = {self._values.identity(one) for one in call.inputs}
        before = [self._known(one) for one in call.inputs]
        outputs = list(call.outputs)
        if not outputs and call.name.endswith("_"):
            # An operator on lists of tensors writes them in place and gives nothing.
            outputs = list(call.inputs)
        kind = op_kind(self._adapter.name, call.name)
        if len(call.inputs) == 1 and len(outputs) == 1 and _is_view(kind) and before[0] is None:
            # The same numbers of a batch or weight under another name.
            told = self._what_is(call.inputs[0])
            if told is not None:
                self._views[self._values.identity(outputs[0])] = told
                return
        # A part of a tensor may begin where the whole does, and a gradient may be handed on as it is.
        handed_on = not call.name.endswith("_") and (call.backward or kind in _PARTS_OF or _is_view(kind))
        if _is_blank(call.name):
            self.handed_out(map(self._values.identity, outputs))
            return
        written = set() if handed_on else {self._values.identity(output) for output in outputs}
        made = [(output, summary) for output in outputs if (summary := self._summary(output)) is not None]
        if not made:
            return
        bad = any(self.is_bad(summary) for _, summary in made)
        inputs = [
            self._given(
                tensor, known, bad=bad, written=self._values.identity(tensor) in written, forward=not call.backward
            )
            for tensor, known in zip(call.inputs, before, strict=True)
        ]
        forward = self._by_node.get(call.node) if call.backward and call.node is not None else None
        updating = self._updating()
        if updating is Updating.BY_HAND and self._is_forward_again(call):
            updating = Updating.NOT
        by_hand = not call.backward and updating is Updating.PULLING
        part = Part.BACKWARD if call.backward or by_hand else self._part(updating, outputs)
        line, own = self._line(call, forward)
        seen = Seen(
            len(self.seen),
            call.name,
            kind,
            part,
            forward.module if forward is not None else self._module(),
            line,
            inputs,
            [summary for _, summary in made],
            [self._values.dtype(tensor) for tensor, _ in made],
            call.settings,
            forward=forward,
            bad=bad,
            own=own or by_hand or (part is Part.UPDATE and updating is not Updating.BY_OPTIMIZER),
        )
        seen.ahead = part is Part.FORWARD and updating is Updating.AHEAD
        seen.deliberate = bad and _is_deliberate(seen)
        if bad and not any(each.bad and not each.deliberate for each in inputs):
            seen.stack = _stack(self._adapter.build.package()) if not call.backward else ()
        self.seen.append(seen)
        if call.node is not None and not call.backward:
            self._by_node.setdefault(call.node, seen)
        for tensor, summary in made:
            address = self._values.identity(tensor)
            self._made.put(address, (seen, summary), view=address in given and not call.name.endswith("_"))

    def _is_forward_again(self, call: OpCall) -> bool:
        """Whether an operator after backward is one of the next forward pass: no update is made for a gradient."""
        if self._next_began is None and call.recorded:
            self._next_began = len(self.seen)
        return self._next_began is not None and not call.backward

    def _part(self, updating: Updating, outputs: Sequence[object]) -> Part:
        after = updating in (Updating.AFTER, Updating.AHEAD)
        if after and any((self._named(output) or ("", None))[1] is Part.WEIGHTS for output in outputs):
            return Part.UPDATE
        return PARTS[updating]

    def _line(self, call: OpCall, forward: Seen | None) -> tuple[Location | None, bool]:
        """The user's line; of a backward pass the line of the forward pass, but for a backward that is the user's."""
        if not call.backward:
            return call.line, False
        own = call.line is not None and self._backward_line is not None and call.line != self._backward_line
        if own and (forward is None or call.line != forward.line):
            return call.line, True
        return (forward.line if forward is not None else None), False

    def _what_is(self, tensor: object) -> tuple[str, Part] | None:
        return self._named(tensor) or self._views.get(self._values.identity(tensor))

    def _given(
        self, tensor: object, known: tuple[Seen, Summary] | None, *, bad: bool, written: bool, forward: bool
    ) -> Given:
        dtype = self._values.dtype(tensor)
        if known is not None and bad and not written and not self.is_bad(known[1]):
            changed = self._changed_since(tensor)
            if changed is not None:
                told = self._what_is(tensor) if changed[0] is None else None
                constant = forward and changed[0] is None and told is None
                name, whose = told or ("", None)
                return Given(dtype, changed[1], changed[0], name, whose, constant, bad=True)
        if known is not None and (written or not bad or known[1].count == _size(self._values.shape(tensor))):
            return Given(dtype, known[1], known[0], bad=self.is_bad(known[1]))
        if not bad or "float" not in dtype:
            return Given(dtype)
        told = self._what_is(tensor)
        if written:
            # It is written by this operator: what it held before was looked at when the step began.
            return Given(dtype, None, None, told[0] if told is not None else "")
        summary = self._summary(tensor)
        is_bad = summary is not None and self.is_bad(summary)
        if known is not None and known[0].bad:
            return Given(dtype, summary, known[0], bad=is_bad)
        if told is None:
            return Given(dtype, summary, constant=forward, bad=is_bad)
        return Given(dtype, summary, None, told[0], told[1], bad=is_bad)

    def _changed_since(self, tensor: object) -> tuple[Seen | None, Summary] | None:
        """Who made it what it is now, None for someone unseen; None where it is well.

        A part of it may have been written, or a framework has summed gradients where something else had been.
        """
        summary = self._summary(tensor)
        if summary is None or not self.is_bad(summary):
            return None
        begin = self._values.identity(tensor)
        return self._made.written_within(begin, begin + _size(self._values.shape(tensor)) * _BYTES), summary

    def is_bad(self, summary: Summary) -> bool:
        """Whether numbers are not finite, or beyond the limit."""
        return summary.non_finite > 0 or max(-summary.minimum, summary.maximum) > self._limit

    def _summary(self, tensor: object) -> Summary | None:
        if "float" not in self._values.dtype(tensor) and "complex" not in self._values.dtype(tensor):
            return None
        try:
            return summarise(self._values.to_numpy(tensor))
        except (Unreadable, ValueError):
            return None


def odd_rows(array: Array) -> Sequence[int]:
    """The first rows of an array that are not finite; else those with numbers far above the other rows'."""
    if not array.ndim or not array.size:
        return ()
    flat = np.abs(np.asarray(array, np.float64).reshape(array.shape[0], -1)).max(axis=1)
    odd = ~np.isfinite(flat)
    if not odd.any():
        odd = flat > _ODD * np.median(flat)
    return [int(one) for one in np.flatnonzero(odd)[:_MOST_ROWS]]


def _is_deliberate(seen: Seen) -> bool:
    """Infinite numbers that someone has put there, as masks do: written by hand, or handed on."""
    if seen.nan or seen.part is not Part.FORWARD or not any(output.non_finite for output in seen.outputs):
        return False
    bad = [given for given in seen.inputs if given.bad]
    if bad:
        return all(given.deliberate for given in bad)
    return seen.kind in _WRITING or seen.name.lower() in _FILLING or has_infinite(seen.settings)


def has_infinite(settings: Mapping[str, object]) -> bool:
    """Whether a plain argument is infinite."""
    return any(isinstance(setting, float) and setting in (float("inf"), float("-inf")) for setting in settings.values())


def _is_ours(package: str) -> bool:
    """Whether it is TrueLine that looks at a number: feeds and values lie between an operator and the user's line."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.endswith(_TELLING):
        frame = frame.f_back
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_RECORD) or (file.startswith(_OURS) and file.endswith(_LOOKING)):
            return True
        if not file.startswith((package, _OURS, "<")):
            return False
        frame = frame.f_back
    return False


def _is_started_by_us(frame: FrameType | None, line: Location) -> bool:
    """Whether what started the script lies between a frame and the next line that is not TrueLine's."""
    while frame is not None and (frame.f_code.co_filename, frame.f_lineno) != (line.file, line.line):
        if frame.f_code.co_filename == _LAUNCH:
            return True
        frame = frame.f_back
    return False


def _is_blank(name: str) -> bool:
    """Whether what it gives has no numbers yet, but those that happen to be there."""
    return name.lower().removeprefix("new_").startswith("empty")


def _is_view(kind: str) -> bool:
    found = op_kinds().get(kind)
    return kind == "stop_gradient" or (found is not None and found.view)


def _size(shape: Sequence[int]) -> int:
    size = 1
    for one in shape:
        size *= one
    return size


def _stack(package: str) -> list[Location]:
    """The user's lines that led here, the innermost first."""
    found: list[Location] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(found) < _DEEPEST_STACK:
        line = user_line(package, frame=frame)
        if line is None or _is_started_by_us(frame, line):
            break
        while frame is not None and (frame.f_code.co_filename, frame.f_lineno) != (line.file, line.line):
            frame = frame.f_back
        found.append(line)
        frame = frame.f_back if frame is not None else None
    return found
