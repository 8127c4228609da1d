"""The pairs of networks, and for each the names and shapes in MindSpore as a person would write them down.

It only proves that the two networks of a pair compute the same; nothing here guesses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

Arrays = dict[str, np.ndarray]

BATCH_NORM: Mapping[str, str | None] = {
    "weight": "gamma",
    "bias": "beta",
    "running_mean": "moving_mean",
    "running_var": "moving_variance",
    "num_batches_tracked": None,
}
NORM = {"weight": "gamma", "bias": "beta"}
EMBEDDING = {"weight": "embedding_table"}
PRELU = {"weight": "w"}
CONV1D = {"weight": "weight"}
LEFT_OUT: Mapping[str, str | None] = {"weight": None, "position_ids": None}

Layers = tuple[tuple[str, Mapping[str, str | None]], ...]


@dataclass(frozen=True)
class Pair:
    """Two factories that build the same network, and what is called otherwise in it: a layer's path and its leaves."""

    name: str
    inputs: str
    torch: str
    mindspore: str
    layers: Layers
    renamed: Mapping[str, str] = field(default_factory=dict)
    spectral: bool = False
    without_effect: str = "never"

    def mindspore_name(self, torch_name: str) -> str | None:
        """The MindSpore parameter that a name of the torch file goes to, if any: both parts of a weight norm to one."""
        path, leaf = _plain_name(torch_name, self.spectral)
        if leaf is None:
            return None
        new = self._leaves(path).get(leaf, leaf)
        for old, other in self.renamed.items():
            path = re.sub(rf"(?<![^.]){old}(?![^.])", other, path)
        return new and (f"{path}.{new}" if path else new)

    def mindspore_arrays(self, state: Mapping[str, np.ndarray]) -> Arrays:
        """The whole torch state as MindSpore wants it."""
        arrays: Arrays = {}
        for name, array in _plain(state).items():
            new = self.mindspore_name(name)
            if new is not None:
                path, _, leaf = name.rpartition(".")
                widen = self._leaves(path) is CONV1D and leaf == "weight"
                arrays[new] = np.expand_dims(array, 2) if widen else array
        return arrays

    def _leaves(self, path: str) -> Mapping[str, str | None]:
        return next((leaves for pattern, leaves in self.layers if re.fullmatch(pattern, path)), {})


def _plain_name(name: str, spectral: bool) -> tuple[str, str | None]:
    """Path and leaf as the layer without weight or spectral norm has them; no leaf for a spectral norm's vectors."""
    path, _, leaf = name.rpartition(".")
    if spectral and leaf in ("weight_u", "weight_v", "_u", "_v"):
        return path, None
    if ".parametrizations.weight" in path:
        return path.partition(".parametrizations.weight")[0], "weight"
    return path, "weight" if leaf in ("weight_g", "weight_v", "weight_orig") else leaf


def _plain(state: Mapping[str, np.ndarray]) -> Arrays:
    """The state with every weight norm and spectral norm multiplied out."""
    plain: Arrays = {}
    new = ".parametrizations.weight."
    for name, array in state.items():
        if name.endswith(".weight_g"):
            plain[name[:-2]] = _scaled(array, state[name[:-2] + "_v"])
        elif name.endswith(f"{new}original0"):
            plain[name.replace(f"{new}original0", ".weight")] = _scaled(array, state[name[:-1] + "1"])
        elif name.endswith(".weight_orig"):
            stem = name.removesuffix("_orig")
            plain[stem] = _divided(array, state[f"{stem}_u"], state[f"{stem}_v"])
        elif name.endswith(f"{new}original"):
            stem = name.removesuffix("original") + "0"
            plain[name.replace(f"{new}original", ".weight")] = _divided(array, state[f"{stem}._u"], state[f"{stem}._v"])
        elif not name.endswith((".weight_u", ".weight_v", "._u", "._v", f"{new}original1")):
            plain[name] = array
    return plain


def _scaled(length: np.ndarray, direction: np.ndarray) -> np.ndarray:
    norms = np.sqrt((direction.astype(np.float64) ** 2).sum(axis=tuple(range(1, direction.ndim)), keepdims=True))
    return (length * direction / norms).astype(direction.dtype)


def _divided(original: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return original / (left @ (original.reshape(len(original), -1) @ right))


RESNET: Layers = ((r"(layer\d\.\d\.)?bn\d|layer\d\.\d\.downsample\.1", BATCH_NORM),)
DENSENET: Layers = ((r"features\.(.+\.)?norm\d?", BATCH_NORM),)
MOBILENET: Layers = ((r"features\.(\d|\d+\.conv\.[01])\.1|features\.1\.conv\.2|features\.\d\.conv\.3", BATCH_NORM),)
MOBILENET_SQUEEZE: Layers = (
    (r"features\.(\d|\d+\.conv\.[01])\.1|features\.1\.conv\.3|features\.[2-9]\.conv\.4", BATCH_NORM),
)
VIT: Layers = ((r"(blocks\.\d\.)?norm\d?", NORM),)
BERT_UNTIED: Layers = (
    (r".+\.LayerNorm", NORM),
    (r"bert\.embeddings\.(word|position|token_type)_embeddings", EMBEDDING),
)
BERT: Layers = (*BERT_UNTIED, (r"cls\.predictions\.decoder|bert\.embeddings", LEFT_OUT))
LSTM: Layers = ((r"embedding", EMBEDDING), (r"norm", NORM))
GENERATOR: Layers = ((r"label_emb", EMBEDDING), (r"l1\.1|main\.(2|5|8)", BATCH_NORM))
DISCRIMINATOR: Layers = ((r"label_embedding", EMBEDDING), (r"main\.(3|6)", BATCH_NORM))
PROJECTION: Layers = ((r"embed", EMBEDDING),)
UNET: Layers = ((r".+\.double_conv\.[14]", NORM), (r".+\.double_conv\.[25]", PRELU))
TEMPORAL: Layers = ((r"network\.\d\.bn\d", BATCH_NORM), (r"network\.\d\.(conv\d|downsample)", CONV1D))
VOCODER: Layers = ((r"conv_pre|conv_post|ups\.\d|resblocks\.\d\.convs\d\.\d", CONV1D),)
TOKENS: Layers = ((r"wte|wpe", EMBEDDING), (r"encoder\.(layers\.\d\.)?norm\d?", NORM))
TRANSLATOR: Layers = ((r"src_embed|tgt_embed", EMBEDDING), (r".+\.norm\d?", NORM))
FEED_FORWARD = {"linear1": "dense1", "linear2": "dense2"}

# Softmax does not see what is added to all keys alike.
_KEYS = r"bert\.encoder\.layer\.\d\.attention\.self\.key\.bias"


def _pair(
    name: str,
    family: str,
    factory: str,
    layers: Layers,
    *,
    port: str | None = None,
    inputs: str | None = None,
    renamed: Mapping[str, str] | None = None,
) -> Pair:
    """Torch's factory; MindSpore's is called the same unless it is given, and the inputs are the family's."""
    return Pair(
        name,
        inputs or family,
        f"{family}_torch:{factory}",
        f"{family}_mindspore:{port or factory}",
        layers,
        renamed or {},
        spectral="spectral" in factory,
        without_effect=_KEYS if family == "bert" else "never",
    )


PLAIN = {"port": "build_projection", "inputs": "discriminator"}

PAIRS: tuple[Pair, ...] = (
    _pair("resnet", "resnet", "build", RESNET),
    _pair("resnet_bottleneck", "resnet", "build_bottleneck", RESNET),
    _pair("densenet", "densenet", "build", DENSENET),
    _pair("mobilenet", "mobilenet", "build", MOBILENET),
    _pair("mobilenet_squeeze", "mobilenet", "build_squeeze", MOBILENET_SQUEEZE),
    _pair("vit", "vit", "build", VIT),
    _pair("vit_layer_scale", "vit", "build_layer_scale", VIT),
    _pair("bert", "bert", "build", BERT),
    _pair("bert_untied", "bert", "build_untied", BERT_UNTIED),
    _pair("bert_position_ids", "bert", "build_position_ids", BERT, port="build"),
    _pair("lstm", "lstm", "build", LSTM),
    _pair("gru", "lstm", "build_gru", LSTM),
    _pair("tagger", "lstm", "build_tagger", (), inputs="tagger"),
    _pair("generator", "gan", "build_generator", GENERATOR, inputs="generator"),
    _pair("discriminator", "gan", "build_discriminator", DISCRIMINATOR, inputs="discriminator"),
    _pair("projection", "gan", "build_projection", PROJECTION, inputs="discriminator"),
    _pair("projection_spectral", "gan", "build_projection_spectral", PROJECTION, **PLAIN),
    _pair("projection_spectral_hooked", "gan", "build_projection_spectral_hooked", PROJECTION, **PLAIN),
    _pair("unet", "unet", "build", UNET),
    _pair("conv1d", "conv1d", "build", TEMPORAL),
    _pair("conv1d_weight_norm", "conv1d", "build_weight_norm", TEMPORAL, port="build_plain"),
    _pair("conv1d_weight_norm_hooked", "conv1d", "build_weight_norm_hooked", TEMPORAL, port="build_plain"),
    _pair("vocoder", "conv1d", "build_vocoder", VOCODER, inputs="vocoder"),
    _pair(
        "vocoder_weight_norm", "conv1d", "build_vocoder_weight_norm", VOCODER, port="build_vocoder", inputs="vocoder"
    ),
    _pair("transformer", "transformer", "build", TOKENS, renamed=FEED_FORWARD),
    _pair("transformer_norm_first", "transformer", "build_norm_first", TOKENS, renamed=FEED_FORWARD),
    _pair("translator", "transformer", "build_translator", TRANSLATOR, inputs="translator", renamed=FEED_FORWARD),
    _pair("cross_attention", "transformer", "build_cross_attention", ((r"ln", NORM),), inputs="cross_attention"),
)
