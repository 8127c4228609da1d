"""A layer of the benchmark against one of the port, by itself, with the benchmark's weights carried over."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trueline.adapters.guest.entry import Entry
from trueline.kernel.array import Array
from trueline.pair.attributes.difference import Modules
from trueline.pair.attributes.reference import Reference, by_port_leaf
from trueline.pair.questions.described import Described
from trueline.pair.questions.model import GetWeights, PutWeights
from trueline.pair.questions.module_run import RunModule
from trueline.pair.sides.side import Side

PROJECT = Path(__file__).parent / "layer_project"
_IMAGE = (2, 3, 8, 8)
_INPUTS: dict[str, list[tuple[int, ...]]] = {
    "conv_odd": [(2, 3, 7, 7)],
    "conv_groups": [(2, 4, 8, 8)],
    "conv1d_pad": [(2, 3, 9)],
    **{name: [(2, 4, 6, 6)] for name in ("bn_eps", "bn_momentum", "bn_equal", "gn_groups", "norm_type")},
    **{
        name: [(3, 6)]
        for name in ("ln_eps", "ln_equal", "linear_bias", "linear_equal", "coarse", "scaled", "projection")
    },
    **{name: [(2, 4, 5)] for name in ("softmax", "softmax_equal")},
    **{name: [(5, 2, 3)] for name in ("lstm", "lstm_both", "gru_equal")},
    "heads": [(2, 5, 8)] * 3,
    "cell": [(2, 3), (2, 4), (2, 4)],
}


class Layers:
    """The layers of one framework in a process."""

    def __init__(self, framework: str) -> None:
        self.framework = framework
        self.side = Side.start(Entry.parse(f"layers_{framework}:layers"), folder=PROJECT)
        self._described: Described | None = None

    @property
    def described(self) -> Described:
        """What they are, asked once."""
        if self._described is None:
            self._described = self.side.describe()
        return self._described

    def tensors(self, path: str) -> dict[str, Array]:
        """A layer's own, by their names in it."""
        names = {there: name for name, there in self.described.paths.items() if there.startswith(f"{path}.")}
        if not names:
            return {}
        weights = self.side.answer(GetWeights(list(names.values())))
        return {there.removeprefix(f"{path}."): weights[name] for there, name in names.items()}

    def put(self, path: str, arrays: dict[str, Array]) -> None:
        """Overwrite those that fit."""
        by_path = {there: name for name, there in self.described.paths.items()}
        shapes = {one.name: one.shape for one in self.described.parameters}
        fitting = {
            by_path[f"{path}.{leaf}"]: one.reshape(shapes[by_path[f"{path}.{leaf}"]])
            for leaf, one in arrays.items()
            if f"{path}.{leaf}" in by_path and np.prod(shapes[by_path[f"{path}.{leaf}"]]) == one.size
        }
        if fitting:
            self.side.answer(PutWeights(fitting))


def inputs_of(name: str) -> list[Array]:
    """Inputs for a layer."""
    random = np.random.default_rng(5)
    if name == "embedding":
        return [np.array([[0, 1, 2], [3, 4, 0]], np.int32)]
    return [random.standard_normal(shape).astype(np.float32) for shape in _INPUTS.get(name, [_IMAGE])]


def put_side_by_side(
    bench: Layers, port: Layers, name: str, *, bench_of: str = "right", port_of: str = "wrong", train: bool = False
) -> tuple[Modules, Reference]:
    """Both layers with the same weights, and what the benchmark's gave."""
    modules = Modules.of(bench.described, port.described, (f"{bench_of}.{name}", f"{port_of}.{name}"))
    random = np.random.default_rng(7)
    own = {
        leaf: np.abs(one) + 0.3 * random.random(one.shape).astype(one.dtype) if "var" in leaf
        else (one + 0.3 * random.standard_normal(one.shape)).astype(one.dtype)
        for leaf, one in bench.tensors(f"{bench_of}.{name}").items()
        if "float" in one.dtype.name
    }  # fmt: skip
    bench.put(f"{bench_of}.{name}", own)
    carried = by_port_leaf(modules, own)
    port.put(f"{port_of}.{name}", carried)
    ins = inputs_of(name)
    first = bench.side.answer(RunModule(modules.bench.path, ins, train=train))
    assert not first.failed, first.failed
    gout = [
        random.standard_normal(one.shape).astype(one.dtype) if one.dtype.kind == "f" else None for one in first.outputs
    ]
    ran = bench.side.answer(RunModule(modules.bench.path, ins, train=train, gout=gout))
    assert not ran.failed, ran.failed
    reference = Reference(
        ins,
        ran.outputs,
        gout,
        ran.gin,
        by_port_leaf(modules, ran.grads),
        by_port_leaf(modules, ran.after),
        carried,
        train,
    )
    return modules, reference
