"""In which arguments a module of the port differs from the benchmark's, and what would make them alike."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from trueline.apitable.attributes import MINDSPORE, TORCH, KnownLayer
from trueline.model.json_value import Json
from trueline.pair.attributes.classes import class_differences
from trueline.pair.attributes.difference import Difference, Modules, alike, typed
from trueline.pair.attributes.padding import explicit, padded_alike
from trueline.pair.attributes.user_classes import own_differences
from trueline.pair.blame import Cause
from trueline.pair.questions.module_run import Change

_PADDINGS = ("padding", "pool_padding")


def differences(modules: Modules, input_shape: Sequence[int] | None = None) -> list[Difference]:
    """What is another in the port's module; ``input_shape`` is that of the module's first input."""
    theirs, ours = modules.known
    if theirs is None and ours is None:
        return list(own_differences(modules))
    if theirs is None or ours is None or theirs.kind.kind != ours.kind.kind:
        return list(class_differences(modules, input_shape))
    return list(_Same(modules, theirs, ours, input_shape).differences())


class _Same:
    """Two layers of one kind."""

    def __init__(
        self, modules: Modules, theirs: KnownLayer, ours: KnownLayer, input_shape: Sequence[int] | None
    ) -> None:
        port = modules.port
        self.ours = ours
        self.there = theirs.read(modules.bench.arguments, modules.bench.attributes, input_shape)
        self.here = ours.read(port.arguments, port.attributes, input_shape)
        self.typed = ours.named(port.arguments) or dict(port.attributes)
        self.shape = input_shape

    def differences(self) -> Iterator[Difference]:
        for name, attribute in self.ours.kind.has.items():
            if not attribute.cause or name not in self.there or name not in self.here:
                continue
            bench, port = self.there[name], self.here[name]
            if not self._alike(name, attribute.form, bench, port):
                yield self._difference(name, Cause(attribute.cause), bench, port)

    def _alike(self, name: str, form: str, bench: Json, port: Json) -> bool:
        if form in _PADDINGS:
            transposed = self.ours.kind.kind == "convtranspose"
            return padded_alike(self.there, self.here, self.ours.rank, self._sizes(), transposed=transposed)
        if name == "output_padding":
            return alike(bench, port) or "same" in (self.there["padding"], self.here["padding"])
        if form == "axis":
            return bool(self._axis(bench) == self._axis(port))
        return alike(bench, port)

    def _sizes(self) -> Sequence[int] | None:
        rank = self.ours.rank
        return self.shape[-rank:] if self.shape is not None and len(self.shape) > rank else None

    def _axis(self, axis: Json) -> Json:
        """Counted from the front, where the input's shape is known; torch's None by torch's rule."""
        if not self.shape:
            return axis
        if axis is None:
            return 0 if len(self.shape) in (1, 3) else 1
        return axis % len(self.shape) if isinstance(axis, int) else axis

    def _difference(self, name: str, cause: Cause, bench: Json, port: Json) -> Difference:
        spelled = self.ours.kind.has[name].spelled(self.ours.flavour)
        change = self._change(name, bench)
        written = dict(change.arguments) if change is not None else {}
        now = {
            one: self.typed[one] for one in written if one in self.typed and not alike(self.typed[one], written[one])
        }
        given = {one: value for one, value in written.items() if one in now or one not in self.typed}
        return Difference(cause, spelled or name, bench, port, change, typed(given), typed(now))

    def _change(self, name: str, bench: Json) -> Change | None:
        written = self._written(name, bench)
        if written is None and name == "padding":
            return self._padded_before(bench)
        if written is None:
            return None
        return Change(fitted(self.ours, self.typed, written), positional=self._positional)

    def _written(self, name: str, bench: Json) -> dict[str, Json] | None:
        if bench == "same" and name == "padding" and self.ours.flavour == TORCH and self._uneven():
            return None
        written = self.ours.written(name, bench, self.shape)
        more = self.there.get("output_padding")
        if written is not None and name == "padding" and more != self.here.get("output_padding"):
            written |= self.ours.written("output_padding", more) or {}
        if written is not None and name == "count_include_pad" and self.here.get("padding") == "same" and bench:
            # MindSpore counts no padding that it has chosen itself.
            written |= self.ours.written("padding", self.there["padding"]) or {}
        return written

    @property
    def _positional(self) -> Sequence[str]:
        return self.ours.kind.positional.get(self.ours.flavour, ())

    def _uneven(self) -> bool:
        """Whether torch cannot pad as "same" does: where the window steps further, and in a pooling."""
        stride = self.there["stride"]
        steps = stride if isinstance(stride, list | tuple) else [stride]
        return any(step != 1 for step in steps) or self.ours.kind.family == "pooling"

    def _padded_before(self, bench: Json) -> Change | None:
        """No argument brings this padding: a border around the input does."""
        sizes = self._sizes()
        if sizes is None or self.ours.kind.kind == "convtranspose":
            return None
        if isinstance(bench, list | tuple):
            pads = [(before, after) for before, after in bench]
        else:
            pads = explicit(self.there, self.ours.rank, sizes)
        none = self.ours.written("padding", [[0, 0]] * self.ours.rank) or {}
        filling = -math.inf if self.ours.kind.kind == "maxpool" else 0.0
        arguments = fitted(self.ours, self.typed, none)
        return Change(arguments, pads=pads, pad_value=filling, positional=self._positional)


def fitted(ours: KnownLayer, now: Mapping[str, Json], changes: Mapping[str, Json]) -> dict[str, Json]:
    """Changes and what they entail: MindSpore's max-pooling rounds up, or spreads its window, only where it pads."""
    merged = {**now, **changes}
    wide = merged.get("ceil_mode") or merged.get("dilation", 1) not in (1, (1,), (1, 1), (1, 1, 1))
    padless = str(merged.get("pad_mode", "valid")).lower() == "valid"
    if ours.flavour == MINDSPORE and ours.kind.kind == "maxpool" and wide and padless:
        return {**changes, "pad_mode": "pad", "padding": 0}
    return dict(changes)
