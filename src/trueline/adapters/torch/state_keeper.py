"""The state of networks and optimizers in memory that is reused from step to step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch

from trueline.adapters.nouns import Network, Optimizer, Value
from trueline.adapters.torch import values


class Keeper:
    """Copies of all tensors, in reused memory, and the plain values of optimizers."""

    def __init__(self) -> None:
        self._live: list[Value] = []
        self._copies: list[Value] = []
        self._plain: list[tuple[Optimizer, Value, dict[str, Value]]] = []
        self._groups: list[tuple[dict[str, Value], dict[str, Value]]] = []
        self._random: list[tuple[Callable[[Value], None], Value]] = []
        self._optimizers: Sequence[Optimizer] = ()

    def take(self, networks: Sequence[Network], optimizers: Sequence[Optimizer]) -> None:
        """Replace the kept state by the current one."""
        self._optimizers = list(optimizers)
        live = list({id(tensor): tensor for tensor in _tensors(networks, optimizers)}.values())
        # What is made inside a block of inference could not be written again outside of it.
        with torch.inference_mode(False), torch.no_grad():
            if len(live) == len(self._live) and all(a is b for a, b in zip(live, self._live, strict=True)):
                for kept, tensor in zip(self._copies, live, strict=True):
                    kept.copy_(tensor)
            else:
                self._live, self._copies = live, [tensor.detach().clone() for tensor in live]
        self._plain = [
            (optimizer, parameter, {name: value for name, value in state.items() if not values.is_tensor(value)})
            for optimizer in optimizers
            for parameter, state in optimizer.state.items()
        ]
        self._groups = [
            (group, {name: value for name, value in group.items() if name != "params" and not values.is_tensor(value)})
            for optimizer in optimizers
            for group in optimizer.param_groups
        ]
        self._random = [(torch.set_rng_state, torch.get_rng_state())]
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            self._random.append((torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))

    def restore(self) -> None:
        """Restore the kept state in place."""
        for tensor, kept in zip(self._live, self._copies, strict=True):
            with values.writing(tensor):
                tensor.copy_(kept)
        known = {(id(optimizer), id(parameter)) for optimizer, parameter, _ in self._plain}
        for optimizer in self._optimizers:
            for parameter in [stepped for stepped in optimizer.state if (id(optimizer), id(stepped)) not in known]:
                # It has stepped for the first time since.
                del optimizer.state[parameter]
        for optimizer, parameter, plain in self._plain:
            optimizer.state[parameter].update(plain)
        for group, plain in self._groups:
            group.update(plain)
        for put, state in self._random:
            put(state)

    @property
    def whole(self) -> bool:
        """Whether everything that the next step depends on is kept."""
        return bool(self._live) and bool(self._optimizers)

    @property
    def bytes(self) -> int:
        """The memory in use."""
        return sum(copy.numel() * copy.element_size() for copy in self._copies)


def _tensors(networks: Sequence[Network], optimizers: Sequence[Optimizer]) -> Iterator[Value]:
    for network in networks:
        yield from (tensor.value for tensor in values.tensors(network))
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            yield from group["params"]
            yield from (value for name, value in group.items() if name != "params" and values.is_tensor(value))
        for state in optimizer.state.values():
            yield from (value for value in state.values() if values.is_tensor(value))
