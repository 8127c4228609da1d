"""A torch network and a MindSpore network of a pair, asked in the same words."""

from typing import Any

import mindspore
import numpy as np
import torch
from carry import Array, moved, torch_names
from mindspore import nn as msnn


def weighing(shape: tuple[int, ...]) -> Array:
    """Fixed numbers that turn an output into one number."""
    return np.random.default_rng(78).standard_normal(shape).astype(np.float32)


class TorchSide:
    """A torch network of a pair."""

    def __init__(self, net: str, build: Any) -> None:
        self.net, self.build = net, build

    def fresh(self, seed: int) -> Any:
        """A new network."""
        torch.manual_seed(seed)
        return self.build()

    def tensors(self, model: Any) -> dict[str, Any]:
        """Parameters and buffers by their MindSpore name."""
        state = dict(model.named_parameters(remove_duplicate=False)) | dict(model.named_buffers(remove_duplicate=False))
        return {to: state[name] for name, to in torch_names(self.net, model).items()}

    def carried(self, seed: int = 0) -> Any:
        """A network with the moved weights."""
        model = self.fresh(seed)
        for name, tensor in self.tensors(model).items():
            tensor.data.copy_(torch.from_numpy(moved(name, ms_shape(name, tuple(tensor.shape)))).view(tensor.shape))
        return model

    def arrays(self, model: Any) -> dict[str, Array]:
        """The tensors' values."""
        return {n: t.detach().numpy().reshape(ms_shape(n, tuple(t.shape))) for n, t in self.tensors(model).items()}

    def trainable(self, model: Any) -> list[str]:
        """Names of what learns."""
        return sorted(n for n, t in self.tensors(model).items() if t.requires_grad)

    def paths(self) -> set[str]:
        """The modules' attribute paths."""
        return {path for path, _ in self.fresh(0).named_modules()}

    def run(self, model: Any, inputs: list[Array], mode: str) -> Array:
        """The output in `eval`, `train` (norms only) or `noisy` mode."""
        model.train(mode == "noisy")
        if mode == "train":
            for module in model.modules():
                if "BatchNorm" in type(module).__name__:
                    module.train()
        torch.manual_seed(5)
        self.output = model(*[torch.from_numpy(a.copy()) for a in inputs])
        seen: Array = self.output.detach().numpy()
        return seen

    def grads(self, model: Any, inputs: list[Array]) -> dict[str, Array]:
        """Parameter gradients of the weighed output in train mode."""
        shape = self.run(model, inputs, "train").shape
        model.zero_grad()
        (self.output * torch.from_numpy(weighing(shape))).sum().backward()
        learning = {n: t for n, t in self.tensors(model).items() if t.requires_grad}
        values = {n: torch.zeros_like(t) if t.grad is None else t.grad for n, t in learning.items()}
        return {n: v.numpy().reshape(ms_shape(n, tuple(v.shape))) for n, v in values.items()}

    def array(self, value: Any) -> Array:
        """A tensor as NumPy."""
        return value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)

    def tensor(self, value: Array) -> Any:
        """NumPy as a tensor."""
        return torch.from_numpy(np.ascontiguousarray(value))

    def updated(self, model: Any, optimizer: Any, steps: int) -> dict[str, Array]:
        """The weights after steps with made-up gradients."""
        for step in range(steps):
            for name, tensor in self.tensors(model).items():
                if tensor.requires_grad:
                    shape = ms_shape(name, tuple(tensor.shape))
                    tensor.grad = torch.from_numpy(0.1 * moved(f"{step}{name}", shape)).view(tensor.shape)
            optimizer.step()
        return self.arrays(model)

    def rates(self, optimizer: Any, schedule: Any, per: str, steps: int, per_epoch: int) -> list[float]:
        """The learning rate at each step."""
        seen = []
        for step in range(steps):
            seen.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            if per == "step" or (step + 1) % per_epoch == 0:
                schedule.step()
        return seen


class MindSporeSide:
    """A MindSpore network of a pair."""

    def __init__(self, net: str, build: Any) -> None:
        self.net, self.build = net, build

    def fresh(self, seed: int) -> Any:
        """A new network."""
        mindspore.set_seed(seed)
        return self.build()

    def tensors(self, model: Any) -> dict[str, Any]:
        """Parameters and buffers by name."""
        return dict(model.parameters_and_names())

    def carried(self, seed: int = 0) -> Any:
        """A network with the moved weights."""
        model = self.fresh(seed)
        for name, tensor in self.tensors(model).items():
            tensor.set_data(mindspore.Tensor(moved(name, tensor.shape)).astype(tensor.dtype))
        return model

    def arrays(self, model: Any) -> dict[str, Array]:
        """The tensors' values."""
        return {n: t.asnumpy().copy() for n, t in self.tensors(model).items()}

    def trainable(self, model: Any) -> list[str]:
        """Names of what learns."""
        return sorted(n for n, t in self.tensors(model).items() if t.requires_grad)

    def paths(self) -> set[str]:
        """The modules' attribute paths."""
        return {path for path, _ in self.fresh(0).cells_and_names()}

    def _mode(self, model: Any, mode: str) -> None:
        model.set_train(mode == "noisy")
        if mode == "train":
            for _, cell in model.cells_and_names():
                if "BatchNorm" in type(cell).__name__:
                    cell.set_train(True)

    def run(self, model: Any, inputs: list[Array], mode: str) -> Array:
        """The output in `eval`, `train` (norms only) or `noisy` mode."""
        self._mode(model, mode)
        seen: Array = model(*[mindspore.Tensor(a) for a in inputs]).asnumpy()
        return seen

    def grads(self, model: Any, inputs: list[Array]) -> dict[str, Array]:
        """Parameter gradients of the weighed output in train mode."""
        weight = mindspore.Tensor(weighing(self.run(model, inputs, "eval").shape))
        self._mode(model, "train")
        names = {n: t for n, t in self.tensors(model).items() if t.requires_grad}
        tensors = [mindspore.Tensor(a) for a in inputs]
        params = mindspore.ParameterTuple(list(names.values()))
        pull = mindspore.grad(lambda *ins: (model(*ins) * weight).sum(), None, params)
        return {name: grad.asnumpy() for name, grad in zip(names, pull(*tensors), strict=True)}

    def array(self, value: Any) -> Array:
        """A tensor as NumPy."""
        return value.asnumpy() if isinstance(value, mindspore.Tensor) else np.asarray(value)

    def tensor(self, value: Array) -> Any:
        """NumPy as a tensor."""
        return mindspore.Tensor(np.ascontiguousarray(value))

    def updated(self, model: Any, optimizer: Any, steps: int) -> dict[str, Array]:
        """The weights after steps with made-up gradients."""
        names = {id(t): n for n, t in self.tensors(model).items()}
        for step in range(steps):
            ordered = list(optimizer.parameters)
            optimizer(tuple(mindspore.Tensor(0.1 * moved(f"{step}{names[id(p)]}", p.shape)) for p in ordered))
        return self.arrays(model)

    def rates(self, optimizer: Any, schedule: Any, per: str, steps: int, per_epoch: int) -> list[float]:
        """The learning rate at each step."""
        if isinstance(schedule, msnn.learning_rate_schedule.LearningRateSchedule):
            return [float(schedule(mindspore.Tensor(step, mindspore.int32))) for step in range(steps)]
        if callable(schedule):
            return [float(schedule(step)) for step in range(steps)]
        return [float(schedule[min(step, len(schedule) - 1)]) for step in range(steps)]


Side = TorchSide | MindSporeSide


def ms_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape MindSpore gives a tensor: one-dimensional convolutions have one axis more."""
    return (*shape[:2], 1, shape[2]) if len(shape) == 3 else shape
