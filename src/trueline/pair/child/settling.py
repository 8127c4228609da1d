"""Weights brought to a scale at which values stay near one from the first layer to the last, in one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.nouns import Network, Value
from trueline.adapters.tree import leaves, replaced
from trueline.kernel.array import Array
from trueline.pair.child.calls import held_still, tensors_of
from trueline.pair.child.host import Host
from trueline.pair.questions.model import Settle

_MEANS: Final = ("running_mean", "moving_mean")
_VARIANCES: Final = ("running_var", "moving_variance")
# A spread below this is that of a constant.
_MIN_SPREAD: Final = 1e-12
# So many values of a channel say enough of its mean and variance.
_SAMPLED_VALUES: Final = 1024
# A layer whose output needs no larger factor than this to have a spread of one is left as it is.
_SETTLED: Final = (0.7, 1.4)


def settle(host: Host, question: Settle) -> int:
    """Scale the weights of each layer, and move the statistics of each norm, as the values that reach it ask for."""
    settling = _Settling(host, question.seed)
    with said_for(host.side, "running", question.inputs):
        with (
            held_still(host, train=False),
            host.adapter.autograd.without_gradient(),
            host.adapter.intercept.intercept(settling.around),
        ):
            host.model(*tensors_of(host, question.inputs))
        # Statistics are buffers, which are put back with everything else.
        for tensor, array in settling.statistics:
            host.adapter.values.assign(tensor, array)
    return settling.scaled


class _Settling:
    def __init__(self, host: Host, seed: int) -> None:
        self._values = host.adapter.values
        self._random = np.random.default_rng(seed)
        self._seen: set[int] = set()
        self.scaled = 0
        self.statistics: list[tuple[Value, Array]] = []

    def around(
        self, module: Network, args: tuple[Value, ...], kwargs: Mapping[str, Value], proceed: Callable[..., Value]
    ) -> Value:
        """One call; a layer is settled at its first."""
        if id(module) in self._seen:
            return proceed(*args, **kwargs)
        self._seen.add(id(module))
        own = {tensor.name: tensor.value for tensor in self._values.tensors(module) if "." not in tensor.name}
        means, variances = (next((own[name] for name in names if name in own), None) for names in (_MEANS, _VARIANCES))
        if means is not None and variances is not None:
            self._settle_statistics(args, means, variances)
            return proceed(*args, **kwargs)
        output = proceed(*args, **kwargs)
        weight = own.get("weight")
        if weight is None or len(self._values.shape(weight)) < 2 or not self._takes_floats(args):
            return output
        factor = self._factor(output)
        if _SETTLED[0] <= factor <= _SETTLED[1]:
            return output
        self.scaled += 1
        for name in ("weight", "bias"):
            if name in own:
                self._values.assign(own[name], self._values.to_numpy(own[name], copy=True) * np.float32(factor))
        # A layer is linear in its weights: its output need not be computed again.
        return replaced(output, self._values.is_tensor, lambda _, tensor: tensor * factor)

    def _takes_floats(self, args: Value) -> bool:
        """An embedding takes indexes."""
        first = next((tensor for _, tensor in leaves(args, self._values.is_tensor)), None)
        return first is not None and "float" in self._values.dtype(first)

    def _factor(self, output: Value) -> float:
        first = next((tensor for _, tensor in leaves(output, self._values.is_tensor)), None)
        if first is None:
            return 1.0
        array = np.ascontiguousarray(self._values.to_numpy(first)).reshape(-1).astype(np.float32, copy=False)
        spread = float(np.sqrt(np.dot(array, array) / array.size)) if array.size else 1.0
        return 1.0 / spread if np.isfinite(spread) and spread > _MIN_SPREAD else 1.0

    def _settle_statistics(self, args: Value, means: Value, variances: Value) -> None:
        first = next((tensor for _, tensor in leaves(args, self._values.is_tensor)), None)
        if first is None:
            return
        array = self._values.to_numpy(first).astype(np.float32, copy=False)
        count = self._values.shape(means)[0]
        if array.ndim < 2 or array.shape[1] != count:
            return
        # They are moved anyway: a part of the values says enough.
        spread = array.reshape(*array.shape[:2], -1)
        spread = spread[:, :, :: max(1, spread.shape[0] * spread.shape[2] // _SAMPLED_VALUES)]
        mean, variance = spread.mean(axis=(0, 2)), spread.var(axis=(0, 2))
        variance = np.maximum(variance, 0.01 * max(float(variance.mean()), _MIN_SPREAD) + _MIN_SPREAD)
        mean = mean + np.sqrt(variance) * self._random.normal(0, 0.2, count)
        variance = variance * self._random.uniform(0.7, 1.4, count)
        for tensor, statistic in ((means, mean), (variances, variance)):
            array = statistic.astype(np.float32)
            self._values.assign(tensor, array)
            self.statistics.append((tensor, array))
