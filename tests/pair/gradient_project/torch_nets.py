"""A benchmark, and a port of it with one fault in the gradients of each block."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Turned(torch.autograd.Function):
    """The value as it is, its gradient turned round."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return -grad


class Cubed(torch.autograd.Function):
    """x to the third, with a gradient that is right or not."""

    @staticmethod
    def forward(ctx: Any, x: Any, factor: float) -> Any:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:  # expect: wrong backward
        (x,) = ctx.saved_tensors
        return grad * ctx.factor * x**2, None


turned, cubed = Turned.apply, Cubed.apply


class Block(nn.Module):
    """Two layers, and code between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.second = nn.Linear(6, 6)
        self.scale = nn.Parameter(torch.full((6,), 0.5))

    def forward(self, x: Any) -> Any:
        return x + self.second(self.between(torch.tanh(self.first(x))) * self.scale)  # expect: taken

    def between(self, hidden: Any) -> Any:
        return hidden


class Stopped(Block):
    def between(self, hidden: Any) -> Any:
        return hidden.detach()  # expect: stopped


class Ungraded(Block):
    def between(self, hidden: Any) -> Any:
        with torch.no_grad():  # expect: ungraded
            return hidden * 1.0


class ThroughNumPy(Block):
    def between(self, hidden: Any) -> Any:
        return torch.from_numpy(hidden.detach().numpy() * 1)


class HalfStopped(Block):
    def between(self, hidden: Any) -> Any:
        kept = hidden.detach()
        return hidden * 0.5 + kept * 0.5


class TwiceStopped(HalfStopped):
    """Stops one gradient as the benchmark does, and another one."""

    def forward(self, x: Any) -> Any:
        return super().forward(x) - x + x.detach()  # expect: another stop


class OneLine(Block):
    """Two stops on one line."""

    def between(self, hidden: Any) -> Any:
        return hidden.detach() * 0.5 + torch.sin(hidden.detach())  # expect: two stops


class OneOfTwo(Block):
    def between(self, hidden: Any) -> Any:
        return hidden.detach() * 0.5 + torch.sin(hidden)  # expect: one stop


class Ties(Block):
    """Several of the largest, of which frameworks choose as they like."""

    def between(self, hidden: Any) -> Any:
        return hidden * hidden.clamp(-0.2, 0.2).amax(1, keepdim=True)


class Turning(Block):
    def between(self, hidden: Any) -> Any:
        return turned(hidden)


class Cube(nn.Module):
    """A layer with a backward of its own."""

    def __init__(self, factor: float = 3.0) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: Any) -> Any:
        return cubed(x, self.factor)


class Turn(nn.Module):
    def forward(self, x: Any) -> Any:
        return turned(x)


class Keep(nn.Module):
    def forward(self, x: Any) -> Any:
        return x * 1.0


class Writing(Block):
    """Writes into its tensors."""

    def forward(self, x: Any) -> Any:
        hidden = torch.relu_(self.first(x))
        hidden[:, 0] = 0.25
        return torch.cat((x, self.second(hidden)), 1).mean(1)


class Net(nn.Module):
    def __init__(self, **blocks: nn.Module) -> None:
        super().__init__()
        for name, block in blocks.items():
            setattr(self, name, block)

    def forward(self, x: Any) -> Any:
        for name, block in self.named_children():
            if name != "writing":
                x = torch.tanh(block(x))
        return x + self.writing(x)[:, None]


def bench() -> nn.Module:
    blocks = {name: Block() for name in ("plain", "stopped", "ungraded", "numpy", "half", "turning")}
    return Net(
        **blocks,
        twice=HalfStopped(),
        line=OneLine(),
        ties=Ties(),
        wanted=Stopped(),
        cube=Cube(),
        turn=Turn(),
        purpose=Turn(),
        right=Cube(),
        writing=Writing(),
    )


def port() -> nn.Module:
    return Net(
        plain=Block(),
        stopped=Stopped(),
        ungraded=Ungraded(),
        numpy=ThroughNumPy(),
        half=HalfStopped(),
        turning=Turning(),
        twice=TwiceStopped(),
        line=OneOfTwo(),
        ties=Ties(),
        wanted=Block(),
        cube=Cube(1.5),
        turn=Keep(),
        purpose=Turn(),
        right=Cube(),
        writing=Writing(),
    )
