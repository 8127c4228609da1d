"""Capture and restore of everything a training step depends on, across processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import torch
from torch import nn
from torch.amp import GradScaler
from torch.optim.lr_scheduler import LRScheduler

from trueline.adapters.live_objects import Births, alive
from trueline.adapters.nouns import Foreign, Function, Network, Optimizer, State, Stateful, Value, named
from trueline.adapters.plain import plain_values
from trueline.adapters.saving import Saving, rebuilt
from trueline.adapters.torch import internals, state_keeper, values
from trueline.kernel.array import Array
from trueline.model.json_value import Json

_KINDS: Final = (nn.Module, torch.optim.Optimizer, LRScheduler, GradScaler)
_births = Births()


def prepare() -> None:
    """From now on track the order of construction."""
    _births.watch(_KINDS)


def built() -> int:
    """The number of stateful objects constructed so far; while it is unchanged there are no new ones except copies."""
    return _births.count


def holders() -> list[Stateful]:
    """Live networks, optimizers, schedules and scalers, each kind in order of construction."""
    living = _births.sorted(alive(_KINDS))
    modules = [candidate for candidate in living if isinstance(candidate, nn.Module)]
    inside = {id(part) for module in modules for part in internals.submodules(module).values() if part is not None}
    roots = [module for module in modules if id(module) not in inside and any(True for _ in _tensors(module))]
    kinds_of_state = [("optimizer", torch.optim.Optimizer), ("schedule", LRScheduler), ("scaler", GradScaler)]
    return [Stateful("network", _kind(root), root) for root in roots] + [
        Stateful(name, _kind(candidate), candidate)
        for name, kind in kinds_of_state
        for candidate in living
        if isinstance(candidate, kind)
    ]


def _kind(holder: object) -> str:
    return f"{type(holder).__module__}.{type(holder).__qualname__}"


def capture(holders: Sequence[Stateful], *, gradients: bool) -> State:
    """The state of all of them and of torch's random generators; every tensor once."""
    saving = Saving(values)
    plain: dict[str, Json] = {}
    seen: set[int] = set()
    for at, holder in named(holders):
        if holder.kind == "network":
            plain[at] = saving.tree(_take_network(holder.held, at, saving, seen, gradients=gradients), at)
        elif holder.kind == "optimizer":
            plain[at] = saving.tree(_take_optimizer(holder.held, at, saving, seen, gradients=gradients), at)
        else:
            plain[at] = saving.tree(_others_state(holder.held), at)
    kept = random()
    return State({**saving.arrays, **kept.arrays}, plain, saving.lost)


def restore(state: State, holders: Sequence[Stateful]) -> None:
    """Restore everything in place, so that the following steps repeat bit for bit."""
    for at, holder in named(holders):
        kept_state = rebuilt(state.plain[at], state.arrays, values.from_numpy)
        if holder.kind == "network":
            _restore_network(holder.held, state, at, kept_state)
        elif holder.kind == "optimizer":
            _restore_optimizer(holder.held, state, at, kept_state)
        elif isinstance(holder.held, GradScaler):
            holder.held.load_state_dict(kept_state)
        else:
            holder.held.__dict__.update(kept_state)
    set_random(state)


def keeper() -> state_keeper.Keeper:
    """A new keeper, empty."""
    return state_keeper.Keeper()


def random() -> State:
    """The state of torch's random generators alone."""
    arrays: dict[str, Array] = {"rng/torch": torch.get_rng_state().numpy().copy()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        for place, state in enumerate(torch.cuda.get_rng_state_all()):
            arrays[f"rng/torch.cuda.{place}"] = state.numpy().copy()
    return State(arrays, {})


def set_random(state: State) -> None:
    """Restore the random generators."""
    torch.set_rng_state(torch.from_numpy(state.arrays["rng/torch"].copy()))
    for name, array in state.arrays.items():
        if name.startswith("rng/torch.cuda."):
            torch.cuda.set_rng_state(torch.from_numpy(array.copy()), int(name.rpartition(".")[2]))


def generator_state(generator: Foreign) -> Array | None:
    """The state of a user's generator; None if it is not one of torch."""
    return generator.get_state().numpy().copy() if isinstance(generator, torch.Generator) else None


def set_generator(generator: Foreign, state: Array) -> None:
    """Restore a user's generator."""
    generator.set_state(torch.from_numpy(state.copy()))


def iterators() -> tuple[type, ...]:
    """The iterator classes of loaders."""
    return (internals.LoaderIterator,)


# ---- networks


def _tensors(root: Network) -> Iterator[tuple[str, Value]]:
    """Parameters, buffers, and tensors held as attributes: hidden states, running averages …"""
    for tensor in values.tensors(root):
        yield tensor.name, tensor.value
    for path, module in root.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                yield f"{path}.{name}" if path else name, value


def _take_network(root: Network, at: str, saving: Saving, seen: set[int], *, gradients: bool) -> dict[str, Value]:
    graded = []
    for name, tensor in _tensors(root):
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        saving.tree(tensor.detach(), f"{at}/{name}")
        if tensor.is_leaf and tensor.grad is not None:
            graded.append(name)
            if gradients:
                saving.tree(tensor.grad, f"{at}/{name}/grad")
    modes = {path: module.training for path, module in root.named_modules()}
    return {"modes": modes, "numbers": _numbers(root), "graded": graded}


def _numbers(root: Network) -> dict[str, dict[str, Json]]:
    """The numeric attributes of the user's own modules."""
    own = {path: module for path, module in root.named_modules() if not _is_torchs(module)}
    plain = {path: {**plain_values(module)} for path, module in own.items()}
    return {
        path: {
            name: value
            for name, value in numbers.items()
            if isinstance(value, bool | int | float) and name != "training"
        }
        for path, numbers in plain.items()
    }


def _is_torchs(module: Network) -> bool:
    return type(module).__module__.partition(".")[0] == "torch"


def _restore_network(root: Network, state: State, at: str, plain: Mapping[str, Value]) -> None:
    live = {name for name, _ in _tensors(root)}
    own = {values.identity(tensor.value) for tensor in values.tensors(root)}
    with torch.no_grad():
        # Parameters and buffers come first.
        for name, tensor in list(_tensors(root)):
            kept = state.arrays.get(f"{at}/{name}")
            if kept is None:
                continue
            given = values.from_numpy(kept)
            if _is_to_be_replaced(root, name, tensor, given, own):
                _set(root, name, given)
                continue
            (tensor if tensor.is_leaf else tensor.detach()).copy_(given)
            if tensor.is_leaf and tensor.requires_grad:
                kept = state.arrays.get(f"{at}/{name}/grad")
                tensor.grad = _gradient(tensor, kept, graded=name in plain["graded"])
    for name in [key.removeprefix(f"{at}/") for key in state.arrays if key.startswith(f"{at}/")]:
        if name not in live and not name.endswith("/grad"):
            # An attribute that has become a tensor since.
            _set(root, name, values.from_numpy(state.arrays[f"{at}/{name}"]))
    for path, module in root.named_modules():
        if path in plain["modes"]:
            module.training = plain["modes"][path]
        vars(module).update(plain["numbers"].get(path, {}))


def _is_to_be_replaced(root: Network, name: str, tensor: Value, given: Value, own: set[int]) -> bool:
    """Whether an attribute needs a new tensor: its own has another shape, or shares a parameter's memory."""
    if given.shape != tensor.shape:
        return not isinstance(tensor, nn.Parameter)
    path, _, leaf = name.rpartition(".")
    shares = leaf in vars(root.get_submodule(path)) and values.identity(tensor) in own
    return shares and not torch.equal(tensor.detach(), given)


def _set(root: Network, name: str, tensor: Value) -> None:
    path, _, leaf = name.rpartition(".")
    setattr(root.get_submodule(path), leaf, tensor)


def _like(tensor: Value, array: Array) -> Value:
    made = torch.empty_like(tensor, requires_grad=False)
    made.copy_(values.from_numpy(array))
    return made


# ---- optimizers, schedules, scalers


def _take_optimizer(
    optimizer: Optimizer, at: str, saving: Saving, seen: set[int], *, gradients: bool
) -> dict[str, Value]:
    """By parameter position, since parameters have no names here; includes those that are in no network."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    places = {id(parameter): place for place, parameter in enumerate(parameters)}
    groups = [
        {name: value for name, value in group.items() if name != "params" and not callable(value)}
        for group in optimizer.param_groups
    ]
    slots = {
        places[id(parameter)]: dict(state) for parameter, state in optimizer.state.items() if id(parameter) in places
    }
    loose = {place: parameter for place, parameter in enumerate(parameters) if id(parameter) not in seen}
    seen.update(map(id, loose.values()))
    graded = [place for place, parameter in loose.items() if parameter.grad is not None]
    for place in graded if gradients else ():
        saving.tree(loose[place].grad, f"{at}/loose/{place}/grad")
    return {"groups": groups, "slots": slots, "loose": loose, "graded": graded}


def _gradient(tensor: Value, array: Array | None, *, graded: bool) -> Value:
    """The captured gradient; zeros for one that is cleared before use."""
    zeros = torch.zeros_like(tensor, requires_grad=False) if graded else None
    return _like(tensor, array) if array is not None else zeros


def _restore_optimizer(optimizer: Optimizer, state: State, at: str, kept_state: Mapping[str, Value]) -> None:
    optimizer.state.clear()
    for group, kept in zip(optimizer.param_groups, kept_state["groups"], strict=True):
        for name, value in kept.items():
            if values.is_tensor(value) and values.is_tensor(group.get(name)):
                group[name].copy_(value)
            else:
                group[name] = value
    parameters = [(parameter, group) for group in optimizer.param_groups for parameter in group["params"]]
    with torch.no_grad():
        for place, value in kept_state["loose"].items():
            parameter = parameters[place][0]
            parameter.copy_(value)
            kept = state.arrays.get(f"{at}/loose/{place}/grad")
            parameter.grad = _gradient(parameter, kept, graded=place in kept_state["graded"])
    for place, slots in kept_state["slots"].items():
        parameter, group = parameters[place]
        optimizer.state[parameter] = {name: _slot(name, slot, parameter, group) for name, slot in slots.items()}


def _slot(name: str, value: Value, parameter: Value, group: Mapping[str, Value]) -> Value:
    """An optimizer state tensor on its device: beside its parameter, except counters on the CPU."""
    if not values.is_tensor(value):
        return value
    if value.shape == parameter.shape and value.dtype == parameter.dtype:
        return torch.empty_like(parameter, requires_grad=False).copy_(value)
    counts = name == "step" and not group.get("capturable") and not group.get("fused")
    return value if counts else value.to(parameter.device)


def _others_state(holder: Foreign) -> dict[str, Value]:
    return dict(holder.state_dict()) if isinstance(holder, GradScaler) else plain_values(holder)


# ---- precision


def use_float32(holders: Sequence[Stateful]) -> None:
    """Weights, buffers and optimizer state in float32, and no automatic casts from now on."""
    halves = (torch.float16, torch.bfloat16)
    for holder in holders:
        if holder.kind == "network" and any(tensor.dtype in halves for _, tensor in _tensors(holder.held)):
            holder.held.float()
        if holder.kind == "optimizer":
            for slots in holder.held.state.values():
                slots.update(
                    {name: slot.float() for name, slot in slots.items() if getattr(slot, "dtype", None) in halves}
                )
    original = torch.autocast.__init__

    def initialise(self: object, device_type: str, *args: object, **kwargs: object) -> None:
        kwargs["enabled"] = False
        original(self, device_type, *args[:1], **kwargs)

    torch.autocast.__init__ = initialise
    for name in ("half", "bfloat16"):
        setattr(torch.Tensor, name, torch.Tensor.float)
    torch.Tensor.to = _without_halves(torch.Tensor.to)


def _without_halves(original: Function) -> Function:
    """``Tensor.to`` with float32 in place of half types."""
    halves = (torch.float16, torch.bfloat16)

    def to(tensor: Value, *args: object, **kwargs: object) -> Value:
        wide = [torch.float32 if argument in halves else argument for argument in args]
        named = {name: torch.float32 if argument in halves else argument for name, argument in kwargs.items()}
        return original(tensor, *wide, **named)

    return to
