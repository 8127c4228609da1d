"""What a module is, read off the names and shapes of its tensors and of those around it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from trueline.apitable.layers import layers
from trueline.migrate.modules import Module, Naming, Recognised, Shape
from trueline.model.finding import Certainty
from trueline.model.message import Message, message

# Words that public networks have for tables of vectors; some of them for matrices as well, which come first.
# All are searched for: a name of any length takes time in proportion to it.
_MATRIX: Final = re.compile(
    r"proj|dense|linear|mapper|unembed|\A(?:to_\w+|(?:x|context)_embedder|embed_out|patch_embed(?:ding)?)\Z"
)
_TABLE: Final = re.compile(
    r"_tokens?\Z|codebook\Z|\A(?!to_).*_bias\Z|_bias_values\Z"
    r"|\A(?:bias_values|quer(?:y|ies)_feat\w*|token_type|pe_[kv]|reference_points)\Z"
)
_NO_TABLE: Final = re.compile(r"proj|head|attn|qkv")
_EMBEDDING: Final = re.compile(r"emb|\A(?:wte|wpe|tok|tokens?|words?|lookup|vocab|lut|shared|positions?|segments?)\Z")
_NORM: Final = re.compile(r"norm|\A(?:ln|gn|bn|rms)\w*\Z|_(?:ln|gn|bn|rms)\Z")
_SLOPE: Final = re.compile(r"relu|act|slope")
_GATES: Final = {4: "lstm", 3: "gru", 1: "rnn"}
# A kernel longer than this is hardly one.
_LONGEST_KERNEL: Final = 128


class Guessing:
    """A file's modules, recognised by what they hold and by what lies around them."""

    def __init__(self, modules: Mapping[str, Module], naming: Naming) -> None:
        self._modules = modules
        self._torch = naming is Naming.TORCH
        self._order = [module for module in modules.values() if module.leaves]
        self._weights = [shape for module in self._order if (shape := module.shape("weight")) is not None]
        self._first = next((module.path for module in self._order if module.shape("weight") is not None), None)
        # Of a block that is used twice all is shared, which says nothing of its layers.
        self._tied = {
            other
            for module in self._order
            for held in module.leaves.values()
            if (other := held.shared_with) and other.split(".")[-2:-1] != held.name.split(".")[-2:-1]
        }
        self._turned = {module.word for module in self._order if _is_turned(module)}
        self._volumes = any(len(shape) == 5 for shape in self._weights)
        self._in_volumes = _after_volumes(self._order)
        flat = [shape for shape in self._weights if len(shape) == 4]
        self._sequences = bool(flat) and all(shape[2] == 1 for shape in flat) and any(shape[3] > 1 for shape in flat)

    def of(self, module: Module) -> Recognised:
        """What a module is taken for."""
        return self._by_own_names(module) or self._by_children(module) or self._by_weight(module) or _own_names()

    def _by_own_names(self, module: Module) -> Recognised | None:
        has = module.leaves.keys()
        mean, variance, scale, shift = _BATCHNORM[self._torch]
        if {mean, variance} <= has:
            kind = "batchnorm3d" if self._torch and module.path in self._in_volumes else "batchnorm"
            certainty = Certainty.LIKELY if self._volumes else Certainty.CERTAIN
            return _found("BatchNorm", kind, certainty, message("convert.why_statistics", a=mean, b=variance))
        if not self._torch and not module.children:
            if {scale, shift} <= has and module.shape(scale) == module.shape(shift):
                return _found("Norm", "layernorm", Certainty.CERTAIN, message("convert.why_has", a=scale, b=shift))
            # A scale without a shift may be a network's own; only its module's name tells.
            if has == {scale} and _NORM.search(module.word):
                return _found("Norm", "layernorm", Certainty.LIKELY, message("convert.why_word", word=module.word))
            if "embedding_table" in has:
                why = message("convert.why_only", a="embedding_table")
                return _found("Embedding", "embedding", Certainty.CERTAIN, why)
            if has in ({"w"}, {"a"}) and len(next(iter(module.leaves.values())).shape) == 1:
                return _found("PReLU", "prelu", Certainty.LIKELY, message("convert.why_only", a=next(iter(has))))
        return _recurrent(module) or _attention(module)

    def _by_children(self, module: Module) -> Recognised | None:
        inner = self._modules.get(_below(module.path, "bn2d"))
        if inner is not None and not self._torch and len(module.children) == 1 and inner.path in self._in_volumes:
            # MindSpore's layer of three dimensions holds one of two.
            return _found("BatchNorm3d", "batchnorm3d", Certainty.LIKELY, message("convert.why_only", a="bn2d"))
        attention = self._modules.get(_below(module.path, "self_attn"))
        if attention is None or _attention(attention) is None:
            return None
        other = "transformerdecoderlayer" if "multihead_attn" in module.children else "transformerencoderlayer"
        layer = layers()[other]
        here = set(layer.children if self._torch else layer.children.values())
        if here != module.children.keys():
            return None
        label = layer.torch[0]
        return Recognised(
            label, layer, Certainty.LIKELY, message("convert.why_children", children=", ".join(sorted(here)))
        )

    def _by_weight(self, module: Module) -> Recognised | None:
        weight, bias = module.shape("weight"), module.shape("bias")
        # The weight of a module that holds others is a parameter of the user's own.
        if not weight or module.children:
            return None
        shapes = message("convert.why_shape", shape=list(weight))
        if len(weight) == 1 or weight == bias:
            return self._by_vector(module, weight, bias) if self._torch else None
        if len(weight) == 2:
            if self._torch and module.word in self._turned and bias == weight[1:]:
                return _found("Linear", "linear", Certainty.POSSIBLE, message("convert.why_turned"))
            if bias is not None or not self._torch:
                return _found("Linear", "linear", Certainty.CERTAIN, shapes)
            return self._table_or_matrix(module, weight)
        return self._convolution(module, weight, bias)

    def _by_vector(self, module: Module, weight: Shape, bias: Shape | None) -> Recognised | None:
        if bias == weight:
            # What lies along one axis of many is no layer of the frameworks.
            plain = len(weight) == 1 or weight[:1] > (1,)
            return _found("Norm", "layernorm", Certainty.LIKELY, message("convert.why_vectors")) if plain else None
        if bias is not None:
            return None
        if _NORM.search(module.word):
            # Nearly always a network's own norm by root mean squares, whose port keeps the name.
            return Recognised("RMSNorm", None, Certainty.POSSIBLE, message("convert.why_word", word=module.word))
        if _SLOPE.search(module.word):
            return _found("PReLU", "prelu", Certainty.LIKELY, message("convert.why_word", word=module.word))
        sure = Certainty.LIKELY if weight == (1,) else Certainty.POSSIBLE
        return _found("PReLU", "prelu", sure, message("convert.why_slope"))

    def _table_or_matrix(self, module: Module, weight: Shape) -> Recognised:
        held = module.leaves["weight"]
        if _EMBEDDING.search(module.word) and not _MATRIX.search(module.word):
            return _found("Embedding", "embedding", Certainty.LIKELY, message("convert.why_word", word=module.word))
        if _TABLE.search(module.word):
            return _found("Embedding", "embedding", Certainty.POSSIBLE, message("convert.why_word", word=module.word))
        if held.name in self._tied:
            return _found("Embedding", "embedding", Certainty.POSSIBLE, message("convert.why_tied"))
        first = module.path == self._first and not _NO_TABLE.search(module.path.lower())
        if first and self._follows_columns(module, weight):
            return _found("Embedding", "embedding", Certainty.POSSIBLE, message("convert.why_first"))
        return _found("Linear", "linear", Certainty.POSSIBLE, message("convert.why_no_bias"))

    def _follows_columns(self, module: Module, weight: Shape) -> bool:
        """Whether what comes next takes as many inputs as a table has columns, and not as many as it has rows."""
        after = self._order[self._order.index(module) + 1 :]
        for inner in after:
            shape = inner.shape("weight") or inner.shape("weight_ih_l0") or inner.shape("in_proj_weight")
            if shape:
                taken = shape[0] if len(shape) == 1 else shape[1]
                return taken == weight[1] != weight[0]
        return False

    def _convolution(self, module: Module, weight: Shape, bias: Shape | None) -> Recognised:
        why = message("convert.why_shape", shape=list(weight))
        turned = bias is not None and len(bias) == 1 and bias[0] != weight[0] and weight[1] and not bias[0] % weight[1]
        word = "ConvTranspose" if turned else "Conv"
        kind = "convtranspose" if turned else "conv"
        if self._torch and len(weight) == 3:
            if "bilinear" in module.word:
                return _found("Bilinear", "bilinear", Certainty.LIKELY, message("convert.why_word", word=module.word))
            sure = Certainty.LIKELY if weight[2] <= _LONGEST_KERNEL else Certainty.POSSIBLE
            return _found(f"{word}1d", f"{kind}1d", sure, why)
        if not self._torch and len(weight) == 4 and weight[2] == 1 and (self._sequences or "1d" in module.word):
            return _found(f"{word}1d", f"{kind}1d", Certainty.LIKELY, why)
        if not self._torch and len(weight) == 3:
            return _found("Bilinear", "bilinear", Certainty.LIKELY, why)
        return _found(f"{word}{len(weight) - 2}d", kind, Certainty.LIKELY, why)


_BATCHNORM: Final = {
    True: ("running_mean", "running_var", "weight", "bias"),
    False: ("moving_mean", "moving_variance", "gamma", "beta"),
}


def _after_volumes(order: Sequence[Module]) -> set[str]:
    """The modules before which the last convolution has a kernel of three sides."""
    found: set[str] = set()
    sides = outputs = 0
    flat = any(len(inner.shape("weight") or ()) == 4 for inner in order)
    for module in order:
        shape = module.shape("weight")
        if shape is not None and len(shape) >= 3:
            sides, outputs = len(shape), shape[0]
        mean = module.shape("running_mean") or module.shape("moving_mean")
        # Where there are images too, the channels must be those of the volumes.
        if sides == 5 and (not flat or mean == (outputs,)):
            found.add(module.path)
    return found


def _is_turned(module: Module) -> bool:
    """A matrix whose bias is as long as it has columns: some networks keep their weights so."""
    weight, bias = module.shape("weight"), module.shape("bias")
    return weight is not None and bias is not None and len(weight) == 2 and weight[:1] != weight[1:] == bias


def _recurrent(module: Module) -> Recognised | None:
    for ih, hh, cell in (("weight_ih_l0", "weight_hh_l0", ""), ("weight_ih", "weight_hh", "Cell")):
        given, kept = module.shape(ih), module.shape(hh)
        if given and kept and len(kept) == 2 and kept[1]:
            gates = _GATES.get(kept[0] // kept[1], "rnn")
            label = gates.upper() + cell
            why = message("convert.why_has", a=ih, b=hh)
            return _found(label, "recurrentcell" if cell else gates, Certainty.CERTAIN, why)
    return None


def _attention(module: Module) -> Recognised | None:
    if "in_proj_weight" in module.leaves or {"q_proj_weight", "k_proj_weight"} <= module.leaves.keys():
        why = message("convert.why_only", a="in_proj" if "in_proj_weight" in module.leaves else "q_proj_weight")
        return _found("MultiheadAttention", "multiheadattention", Certainty.CERTAIN, why)
    return None


def _found(label: str, kind: str, certainty: Certainty, why: Message) -> Recognised:
    return Recognised(label, layers()[kind], certainty, why)


def _own_names() -> Recognised:
    return Recognised("", None, Certainty.LIKELY, message("convert.why_own"))


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
