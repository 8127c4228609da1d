"""One run in which every module with a counterpart is given the benchmark's inputs, and passes on its outputs.

So each module is judged by itself, and so is what lies between two of them; nothing inherits another's error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.wire import Content
from trueline.adapters.perturbation import Draws
from trueline.adapters.tree import leaves, replaced
from trueline.kernel import UnsupportedDtype, distance
from trueline.kernel.array import Array
from trueline.pair.child.calls import Counting, held_still, paths_of, tensors_of
from trueline.pair.child.host import Answer, Host
from trueline.pair.child.templates import Template

_ULP = 2.0**-23
# A prime, so that it falls in step with no tensor's sides.
_POOL = 1_048_573
_GLANCE = 256


def answer_force(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """Compare each of ``calls`` with the arrays it names; what was compared, in order.

    With ``own`` the arrays are those of this side's last recording. With ``collect`` the gradients and buffers of
    units come along, and nothing is compared with what is not known yet. With ``perturbed``, a seed, all that is
    forced is moved by a rounding unit. With ``reshaped`` the benchmark's outputs are passed on in place of those that
    have another size too.
    """
    known: Sequence[Array] = host.kept["taken"].arrays if content["own"] else arrays[content["inputs"] :]
    inputs = arrays[: content["inputs"]]
    with said_for(host.side, "running", inputs), held_still(host, train=content["train"]):
        forcing = _Forcing(host, content, known)
        given = [forcing.moved(one) for one in inputs] if content["perturbed"] is not None else inputs
        with host.adapter.intercept.intercept(forcing.around), host.adapter.autograd.without_gradient():
            host.model(*tensors_of(host, given))
    if content["collect"]:
        # For a run of its own that is compared with this one.
        host.kept["taken"].arrays.extend(forcing.collected)
    return {"calls": forcing.told, "collected": forcing.names}, forcing.collected


class _Forcing:
    def __init__(self, host: Host, content: Content, known: Sequence[Array]) -> None:
        self._host, self._adapter, self._values = host, host.adapter, host.adapter.values
        self._specs = {(one["path"], one["call"]): one for one in content["calls"]}
        self._train, self._collect, self._known = content["train"], content["collect"], known
        self._reshaped = content["reshaped"]
        self._counting = Counting(paths_of(host))
        self._inside = False
        seed = content["perturbed"]
        self._draws = Draws(seed) if seed is not None else None
        self._pool: Array | None = None
        self.told: list[dict[str, Any]] = []
        self.names: list[list[Any]] = []
        self.collected: list[Array] = []

    def moved(self, array: Array) -> Array:
        """Each value as it is, or a rounding unit up or down; whole numbers are labels and masks."""
        if self._draws is None or array.dtype not in (np.float32, np.float64) or not array.size or _is_whole(array):
            return array
        found: Array = array * self._factors(array.size).reshape(array.shape)
        return found if found.dtype == array.dtype else found.astype(array.dtype)

    def _factors(self, count: int) -> Array:
        """Factors of a rounding unit more or less than one, out of a pool that is drawn once."""
        assert self._draws is not None
        if self._pool is None:
            self._pool = (1 + self._draws.signs(_POOL) * np.float32(_ULP)).astype(np.float32)
        repeats = -(-count // _POOL)
        return self._pool[:count] if repeats == 1 else np.tile(self._pool, repeats)[:count]

    def around(self, module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], proceed: Callable[..., Any]) -> Any:
        """One call: give it what the benchmark gave, look at what comes out, pass on what the benchmark passed on."""
        if self._inside:
            return proceed(*args, **kwargs)
        begun = self._counting.begin(module)
        spec = self._specs.get(begun) if begun is not None else None
        if begun is None or spec is None:
            return proceed(*args, **kwargs)
        told: dict[str, Any] = {"path": begun[0], "call": begun[1], "checks": []}
        told["parent"] = self._counting.open[-1] if self._counting.open else None
        # Where it stands among what was seen: the first thing compared in it are its inputs.
        self.told.append(told)
        tensors = [one for _, one in leaves((args, kwargs), self._values.is_tensor)]
        given, agreed = self._inputs(tensors, spec, told)
        told["forced"] = agreed
        if spec["silent"] and not agreed:
            return proceed(*args, **kwargs)
        template = Template.of(args, kwargs, self._values.is_tensor)
        output = self._run(module, begun, spec, template, given, proceed, told)
        return self._outputs(output, spec, told)

    def _inputs(self, tensors: Sequence[Any], spec: Mapping[str, Any], told: dict[str, Any]) -> tuple[list[Any], bool]:
        """The benchmark's inputs as tensors, if they fit; and whether those that were given are the same."""
        wanted = [self._known[place] for place in spec["ins"]]
        fits = len(wanted) == len(tensors) and all(
            self._values.shape(one) == ref.shape for one, ref in zip(tensors, wanted, strict=True)
        )
        told["fits"] = fits
        if not fits:
            told["unfit"] = [[list(self._values.shape(one)) for one in tensors], [list(one.shape) for one in wanted]]
            return list(tensors), not spec["silent"]
        near = True
        for place, (one, ref) in enumerate(zip(tensors, wanted, strict=True)):
            level = self._check(told, "in", place, self._values.to_numpy(one), ref)
            near = near and level <= spec["floor"]
        if spec["silent"] and not near:
            return list(tensors), False
        made = [self._values.from_numpy(self.moved(ref), like=one) for one, ref in zip(tensors, wanted, strict=True)]
        return made, True

    def _run(
        self,
        module: Any,
        begun: tuple[str, int],
        spec: Mapping[str, Any],
        template: Template,
        given: Sequence[Any],
        proceed: Callable[..., Any],
        told: dict[str, Any],
    ) -> Any:
        def call(*tensors: Any) -> Any:
            args, kwargs = template.filled(tensors)
            return proceed(*args, **kwargs)

        if not spec["unit"]:
            self._counting.open.append(len(self.told) - 1)
            try:
                return call(*given)
            finally:
                self._counting.open.pop()
        self._inside = True
        try:
            if not self._train:
                return call(*given)
            return self._pull(module, begun, spec, call, given, told)
        finally:
            self._inside = False

    def _pull(
        self,
        module: Any,
        begun: tuple[str, int],
        spec: Mapping[str, Any],
        call: Callable[..., Any],
        given: Sequence[Any],
        told: dict[str, Any],
    ) -> Any:
        """A unit in training: its gradients, and its buffers afterwards.

        What is given twice, as a query that is the key too, is one input: how its gradient is divided tells nothing.
        """
        firsts = [spec["ins"].index(place) for place in spec["ins"]] if told["fits"] else list(range(len(given)))
        single = sorted(set(firsts))

        def call_once(*tensors: Any) -> Any:
            return call(*[tensors[single.index(first)] for first in firsts])

        gout = [self.moved(self._known[place]) if place is not None else None for place in spec["gouts"]]
        if not any(one is not None for one in gout):
            gout = []

        def fitting(found: Sequence[Array]) -> list[Array | None]:
            """An output of another shape takes no part."""
            pairs = zip(gout, found, strict=False)
            return [one if one is None or one.shape == out.shape else np.zeros_like(out) for one, out in pairs]

        named = {one.name: one.value for one in self._values.tensors(module) if not one.buffer and one.trainable}
        with self._adapter.build.undisturbed(module, self._train):
            pulled = self._adapter.autograd.vjp(
                call_once, [given[place] for place in single], list(named.values()), fitting
            )
            after = self._buffers(module)
        found = [("gin", str(place), one) for place, one in zip(single, pulled.gin, strict=True)]
        found += [("grad", name, one) for name, one in zip(named, pulled.grads, strict=True)]
        found += [("buffer", name, one) for name, one in after.items()]
        for kind, name, array in found:
            if self._collect:
                if array is not None:
                    self.names.append([*begun, kind, name])
                    self.collected.append(array)
                continue
            place = spec[kind].get(name)
            if place is not None:
                ref = self._known[place]
                self._check(told, kind, name, array if array is not None else np.zeros_like(ref), ref)
            elif array is not None and kind == "gin" and gout and np.any(array):
                told["checks"].append([kind, name, 1.0, 0.0, True, array.dtype.name])
        return pulled.result

    def _buffers(self, module: Any) -> dict[str, Array]:
        found = (one for one in self._values.tensors(module) if one.buffer or not one.trainable)
        return {
            one.name: self._values.to_numpy(one.value, copy=True)
            for one in found
            if "float" in self._values.dtype(one.value)
        }

    def _outputs(self, output: Any, spec: Mapping[str, Any], told: dict[str, Any]) -> Any:
        wanted = [self._known[place] for place in spec["outs"]]
        found = [one for _, one in leaves(output, self._values.is_tensor)]
        if len(found) != len(wanted):
            told["counts"] = [len(found), len(wanted)]
        fitting: dict[int, Any] = {}
        for place, (one, ref) in enumerate(zip(found, wanted, strict=False)):
            array = self._values.to_numpy(one)
            if array.shape != ref.shape:
                told["checks"].append(["out", str(place), 1.0, 0.0, False, array.dtype.name])
                told.setdefault("shapes", []).append([place, list(array.shape), list(ref.shape)])
                if not self._reshaped or array.ndim != ref.ndim or array.size == ref.size:
                    # Another order of axes is what the code around it was written for.
                    told["loose"] = True
                    continue
            else:
                self._check(told, "out", place, array, ref)
            fitting[place] = self._values.from_numpy(self.moved(ref), like=one)
        if spec["free"]:
            return output
        places = iter(range(len(found)))

        def forced(_: str, tensor: Any) -> Any:
            return fitting.get(next(places), tensor)

        return replaced(output, self._values.is_tensor, forced)

    def _check(self, told: dict[str, Any], kind: str, place: int | str, array: Array, ref: Array) -> float:
        """How far apart relative to the reference's largest; kept as kind, index, level, scale, comparable, dtype."""
        level, scale, comparable = _level(array, ref)
        told["checks"].append([kind, str(place), level, scale, comparable, array.dtype.name])
        return level


def _is_whole(array: Array) -> bool:
    """Whether all are whole numbers, which a glance mostly tells."""
    flat = array.reshape(-1)
    glance = flat[:_GLANCE]
    return bool(np.all(np.rint(glance) == glance)) and bool(np.all(np.rint(flat) == flat))


def _level(array: Array, ref: Array) -> tuple[float, float, bool]:
    if array.shape != ref.shape:
        return 1.0, 0.0, False
    if not array.size:
        return 0.0, 0.0, True
    if array.dtype.kind in "biu" or ref.dtype.kind in "biu":
        return float(not np.array_equal(array, ref)), 1.0, True
    try:
        found = distance(np.ascontiguousarray(array), np.ascontiguousarray(ref))
    except UnsupportedDtype:
        return 0.0, 0.0, True
    if not found.comparable or found.other_non_finite:
        return 1.0, float(found.max_ref), False
    scale = float(found.max_ref)
    return (float(found.max_abs) / scale if scale else float(found.max_abs > 0)), scale, True
