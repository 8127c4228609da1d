"""What optimizers, schedules, initialisers, transforms and distributions are fed with, by the recipe of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from trueline.migrate.lab.draw import Module
from trueline.migrate.lab.drawing.scene import Fed, Recipe, Scene

# An image of this size is as high as exact_image asks for.
_HEIGHT, _WIDTH = 6, 5
# What is asked of a distribution.
_PARTS: Final = ("log_prob", "cdf", "mean", "stddev", "entropy", "sample")


def _optimizer(scene: Scene) -> Fed:
    build: dict[str, Any] = dict(scene.given)
    if build.get("nesterov"):
        build["momentum"] = build.get("momentum") or 0.9
        build.pop("dampening", None)
    names = {"weight": [2, 3], "bias": [3], "norm.weight": [2], "norm.bias": [2]}
    if scene.edge == "one":
        names = {"weight": [1]}
    # Small gradients show where eps is added.
    small = scene.edge == "batch1" or (not scene.edge and scene.happens(0.2))
    scale = 1e-6 if small else 1000.0 if scene.edge == "large" else 1.0
    steps = scene.size(2, 4)
    gradients = [
        [(scene.numbers(shape) * np.float32(scale)).astype(np.float32) for shape in names.values()]
        for _ in range(steps)
    ]
    if scene.edge == "empty":
        gradients = [[np.zeros_like(one) for one in step] for step in gradients]
    conditions = "small_gradient" if small else {"empty": "zero_gradient", "large": "large"}.get(scene.edge)
    return Fed(
        build=build,
        more={"parameters": {name: scene.numbers(shape) for name, shape in names.items()}, "gradients": gradients},
        conditions=frozenset([conditions] if conditions else []),
    )


def _schedule(scene: Scene) -> Fed:
    return Fed(more={"rate": (0.1, 0.5)[scene.size(0, 1)], "steps": 8})


def _plateau(scene: Scene) -> Fed:
    metrics = [float(one) for one in np.abs(scene.numbers([12]))]
    return Fed(more={"rate": 0.1, "steps": 12, "metrics": metrics})


def _chained(scene: Scene) -> Fed:
    package = "torch.optim.lr_scheduler"
    first = Module(f"{package}.ConstantLR", {"factor": 0.5, "total_iters": 2})
    second = Module(f"{package}.ExponentialLR", {"gamma": 0.9})
    if scene.happens(0.3):
        first = Module(f"{package}.LinearLR", {"start_factor": 0.5, "total_iters": 3})
    return Fed(build={**scene.given, "schedulers": [first, second]}, more={"rate": 0.1, "steps": 8})


def _initialiser(scene: Scene) -> Fed:
    return Fed(more={"shape": ([200, 300], [40000], [50, 20, 5, 5])[scene.size(0, 2)]})


def _fan_initialiser(scene: Scene) -> Fed:
    return Fed(more={"shape": ([200, 300], [300, 150], [60, 20, 5, 5], [400, 100])[scene.size(0, 3)]})


def _square_initialiser(scene: Scene) -> Fed:
    return Fed(more={"shape": ([60, 60], [80, 40], [40, 80])[scene.size(0, 2)]})


def _kernel_initialiser(scene: Scene) -> Fed:
    return Fed(more={"shape": ([4, 4, 3], [4, 2, 3, 3], [2, 4, 3, 3])[scene.size(0, 2)]})


def _image(scene: Scene) -> Fed:
    shape = (scene.size(4, 8), scene.size(4, 8), 3)
    form = "pil" if scene.happens(0.6) else "array"
    return Fed({"img": scene.whole(0, 256, shape).astype(np.uint8)}, more={"form": form})


def _exact_image(scene: Scene) -> Fed:
    return Fed({"img": scene.whole(0, 256, (_HEIGHT, _WIDTH, 3)).astype(np.uint8)}, more={"form": "pil"})


def _tensor_image(scene: Scene) -> Fed:
    shape = (scene.size(2, 4), scene.size(2, 4), 3)
    return Fed({"img": scene.whole(0, 256, shape).astype(np.uint8)}, more={"form": "array"})


def _float_image(scene: Scene) -> Fed:
    return Fed({"img": scene.shares((scene.size(2, 4), scene.size(2, 4), 3))}, more={"form": "array"})


def _flipped_image(scene: Scene) -> Fed:
    flips = [Module("torchvision.transforms.RandomHorizontalFlip", {"p": 1.0})]
    if scene.word != "RandomChoice":
        flips.append(Module("torchvision.transforms.RandomVerticalFlip", {"p": 1.0}))
    build: dict[str, Any] = {"transforms": flips}
    if scene.word == "RandomApply":
        build["p"] = 1.0
    return Fed(_exact_image(scene).values, build, more={"form": "pil"})


def _whitened(scene: Scene) -> Fed:
    size = 2 * 2 * 3
    build = {"transformation_matrix": scene.numbers([size, size]), "mean_vector": scene.numbers([size])}
    return Fed({"img": scene.shares((2, 2, 3))}, build, more={"form": "array"})


def _part(scene: Scene) -> dict[str, Any]:
    return {"part": _PARTS[scene.size(0, len(_PARTS) - 1)]}


def _distribution(scene: Scene) -> Fed:
    return Fed({"value": scene.numbers([4])}, more=_part(scene))


def _standard(scene: Scene) -> Fed:
    return Fed({"value": scene.numbers([4])}, more={"part": "sample"})


def _positive(scene: Scene) -> Fed:
    return Fed({"value": np.abs(scene.numbers([4])) + np.float32(0.1)}, more=_part(scene))


def _unit(scene: Scene) -> Fed:
    return Fed({"value": scene.shares([4])}, more=_part(scene))


def _binary(scene: Scene) -> Fed:
    return Fed({"value": scene.whole(0, 2, [4]).astype(np.float32)}, more=_part(scene))


def _counting(scene: Scene) -> Fed:
    return Fed({"value": scene.whole(0, 4, [4]).astype(np.float32)}, more=_part(scene))


CLASS_INPUTS: Final[Mapping[str, Recipe]] = {
    "optimizer": _optimizer,
    "schedule": _schedule,
    "plateau": _plateau,
    "chained": _chained,
    "initialiser": _initialiser,
    "fan_initialiser": _fan_initialiser,
    "square_initialiser": _square_initialiser,
    "kernel_initialiser": _kernel_initialiser,
    "image": _image,
    "exact_image": _exact_image,
    "tensor_image": _tensor_image,
    "float_image": _float_image,
    "flipped_image": _flipped_image,
    "whitened": _whitened,
    "distribution": _distribution,
    "standard_distribution": _standard,
    "positive_distribution": _positive,
    "unit_distribution": _unit,
    "binary_distribution": _binary,
    "count_distribution": _counting,
}
