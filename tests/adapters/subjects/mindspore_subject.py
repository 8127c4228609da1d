"""MindSpore, used as its users use it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

import mindspore as ms
import mindspore.dataset as ds
import ml_dtypes
import numpy as np
from adapters.subjects.protocol import Array, Batch, Rule, Subject, Traits, Variant
from mindspore import nn, ops

from trueline.adapters.protocol import Adapter
from trueline.adapters.registry import adapter_of

ms.set_device("CPU")


class Raising(nn.Cell):
    """A layer that fails."""

    def construct(self, x: Any) -> Any:
        """Never returns."""
        raise ValueError("on purpose")


class Body(nn.Cell):
    """Dense, batch norm, relu."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.first = nn.Dense(inputs, hidden)
        self.norm = nn.BatchNorm1d(hidden)
        self.act = nn.ReLU()

    def construct(self, x: Any) -> Any:
        """The hidden values."""
        return self.act(self.norm(self.first(x)))


class Network(nn.Cell):
    """The plain network."""

    def __init__(self, inputs: int = 4, hidden: int = 6, outputs: int = 3) -> None:
        super().__init__()
        self.body = Body(inputs, hidden)
        self.last = nn.Dense(hidden, outputs)

    def construct(self, x: Any) -> Any:
        """The logits."""
        return self.last(self.body(x))


class Outputs(Network):
    """Returns the hidden values too."""

    def construct(self, x: Any) -> Any:
        """Logits and hidden values."""
        hidden = self.body(x)
        return self.last(hidden), hidden


class Double(Network):
    """Calls its relu twice."""

    def construct(self, x: Any) -> Any:
        """The logits."""
        return self.last(self.body.act(self.body(x)))


class Dropping(Network):
    """Has a dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(p=0.5)

    def construct(self, x: Any) -> Any:
        """The logits."""
        return self.last(self.drop(self.body(x)))


class Shared(nn.Cell):
    """Two layers with one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(4, 4)
        self.second = nn.Dense(4, 4)
        self.second.weight = self.first.weight
        self.last = nn.Dense(4, 3)

    def construct(self, x: Any) -> Any:
        """The logits."""
        return self.last(ops.relu(self.second(ops.relu(self.first(x)))))


class Samples:
    """Inputs and labels by index."""

    def __init__(self, data: Batch) -> None:
        self.inputs, self.labels = data

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> Any:
        return self.inputs[index], self.labels[index]


def _loss(network: Any, batch: Batch) -> Any:
    output = network(ms.Tensor(batch[0]))
    logits = output[0] if isinstance(output, tuple) else output
    return ops.cross_entropy(logits, ms.Tensor(batch[1].astype(np.int32)))


class MindSporeSubject:
    """MindSpore in PyNative mode on the CPU."""

    adapter: Adapter = adapter_of("mindspore")
    linear: type = nn.Dense
    norm: type = nn.BatchNorm1d
    traits = Traits(
        dtypes=(
            *("float16", "float32", "float64", "bfloat16", "bool", "int8", "int16", "int32", "int64"),
            *("uint8", "uint16", "uint32", "uint64", "complex64", "complex128"),
        ),
        parameters=(
            *("body.first.weight", "body.first.bias", "body.norm.gamma", "body.norm.beta"),
            *("last.weight", "last.bias"),
        ),
        buffers=("body.norm.moving_mean", "body.norm.moving_variance"),
        linear_arguments={"in_channels": 4, "out_channels": 6, "has_bias": True, "activation": None},
        bias_argument="has_bias",
        eps_argument="eps",
        zero_grad=False,
        indexes=False,
        picklable=False,
        quiet_steps=16,
    )

    def make_network(self, seed: int = 0, variant: Variant = "plain") -> Any:
        ms.set_seed(seed)
        kinds: dict[str, Any] = {"shared": Shared, "outputs": Outputs, "double": Double, "dropout": Dropping}
        network = kinds.get(variant, Network)()
        if variant == "raising":
            network.body.act = Raising()
        return network.set_train()

    def make_optimizer(
        self,
        network: Any,
        *,
        lr: float = 0.1,
        momentum: float = 0.9,
        rule: Rule = "sgd",
        groups: int = 1,
        part: str | None = None,
    ) -> Any:
        chosen: Any = (getattr(network, part) if part else network).trainable_params()
        if groups == 2:
            chosen = [
                {"params": network.body.trainable_params()},
                {"params": network.last.trainable_params(), "lr": lr / 10},
            ]
        return nn.Adam(chosen, lr) if rule == "adam" else nn.Momentum(chosen, lr, momentum)

    def set_training(self, network: Any, training: bool) -> None:
        network.set_train(training)

    def train_step(self, network: Any, optimizers: Sequence[Any], batch: Batch) -> float:
        parts = [list(optimizer.parameters) for optimizer in optimizers]
        step = ms.value_and_grad(lambda: _loss(network, batch), None, [one for part in parts for one in part])
        loss, gradients = step()
        start = 0
        for optimizer, part in zip(optimizers, parts, strict=True):
            optimizer(gradients[start : start + len(part)])
            start += len(part)
        return float(loss.asnumpy())

    def accumulate(self, network: Any, optimizer: Any, batches: Sequence[Batch]) -> list[float]:
        losses: list[float] = []
        total: Any = None
        for batch in batches:
            step = ms.value_and_grad(lambda batch=batch: _loss(network, batch), None, optimizer.parameters)
            loss, gradients = step()
            losses.append(float(loss.asnumpy()))
            total = gradients if total is None else tuple(a + b for a, b in zip(total, gradients, strict=True))
        optimizer(total)
        return losses

    def evaluate(self, network: Any, batch: Batch) -> float:
        return float(_loss(network, batch).asnumpy())

    def forward(self, module: Any, array: Array) -> list[Array]:
        output = module(ms.Tensor(array))
        return [one.asnumpy().copy() for one in (output if isinstance(output, tuple) else (output,))]

    def gradients(self, network: Any, batch: Batch) -> dict[str, Array]:
        named = {name: one for name, one in network.parameters_and_names() if one.requires_grad}
        found = ms.grad(lambda: _loss(network, batch), None, list(named.values()))()
        return {name: one.asnumpy() for name, one in zip(named, found, strict=True)}

    def loader(self, data: Batch, *, batch_size: int, order: Sequence[int]) -> Iterable[Any]:
        source = ds.GeneratorDataset(Samples(data), ["inputs", "labels"], sampler=ds.SubsetSampler(list(order)))
        return source.batch(batch_size)  # type: ignore[no-any-return]

    def arrays(self, batch: Any) -> Batch:
        return batch[0].asnumpy(), batch[1].asnumpy()

    def tensor(self, array: Array) -> Any:
        return ms.Tensor(array.copy())

    def array(self, tensor: Any) -> Array:
        found = np.array(tensor.asnumpy(), copy=True)
        return found.view(np.uint16).view(ml_dtypes.bfloat16) if tensor.dtype == ms.bfloat16 else found

    def transposed(self, tensor: Any) -> Any:
        return tensor.T

    def set_in_place(self, tensor: Any, array: Array) -> None:
        tensor.copy_(ms.Tensor(array))

    def do_ops(self, array: Array) -> list[tuple[str, int]]:
        first = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
        x = ms.Tensor(array)
        product = ops.matmul(x, ms.Tensor(np.ones((4, 2), np.float32)))
        total = product + product
        ops.relu(total)
        return [("matmul", first + 1), ("add", first + 2), ("relu", first + 3)]


SUBJECT: Subject = MindSporeSubject()
