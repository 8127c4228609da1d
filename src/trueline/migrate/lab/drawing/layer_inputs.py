"""Inputs that suit a layer of torch, by the recipe that ``classes.toml`` names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from trueline.kernel.array import Array
from trueline.migrate.lab.draw import Module
from trueline.migrate.lab.drawing.scene import Fed, Recipe, Scene, per_axis

# How many elements a tensor needs for its statistics to tell probabilities apart.
_MANY: Final = 20_000
_MODES_BY_AXES: Final = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}


def _fed(array: Array) -> Fed:
    return Fed({"input": array})


def _lengths(scene: Scene) -> list[int]:
    """The lengths of the axes that a window moves over."""
    if scene.edge == "one":
        return [max(size, 1) for size in per_axis(scene.build.get("kernel_size", 1), scene.axes)]
    low, high = (3, 5) if scene.axes == 3 else (4, 7)
    return [scene.size(low, high) for _ in range(scene.axes)]


def _windowed(scene: Scene) -> Fed:
    channels = scene.build.get("in_channels", 1 if scene.edge == "one" else 2)
    return _fed(scene.numbers([*scene.batch, channels, *_lengths(scene)]))


def _windowed_positive(scene: Scene) -> Fed:
    # A power mean of negative numbers is no number.
    return _fed(np.abs(_windowed(scene).values["input"]) + np.float32(0.1))


def _unpooled(scene: Scene) -> Fed:
    lengths = [scene.size(1, 3) for _ in range(scene.axes)]
    shape = [*scene.batch, 2, *lengths]
    whole = [length * 2 for length in lengths]
    corners = np.stack(np.meshgrid(*(np.arange(length) * 2 for length in lengths), indexing="ij"))
    offsets = scene.whole(0, 2, [scene.axes, *shape])
    places = offsets + corners.reshape(scene.axes, *[1] * (len(shape) - scene.axes), *lengths)
    indices = np.ravel_multi_index(tuple(places), tuple(whole)).astype(np.int64)
    return Fed({"input": scene.numbers(shape), "indices": indices})


def _folded(scene: Scene) -> Fed:
    kernel, size = per_axis(scene.build["kernel_size"], 2), per_axis(scene.build["output_size"], 2)
    dilation, padding, stride = (per_axis(scene.build[name], 2) for name in ("dilation", "padding", "stride"))
    blocks = 1
    for axis in range(2):
        reach = dilation[axis] * (kernel[axis] - 1) + 1
        blocks *= (size[axis] + 2 * padding[axis] - reach) // stride[axis] + 1
    return _fed(scene.numbers([*scene.batch, 2 * kernel[0] * kernel[1], blocks]))


def _resized(scene: Scene) -> Fed:
    build: dict[str, Any] = dict(scene.given)
    mode = build.get("mode", "nearest")
    if build.get("align_corners") is not None and mode not in _MODES_BY_AXES:
        mode = build["mode"] = "bilinear"
    axes = _MODES_BY_AXES.get(mode, scene.axes if scene.axes != 2 else scene.size(1, 3))
    if scene.word != "Upsample":
        axes = 2
    if scene.happens(0.5):
        build["size"] = tuple(scene.size(2, 6) for _ in range(axes))
    else:
        build["scale_factor"] = (2.0, 1.5, 3.0, 0.5, 2)[scene.size(0, 4)]
    if build.get("recompute_scale_factor") and "size" in build:
        del build["recompute_scale_factor"]
    lengths = [scene.size(3, 5) for _ in range(axes)]
    return Fed({"input": scene.numbers([*(scene.batch or [1]), 2, *lengths])}, build)


def _shuffled(scene: Scene) -> Fed:
    channels = 4 * scene.size(1, 2)
    return _fed(scene.numbers([*scene.batch, channels, scene.size(1, 3), scene.size(1, 3)]))


def _unshuffled(scene: Scene) -> Fed:
    return _fed(scene.numbers([*scene.batch, 2, 2 * scene.size(1, 2), 2 * scene.size(1, 2)]))


def _normed(scene: Scene) -> Fed:
    axes = scene.axes if scene.word != "SyncBatchNorm" else 2
    if scene.word == "BatchNorm1d" and scene.happens(0.6):
        axes = 0
    batch = scene.batch or [2]
    return _fed(scene.numbers([*batch, scene.build["num_features"], *(scene.size(2, 4) for _ in range(axes))]))


def _grouped(scene: Scene) -> Fed:
    axes = 2 if scene.happens(0.6) else scene.size(0, 3)
    return _fed(scene.numbers([*(scene.batch or [2]), scene.build["num_channels"], *[3] * axes]))


def _layer_normed(scene: Scene) -> Fed:
    between = [scene.size(2, 3)] if scene.happens(0.5) else []
    found = scene.numbers([*scene.batch, *between, *per_axis(scene.build["normalized_shape"], 1)])
    # Only a variance as small as eps shows which eps it is.
    return _fed(found * np.float32(0.01) if scene.happens(0.3) else found)


def _channelled(scene: Scene) -> Fed:
    return _fed(scene.numbers([*scene.batch, scene.size(2, 6), scene.size(1, 3), scene.size(2, 3)]))


def _dense(scene: Scene) -> Fed:
    between = [scene.size(2, 3)] if scene.happens(0.3) else []
    return _fed(scene.numbers([*scene.batch, *between, scene.build["in_features"]]))


def _bilinear(scene: Scene) -> Fed:
    batch = scene.batch
    first, second = (scene.numbers([*batch, scene.build[name]]) for name in ("in1_features", "in2_features"))
    return Fed({"input1": first, "input2": second})


def _indices(scene: Scene) -> Fed:
    shape = [*scene.batch, *([scene.size(1, 4)] if scene.edge != "one" else [])]
    return _fed(scene.whole(0, scene.build["num_embeddings"], shape))


def _recurrent(scene: Scene) -> Fed:
    length, batch = scene.size(2, 4), scene.batch if scene.edge != "empty" else [2]
    outer = [*batch, length] if scene.build.get("batch_first") and batch else [length, *batch]
    values: dict[str, Any] = {"input": scene.numbers([*outer, scene.build["input_size"]])}
    if scene.happens(0.5):
        directions = (2 if scene.build.get("bidirectional") else 1) * scene.build.get("num_layers", 1)
        shape = [directions, *batch, scene.build["hidden_size"]]
        state = scene.numbers(shape)
        values["hx"] = (state, scene.numbers(shape)) if scene.word == "LSTM" else state
    return Fed(values)


def _recurrent_cell(scene: Scene) -> Fed:
    batch = scene.batch
    values: dict[str, Any] = {"input": scene.numbers([*batch, scene.build["input_size"]])}
    if scene.happens(0.6):
        shape = [*batch, scene.build["hidden_size"]]
        state = scene.numbers(shape)
        values["hx"] = (state, scene.numbers(shape)) if scene.word == "LSTMCell" else state
    return Fed(values)


def _sequence(scene: Scene, batch: list[int], length: int, width: int, first: bool) -> Array:
    return scene.numbers([*batch, length, width] if first and batch else [length, *batch, width])


def _attention(scene: Scene) -> Fed:
    build, batch = scene.build, scene.batch if scene.edge != "empty" else [2]
    width, first = build["embed_dim"], bool(build.get("batch_first"))
    targets, sources = scene.size(1, 3), scene.size(2, 4)
    values: dict[str, Any] = {
        "query": _sequence(scene, batch, targets, width, first),
        "key": _sequence(scene, batch, sources, build.get("kdim") or width, first),
        "value": _sequence(scene, batch, sources, build.get("vdim") or width, first),
    }
    if scene.happens(0.25):
        mask = scene.rng.random((targets, sources)) < 0.3
        mask[:, 0] = False
        values["attn_mask"] = mask
    if scene.happens(0.25):
        padded = scene.rng.random((*batch, sources)) < 0.3
        padded[..., 0] = False
        values["key_padding_mask"] = padded
    if scene.happens(0.3):
        values["need_weights"] = False
    elif scene.happens(0.3):
        values["average_attn_weights"] = False
    return Fed(values)


def _module_build(scene: Scene) -> Mapping[str, Any]:
    """The arguments of the layer that a stack of layers repeats."""
    for name in ("encoder_layer", "decoder_layer"):
        found = scene.build.get(name)
        if isinstance(found, Module):
            return found.build
    return scene.build


def _encoder(scene: Scene) -> Fed:
    build, batch, length = _module_build(scene), scene.batch if scene.edge != "empty" else [2], scene.size(1, 4)
    values: dict[str, Any] = {"src": _sequence(scene, batch, length, build["d_model"], bool(build.get("batch_first")))}
    if scene.happens(0.25):
        mask = "mask" if scene.word == "TransformerEncoder" else "src_mask"
        values[mask] = np.triu(np.ones((length, length), bool), 1)
    if scene.happens(0.25):
        values["src_key_padding_mask"] = np.arange(length) >= np.full((*batch, 1), max(length - 1, 1))
    return Fed(values)


def _decoder(scene: Scene) -> Fed:
    build, batch = _module_build(scene), scene.batch if scene.edge != "empty" else [2]
    width, first, length = build["d_model"], bool(build.get("batch_first")), scene.size(1, 3)
    names = ("src", "tgt") if scene.word == "Transformer" else ("tgt", "memory")
    lengths = {"src": scene.size(2, 4), "memory": scene.size(2, 4), "tgt": length}
    values: dict[str, Any] = {name: _sequence(scene, batch, lengths[name], width, first) for name in names}
    if scene.happens(0.25):
        values["tgt_mask"] = np.triu(np.ones((length, length), bool), 1)
    return Fed(values)


def _elementwise(scene: Scene) -> Fed:
    if scene.edge == "unbatched":
        return _fed(scene.numbers([]))
    if scene.edge == "one":
        return _fed(scene.numbers([1]))
    return _fed(scene.numbers([*scene.batch, *(scene.size(2, 4) for _ in range(scene.size(0, 2)))], 2.0))


def _prelu(scene: Scene) -> Fed:
    channels = scene.build["num_parameters"]
    channels = channels if channels > 1 else scene.size(2, 3)
    return _fed(scene.numbers([*scene.batch, channels, *[2] * scene.size(0, 2)]))


def _rows(scene: Scene) -> Fed:
    axes = scene.size(1, 3)
    return _fed(scene.numbers([*scene.batch, *(scene.size(2, 4) for _ in range(axes))]))


def _even(scene: Scene) -> Fed:
    return _fed(scene.numbers([2 * scene.size(1, 2), 4, *[2] * scene.size(0, 1)]))


def _dropped(scene: Scene) -> Fed:
    """Ones, so that what is dropped and what is scaled can be read off."""
    axes = {"Dropout": 0, "Dropout1d": 1, "Dropout2d": 2, "Dropout3d": 3}[scene.word]
    inner = [2] * axes
    outer = _MANY // int(np.prod(inner)) // 10
    return _fed(np.ones([outer, 10, *inner], np.float32))


def _many_axes(scene: Scene) -> Fed:
    shape = [*scene.batch, *(scene.size(1, 3) for _ in range(scene.size(2, 3)))]
    return _fed(scene.numbers(shape))


def _unflattened(scene: Scene) -> Fed:
    return _fed(scene.numbers([*(scene.batch or [2]), 6, *[2] * scene.size(0, 1)]))


def _sequential(scene: Scene) -> Fed:
    layers = [Module("torch.nn.Linear", {"in_features": 3, "out_features": 2}), Module("torch.nn.ReLU")]
    return Fed({"input": scene.numbers([*scene.batch, 3])}, {"args": layers})


def _similar(scene: Scene) -> Fed:
    shape = [scene.size(2, 3), scene.size(2, 4)]
    return Fed({"x1": scene.numbers(shape), "x2": scene.numbers(shape)})


LAYER_INPUTS: Final[Mapping[str, Recipe]] = {
    "windowed": _windowed,
    "windowed_positive": _windowed_positive,
    "unpooled": _unpooled,
    "folded": _folded,
    "resized": _resized,
    "shuffled": _shuffled,
    "unshuffled": _unshuffled,
    "normed": _normed,
    "grouped": _grouped,
    "layer_normed": _layer_normed,
    "channelled": _channelled,
    "dense": _dense,
    "bilinear": _bilinear,
    "indices": _indices,
    "recurrent": _recurrent,
    "recurrent_cell": _recurrent_cell,
    "attention": _attention,
    "encoder": _encoder,
    "decoder": _decoder,
    "transformer": _decoder,
    "elementwise": _elementwise,
    "prelu": _prelu,
    "rows": _rows,
    "even": _even,
    "dropped": _dropped,
    "many_axes": _many_axes,
    "unflattened": _unflattened,
    "sequential": _sequential,
    "similar": _similar,
}
