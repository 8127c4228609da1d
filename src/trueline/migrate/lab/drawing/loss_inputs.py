"""Inputs that suit a loss of torch, by the recipe that ``classes.toml`` names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from trueline.kernel.array import Array
from trueline.migrate.lab.drawing.scene import Fed, Recipe, Scene

# As many as the arrays of weights in classes.toml have numbers.
CLASSES: Final = 3


def _shape(scene: Scene) -> list[int]:
    if scene.edge == "one":
        return [1]
    return [*scene.batch, CLASSES]


def _pair(first: Array, second: Array) -> Fed:
    return Fed({"input": first, "target": second})


def _regression(scene: Scene) -> Fed:
    shape = _shape(scene)
    return _pair(scene.numbers(shape), scene.numbers(shape))


def _probabilities(scene: Scene) -> Fed:
    shape = [*scene.batch, CLASSES]
    target = scene.shares(shape) if scene.happens(0.3) else scene.whole(0, 2, shape).astype(np.float32)
    found = scene.shares(shape)
    if scene.edge == "one" and found.size > 1:
        # The logarithms of both ends are bounded.
        found.flat[0], found.flat[1] = 0.0, 1.0
        return Fed({"input": found, "target": target}, conditions=frozenset({"certain"}))
    return _pair(found, target)


def _logits(scene: Scene) -> Fed:
    shape = [*scene.batch, CLASSES]
    target = scene.shares(shape) if scene.happens(0.3) else scene.whole(0, 2, shape).astype(np.float32)
    return _pair(scene.numbers(shape, 2.0), target)


def _classes(scene: Scene) -> Fed:
    batch, axes = scene.batch, []
    if scene.happens(0.2) and batch:
        axes = [2] * scene.size(1, 2)
    logits = scene.numbers([*batch, CLASSES, *axes], 2.0)
    if scene.word == "CrossEntropyLoss" and (scene.edge == "class_probabilities" or scene.happens(0.1)):
        raw = scene.shares([*batch, CLASSES, *axes]).astype(np.float64)
        axis = 1 if batch else 0
        target = np.round(raw / raw.sum(axis, keepdims=True), 2).astype(np.float32)
        return Fed({"input": logits, "target": target}, conditions=frozenset({"class_probabilities"}))
    target = scene.whole(0, CLASSES, [*batch, *axes])
    if scene.edge == "ignored" and target.size:
        target.flat[0] = scene.build.get("ignore_index", -100)
        return Fed({"input": logits, "target": target}, conditions=frozenset({"ignored"}))
    return _pair(logits, target)


def _log_classes(scene: Scene) -> Fed:
    fed = _classes(scene)
    return Fed({**fed.values, "input": -np.abs(fed.values["input"])}, conditions=fed.conditions)


def _divergence(scene: Scene) -> Fed:
    shape = _shape(scene)
    target = scene.shares(shape)
    if scene.build.get("log_target"):
        target = np.round(np.log(target), 2).astype(np.float32)
    return _pair(-np.abs(scene.numbers(shape)), target)


def _gaussian(scene: Scene) -> Fed:
    shape = _shape(scene)
    variance = scene.shares(shape if scene.happens(0.7) else [*shape[:-1], 1])
    return Fed({"input": scene.numbers(shape), "target": scene.numbers(shape), "var": variance})


def _counts(scene: Scene) -> Fed:
    shape = _shape(scene)
    found = scene.numbers(shape)
    return _pair(found if scene.build.get("log_input", True) else np.abs(found), scene.whole(0, 5, shape).astype("f4"))


def _sign(scene: Scene, shape: list[int]) -> Array:
    return (scene.whole(0, 2, shape) * 2 - 1).astype(np.float32)


def _signed_pairs(scene: Scene) -> Fed:
    batch = scene.batch
    first, second = scene.numbers([*batch, CLASSES]), scene.numbers([*batch, CLASSES])
    return Fed({"input1": first, "input2": second, "target": _sign(scene, batch)})


def _ranked(scene: Scene) -> Fed:
    batch = scene.batch or [1]
    return Fed({"input1": scene.numbers(batch), "input2": scene.numbers(batch), "target": _sign(scene, batch)})


def _signs(scene: Scene) -> Fed:
    shape = _shape(scene)
    return _pair(scene.numbers(shape), _sign(scene, shape))


def _triplets(scene: Scene) -> Fed:
    shape = [*scene.batch, CLASSES]
    return Fed({name: scene.numbers(shape) for name in ("anchor", "positive", "negative")})


def _class_margins(scene: Scene) -> Fed:
    batch = scene.batch
    return _pair(scene.numbers([*batch, CLASSES]), scene.whole(0, CLASSES, batch))


def _label_lists(scene: Scene) -> Fed:
    batch = scene.batch
    rows = [scene.rng.permutation(CLASSES) for _ in range(int(np.prod(batch)))]
    target = np.array(rows, np.int64).reshape([*batch, CLASSES])
    target[..., -1] = -1
    return _pair(scene.numbers([*batch, CLASSES]), target)


def _sequences(scene: Scene) -> Fed:
    batch, length, longest = scene.size(1, 3), scene.size(4, 6), 2
    raw = scene.numbers([length, batch, CLASSES + 1]).astype(np.float64)
    logs = raw - np.log(np.exp(raw).sum(-1, keepdims=True))
    blank = scene.build.get("blank", 0)
    labels = np.array([label for label in range(CLASSES + 1) if label != blank])
    values: dict[str, Any] = {
        "log_probs": np.round(logs, 2).astype(np.float32),
        "targets": labels[scene.whole(0, CLASSES, [batch, longest])],
        "input_lengths": np.full(batch, length, np.int64),
        "target_lengths": scene.whole(1, longest + 1, [batch]),
    }
    return Fed(values)


LOSS_INPUTS: Final[Mapping[str, Recipe]] = {
    "regression": _regression,
    "probabilities": _probabilities,
    "logits": _logits,
    "classes": _classes,
    "log_classes": _log_classes,
    "divergence": _divergence,
    "gaussian": _gaussian,
    "counts": _counts,
    "signed_pairs": _signed_pairs,
    "ranked": _ranked,
    "signs": _signs,
    "triplets": _triplets,
    "class_margins": _class_margins,
    "label_lists": _label_lists,
    "sequences": _sequences,
}
