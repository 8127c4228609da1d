"""One run in which every module with a counterpart is given the benchmark's inputs, and passes on its outputs.

So each module is judged by itself, and so is what lies between two of them; nothing inherits another's error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TypeAlias

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.nouns import Network, OpCall, Tensor, Value
from trueline.adapters.tree import leaves, replaced
from trueline.kernel import UnsupportedDtype, distance
from trueline.kernel.array import Array
from trueline.pair.child.calls import Counting, held_still, paths_of, tensors_of
from trueline.pair.child.host import Host
from trueline.pair.child.op_rounding import Rounding, move_outputs
from trueline.pair.child.templates import Template
from trueline.pair.ops.additive_masks import masked_alike
from trueline.pair.ops.channels import laid_as
from trueline.pair.ops.input_mapping import with_own
from trueline.pair.ops.mask_forms import written_as
from trueline.pair.ops.same_values import hidden
from trueline.pair.questions.forced import CallSpec, Collected, Force, ForcedCall, ForcedRun, Measured, Reshaped

# Of a unit: the kind (gin, grad, buffer), its index or name, and its values.
Seen: TypeAlias = tuple[str, str, Array | None]


def force(host: Host, question: Force) -> ForcedRun:
    """Compare each of the calls with the arrays it names."""
    known = host.recorded if question.known is None else question.known
    inputs = question.inputs
    with said_for(host.side, "running", inputs), held_still(host, train=question.train):
        forcing = _Forcing(host, question, known)
        given = [forcing.moved(array) for array in inputs] if question.perturbed is not None else inputs
        watched = host.adapter.ops.watch(forcing.operator) if question.operators else nullcontext()
        with host.adapter.intercept.intercept(forcing.around), host.adapter.autograd.without_gradient(), watched:
            host.model(*tensors_of(host, given))
    if question.collect:
        # For a run of its own that is compared with this one.
        host.recorded.extend(collected.array for collected in forcing.collected)
    return ForcedRun(forcing.calls, forcing.collected)


class _Forcing:
    def __init__(self, host: Host, question: Force, known: Sequence[Array]) -> None:
        self._adapter, self._values, self._question, self._known = host.adapter, host.adapter.values, question, known
        self._structures = host.outputs
        self._own = host.own_inputs
        self._specs = {(spec.path, spec.call): spec for spec in question.calls}
        self._counting = Counting(paths_of(host))
        self._inside = False
        self._rounding = Rounding(question.perturbed) if question.perturbed is not None else None
        self.calls: list[ForcedCall] = []
        self.collected: list[Collected] = []

    def moved(self, array: Array) -> Array:
        """As it is, or each value a rounding unit up or down."""
        return array if self._rounding is None else self._rounding.moved(array)

    def operator(self, call: OpCall) -> None:
        """An operator between the calls has run."""
        if not self._inside:
            move_outputs(self._adapter, call, self.moved)

    def around(
        self, module: Network, args: tuple[Value, ...], kwargs: Mapping[str, Value], proceed: Callable[..., Value]
    ) -> Value:
        """One call: give it what the benchmark gave, look at what comes out, pass on what the benchmark passed on."""
        if self._inside:
            return proceed(*args, **kwargs)
        begun = self._counting.begin(module)
        spec = self._specs.get(begun) if begun is not None else None
        if begun is None or spec is None:
            return proceed(*args, **kwargs)
        # Where it stands among what was seen: the first thing compared in it are its inputs.
        call = ForcedCall(*begun, self._counting.open[-1] if self._counting.open else None)
        self.calls.append(call)
        tensors = [tensor for _, tensor in leaves((args, kwargs), self._values.is_tensor)]
        given, call.forced = self._inputs(tensors, spec, call)
        if spec.silent and not call.forced:
            return proceed(*args, **kwargs)
        if spec.given:
            return self._handed_on(spec)
        template = Template.of(args, kwargs, self._values.is_tensor)
        output = self._run(module, spec, template, given, proceed, call)
        return self._outputs(output, spec, call)

    def _inputs(self, tensors: Sequence[Value], spec: CallSpec, call: ForcedCall) -> tuple[list[Value], bool]:
        """The benchmark's inputs as tensors, if they fit; and whether those that were given are the same."""
        known = [self._known[place] for place in spec.ins]
        given: Sequence[int | None] = range(len(known))
        if len(tensors) > len(known) and not spec.unit:
            known, given = self._with_own(tensors, known, spec)
        here = [self._values.shape(tensor) for tensor in tensors]
        trios = enumerate(zip(tensors, known, given, strict=False))
        wanted = [self._wanted(tensor, ref, call, place, at) for place, (tensor, ref, at) in trios] + known[len(here) :]
        shapes = here, [ref.shape for ref in wanted]
        if shapes[0] != shapes[1]:
            call.unfit = shapes
            return list(tensors), not spec.silent
        near = True
        for place, (tensor, ref) in enumerate(zip(tensors, wanted, strict=True)):
            level = _check(call, "in", place, self._values.to_numpy(tensor), ref, inside=True)
            near = near and level <= spec.floor
        if spec.silent and not near:
            return list(tensors), False
        if spec.given:
            return [], True
        return [self._put(tensor, self.moved(ref)) for tensor, ref in zip(tensors, wanted, strict=True)], True

    def _wanted(self, tensor: Value, ref: Array, call: ForcedCall, place: int, at: int | None) -> Array:
        """The benchmark's input as the port's code has it: in its shape, and a mask as it writes masks.

        ``at`` is its place among those of the benchmark's that the port takes; None for the port's own.
        """
        shape, dtype = self._values.shape(tensor), self._values.dtype(tensor)
        laid = laid_as(ref, shape)
        if at is None or (laid.shape == shape and dtype == laid.dtype.name and "bool" not in dtype):
            return laid
        written = written_as(self._values.to_numpy(tensor), laid)
        if written is None:
            return laid
        call.masks[at] = written.mask
        if not written.sure:
            call.doubted.append(place)
        return written.mask

    def _put(self, tensor: Value, ref: Array) -> Value:
        """The benchmark's input as a tensor, what is masked away as the port's code does it."""
        own = self._values.to_numpy(tensor)
        masked = hidden(own, ref)
        return self._values.from_numpy(ref if masked is None else np.where(masked, own, ref), like=tensor)

    def _with_own(
        self, tensors: Sequence[Value], known: list[Array], spec: CallSpec
    ) -> tuple[list[Array], Sequence[int | None]]:
        """The benchmark's inputs of a block that takes more than those, and which each is; the rest is its own."""
        kinds = [(self._values.dtype(tensor), self._values.shape(tensor)) for tensor in tensors]
        places = with_own([(array.dtype.name, array.shape) for array in known], kinds)
        if places is None:
            return known, range(len(known))
        own = {
            at: self._values.to_numpy(tensor, copy=True)
            for at, (tensor, place) in enumerate(zip(tensors, places, strict=True))
            if place is None
        }
        self._own[spec.path, spec.call] = own
        return [known[place] if place is not None else own[at] for at, place in enumerate(places)], places

    def _handed_on(self, spec: CallSpec) -> Value:
        """The benchmark's outputs, put together as the call's own are."""
        structure = self._structures[spec.path]
        places = zip(spec.outs, structure.likes, strict=True)
        made = [self._values.from_numpy(self.moved(self._known[place]), like=like) for place, like in places]
        ((output,), _) = structure.template.filled(made)
        return output

    def _run(
        self,
        module: Network,
        spec: CallSpec,
        template: Template,
        given: Sequence[Value],
        proceed: Callable[..., Value],
        call: ForcedCall,
    ) -> Value:
        def run(*tensors: Value) -> Value:
            args, kwargs = template.filled(tensors)
            return proceed(*args, **kwargs)

        if not spec.unit:
            self._counting.open.append(len(self.calls) - 1)
            try:
                return run(*given)
            finally:
                self._counting.open.pop()
        self._inside = True
        try:
            if not self._question.train:
                return run(*given)
            return self._pull(module, spec, run, given, call)
        finally:
            self._inside = False

    def _pull(
        self,
        module: Network,
        spec: CallSpec,
        run: Callable[..., Value],
        given: Sequence[Value],
        call: ForcedCall,
    ) -> Value:
        """A unit in training: its gradients, and its buffers afterwards.

        What is given twice, as a query that is the key too, is one input: how its gradient is divided says nothing.
        """
        ins = list(spec.ins)
        firsts = [ins.index(place) for place in ins] if call.unfit is None else list(range(len(given)))
        single = sorted(set(firsts))

        def run_once(*tensors: Value) -> Value:
            return run(*[tensors[single.index(first)] for first in firsts])

        gout = [self.moved(self._known[place]) if place is not None else None for place in spec.gouts]
        if all(gradient is None for gradient in gout):
            gout = []

        def fitting(outputs: Sequence[Array]) -> list[Array | None]:
            """An output of another shape takes no part."""
            laid = [
                (laid_as(gradient, output.shape) if gradient is not None else None, output)
                for gradient, output in zip(gout, outputs, strict=False)
            ]
            return [
                gradient if gradient is None or gradient.shape == output.shape else np.zeros_like(output)
                for gradient, output in laid
            ]

        tensors = list(self._values.tensors(module))
        statistics = [tensor for tensor in tensors if tensor.buffer or not tensor.trainable]
        # All of the model is held still already; what a unit changes in itself is put back before it runs again.
        held = self._adapter.build.undisturbed(module, self._question.train) if statistics else nullcontext()
        if not self._question.backward:
            with held:
                result = run(*given)
                arrays = [("buffer", name, array) for name, array in self._read(statistics).items()]
            self._look_at(spec, call, arrays, [])
            return result
        named = {tensor.name: tensor.value for tensor in tensors if not tensor.buffer and tensor.trainable}
        with held:
            pulled = self._adapter.autograd.vjp(
                run_once, [given[place] for place in single], list(named.values()), fitting
            )
            after = self._read(statistics)
        # What holds no numbers here has no gradient, whatever the benchmark's has: as a mask may be true or added.
        gradients = [
            ("gin", str(place), array)
            for place, array in zip(single, pulled.gin, strict=True)
            if array is not None or "float" in self._values.dtype(given[place])
        ]
        gradients += [("grad", name, array) for name, array in zip(named, pulled.grads, strict=True)]
        self._look_at(spec, call, [*gradients, *(("buffer", name, array) for name, array in after.items())], gout)
        return pulled.result

    def _look_at(self, spec: CallSpec, call: ForcedCall, arrays: Sequence[Seen], gout: Sequence[Array | None]) -> None:
        """Collect gradients and buffers of a unit, or compare them with the benchmark's."""
        for kind, name, array in arrays:
            if self._question.collect:
                if array is not None:
                    self.collected.append(Collected(call.path, call.call, kind, name, array))
                continue
            if kind != "buffer" and not gout:
                # Nothing is known of the gradient at its output, as at what a layer gives to one that it holds.
                continue
            place = spec.places(kind).get(name)
            if place is not None:
                ref = self._known[place]
                if array is not None and kind == "gin":
                    ref = laid_as(ref, array.shape)
                _check(call, kind, name, array if array is not None else np.zeros_like(ref), ref)
            elif array is not None and kind == "gin" and gout and call.unfit is None and np.any(array):
                call.checks.append(Measured(kind, name, 1.0, 0.0, True, array.dtype.name))

    def _read(self, statistics: Sequence[Tensor]) -> dict[str, Array]:
        """The numbers of floating tensors, as they are now."""
        return {
            tensor.name: self._values.to_numpy(tensor.value, copy=True)
            for tensor in statistics
            if "float" in self._values.dtype(tensor.value)
        }

    def _outputs(self, output: Value, spec: CallSpec, call: ForcedCall) -> Value:
        wanted = [self._known[place] for place in spec.outs]
        tensors = [tensor for _, tensor in leaves(output, self._values.is_tensor)]
        if len(tensors) != len(wanted):
            call.counts = len(tensors), len(wanted)
        fitting: dict[int, Value] = {}
        for place, (tensor, ref) in enumerate(zip(tensors, wanted, strict=False)):
            array = self._values.to_numpy(tensor)
            if spec.path:
                ref = laid_as(ref, array.shape)
            if array.shape != ref.shape:
                call.checks.append(Measured("out", str(place), 1.0, 0.0, False, array.dtype.name))
                call.shapes.append(Reshaped(place, array.shape, ref.shape))
                if not self._question.reshaped or array.ndim != ref.ndim or array.size == ref.size:
                    # Another order of axes is what the code around it was written for.
                    call.loose = True
                    continue
            else:
                _check(call, "out", place, array, ref, inside=bool(spec.path))
            fitting[place] = self._values.from_numpy(self.moved(ref), like=tensor)
        if spec.free:
            return output
        places = iter(range(len(tensors)))

        def forced(_: str, tensor: Value) -> Value:
            return fitting.get(next(places), tensor)

        return replaced(output, self._values.is_tensor, forced)


def _check(call: ForcedCall, kind: str, place: int | str, array: Array, ref: Array, *, inside: bool = False) -> float:
    """How far apart relative to the reference's largest, which the call keeps.

    ``inside`` a network what is masked may be so by any number; what the network gives out is as a caller sees it.
    """
    level, scale, comparable = level_of(array, ref, inside=inside)
    if kind == "in" and place in call.doubted:
        level, scale, comparable = 1.0, 1.0, True
    call.checks.append(Measured(kind, str(place), level, scale, comparable, array.dtype.name))
    return level


def level_of(array: Array, ref: Array, *, inside: bool = False) -> tuple[float, float, bool]:
    """How far apart relative to the reference's largest, which comes along, and whether that says anything.

    ``inside`` a network, what is masked on both sides is left aside, by whatever number it is.
    """
    if array.shape != ref.shape:
        return 1.0, 0.0, False
    if not array.size:
        return 0.0, 0.0, True
    if masked_alike(array, ref):
        return 0.0, 1.0, True
    if array.dtype.kind in "biu" or ref.dtype.kind in "biu":
        return float(not np.array_equal(array, ref)), 1.0, True
    masked = hidden(array, ref) if inside else None
    if masked is not None:
        array, ref = array[~masked], ref[~masked]
    try:
        apart = distance(np.ascontiguousarray(array), np.ascontiguousarray(ref))
    except UnsupportedDtype:
        return 0.0, 0.0, True
    scale = float(apart.max_ref)
    if not apart.comparable or apart.other_non_finite:
        return 1.0, scale, False
    return (float(apart.max_abs) / scale if scale else float(apart.max_abs > 0)), scale, True
