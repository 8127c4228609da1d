"""Capture and restore of everything a training step depends on, across processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import mindspore as ms
from mindspore import amp, dataset, nn
from mindspore.experimental.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau, SequentialLR

from trueline.adapters.live_objects import Births, alive
from trueline.adapters.mindspore import internals, random_cells, values
from trueline.adapters.mindspore.internals import AmpDecorator
from trueline.adapters.mindspore.wrappers import OPTIMIZERS
from trueline.adapters.nouns import Foreign, Network, Optimizer, State, Stateful, Value, named
from trueline.adapters.plain import plain_values
from trueline.adapters.saving import Saving, rebuilt
from trueline.adapters.state_keeper import CapturingKeeper
from trueline.kernel.array import Array
from trueline.model.json_value import Json

# The last two are of no family.
_SCHEDULES: Final = (LRScheduler, ReduceLROnPlateau, SequentialLR)
_OTHERS: Final = (*_SCHEDULES, amp.LossScaler)
_births = Births()


def prepare() -> None:
    """From now on track the order of construction, and the draws of Dropout."""
    _births.watch((nn.Cell, *_OTHERS))
    random_cells.count_draws()


def built() -> int:
    """The number of stateful objects constructed so far; while it is unchanged there are no new ones except copies."""
    return _births.count


def holders() -> list[Stateful]:
    """Live networks, optimizers, schedules and scalers, each kind in order of construction."""
    living = _births.sorted(alive((nn.Cell, *_OTHERS)))
    cells = [
        candidate for candidate in living if isinstance(candidate, nn.Cell) and not isinstance(candidate, OPTIMIZERS)
    ]
    inside = {id(part) for cell in cells for part in internals.subcells(cell).values() if part is not None}
    roots = [cell for cell in cells if id(cell) not in inside and any(True for _ in values.tensors(cell))]
    kinds_of_state = [("optimizer", OPTIMIZERS), ("schedule", _SCHEDULES), ("scaler", (amp.LossScaler,))]
    return [Stateful("network", _kind(root), root) for root in roots] + [
        Stateful(name, _kind(candidate), candidate)
        for name, kinds in kinds_of_state
        for candidate in living
        if isinstance(candidate, kinds)
    ]


def _kind(holder: object) -> str:
    return f"{type(holder).__module__}.{type(holder).__qualname__}"


def capture(holders: Sequence[Stateful], *, gradients: bool) -> State:  # noqa: ARG001 - gradients are values of the user's
    """The state of all of them and of the random generators; every tensor once."""
    saving = Saving(values)
    plain: dict[str, Json] = {}
    seen: set[int] = set()
    for at, holder in named(holders):
        for name, tensor in _tensors(holder):
            if id(tensor) not in seen:
                seen.add(id(tensor))
                saving.tree(tensor, f"{at}/{name}")
        if holder.kind == "network":
            plain[at] = saving.tree(_about_network(holder.held, at, saving), at)
        elif holder.kind == "optimizer":
            plain[at] = saving.tree(_groups(holder.held), at)
        else:
            plain[at] = saving.tree(plain_values(holder.held), at)
    kept = random()
    return State(saving.arrays, {**plain, **kept.plain}, saving.lost)


def _tensors(holder: Stateful) -> Iterator[tuple[str, Value]]:
    if holder.kind == "network":
        for tensor in values.tensors(holder.held):
            yield tensor.name, tensor.value
    elif holder.kind == "optimizer":
        yield from _slots(holder.held)
    else:
        for name, value in vars(holder.held).items():
            for place, part in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(part, ms.Parameter):
                    yield f"{name}.{place}", part


def _slots(optimizer: Optimizer) -> Iterator[tuple[str, Value]]:
    """An optimizer's own parameters, under names that are the same in a fresh optimizer."""
    seen: set[int] = set()
    for parameter in optimizer.get_parameters():
        seen.add(id(parameter))
        yield parameter.name, parameter
    for place, group in enumerate(getattr(optimizer, "param_groups", ())):
        for name, value in group.items():
            if isinstance(value, ms.Parameter) and id(value) not in seen:
                yield f"group.{place}/{name}", value


def _about_network(root: Network, at: str, saving: Saving) -> dict[str, Value]:
    drawn, lost = random_cells.capture(root)
    saving.lost += [f"{at}/{cell}" for cell in lost]
    return {
        "modes": {path: bool(cell.training) for path, cell in values.modules(root)},
        "numbers": {path: _numbers(cell) for path, cell in values.modules(root) if _is_users(cell)},
        "drawn": drawn,
    }


def _is_users(cell: Network) -> bool:
    return type(cell).__module__.partition(".")[0] != "mindspore"


def _numbers(cell: Network) -> dict[str, Json]:
    return {name: value for name, value in values.attributes(cell).items() if isinstance(value, bool | int | float)}


def _groups(optimizer: Optimizer) -> list[dict[str, Json]]:
    """The plain settings of an optimizer with parameter groups."""
    simple = (bool, int, float, str, type(None))
    return [
        {name: value for name, value in group.items() if isinstance(value, simple)}
        for group in getattr(optimizer, "param_groups", ())
    ]


def restore(state: State, holders: Sequence[Stateful]) -> None:
    """Restore everything in place, so that the following steps repeat bit for bit."""
    for at, holder in named(holders):
        for name, tensor in _tensors(holder):
            if f"{at}/{name}" in state.arrays:
                values.assign(tensor, state.arrays[f"{at}/{name}"])
        kept_state = rebuilt(state.plain[at], state.arrays, values.from_numpy)
        if holder.kind == "network":
            _restore_network(holder.held, kept_state)
        elif holder.kind == "optimizer":
            for group, kept in zip(getattr(holder.held, "param_groups", ()), kept_state, strict=False):
                group.update(kept)
        else:
            holder.held.__dict__.update(kept_state)
    set_random(state)


def _restore_network(root: Network, plain: Mapping[str, Value]) -> None:
    for path, cell in values.modules(root):
        if cell.training != plain["modes"].get(path, cell.training):
            cell.set_train(plain["modes"][path])
        for name, number in plain["numbers"].get(path, {}).items():
            if getattr(cell, name, None) != number:
                setattr(cell, name, number)
    random_cells.restore(root, plain["drawn"])


def keeper() -> CapturingKeeper:
    """A new keeper, empty."""
    return CapturingKeeper(capture, restore)


def random() -> State:
    """Seeds and counters of functional operators and of pipelines."""
    seeds = [ms.get_seed(), int(dataset.config.get_seed()), internals.kernel_seeds()]
    return State({}, {"rng/mindspore": seeds})


def set_random(state: State) -> None:
    """Restore the seeds and counters."""
    kept: Value = state.plain["rng/mindspore"]
    seed, for_data, counters = kept
    internals.set_seeds(seed, counters)
    dataset.config.set_seed(for_data)


def generator_state(generator: Foreign) -> Array | None:  # noqa: ARG001
    """None: operators on CPU do not draw from MindSpore's generators."""
    return None


def set_generator(generator: Foreign, state: Array) -> None:
    """Nothing: there are none."""


def iterators() -> tuple[type, ...]:
    """The iterator classes of pipelines."""
    return (internals.DatasetIterator,)


def use_float32(holders: Sequence[Stateful]) -> None:
    """Weights, statistics and optimizer state in float32, and no automatic mixed precision from now on."""
    halves = (ms.float16, ms.bfloat16)
    for holder in holders:
        for _, tensor in _tensors(holder):
            if tensor.dtype in halves:
                tensor.set_dtype(ms.float32)
        if holder.kind == "network":
            for _, cell in values.modules(holder.held):
                flags = getattr(cell, "flags", {})
                if cell.mixed_precision_type is not None or flags.get("fp16") or flags.get("bf16"):
                    cell.to_float(ms.float32)
    AmpDecorator.__enter__ = AmpDecorator.__exit__ = lambda *_: None
