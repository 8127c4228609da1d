# mypy: allow-subclassing-any
"""PyTorch, used as its users use it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch
from adapters.subjects.protocol import Array, Batch, Rule, Subject, Traits, Variant
from torch import nn
from torch.nn import functional
from torch.utils import data as torch_data

from trueline.adapters.protocol import Adapter
from trueline.adapters.registry import adapter_of


class Raising(nn.Module):
    """A layer that fails."""

    def forward(self, x: Any) -> Any:
        """Never returns."""
        raise ValueError("on purpose")


class Body(nn.Module):
    """Linear, batch norm, relu."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.norm = nn.BatchNorm1d(hidden)
        self.act: nn.Module = nn.ReLU()

    def forward(self, x: Any) -> Any:
        """The hidden values."""
        return self.act(self.norm(self.first(x)))


class Network(nn.Module):
    """The plain network."""

    def __init__(self, inputs: int = 4, hidden: int = 6, outputs: int = 3) -> None:
        super().__init__()
        self.body = Body(inputs, hidden)
        self.last = nn.Linear(hidden, outputs)

    def forward(self, x: Any) -> Any:
        """The logits."""
        return self.last(self.body(x))


class Outputs(Network):
    """Returns the hidden values too."""

    def forward(self, x: Any) -> Any:
        """Logits and hidden values."""
        hidden = self.body(x)
        return self.last(hidden), hidden


class Double(Network):
    """Calls its relu twice."""

    def forward(self, x: Any) -> Any:
        """The logits."""
        return self.last(self.body.act(self.body(x)))


class Dropping(Network):
    """Has a dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Any) -> Any:
        """The logits."""
        return self.last(self.drop(self.body(x)))


class Shared(nn.Module):
    """Two layers with one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.last = nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        """The logits."""
        return self.last(functional.relu(self.second(functional.relu(self.first(x)))))


class Samples(torch_data.Dataset[Any]):
    """Inputs and labels by index."""

    def __init__(self, data: Batch) -> None:
        self.inputs, self.labels = torch.from_numpy(data[0].copy()), torch.from_numpy(data[1].copy())

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> Any:
        return self.inputs[index], self.labels[index]


def _loss(network: Any, batch: Batch) -> Any:
    output = network(torch.from_numpy(batch[0]))
    return functional.cross_entropy(output[0] if isinstance(output, tuple) else output, torch.from_numpy(batch[1]))


class TorchSubject:
    """PyTorch."""

    adapter: Adapter = adapter_of("torch")
    linear: type = nn.Linear
    norm: type = nn.BatchNorm1d
    traits = Traits(
        dtypes=(
            *("float16", "float32", "float64", "bfloat16", "bool", "int8", "int16", "int32", "int64"),
            *("uint8", "uint16", "uint32", "uint64", "complex64", "complex128"),
        ),
        parameters=(
            *("body.first.weight", "body.first.bias", "body.norm.weight", "body.norm.bias"),
            *("last.weight", "last.bias"),
        ),
        buffers=("body.norm.running_mean", "body.norm.running_var", "body.norm.num_batches_tracked"),
        linear_arguments={"in_features": 4, "out_features": 6, "bias": True, "dtype": None},
        bias_argument="bias",
        eps_argument="eps",
    )

    def make_network(self, seed: int = 0, variant: Variant = "plain") -> Any:
        torch.manual_seed(seed)
        kinds: dict[str, Any] = {"shared": Shared, "outputs": Outputs, "double": Double, "dropout": Dropping}
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
        chosen: Any = (getattr(network, part) if part else network).parameters()
        if groups == 2:
            chosen = [{"params": network.body.parameters()}, {"params": network.last.parameters(), "lr": lr / 10}]
        return torch.optim.Adam(chosen, lr) if rule == "adam" else torch.optim.SGD(chosen, lr, momentum)

    def set_training(self, network: Any, training: bool) -> None:
        if training:
            network.train()
        else:
            network.eval()

    def train_step(self, network: Any, optimizers: Sequence[Any], batch: Batch) -> float:
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = _loss(network, batch)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        return float(loss.item())

    def accumulate(self, network: Any, optimizer: Any, batches: Sequence[Batch]) -> list[float]:
        optimizer.zero_grad()
        losses = []
        for batch in batches:
            loss = _loss(network, batch)
            loss.backward()
            losses.append(float(loss.item()))
        optimizer.step()
        return losses

    def evaluate(self, network: Any, batch: Batch) -> float:
        with torch.no_grad():
            return float(_loss(network, batch).item())

    def forward(self, module: Any, array: Array) -> list[Array]:
        with torch.no_grad():
            output = module(torch.from_numpy(array))
        return [one.numpy().copy() for one in (output if isinstance(output, tuple) else (output,))]

    def gradients(self, network: Any, batch: Batch) -> dict[str, Array]:
        named = dict(network.named_parameters())
        found = torch.autograd.grad(_loss(network, batch), list(named.values()))
        return {name: one.numpy() for name, one in zip(named, found, strict=True)}

    def loader(self, data: Batch, *, batch_size: int, order: Sequence[int]) -> Iterable[Any]:
        found: Iterable[Any] = torch_data.DataLoader(Samples(data), batch_size=batch_size, sampler=list(order))
        return found

    def arrays(self, batch: Any) -> Batch:
        return batch[0].numpy(), batch[1].numpy()

    def tensor(self, array: Array) -> Any:
        if array.dtype == ml_dtypes.bfloat16:
            return torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
        return torch.from_numpy(array.copy())

    def array(self, tensor: Any) -> Array:
        found = tensor.detach()
        if found.dtype == torch.bfloat16:
            return np.asarray(found.to(torch.float32).numpy().astype(ml_dtypes.bfloat16))
        return np.array(found.numpy(), copy=True)

    def transposed(self, tensor: Any) -> Any:
        return tensor.T

    def set_in_place(self, tensor: Any, array: Array) -> None:
        tensor.copy_(torch.from_numpy(array))

    def do_ops(self, array: Array) -> list[tuple[str, int]]:
        first = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
        x = torch.from_numpy(array)
        product = x.mm(torch.ones(4, 2))
        total = product + product
        torch.relu(total)
        return [("mm", first + 1), ("add", first + 2), ("relu", first + 3)]


SUBJECT: Subject = TorchSubject()
