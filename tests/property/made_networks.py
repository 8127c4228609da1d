"""Made-up networks of the layers in the table: what torch calls their tensors, and what MindSpore would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from trueline.apitable.layers import Layer, layers

Shape = tuple[int, ...]
Shapes = dict[str, Shape]

# A way of storing a weight that MindSpore has not: the weight itself is what comes back.
PARAMETRISED = {"weightnorm", "weightnorm_parametrized", "spectralnorm", "spectralnorm_parametrized"}
# What a file's own names and shapes tell a layer by.
WORDS = {
    **dict.fromkeys(("batchnorm", "batchnorm3d", "layernorm", "groupnorm", "instancenorm"), "norm"),
    **dict.fromkeys(("embedding", "embeddingbag"), "embedding"),
    "prelu": "prelu",
    "bilinear": "bilinear",
}
SIDE = st.integers(2, 4)


@dataclass(frozen=True)
class Tensor:
    """One tensor under both names; ``mindspore`` is None where it has no counterpart."""

    name: str
    shape: Shape
    mindspore: str | None
    mindspore_shape: Shape


@st.composite
def networks(draw: st.DrawFn) -> list[Tensor]:
    """A network whose convolutions are all of one rank; the first has a kernel that is longer than one."""
    rank = draw(st.integers(1, 3))
    convolution, transposed = ("conv1d", "convtranspose1d") if rank == 1 else ("conv", "convtranspose")
    # The convolution before a BatchNorm tells whether it is one of volumes: nothing may look like another one.
    strange = {"batchnorm", "bilinear"} if rank == 3 else {"batchnorm3d"}
    kinds = [convolution, transposed, *sorted(_OTHERS - strange)]
    chosen = [convolution, *draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=6))]
    found: list[Tensor] = []
    for number, kind in enumerate(chosen):
        above = draw(st.sampled_from(("", "body.", "stage.0.")))
        path = f"{above}{WORDS.get(kind, 'part')}{number}"
        kernel = (3,) * rank if not number else draw(st.tuples(*[st.integers(1, 3)] * rank))
        found += _tensors(draw, kind, path, path, kernel)
    return found


@st.composite
def of_kind(draw: st.DrawFn, kind: str) -> list[Tensor]:
    """One layer that is called ``layer``."""
    return list(_tensors(draw, kind, "layer", "layer", (3, 3)))


def _tensors(draw: st.DrawFn, kind: str, path: str, other: str, kernel: Shape) -> Iterator[Tensor]:
    layer = layers()[kind]
    for leaf, shape in _own(draw, kind, kernel).items():
        theirs = layer.mindspore_leaf(leaf)
        name = None if theirs is None else f"{other}.{theirs}"
        yield Tensor(f"{path}.{leaf}", shape, name, _inserted(layer, leaf, shape))
    for child, inner in _children(draw, kind).items():
        first, _, rest = child.partition(".")
        there = ".".join(filter(None, (layer.children[first], rest)))
        yield from _tensors(draw, inner, f"{path}.{child}", f"{other}.{there}", kernel)


def _inserted(layer: Layer, leaf: str, shape: Shape) -> Shape:
    axis = layer.inserted.get(leaf)
    return shape if axis is None else (*shape[:axis], 1, *shape[axis:])


def _own(draw: st.DrawFn, kind: str, kernel: Shape) -> Shapes:
    """The tensors of one layer by leaf, as torch shapes them; those that may be absent sometimes are."""
    a, b, bias = draw(SIDE), draw(SIDE), draw(st.booleans())
    if kind in ("batchnorm", "batchnorm3d"):
        counted: Shapes = {"num_batches_tracked": ()} if draw(st.booleans()) else {}
        affine = {"weight": (a,), "bias": (a,)} if bias else {}
        return {**affine, "running_mean": (a,), "running_var": (a,), **counted}
    if kind in ("layernorm", "groupnorm", "instancenorm"):
        # Without a bias it is taken for a network's own norm, whose name stays.
        return {"weight": (a,), "bias": (a,)}
    if kind in ("embedding", "embeddingbag"):
        return {"weight": (a, b)}
    if kind == "prelu":
        return {"weight": (1,) if bias else (a,)}
    if kind.startswith("conv"):
        # A transposed one has its outputs second.
        return _biased((a, b, *kernel), b if kind.startswith("convtranspose") else a, bias)
    if kind in ("linear", "bilinear"):
        return _biased((a, b) if kind == "linear" else (a, b, 3), a, bias)
    if kind in ("lstm", "gru", "rnn", "recurrentcell"):
        return _recurrent(draw, kind, a, b, bias)
    return _attention(draw, a, bias) if kind == "multiheadattention" else {}


def _biased(weight: Shape, outputs: int, bias: bool) -> Shapes:
    return {"weight": weight, **({"bias": (outputs,)} if bias else {})}


def _recurrent(draw: st.DrawFn, kind: str, inputs: int, hidden: int, bias: bool) -> Shapes:
    gates = {"lstm": 4, "gru": 3, "rnn": 1, "recurrentcell": draw(st.sampled_from((1, 3, 4)))}[kind] * hidden
    if kind == "recurrentcell":
        ends = [""]
    else:
        ends = [f"_l{at}{way}" for at in range(draw(st.integers(1, 2))) for way in ("", "_reverse")]
        ends = ends if draw(st.booleans()) else ends[::2]
    found: Shapes = {}
    for end in ends:
        found |= {f"weight_ih{end}": (gates, inputs), f"weight_hh{end}": (gates, hidden)}
        found |= {f"bias_ih{end}": (gates,), f"bias_hh{end}": (gates,)} if bias else {}
        inputs = inputs if end.endswith("_reverse") else hidden
    return found


def _attention(draw: st.DrawFn, width: int, bias: bool) -> Shapes:
    if draw(st.booleans()):
        found: Shapes = {"in_proj_weight": (3 * width, width)}
    else:
        found = {f"{one}_proj_weight": (width, width) for one in "qkv"}
    more: Shapes = {"bias_k": (1, 1, width), "bias_v": (1, 1, width)} if draw(st.booleans()) else {}
    return {**found, **({"in_proj_bias": (3 * width,)} if bias else {}), **more}


def _children(draw: st.DrawFn, kind: str) -> Mapping[str, str]:
    """The layers inside one, by their path in it."""
    if kind == "multiheadattention":
        return {"out_proj": "linear"}
    if kind in ("transformerencoderlayer", "transformerdecoderlayer"):
        return {child: _inner(child) for child in layers()[kind].children}
    if kind in ("transformerencoder", "transformerdecoder"):
        inner = {f"layers.{at}": f"{kind}layer" for at in range(draw(st.integers(1, 2)))}
        return {**inner, "norm": "layernorm"} if draw(st.booleans()) else inner
    return {"encoder": "transformerencoder", "decoder": "transformerdecoder"} if kind == "transformer" else {}


def _inner(child: str) -> str:
    if child.endswith("attn"):
        return "multiheadattention"
    return "layernorm" if child.startswith("norm") else "linear"


_CONVOLUTIONS = {"conv1d", "conv", "convtranspose1d", "convtranspose"}
_OTHERS = set(layers()) - PARAMETRISED - _CONVOLUTIONS
