"""The NumPy toy, used as its users would use it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from adapters.numpy_toy import ADAPTER
from adapters.numpy_toy import framework as toy
from adapters.subjects.protocol import Array, Batch, Rule, Subject, Traits, Variant

from trueline.adapters.protocol import Adapter


class Raising(toy.Module):
    """A layer that fails."""

    def forward(self, x: toy.Tensor) -> toy.Tensor:
        """Never returns."""
        raise ValueError("on purpose")


class Body(toy.Module):
    """Linear, batch norm, relu."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.first = toy.Linear(inputs, hidden)
        self.norm = toy.BatchNorm(hidden)
        self.act: toy.Module = toy.Relu()

    def forward(self, x: toy.Tensor) -> toy.Tensor:
        """The hidden values."""
        found: toy.Tensor = self.act(self.norm(self.first(x)))
        return found


class Network(toy.Module):
    """The plain network."""

    def __init__(self, inputs: int = 4, hidden: int = 6, outputs: int = 3) -> None:
        super().__init__()
        self.body = Body(inputs, hidden)
        self.last = toy.Linear(hidden, outputs)

    def forward(self, x: toy.Tensor) -> Any:
        """The logits."""
        return self.last(self.body(x))


class Outputs(Network):
    """Returns the hidden values too."""

    def forward(self, x: toy.Tensor) -> Any:
        """Logits and hidden values."""
        hidden = self.body(x)
        return self.last(hidden), hidden


class Double(Network):
    """Calls its relu twice."""

    def forward(self, x: toy.Tensor) -> Any:
        """The logits."""
        return self.last(self.body.act(self.body(x)))


class Dropping(Network):
    """Has a dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.drop = toy.Dropout(0.5)

    def forward(self, x: toy.Tensor) -> Any:
        """The logits."""
        return self.last(self.drop(self.body(x)))


class Shared(toy.Module):
    """Two layers with one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first = toy.Linear(4, 4)
        self.second = toy.Linear(4, 4)
        self.second.weight = self.first.weight
        self.last = toy.Linear(4, 3)

    def forward(self, x: toy.Tensor) -> Any:
        """The logits."""
        return self.last(toy.relu(self.second(toy.relu(self.first(x)))))


def _logits(output: Any) -> toy.Tensor:
    found: toy.Tensor = output[0] if isinstance(output, tuple) else output
    return found


def _parameters(module: toy.Module) -> list[toy.Parameter]:
    found = [value for value in vars(module).values() if isinstance(value, toy.Parameter)]
    for _, child in module.children():
        found += _parameters(child)
    return list({id(one): one for one in found}.values())


def _named(module: toy.Module, at: str = "") -> dict[str, toy.Parameter]:
    found = {at + name: value for name, value in vars(module).items() if isinstance(value, toy.Parameter)}
    for name, child in module.children():
        found |= _named(child, f"{at}{name}.")
    return found


class NumpySubject:
    """The NumPy toy."""

    adapter: Adapter = ADAPTER
    linear: type = toy.Linear
    norm: type = toy.BatchNorm
    traits = Traits(
        dtypes=(
            *("float16", "float32", "float64", "bfloat16", "bool", "int8", "int16", "int32", "int64"),
            *("uint8", "uint16", "uint32", "uint64", "complex64", "complex128"),
        ),
        parameters=(
            *("body.first.weight", "body.first.bias", "body.norm.weight", "body.norm.bias"),
            *("last.weight", "last.bias"),
        ),
        buffers=("body.norm.running_mean", "body.norm.running_var"),
        linear_arguments={"inputs": 4, "outputs": 6, "bias": True},
        bias_argument="bias",
        eps_argument="eps",
    )

    def make_network(self, seed: int = 0, variant: Variant = "plain") -> Any:
        toy.set_seed(seed)
        kinds = {"shared": Shared, "outputs": Outputs, "double": Double, "dropout": Dropping}
        network = kinds.get(variant, Network)()
        if variant == "raising":
            network.body.act = Raising()
        return network

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
        chosen: list[dict[str, Any]] = [{"parameters": _parameters(getattr(network, part) if part else network)}]
        if groups == 2:
            chosen = [
                {"parameters": _parameters(network.body)},
                {"parameters": _parameters(network.last), "lr": lr / 10},
            ]
        return toy.Adam(chosen, lr) if rule == "adam" else toy.SGD(chosen, lr, momentum)

    def set_training(self, network: Any, training: bool) -> None:
        network.train(training)

    def train_step(self, network: Any, optimizers: Sequence[Any], batch: Batch) -> float:
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = toy.cross_entropy(_logits(network(toy.Tensor(batch[0]))), toy.Tensor(batch[1]))
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        return loss.item()

    def accumulate(self, network: Any, optimizer: Any, batches: Sequence[Batch]) -> list[float]:
        optimizer.zero_grad()
        losses = []
        for inputs, labels in batches:
            loss = toy.cross_entropy(_logits(network(toy.Tensor(inputs))), toy.Tensor(labels))
            loss.backward()
            losses.append(loss.item())
        optimizer.step()
        return losses

    def evaluate(self, network: Any, batch: Batch) -> float:
        with toy.no_grad():
            return toy.cross_entropy(_logits(network(toy.Tensor(batch[0]))), toy.Tensor(batch[1])).item()

    def forward(self, module: Any, array: Array) -> list[Array]:
        with toy.no_grad():
            output = module(toy.Tensor(array))
        return [one.data.copy() for one in (output if isinstance(output, tuple) else (output,))]

    def gradients(self, network: Any, batch: Batch) -> dict[str, Array]:
        toy.cross_entropy(_logits(network(toy.Tensor(batch[0]))), toy.Tensor(batch[1])).backward()
        found = {name: one.grad for name, one in _named(network).items() if one.grad is not None}
        for one in _parameters(network):
            one.grad = None
        return found

    def loader(self, data: Batch, *, batch_size: int, order: Sequence[int]) -> Iterable[Any]:
        return toy.Loader(*data, batch_size=batch_size, sampler=order)

    def arrays(self, batch: Any) -> Batch:
        return batch[0].data, batch[1].data

    def tensor(self, array: Array) -> Any:
        return toy.Tensor(array.copy())

    def array(self, tensor: Any) -> Array:
        return np.array(tensor.data, copy=True)

    def transposed(self, tensor: Any) -> Any:
        return toy.Tensor(tensor.data.T)

    def set_in_place(self, tensor: Any, array: Array) -> None:
        tensor.write(array)

    def do_ops(self, array: Array) -> list[tuple[str, int]]:
        first = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
        x = toy.Tensor(array)
        product = toy.matmul(x, toy.Tensor(np.ones((4, 2), np.float32)))
        total = toy.add(product, product)
        toy.relu(total)
        return [("matmul", first + 1), ("add", first + 2), ("relu", first + 3)]


SUBJECT: Subject = NumpySubject()
