"""An optimizer's state across frameworks: torch numbers its parameters, MindSpore names them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from trueline.apitable.layers import layers
from trueline.formats.ms_names import slot_of
from trueline.formats.outgoing import Outgoing
from trueline.formats.stored import Stored
from trueline.migrate.held import Held
from trueline.migrate.modules import Naming, Recognised
from trueline.migrate.plan import Dropped, Move, Plan
from trueline.migrate.recognising import recognise
from trueline.model.message import Message, message
from trueline.model.trouble import BadUsage

# torch's slot, and MindSpore's in nn.Adam, nn.Momentum and nn.RMSProp.
_SLOTS: Final = {
    "exp_avg": "moment1",
    "exp_avg_sq": "moment2",
    "max_exp_avg_sq": "vhat",
    "momentum_buffer": "moments",
    "square_avg": "mean_square",
    "grad_avg": "mean_grad",
}
# What other optimizers of MindSpore call them.
_ALSO: Final = {"adam_m": "exp_avg", "adam_v": "exp_avg_sq", "accum": "momentum_buffer", "moment": "momentum_buffer"}
_STEP: Final = "step"
_GLOBAL_STEP: Final = "global_step"
_POWERS: Final = ("beta1_power", "beta2_power")
_USUAL_BETAS: Final = (0.9, 0.999)
_MOST_STEPS: Final = 1 << 31


@dataclass(slots=True)
class State:
    """What became of an optimizer's state: arrays by whole name, or torch's tree; and what was left behind."""

    arrays: list[Outgoing] = field(default_factory=list)
    tree: dict[str, object] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)


def to_mindspore(section: Mapping[str, Stored], others: Mapping[str, object], plan: Plan, key: str) -> State:
    """torch's ``state.N.slot`` as MindSpore's ``slot.parameter``; ``others`` are the file's plain values."""
    state = State()
    slots: list[tuple[str, int, str, Stored]] = []
    steps: set[int] = set()
    for name, stored in section.items():
        _, _, rest = name.partition("state.")
        place, _, slot = rest.partition(".")
        if slot == _STEP and stored.count == 1:
            steps.add(_whole(stored.array().reshape(-1)[0].item(), f"{key}.{name}"))
            continue
        theirs = _SLOTS.get(slot)
        if slot == "momentum_buffer" and f"state.{place}.square_avg" in section:
            # RMSProp's holds the learning rate there, and does not here.
            theirs = None
        if theirs is None or not place.isdigit():
            state.dropped.append(Dropped(f"{key}.{name}", message("convert.no_slot", slot=slot or name)))
        else:
            slots.append((name, int(place), theirs, stored))
    numbered = _assigned(slots, others, plan, key, state)
    for _, number, theirs, stored in slots:
        move = numbered[number]
        dtype = stored.dtype.newbyteorder("<")
        state.arrays.append(Outgoing(f"{theirs}.{move.name}", move.shape, dtype, stored, transposed=move.transposed))
    beside = {name: value for name, value in others.items() if name.endswith(f".{_STEP}")}
    steps |= {_whole(value, name) for name, value in beside.items()}
    if steps:
        _count(max(steps), others, key, state)
    return state


def _assigned(
    slots: Sequence[tuple[str, int, str, Stored]], others: Mapping[str, object], plan: Plan, key: str, state: State
) -> Mapping[int, Move]:
    """Which number is which parameter: as the file names them, else in an order that all shapes agree with."""
    groups = f"{key}.param_groups."
    settings = {name: value for name, value in others.items() if name.startswith(groups)}
    held, named = (_listed(settings, f".{setting}", key) for setting in ("params", "param_names"))
    numbers = [number for group in held for number in group]
    names = [name for group in named for name in group]
    tries: list[Mapping[int, Move]] = []
    if names and len(names) == len(numbers):
        by_name = {name: move for move in plan.moves for name in (move.held.name, *move.held.names)}
        tries = [{number: by_name[name] for number, name in zip(numbers, names, strict=True) if name in by_name}]
    else:
        counts = [len(group) for group in held]
        for trained in _orders(plan):
            if (not numbers or numbers == list(range(len(trained)))) and not _alike(counts, trained):
                tries.append(dict(enumerate(trained)))
    for one in tries:
        if all(number in one and one[number].held.shape == stored.shape for _, number, _, stored in slots):
            if not names:
                state.notes.append(message("convert.in_order"))
            return one
    raise BadUsage("convert.optimizer_unclear", name=f"{key}.{slots[0][0]}" if slots else key)


def _listed(settings: Mapping[str, object], suffix: str, key: str) -> list[tuple[Any, ...]]:
    """One setting of every group, which must be a tuple there."""
    values = [value for name, value in settings.items() if name.endswith(suffix)]
    listed = [value for value in values if isinstance(value, tuple)]
    if len(listed) < len(values):
        raise BadUsage("convert.bad_optimizer", name=f"{key}.param_groups")
    return listed


def _orders(plan: Plan) -> Iterator[list[Move]]:
    """The orders in which an optimizer may hold the parameters: a model's, the file's, and weights before vectors."""
    by_name = {move.held.name: move for move in plan.moves}
    orders = [[by_name[name] for name in names if name in by_name] for names in plan.orders]
    orders.append(_trained(plan.moves, plan))
    yield from orders
    for order in orders:
        # As scripts do that spare norms and biases from decay.
        yield [move for move in order if len(move.held.shape) > 1] + [
            move for move in order if len(move.held.shape) <= 1
        ]


def _count(step: int, others: Mapping[str, object], key: str, state: State) -> None:
    whole = np.array([step], np.int32)
    state.arrays.append(Outgoing(_GLOBAL_STEP, (1,), whole.dtype, whole))
    if any(outgoing.name.startswith("moment1.") for outgoing in state.arrays):
        setting = f"{key}.param_groups.0.betas"
        betas = others.get(setting, _USUAL_BETAS)
        if not isinstance(betas, tuple) or not all(isinstance(one, float | int) and 0 <= one <= 1 for one in betas):
            raise BadUsage("convert.bad_optimizer", name=setting)
        for name, beta in zip(_POWERS, betas, strict=False):
            power = np.array(float(beta) ** step, np.float32)
            state.arrays.append(Outgoing(name, (), power.dtype, power))


def _whole(value: object, name: str) -> int:
    """A count of steps; a BadUsage for what is none."""
    if not isinstance(value, int | float) or not 0 <= value < _MOST_STEPS:
        raise BadUsage("convert.bad_optimizer", name=name)
    return int(value)


def _alike(counts: Sequence[int], trained: Sequence[Move]) -> bool:
    """Whether two groups of several parameters have the same shapes: the user may have given either first."""
    seen: set[tuple[tuple[int, ...], ...]] = set()
    begin = 0
    for count in counts:
        shapes = tuple(move.held.shape for move in trained[begin : begin + count])
        begin += count
        if count > 1 and shapes in seen:
            return True
        seen.add(shapes)
    return False


def to_torch(section: Mapping[str, Stored], plan: Plan, key: str) -> State:
    """MindSpore's ``slot.parameter`` as torch's state by number, in the order in which torch lists parameters."""
    by_name = {moved.name: moved for moved in plan.moves}
    # Of a model's order the trained ones come first.
    trained = [by_name[name] for name in plan.orders[0] if name in by_name] if plan.orders else []
    trained = trained or _trained(plan.moves, plan)
    numbers = {name: place for place, moved in enumerate(trained) for name in moved.held.names}
    found = State()
    state: dict[int, dict[str, object]] = {}
    for name, stored in section.items():
        parted = slot_of(name, numbers)
        slot = {b: a for a, b in _SLOTS.items()}.get(parted[0], _ALSO.get(parted[0])) if parted is not None else None
        if parted is not None and slot == "momentum_buffer" and f"mean_square.{parted[1]}" in section:
            slot = None
        if parted is None or slot is None:
            if name not in (_GLOBAL_STEP, *_POWERS):
                found.dropped.append(Dropped(f"{key}.{name}", message("convert.no_slot", slot=name)))
            continue
        number = numbers[parted[1]]
        move = trained[number]
        dtype = stored.dtype.newbyteorder("<")
        slots = state.setdefault(number, {})
        slots[slot] = Outgoing(f"state.{number}.{slot}", move.shape, dtype, stored, transposed=move.transposed)
    step = section.get(_GLOBAL_STEP)
    if step is not None and step.count == 1:
        count = np.array(_whole(step.array().reshape(-1)[0].item(), _GLOBAL_STEP), np.float32)
        for number, slots in state.items():
            if "exp_avg" in slots or "square_avg" in slots:
                slots[_STEP] = Outgoing(f"state.{number}.{_STEP}", (), count.dtype, count)
    found.tree = {"state": dict(sorted(state.items())), "param_groups": [{"params": list(range(len(trained)))}]}
    found.dropped.append(Dropped(f"{key}.param_groups", message("convert.no_settings")))
    return found


def _trained(moves: Sequence[Move], plan: Plan) -> list[Move]:
    """The parameters an optimizer holds, in torch's order: no statistics, and tied ones once."""
    into = plan.naming is Naming.TORCH
    named = (
        [Held(moved.name, moved.shape, moved.held.dtype, moved.held.source) for moved in moves]
        if into
        else [moved.held for moved in moves]
    )
    known = recognise(named, Naming.TORCH)
    seen: set[str] = set()
    found: dict[str, list[tuple[str, Move]]] = {}
    for held, move in zip(named, moves, strict=True):
        first = move.held.shared_with or move.held.name
        statistic = held.leaf in _statistics()
        if statistic or first in seen:
            continue
        seen.add(first)
        found.setdefault(held.path, []).append((held.leaf, move))
    return [move for path, own in found.items() for move in _ordered(known[path], own)]


def _ordered(known: Recognised, own: Sequence[tuple[str, Move]]) -> list[Move]:
    by_leaf = dict(own)
    if known.layer is None:
        return list(by_leaf.values())
    return [by_leaf[leaf] for leaf in known.layer.in_torch_order(by_leaf)]


def _statistics() -> frozenset[str]:
    return frozenset().union(*(layer.statistics for layer in layers().values()))
