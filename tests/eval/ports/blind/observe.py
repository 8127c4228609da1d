"""What one side of a pair can be seen to do: outputs, gradients, buffers, first weights, and its parts."""

from typing import Any

import numpy as np
from carry import Array
from sides import Side

Seen = dict[str, Any]


def inputs_of(specs: list[str]) -> list[Array]:
    """Arrays for texts like `2x3x32x32` or `2x16:int64:0-100`."""
    draw = np.random.default_rng(77)
    made = []
    for spec in specs:
        shape, _, rest = spec.partition(":")
        size = tuple(int(n) for n in shape.split("x"))
        if rest:
            dtype, _, bounds = rest.partition(":")
            low, _, high = bounds.partition("-")
            made.append(draw.integers(int(low), int(high), size).astype(dtype))
        else:
            made.append(draw.standard_normal(size).astype(np.float32))
    return made


def network_seen(side: Side, inputs: list[Array]) -> Seen:
    """What a network does and how it starts."""
    model = side.carried()
    seen: Seen = {
        "structure": sorted((n, a.shape) for n, a in side.arrays(model).items()),
        "trainable": side.trainable(model),
        "eval": side.run(model, inputs, "eval"),
    }
    seen["train"] = side.run(model, inputs, "train")
    seen["buffers"] = {n: a for n, a in side.arrays(model).items() if "moving_" in n}
    model = side.carried()
    seen["grads"] = side.grads(model, inputs)
    seen["noisy"] = side.run(side.carried(), inputs, "noisy")
    pools: dict[str, list[Array]] = {}
    for seed in range(1, 8):
        for name, array in side.arrays(side.fresh(seed)).items():
            pools.setdefault(name, []).append(array.ravel())
    joined = {name: np.concatenate(pool) for name, pool in pools.items()}
    seen["init"] = {n: (float(a.mean()), float(a.std()), float(np.abs(a).max()), a.size) for n, a in joined.items()}
    return seen


def parts_seen(side: Side, parts: dict[str, Any], who: str) -> Seen:
    """What the parts of a side (`bench` or `port`) do."""
    seen: Seen = {}

    def get(name: str) -> Any:
        return parts.get(f"{who}_{name}")

    if get("loss"):
        model, loss = side.carried(), get("loss")()
        values = []
        for *inputs, labels in parts["batches"]():
            out = side.run(model, inputs, "eval")
            values.append(side.array(loss(side.tensor(out), side.tensor(labels))))
        seen["loss"] = np.array(values)
    if get("optimizer"):
        model = side.carried()
        seen["update"] = side.updated(model, get("optimizer")(model), 4)
    if get("schedule"):
        model = side.carried()
        optimizer = get("optimizer")(model)
        per = parts.get(f"{who}_schedule_per", "step")
        steps = parts["steps_per_epoch"] * parts["epochs"]
        seen["rates"] = np.array(
            side.rates(optimizer, get("schedule")(optimizer), per, steps, parts["steps_per_epoch"])
        )
    if get("metric"):
        draw = np.random.default_rng(4)
        seen["metric"] = np.array(get("metric")()(draw.standard_normal((40, 12)), draw.integers(0, 12, 40)))
    if get("transforms"):
        made = []
        for sample in parts["samples"]():
            for step in get("transforms")():
                sample = step(sample)
            made.append(side.array(sample))
        seen["transforms"] = made
    if get("dataset"):
        seen["dataset"] = [[side.array(part) for part in batch] for batch in get("dataset")()]
    return seen
