"""What a framework offers to the conformance suite: real networks, optimizers and loaders, trained in its own idiom.

A subject lives in ``<framework>_subject.py`` as the module-level object ``SUBJECT`` and imports its framework there.
It never uses an adapter to do its work: the suite compares what the adapter says with what the framework does.

The network, in every framework, is ``Network(inputs=4, hidden=6, outputs=3)`` of these modules in this order::

    ""           Network          the user's class, keyword-constructible as above
    body         Body(inputs, hidden)
    body.first   linear           4 -> 6, with bias
    body.norm    batch norm       over 6 channels, with running statistics (buffers)
    body.act     relu
    last         linear           6 -> 3, with bias

Its loss is the mean cross entropy of float32 inputs (N, 4) and integer labels (N,) of 3 classes. Variants:

- ``plain``: as above.
- ``shared``: modules ``first`` and ``second`` (both 4 -> 4) and ``last`` (4 -> 3), relu between them by function,
  and ``second.weight`` is the very parameter of ``first.weight`` (biases are their own).
- ``outputs``: as plain, but the network returns the tuple ``(logits, hidden)``; only the logits enter the loss.
- ``raising``: as plain, but ``body.act`` raises ``ValueError("on purpose")`` in its forward.
- ``double``: as plain, but the network calls ``body.act`` a second time on its own output.
- ``dropout``: as plain, with the framework's own dropout of one half as ``drop`` between ``body`` and ``last``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy.typing as npt

from trueline.adapters.protocol import Adapter

Array = npt.NDArray[Any]
Batch = tuple[Array, Array]
Variant = Literal["plain", "shared", "outputs", "raising", "double", "dropout"]
Rule = Literal["sgd", "adam"]


@dataclass(frozen=True, slots=True)
class Traits:
    """What a framework has and has not: the suite asks for all that is there, and for no more."""

    dtypes: Sequence[str]
    """NumPy's names of the dtypes a tensor can have, bfloat16 among them where possible."""
    parameters: Sequence[str]
    """The plain network's trainable parameters, in the order of definition."""
    buffers: Sequence[str]
    """The plain network's buffers, in the order of definition."""
    linear_arguments: Mapping[str, Any]
    """What ``linear(4, 6)`` was built with, by name, with at least one default."""
    bias_argument: str
    """The name of ``linear``'s switch for the bias."""
    eps_argument: str
    """The name of ``norm``'s epsilon."""
    zero_grad: bool = True
    """Gradients are kept on parameters and have to be zeroed."""
    indexes: bool = True
    """A loader's sampler can be seen."""
    backward_ops: bool = True
    """Op level sees the backward pass too."""
    picklable: bool = True
    """A network can be pickled (without any hook)."""
    strided: bool = True
    """A transposed tensor is a view that is not contiguous."""
    nodes: bool = True
    """A tensor knows the autograd node that made it."""
    quiet_steps: int = 0
    """How many first steps of a process may differ by rounding between two plain runs of the same seed."""


class Subject(Protocol):
    """One framework, used as its users use it."""

    @property
    def adapter(self) -> Adapter: ...

    @property
    def traits(self) -> Traits: ...

    @property
    def linear(self) -> type:
        """The framework's own linear layer: ``linear(inputs, outputs)``."""
        ...

    @property
    def norm(self) -> type:
        """The framework's own batch norm over (N, C): ``norm(channels)``."""
        ...

    def make_network(self, seed: int = 0, variant: Variant = "plain") -> Any:
        """A fresh network in training mode; the same seed gives the same weights."""
        ...

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
        """Over all parameters, or over those of one direct child (``part="body"``).

        With ``groups=2`` the child ``last`` has its own group, the second, at a tenth of the rate.
        """
        ...

    def set_training(self, network: Any, training: bool) -> None:
        """One call of the framework's own switch, on the network only."""
        ...

    def train_step(self, network: Any, optimizers: Sequence[Any], batch: Batch) -> float:
        """Forward, loss, backward and one step of each optimizer in turn; the loss as the user sees it.

        Where gradients have to be zeroed, each optimizer's ``zero_grad`` is called once, first of all.
        """
        ...

    def accumulate(self, network: Any, optimizer: Any, batches: Sequence[Batch]) -> list[float]:
        """One step after a forward and backward for every batch (zero_grad once, first of all); all losses."""
        ...

    def evaluate(self, network: Any, batch: Batch) -> float:
        """The loss without gradients; the mode is left as it is."""
        ...

    def forward(self, module: Any, array: Array) -> list[Array]:
        """One plain call of a module without gradients; its outputs, flat."""
        ...

    def gradients(self, network: Any, batch: Batch) -> dict[str, Array]:
        """The gradients of the loss by parameter name, by the framework's own means; no step, none left behind."""
        ...

    def loader(self, data: Batch, *, batch_size: int, order: Sequence[int]) -> Iterable[Any]:
        """The framework's own loader over (inputs, labels), in the given order of samples, without workers."""
        ...

    def arrays(self, batch: Any) -> Batch:
        """A loader's batch as arrays."""
        ...

    def tensor(self, array: Array) -> Any:
        """A tensor of the array's dtype and shape (bfloat16 arrays are ml_dtypes')."""
        ...

    def array(self, tensor: Any) -> Array:
        """A tensor's values, copied (bfloat16 as ml_dtypes')."""
        ...

    def transposed(self, tensor: Any) -> Any:
        """The transpose of a matrix, a view where the framework has views."""
        ...

    def set_in_place(self, tensor: Any, array: Array) -> None:
        """Overwrite a plain tensor (not a parameter) as a user would, in place."""
        ...

    def do_ops(self, array: Array) -> list[tuple[str, int]]:
        """Run three or more ops on float32 (N, 4), each on a line of its own, without a module.

        Returns, in order, a part of each op's lower-case name, and the line in this subject's file.
        """
        ...
