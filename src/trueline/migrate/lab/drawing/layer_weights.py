"""The shapes of a layer's tensors by torch's names, as its arguments make them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trueline.migrate.lab.drawing.scene import per_axis

Shapes = dict[str, tuple[int, ...]]


def weight_shapes(word: str, build: Mapping[str, Any], axes: int) -> Shapes:
    """The tensors of a layer that its outputs depend on; ``build`` has torch's defaults as well."""
    if word.startswith("ConvTranspose"):
        weight = (build["in_channels"], build["out_channels"] // build["groups"])
        return _with_bias((*weight, *per_axis(build["kernel_size"], axes)), build["out_channels"], build)
    if word.startswith("Conv"):
        weight = (build["out_channels"], build["in_channels"] // build["groups"])
        return _with_bias((*weight, *per_axis(build["kernel_size"], axes)), build["out_channels"], build)
    if word == "Linear":
        return _with_bias((build["out_features"], build["in_features"]), build["out_features"], build)
    if word == "Bilinear":
        sizes = (build["out_features"], build["in1_features"], build["in2_features"])
        return _with_bias(sizes, build["out_features"], build)
    if word == "Embedding":
        return {"weight": (build["num_embeddings"], build["embedding_dim"])}
    if word == "PReLU":
        return {"weight": (build["num_parameters"],)}
    if re.fullmatch(r"LSTM|GRU|RNN", word):
        return _recurrent(word, build)
    if re.fullmatch(r"(LSTM|GRU|RNN)Cell", word):
        gates = _gates(word) * build["hidden_size"]
        found = {"weight_ih": (gates, build["input_size"]), "weight_hh": (gates, build["hidden_size"])}
        return {**found, "bias_ih": (gates,), "bias_hh": (gates,)} if build.get("bias", True) else dict(found)
    if word == "Sequential":
        return {"0.weight": (2, 3), "0.bias": (2,)}
    if word.startswith("Transformer"):
        return _transformer(word, build)
    return _attention(build) if word == "MultiheadAttention" else _norm(word, build)


def _with_bias(weight: tuple[int, ...], size: int, build: Mapping[str, Any]) -> Shapes:
    return {"weight": weight, "bias": (size,)} if build.get("bias", True) else {"weight": weight}


def _norm(word: str, build: Mapping[str, Any]) -> Shapes:
    if word == "LayerNorm":
        shape = tuple(per_axis(build["normalized_shape"], 1))
        if not build.get("elementwise_affine", True):
            return {}
        return {"weight": shape, "bias": shape} if build.get("bias", True) else {"weight": shape}
    if word == "RMSNorm":
        return {"weight": tuple(per_axis(build["normalized_shape"], 1))} if build.get("elementwise_affine") else {}
    if word == "GroupNorm":
        shape = (build["num_channels"],)
        return {"weight": shape, "bias": shape} if build.get("affine", True) else {}
    if re.search(r"(Batch|Instance)Norm", word):
        shape = (build["num_features"],)
        found: Shapes = {"weight": shape, "bias": shape} if build.get("affine") else {}
        return {**found, "running_mean": shape, "running_var": shape} if build.get("track_running_stats") else found
    return {}


def _gates(word: str) -> int:
    return 4 if word.startswith("LSTM") else 3 if word.startswith("GRU") else 1


def _recurrent(word: str, build: Mapping[str, Any]) -> Shapes:
    hidden, directions = build["hidden_size"], 2 if build.get("bidirectional") else 1
    gates = _gates(word) * hidden
    found: Shapes = {}
    for layer in range(build.get("num_layers", 1)):
        width = build["input_size"] if layer == 0 else hidden * directions
        for suffix in ("", "_reverse")[:directions]:
            found[f"weight_ih_l{layer}{suffix}"] = (gates, width)
            found[f"weight_hh_l{layer}{suffix}"] = (gates, hidden)
            if build.get("bias", True):
                found[f"bias_ih_l{layer}{suffix}"] = (gates,)
                found[f"bias_hh_l{layer}{suffix}"] = (gates,)
    return found


def _attention(build: Mapping[str, Any]) -> Shapes:
    width = build["embed_dim"]
    key, value = build.get("kdim") or width, build.get("vdim") or width
    found: Shapes = {}
    if key == value == width:
        found["in_proj_weight"] = (3 * width, width)
    else:
        found |= {"q_proj_weight": (width, width), "k_proj_weight": (width, key), "v_proj_weight": (width, value)}
    found["out_proj.weight"] = (width, width)
    if build.get("bias", True):
        found |= {"in_proj_bias": (3 * width,), "out_proj.bias": (width,)}
    if build.get("add_bias_kv"):
        found |= {"bias_k": (1, 1, width), "bias_v": (1, 1, width)}
    return found


def _transformer(word: str, build: Mapping[str, Any]) -> Shapes:
    if word == "Transformer":
        parts = {"encoder": build["num_encoder_layers"], "decoder": build["num_decoder_layers"]}
        found: Shapes = {}
        for part, count in parts.items():
            found |= _stacked(_block(build, part == "decoder"), count, f"{part}.")
            norm = (build["d_model"],)
            found |= {f"{part}.norm.weight": norm, f"{part}.norm.bias": norm}
        return found
    if word.endswith("Layer"):
        return _block(build, "Decoder" in word)
    inner = build["decoder_layer" if "Decoder" in word else "encoder_layer"]
    return _stacked(_block(inner.build, "Decoder" in word), build["num_layers"], "")


def _stacked(block: Shapes, count: int, prefix: str) -> Shapes:
    return {f"{prefix}layers.{place}.{leaf}": shape for place in range(count) for leaf, shape in block.items()}


def _block(build: Mapping[str, Any], decoder: bool) -> Shapes:
    width, inner = build["d_model"], build["dim_feedforward"]
    attention = _attention({"embed_dim": width})
    found = {f"self_attn.{leaf}": shape for leaf, shape in attention.items()}
    if decoder:
        found |= {f"multihead_attn.{leaf}": shape for leaf, shape in attention.items()}
    found |= {"linear1.weight": (inner, width), "linear1.bias": (inner,)}
    found |= {"linear2.weight": (width, inner), "linear2.bias": (width,)}
    for norm in ("norm1", "norm2", "norm3")[: 3 if decoder else 2]:
        found |= {f"{norm}.weight": (width,), f"{norm}.bias": (width,)}
    return found
