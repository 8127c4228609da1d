"""A tiny training framework on NumPy: tensors with gradients, modules, optimizers and a loader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Pull = Callable[[Array], Sequence[Array | None]]

_recording = [True]
_generator = [np.random.default_rng(0)]


def set_seed(seed: int) -> None:
    """Start the framework's random numbers anew."""
    _generator[0] = np.random.default_rng(seed)


def generator() -> np.random.Generator:
    """Where all random numbers come from."""
    return _generator[0]


def recording() -> bool:
    """Whether gradients are recorded."""
    return _recording[-1]


@contextmanager
def no_grad(without: bool = True) -> Iterator[None]:
    """Record no gradients inside the block, or do so again."""
    _recording.append(not without)
    try:
        yield
    finally:
        _recording.pop()


class Tensor:
    """An array that knows where it came from."""

    def __init__(self, data: Any, *, requires_grad: bool = False) -> None:
        self.data: Array = np.asarray(data)
        self.grad: Array | None = None
        self.requires_grad = requires_grad
        self.version = 0
        self.origin: tuple[str, Sequence[Tensor], Pull] | None = None
        self.on_gradient: list[Callable[[Array], Array | None]] = []

    def write(self, data: Any) -> None:
        """Overwrite in place."""
        self.data[...] = data
        self.version += 1

    def detached(self) -> Tensor:
        """The same memory, without history."""
        return Tensor(self.data)

    def item(self) -> float:
        """The only element."""
        return float(self.data.item())

    def backward(self, gradient: Array | None = None) -> None:
        """Add the gradients of this tensor to everything that requires one."""
        gradients = {id(self): np.ones_like(self.data) if gradient is None else gradient}
        for tensor in reversed(_history(self)):
            found = gradients.pop(id(tensor), None)
            if found is None:
                continue
            for listen in tensor.on_gradient:
                changed = listen(found)
                found = found if changed is None else changed
            if tensor.origin is None:
                if tensor.requires_grad:
                    tensor.grad = found.copy() if tensor.grad is None else tensor.grad + found
                continue
            parents = tensor.origin[1]
            for parent, part in zip(parents, pull_back(tensor, found), strict=True):
                if part is not None:
                    gradients[id(parent)] = gradients[id(parent)] + part if id(parent) in gradients else part


class Parameter(Tensor):
    """A tensor to be learned."""

    def __init__(self, data: Any) -> None:
        super().__init__(data, requires_grad=True)


class Buffer(Tensor):
    """A tensor that a module keeps but does not learn."""


def _history(tensor: Tensor) -> list[Tensor]:
    ordered: list[Tensor] = []
    seen: set[int] = set()

    def visit(one: Tensor) -> None:
        if id(one) in seen:
            return
        seen.add(id(one))
        for parent in one.origin[1] if one.origin is not None else ():
            visit(parent)
        ordered.append(one)

    visit(tensor)
    return ordered


def pull_back(tensor: Tensor, gradient: Array) -> Sequence[Array | None]:
    """The gradients of an op's inputs."""
    assert tensor.origin is not None
    return tensor.origin[2](gradient)


def op(name: str, inputs: Sequence[Tensor], data: Any, pull: Pull) -> Tensor:
    """The result of an op, with the way back where gradients are recorded."""
    result = Tensor(data)
    if recording() and any(one.requires_grad for one in inputs):
        result.requires_grad = True
        result.origin = (name, inputs, pull)
    return result


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """a @ b for matrices."""
    return op("matmul", (a, b), a.data @ b.data, lambda g: (g @ b.data.T, a.data.T @ g))


def add(a: Tensor, b: Tensor) -> Tensor:
    """a + b, where b may be a row."""
    return op("add", (a, b), a.data + b.data, lambda g: (g, g if b.data.ndim == g.ndim else g.sum(0)))


def relu(a: Tensor) -> Tensor:
    """What is positive."""
    return op("relu", (a,), np.maximum(a.data, 0), lambda g: (g * (a.data > 0),))


def masked(a: Tensor, mask: Array) -> Tensor:
    """a times a constant mask."""
    return op("masked", (a,), a.data * mask, lambda g: (g * mask,))


def normalize(a: Tensor, weight: Tensor, bias: Tensor, mean: Array, var: Array, eps: float, fixed: bool) -> Tensor:
    """(a - mean) / sqrt(var + eps) * weight + bias; mean and var are the batch's own unless fixed."""
    scale = 1 / np.sqrt(var + np.asarray(eps, var.dtype))
    unit = (a.data - mean) * scale

    def pull(g: Array) -> Sequence[Array | None]:
        inner = g * weight.data
        if not fixed:
            inner = inner - inner.mean(0) - unit * (inner * unit).mean(0)
        return inner * scale, (g * unit).sum(0), g.sum(0)

    return op("normalize", (a, weight, bias), unit * weight.data + bias.data, pull)


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean negative log likelihood of the labels."""
    rows = np.arange(len(labels.data))
    shifted = logits.data - logits.data.max(1, keepdims=True)
    log_share = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))

    def pull(g: Array) -> Sequence[Array | None]:
        share = np.exp(log_share)
        share[rows, labels.data] -= 1
        return share * (g / len(rows)), None

    return op("cross_entropy", (logits, labels), -log_share[rows, labels.data].mean(), pull)


def mean_squared_error(found: Tensor, wanted: Tensor) -> Tensor:
    """The mean of the squared differences."""
    gap = found.data - wanted.data
    return op("mean_squared_error", (found, wanted), (gap * gap).mean(), lambda g: (2 * gap * g / gap.size, None))


class Module:
    """A part of a network: its parameters, buffers and children are its attributes."""

    def __init__(self) -> None:
        self.training = True

    def children(self) -> Iterator[tuple[str, Module]]:
        """Direct children in the order of definition."""
        for name, value in vars(self).items():
            if isinstance(value, Module):
                yield name, value

    def train(self, mode: bool = True) -> Module:
        """Switch this module and all below it to training or evaluation."""
        self.training = mode
        for _, child in self.children():
            child.train(mode)
        return self

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)


class Linear(Module):
    """inputs @ weight + bias."""

    def __init__(self, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__()
        self.inputs = inputs
        self.outputs = outputs
        bound = inputs**-0.5
        self.weight = Parameter(generator().uniform(-bound, bound, (inputs, outputs)).astype(np.float32))
        self.bias = Parameter(generator().uniform(-bound, bound, outputs).astype(np.float32)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """The layer's output."""
        product = matmul(x, self.weight)
        return product if self.bias is None else add(product, self.bias)


class Relu(Module):
    """What is positive."""

    def forward(self, x: Tensor) -> Tensor:
        """The layer's output."""
        return relu(x)


class Dropout(Module):
    """Zeroes a share of the elements in training."""

    def __init__(self, share: float = 0.5) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        """The layer's output."""
        return dropout(x, self.share, self.training)


def dropout(x: Tensor, share: float, training: bool) -> Tensor:
    """What is left of a tensor in training."""
    if not training:
        return x
    kept = generator().random(x.data.shape) >= share
    return masked(x, (kept / (1 - share)).astype(x.data.dtype))


class BatchNorm(Module):
    """Normalises each channel by the batch's statistics in training, by the running ones in evaluation."""

    def __init__(self, channels: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.channels = channels
        self.eps = eps
        self.momentum = momentum
        self.weight = Parameter(np.ones(channels, np.float32))
        self.bias = Parameter(np.zeros(channels, np.float32))
        self.running_mean = Buffer(np.zeros(channels, np.float32))
        self.running_var = Buffer(np.ones(channels, np.float32))

    def forward(self, x: Tensor) -> Tensor:
        """The layer's output."""
        mean, var = self.running_mean.data, self.running_var.data
        if self.training:
            mean, var = x.data.mean(0), x.data.var(0)
            kept = 1 - self.momentum
            self.running_mean.write(kept * self.running_mean.data + self.momentum * mean)
            self.running_var.write(kept * self.running_var.data + self.momentum * var)
        return normalize(x, self.weight, self.bias, mean, var, self.eps, not self.training)


class Optimizer:
    """Groups of parameters with their settings, and what is remembered of each parameter."""

    def __init__(self, groups: Sequence[dict[str, Any]], **defaults: Any) -> None:
        self.groups = [{**defaults, **group} for group in groups]
        self.memory: list[dict[str, Array]] = [{} for group in self.groups for _ in group["parameters"]]

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for group in self.groups:
            for parameter in group["parameters"]:
                parameter.grad = None

    def step(self) -> None:
        """Change every parameter that has a gradient."""
        memories = iter(self.memory)
        for group in self.groups:
            for parameter in group["parameters"]:
                memory = next(memories)
                if parameter.grad is not None:
                    self.update(parameter, parameter.grad, memory, group)

    def update(self, parameter: Parameter, gradient: Array, memory: dict[str, Array], group: dict[str, Any]) -> None:
        """Change one parameter."""
        raise NotImplementedError


class SGD(Optimizer):
    """Gradient descent with momentum."""

    def __init__(self, groups: Sequence[dict[str, Any]], lr: float, momentum: float = 0.0) -> None:
        super().__init__(groups, lr=lr, momentum=momentum)

    def update(self, parameter: Parameter, gradient: Array, memory: dict[str, Array], group: dict[str, Any]) -> None:
        """Change one parameter."""
        before = memory.get("velocity", np.zeros_like(gradient))
        memory["velocity"] = group["momentum"] * before + gradient
        parameter.write(parameter.data - group["lr"] * memory["velocity"])


class Adam(Optimizer):
    """Adam."""

    def __init__(self, groups: Sequence[dict[str, Any]], lr: float) -> None:
        super().__init__(groups, lr=lr, betas=(0.9, 0.999), eps=1e-8)

    def update(self, parameter: Parameter, gradient: Array, memory: dict[str, Array], group: dict[str, Any]) -> None:
        """Change one parameter."""
        first, second = group["betas"]
        zeros = np.zeros_like(gradient)
        count = memory["count"] = memory.get("count", np.zeros((), np.int64)) + 1
        mean = memory["mean"] = first * memory.get("mean", zeros) + (1 - first) * gradient
        square = memory["square"] = second * memory.get("square", zeros) + (1 - second) * gradient**2
        change = (mean / (1 - first**count)) / (np.sqrt(square / (1 - second**count)) + group["eps"])
        parameter.write(parameter.data - group["lr"] * change)


class Loader:
    """Batches of samples in a sampler's order."""

    def __init__(self, *fields: Array, batch_size: int, sampler: Sequence[int] | None = None, workers: int = 0) -> None:
        self.fields = fields
        self.batch_size = batch_size
        self.sampler = sampler if sampler is not None else range(len(fields[0]))
        self.workers = workers

    def __len__(self) -> int:
        return -(-len(self.sampler) // self.batch_size)

    def chosen(self) -> Iterator[list[int]]:
        """The samples of each batch."""
        order = list(self.sampler)
        for start in range(0, len(order), self.batch_size):
            yield order[start : start + self.batch_size]

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        for indexes in self.chosen():
            yield tuple(Tensor(field[indexes]) for field in self.fields)
