"""What every run of the whole model shares: its modules' names, how it is held still, and who calls whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from trueline.adapters.dropout import nothing
from trueline.adapters.nouns import Network, Share, Value
from trueline.kernel.array import Array
from trueline.pair.child.host import Host


def paths_of(host: Host) -> dict[int, str]:
    """The path of each module of the model, by its identity."""
    return {id(module): path for path, module in host.adapter.values.modules(host.model)}


@contextmanager
def held_still(host: Host, *, train: bool, share: Share = nothing) -> Iterator[None]:
    """In the block the model is in the given mode and drops nothing at random; afterwards it is as it was.

    ``share`` hears of each dropout.
    """
    adapter = host.adapter
    adapter.state.seed(0, deterministic=False)
    with adapter.build.undisturbed(host.model, train), adapter.steady.without_dropout(host.model, share):
        yield


def tensors_of(host: Host, arrays: Sequence[Array]) -> list[Value]:
    """Arrays as the framework's tensors, floating ones in the type of the model's weights."""
    values = host.adapter.values
    weights = (tensor.value for tensor in values.tensors(host.model))
    first = next((weight for weight in weights if "float" in values.dtype(weight)), None)
    return [values.from_numpy(array, like=first if "float" in array.dtype.name else None) for array in arrays]


class Counting:
    """Numbers the calls of each module; ``open`` are the places of those that are going on."""

    def __init__(self, paths: dict[int, str]) -> None:
        self._paths = paths
        self._counts: Counter[str] = Counter()
        self.open: list[int] = []

    def begin(self, module: Network) -> tuple[str, int] | None:
        """The module's path and which of its calls this is; None for one that is not the model's."""
        path = self._paths.get(id(module))
        if path is None:
            return None
        call = self._counts[path]
        self._counts[path] += 1
        return path, call


def typed(host: Host, arrays: Sequence[Array]) -> list[Array]:
    """Arrays in the type of the model's weights."""
    return [host.adapter.values.to_numpy(tensor) for tensor in tensors_of(host, arrays)]
